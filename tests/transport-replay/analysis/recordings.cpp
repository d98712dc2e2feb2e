// Recordings that do not continue each other, given as one: each says what it says alone.
#include <tests/support/recordings.hpp>
#include <tests/support/sample_captures.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

using Findings = std::set<std::pair<std::string, Severity>>;

// What is said of connections; notes compare hosts over all that was captured.
Findings of(const Timeline& timeline) {
    Findings found;
    for (const Finding& finding : timeline.findings)
        if (finding.severity != Severity::note && finding.connection) found.emplace(finding.id, finding.severity);
    return found;
}

template <class Each> void observed(const Recordings& all, std::uint64_t& number, Each each) {
    Packet packet;
    Observation observation;
    for (const Recording& one : all) {
        Frame frame;
        frame.bytes = one.bytes;
        frame.wire_length = one.wire_length;
        frame.time = one.time;
        frame.index = FrameIndex{++number};
        decode(frame, packet);
        observe(packet, observation);
        each(observation);
    }
}

// The second an hour after the first.
Timeline apart(const Recordings& first, const Recordings& second) {
    Analysis analysis;
    std::uint64_t number = 0;
    const auto follow = [&](const Observation& observation) { static_cast<void>(analysis.observe(observation)); };
    observed(first, number, follow);
    analysis.end_recording();
    const Duration by = first.back().time - second.front().time + Duration{3'600'000'000'000};
    observed(each(second, [&](Recording& one) { one.time = one.time + by; }), number, follow);
    return analysis.finish();
}

std::vector<std::string> small_samples() {
    std::vector<std::string> names;
    for (const std::string& path : sample_captures())
        if (path.ends_with("/capture.pcap") && std::filesystem::file_size(path) < 60'000)
            names.push_back(std::filesystem::path(path).parent_path().filename().string());
    REQUIRE(names.size() > 10);
    return names;
}

}  // namespace

TEST_CASE("two recordings say of their connections what each says, and no more") {
    const std::vector<std::string> names = small_samples();
    std::vector<Recordings> all;
    std::vector<Findings> alone;
    for (const std::string& name : names) {
        all.push_back(recordings(name));
        alone.push_back(of(analyse_once(all.back())));
    }
    for (std::size_t a = 0; a < names.size(); ++a)
        for (std::size_t b = 0; b < names.size(); ++b) {
            if (a == b) continue;
            INFO(names[a] << ", then " << names[b]);
            Findings both = alone[a];
            both.insert(alone[b].begin(), alone[b].end());
            CHECK(of(apart(all[a], all[b])) == both);
        }
}

TEST_CASE("a queue pair number that another recording has again is another connection") {
    const Recordings one = recordings("loss_write");
    const Timeline alone = analyse_once(one), twice = apart(one, one);
    REQUIRE(twice.connections.size() == 2 * alone.connections.size());
    CHECK(twice.recordings.size() == 1);
    CHECK(twice.connections.front().recording == 0);
    CHECK(twice.connections.back().recording == 1);
    CHECK(twice.connections.back().uid == ConnectionId{static_cast<std::uint32_t>(twice.connections.size())});
    CHECK(twice.totals.retransmitted_packets == 2 * alone.totals.retransmitted_packets);
    CHECK(twice.totals.timeouts == 2 * alone.totals.timeouts);
}

// Cut anywhere: what follows goes on with what was there, as soon as a packet of a connection comes.
TEST_CASE("the rest of a recording continues it, and another recording of the same hosts does not") {
    for (const char* name : {"loss_write", "err_rnr", "nvme_rdma", "read_8k"}) {
        INFO(name);
        const Recordings whole = recordings(name);
        for (std::size_t cut = whole.size() / 4; cut < whole.size() * 3 / 4; cut += whole.size() / 16 + 1) {
            INFO("cut behind packet " << cut);
            Analysis analysis;
            std::uint64_t number = 0;
            observed({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)}, number,
                     [&](const Observation& observation) { static_cast<void>(analysis.observe(observation)); });
            bool continues = false;
            observed({whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end()}, number,
                     [&](const Observation& observation) { continues |= analysis.continues(observation); });
            CHECK(continues);
            for (const char* other : {"multi_qp", "rping_v4", "rds", "err_bad_rkey", "write_8k"}) {
                INFO(other);
                bool joins = false;
                observed(recordings(other), number,
                         [&](const Observation& observation) { joins |= analysis.continues(observation); });
                CHECK_FALSE(joins);
            }
        }
    }
}
