// The result of an analysis does not depend on the number of lanes, on how the capture was cut into batches, or on who
// came first: simulated traffic of 2 to 40 hosts and every sample capture, against the analysis that takes one packet
// after the other. A share of the seeds in every run, a tenth of them; all with QPSCOPE_SHARDS=all.
#include <tests/simulator/simulation.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/cluster_traffic.hpp>
#include <tests/support/sample_captures.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace qps::transport;
using namespace qps::dissect;

namespace {

// All that an analysis says: its report, what each packet was, the messages and operations in the order they were told.
struct AllSaid {
    std::string report;
    std::vector<std::string> packets;
    std::vector<std::string> messages;  // by connection, in its order
};

std::string line_of(const PacketRecord& record) {
    return fmt::format("{} {} {} {}{}{}{}{} {} {} {}", record.connection ? std::to_underlying(*record.connection) : 0,
                       static_cast<int>(record.from), record.arrival ? static_cast<int>(*record.arrival) : -1,
                       record.mirror_copy, record.retransmission, record.duplicated, record.corrupt, record.unmatched,
                       record.missing, record.completed, record.latency ? std::to_underlying(*record.latency) : -1);
}
std::string line_of(ConnectionId connection, End requester, const Message& message) {
    return fmt::format("{} {} {} {} {} {}", std::to_underlying(connection), static_cast<int>(requester),
                       message.first.value(), static_cast<int>(message.outcome), message.bytes,
                       std::to_underlying(message.first_frame));
}
std::string line_of(const UlpOperation& operation) {
    return fmt::format("operation {} {} {} {}", std::to_underlying(operation.connection), operation.tag,
                       std::to_underlying(operation.asked_frame), std::to_underlying(operation.answered_frame));
}

AnalysisSettings settings_of(AllSaid& said, const CaptureTraits& traits) {
    AnalysisSettings settings{.traits = traits};
    settings.message = [&](ConnectionId connection, End requester, const Message& message) {
        said.messages.push_back(line_of(connection, requester, message));
    };
    settings.operation = [&](const UlpOperation& operation) { said.messages.push_back(line_of(operation)); };
    return settings;
}

void finish_report(AllSaid& said, const Timeline& timeline) {
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { said.report += piece; });
    std::ranges::stable_sort(said.messages);  // at the end of the capture they have no order
}

AllSaid in_one_piece(const ClusterTraffic& traffic, CaptureTraits& traits) {
    AllSaid said;
    Analysis analysis(settings_of(said, traits));
    for (const Observation& observation : traffic.observations)
        said.packets.push_back(line_of(analysis.observe(observation)));
    Timeline timeline = analysis.finish();
    traits = timeline.learned;
    finish_report(said, timeline);
    return said;
}

std::string report_of(const Timeline& timeline) {
    std::string text;
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { text += piece; });
    return text;
}

// What listeners of single lanes heard, which is what all heard, but by the numbers of their lanes.
class HeardByLanes {
public:
    [[nodiscard]] std::vector<LaneListener> listeners(std::size_t lanes) {
        packets_.resize(lanes);
        messages_.resize(lanes);
        std::vector<LaneListener> all;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            all.push_back({.packet =
                               [this, lane](std::size_t batch, std::size_t, const Observation& observation,
                                            const PacketRecord& record) {
                                   packets_[lane].push_back({batch, observation.frame, record});
                               },
                           .message =
                               [this, lane](ConnectionId connection, End requester, const Message& message) {
                                   messages_[lane].push_back({connection, requester, message});
                               }});
        return all;
    }
    // What they heard of packets, in the order of the capture; batches are numbered.
    [[nodiscard]] std::vector<std::string> packets(const ShardedAnalysis& analysis) const {
        std::vector<Packet> all;
        for (std::size_t lane = 0; lane < packets_.size(); ++lane) {
            const auto numbers = analysis.numbers(lane);
            for (Packet packet : packets_[lane]) {
                if (packet.record.connection)
                    packet.record.connection = ConnectionId{numbers[std::to_underlying(*packet.record.connection) - 1]};
                all.push_back(packet);
            }
        }
        std::ranges::stable_sort(all, {}, [](const Packet& packet) { return std::pair(packet.batch, packet.frame); });
        std::vector<std::string> lines;
        for (const Packet& packet : all) lines.push_back(line_of(packet.record));
        return lines;
    }
    [[nodiscard]] std::vector<std::string> messages(const ShardedAnalysis& analysis) const {
        std::vector<std::string> lines;
        for (std::size_t lane = 0; lane < messages_.size(); ++lane) {
            const auto numbers = analysis.numbers(lane);
            for (const Ended& ended : messages_[lane])
                lines.push_back(line_of(ConnectionId{numbers[std::to_underlying(ended.connection) - 1]},
                                        ended.requester, ended.message));
        }
        std::ranges::sort(lines);
        return lines;
    }

private:
    struct Packet {
        std::size_t batch = 0;
        FrameIndex frame{};
        PacketRecord record;
    };
    struct Ended {
        ConnectionId connection{};
        End requester{};
        Message message;
    };
    std::vector<std::vector<Packet>> packets_;
    std::vector<std::vector<Ended>> messages_;
};

// What is known behind so many packets, to who asks on the way.
void check_so_far(const ClusterTraffic& traffic, std::size_t packets, const CaptureTraits& traits,
                  const Timeline& so_far) {
    Analysis analysis(AnalysisSettings{.traits = traits});
    for (std::size_t i = 0; i < packets; ++i) static_cast<void>(analysis.observe(traffic.observations[i]));
    CHECK(report_of(so_far) == report_of(analysis.so_far()));
}

// Batches of any size; lanes come in any order, some some batches behind the others.
AllSaid shared_out(const ClusterTraffic& traffic, std::size_t lanes, std::uint64_t seed, const CaptureTraits& traits) {
    constexpr std::size_t kUnderWay = 5;
    AllSaid said;
    Draws draws(seed + lanes);
    HeardByLanes heard;
    ShardedAnalysis analysis(settings_of(said, traits), lanes, true, false, heard.listeners(lanes));
    std::size_t first = 0;  // the number of the first batch under way
    const std::size_t asks = draws.below(20);
    std::deque<ShardedBatch> batches;
    std::deque<std::vector<bool>> followed;  // by lane
    const auto follow_some = [&](bool all) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            for (std::size_t i = 0; i < batches.size(); ++i) {
                if (followed[i][lane]) continue;
                if (!all && draws.chance(0.5)) break;
                analysis.follow(batches[i], lane, first + i);
                followed[i][lane] = true;
            }
        }
    };
    const auto visit_first = [&] {
        analysis.visit(batches.front(), [&](const Observation&, const PacketRecord& record, std::size_t) {
            said.packets.push_back(line_of(record));
            return true;
        });
        if (first == asks) check_so_far(traffic, said.packets.size(), traits, analysis.so_far(batches.front()));
        batches.pop_front();
        followed.pop_front();
        ++first;
    };
    const bool tiny = draws.chance(0.3);
    for (std::size_t at = 0; at < traffic.observations.size();) {
        ShardedBatch& batch = batches.emplace_back(lanes);
        followed.emplace_back(lanes);
        const std::size_t size = 1 + draws.below(tiny ? 8 : 700);
        for (std::size_t i = 0; i < size && at < traffic.observations.size(); ++i)
            batch.add(traffic.observations[at++]);
        for (std::size_t sieve = 0; sieve < analysis.sieves(); ++sieve)
            if (draws.chance(0.7)) analysis.sift(batch, sieve);
        analysis.gate(batch, first + batches.size() - 1 == asks);
        follow_some(batches.size() == kUnderWay);
        while (!batches.empty() && std::ranges::all_of(followed.front(), [](bool one) { return one; })) visit_first();
    }
    follow_some(true);
    while (!batches.empty()) visit_first();
    CHECK_FALSE(analysis.over());
    finish_report(said, analysis.finish());
    CHECK(heard.packets(analysis) == said.packets);
    std::vector<std::string> messages = said.messages;
    std::erase_if(messages, [](const std::string& line) { return line.starts_with("operation"); });
    CHECK(heard.messages(analysis) == messages);
    return said;
}

void compare_lanes(const ClusterTraffic& traffic, std::uint64_t seed) {
    CaptureTraits traits;
    // As the commands do: again, if the first pass found what a second one can use.
    for (int pass = 0; pass < 2; ++pass) {
        const CaptureTraits before = traits;
        const AllSaid one = in_one_piece(traffic, traits);
        for (const std::size_t lanes : {1U, 2U, 3U, 8U}) {
            INFO("pass " << pass << ", lanes " << lanes);
            const AllSaid several = shared_out(traffic, lanes, seed, before);
            CHECK(several.report == one.report);
            CHECK(several.packets == one.packets);
            CHECK(several.messages == one.messages);
        }
        if (!traits.any()) break;
    }
}

}  // namespace

TEST_CASE("lanes make no difference: simulated hosts") {
    constexpr std::uint64_t kClusters = 320;
    const char* wish = std::getenv("QPSCOPE_SHARDS");
    const bool all = wish != nullptr && std::string_view(wish) == "all";
    std::size_t with_episodes = 0, with_incasts = 0;
    for (std::uint64_t seed = 0; seed < kClusters; seed += all ? 1 : 10) {
        INFO("seed " << seed);
        const ClusterTraffic traffic = cluster_of(seed);
        REQUIRE_FALSE(traffic.observations.empty());
        compare_lanes(traffic, seed);
        CaptureTraits traits;
        const AllSaid said = in_one_piece(traffic, traits);
        if (said.report.find("\"go-back-n-loss\"") != std::string::npos) ++with_episodes;
        if (said.report.find("\"incast\"") != std::string::npos) ++with_incasts;
    }
    CHECK(with_episodes > 10);  // there was something to get wrong
    CHECK(with_incasts > 0);
}

TEST_CASE("lanes make no difference: sample captures") {
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        ClusterTraffic traffic;
        qps::tests::for_each_packet(path, [&](const Packet& packet) { traffic.add(packet); });
        compare_lanes(traffic, traffic.observations.size());
    }
}

TEST_CASE("a batch that became shorter behind its sieves repeats nothing") {
    const ClusterTraffic traffic = cluster_of(3);
    const std::size_t half = traffic.observations.size() / 2, rest = std::min(half + 20, traffic.observations.size());
    const auto report = [&](bool shorter) {
        constexpr std::size_t kLanes = 4;
        ShardedAnalysis analysis({}, kLanes, false);
        REQUIRE(analysis.sieves() == kLanes);
        ShardedBatch batch(kLanes);
        for (std::size_t i = 0; i < half; ++i) batch.add(traffic.observations[i]);
        analysis.gate(batch);
        for (std::size_t lane = 0; lane < kLanes; ++lane) analysis.follow(batch, lane);
        analysis.visit(batch, {});
        batch.clear();
        for (std::size_t i = half; i < rest; ++i) batch.add(traffic.observations[i]);
        for (std::size_t sieve = 0; sieve < analysis.sieves(); ++sieve) analysis.sift(batch, sieve);
        if (shorter) {
            batch.clear();
            for (std::size_t i = half; i < rest - 5; ++i) batch.add(traffic.observations[i]);
        } else {
            batch.cut(rest - 5 - half);
        }
        analysis.gate(batch);
        for (std::size_t lane = 0; lane < kLanes; ++lane) analysis.follow(batch, lane);
        analysis.visit(batch, {});
        const Timeline timeline = analysis.finish();
        CHECK(timeline.packets == rest - 5);
        return std::pair{timeline.quality.copies(), timeline.quality.ambiguous_repetitions};
    };
    REQUIRE(rest == half + 20);
    CHECK(report(true) == report(false));
}

TEST_CASE("lanes that together need more than there is say so") {
    // More connections than one lane remembers every request of: each of the two has fewer.
    constexpr std::uint32_t kConnections = kFewConnections + kFewConnections / 2;
    ShardedAnalysis analysis({}, 2, false);
    ShardedBatch batch(2);
    for (std::uint32_t i = 0; i < kConnections; ++i) {
        Observation observation;
        observation.kind = ObservationKind::transport;
        observation.opcode = Opcode{0x04};
        observation.frame = FrameIndex{i + 1};
        observation.time = Instant{i};
        observation.flow = {
            {{0, 1 + i % 64}, AddressSpace::roce_v2}, {{0, 1000}, AddressSpace::roce_v2}, Qpn{i + 2}, {}};
        observation.flow_hash = FlowHash{}(observation.flow);
        observation.packet_hash = observation.flow_hash;
        batch.add(observation);
    }
    analysis.gate(batch);
    for (std::size_t lane = 0; lane < 2; ++lane) analysis.follow(batch, lane);
    analysis.visit(batch, {});
    CHECK(analysis.over());
}
