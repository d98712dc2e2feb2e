// Every passive check can fail: for each at least two healthy captures, on which it passes or has nothing to look at,
// and mutations that break its rule in ways that differ, on which it fails; and captures that nearly break it, on which
// it does not. What was killed is a table of docs/mutants.md (QPSCOPE_REWRITE_GOLDEN=1 writes it).
#include <tests/conformance/mutant_table.hpp>
#include <tests/conformance/passive_mutants.hpp>

#include <map>
#include <set>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::conformance;
using namespace qps::tests;

namespace {

using Results = std::vector<CheckResult>;

const CheckResult& result_of(const Results& results, std::string_view id) {
    const auto found = std::ranges::find(results, find_check(id), &CheckResult::check);
    REQUIRE(found != results.end());
    return *found;
}

const PassiveMutants& passive_mutants() {
    static const PassiveMutants kAll = [] {
        PassiveMutants all;
        for (auto* family : {recorded_format_mutants, recorded_responder_mutants, recorded_requester_mutants,
                             recorded_management_mutants, recorded_framing_mutants, recorded_placement_mutants,
                             recorded_rdmap_mutants, recorded_nvme_set_up_mutants, recorded_nvme_capsule_mutants,
                             recorded_nvme_data_mutants, recorded_nvme_response_mutants, edited_mutants})
            std::ranges::move(family(), std::back_inserter(all));
        return all;
    }();
    return kAll;
}

NearMisses near_misses() {
    NearMisses all;
    for (auto* family : {recorded_format_near_misses, recorded_responder_near_misses, recorded_requester_near_misses,
                         recorded_management_near_misses, recorded_iwarp_near_misses, recorded_nvme_near_misses})
        std::ranges::move(family(), std::back_inserter(all));
    return all;
}

// What is wrong with a capture is no failure of anybody: cut packets and what came before leave things open.
bool only_leaves_open(std::string_view id) { return id == "TRC-02" || id == "TRC-03"; }

using Pairs = std::set<std::pair<std::string_view, std::string_view>>;

// A mutant of the first fails the second, too, where `both` says so; else no other check of these families.
void fail_alone(const PassiveMutants& mutants, bool (*is_of)(CheckFamily), const Pairs& both) {
    for (const PassiveMutant& mutant : mutants) {
        RecordedCapture capture = mutant.healthy();
        mutant.harm(capture);
        for (const CheckResult& result : check_capture(capture)) {
            if (result.verdict != Verdict::fail || result.check->id == mutant.id ||
                both.contains({mutant.id, result.check->id}))
                continue;
            INFO(mutant.id << ": " << mutant.what << ": " << result.check->id << ": " << result.reason);
            CHECK_FALSE(is_of(result.check->family));
        }
    }
}

}  // namespace

TEST_CASE("every passive check fails for each mutant, passes where nothing is wrong, and the manual has the count") {
    std::map<std::string, Killed> killed;
    for (const PassiveMutant& mutant : passive_mutants()) {
        INFO(mutant.id << ": " << mutant.what);
        RecordedCapture capture = mutant.healthy();
        const Results healthy = check_capture(capture);
        const CheckResult& before = result_of(healthy, mutant.id);
        INFO("healthy: " << name(before.verdict) << ": " << before.reason);
        CHECK((before.verdict == Verdict::pass || before.verdict == Verdict::not_applicable));
        mutant.harm(capture);
        const Results broken = check_capture(capture);
        const CheckResult& after = result_of(broken, mutant.id);
        INFO("mutant: " << name(after.verdict) << ": " << after.reason << " (" << after.examined << ")");
        const bool dead = after.verdict == (only_leaves_open(mutant.id) ? Verdict::inconclusive : Verdict::fail);
        CHECK(dead);
        CHECK_FALSE(after.reason.empty());
        add_mutant(killed[std::string(mutant.id)], mutant.what, dead);
    }
    check_manual(kPassiveHead, killed);
}

TEST_CASE("what breaks one rule of iWARP fails its check, and no other") {
    // The same bytes break both.
    for (const PassiveMutants& mutants :
         {recorded_framing_mutants(), recorded_placement_mutants(), recorded_rdmap_mutants()})
        fail_alone(mutants, is_of_iwarp, {{"RDM-08", "DDP-08"}});
}

TEST_CASE("what breaks one rule of NVMe over RDMA fails its check, and no other of them") {
    // A record format that does not exist is wrong in the REQ, and in who accepts it.
    for (const PassiveMutants& mutants : {recorded_nvme_set_up_mutants(), recorded_nvme_capsule_mutants(),
                                          recorded_nvme_data_mutants(), recorded_nvme_response_mutants()})
        fail_alone(mutants, is_of_storage, {{"NVME-01", "NVME-09"}, {"NVME-09", "NVME-01"}});
}

TEST_CASE("what nearly breaks the rule of a passive check is not a failure") {
    std::set<std::string_view> near;
    for (const NearMiss& miss : near_misses()) {
        near.insert(miss.id);
        INFO(miss.id << ": " << miss.what);
        const Results results = check_capture(miss.make());
        const CheckResult& result = result_of(results, miss.id);
        INFO(name(result.verdict) << ": " << result.reason << " (" << result.examined << ")");
        CHECK(name(result.verdict) == name(miss.verdict));
    }
    CHECK(near.size() >= 30);
}

TEST_CASE("where PSNs wrap, every passive check has the verdict that it has where they do not") {
    for (const RecordedCapture& capture :
         {rping(), rping_ipv6(), writes(), reads(), atomics(), many_queue_pairs(), bidirectional(), unreliable(),
          losing(), sample("loss_read"), sample("err_mixed"), sample("nvme_rdma")}) {
        const Results plain = check_capture(capture);
        const Results wrapped = check_capture(wrapping(capture));
        REQUIRE(plain.size() == wrapped.size());
        for (std::size_t i = 0; i < plain.size(); ++i) {
            INFO(plain[i].check->id << ": " << wrapped[i].reason << " / " << plain[i].reason);
            CHECK(name(wrapped[i].verdict) == name(plain[i].verdict));
            CHECK(wrapped[i].examined == plain[i].examined);
        }
    }
}

TEST_CASE("where one device is judged, it fails for what it did, and its peer does not") {
    std::size_t told_apart = 0;
    for (const PassiveMutant& mutant : passive_mutants()) {
        if (mutant.id.starts_with("TRC")) continue;  // of the capture, not of a host
        INFO(mutant.id << ": " << mutant.what);
        RecordedCapture capture = mutant.healthy();
        mutant.harm(capture);
        std::set<qps::transport::Address> hosts;
        Packet packet;
        qps::transport::Observation observation;
        for (const RecordedFrame& frame : capture.frames) {
            decode(frame.frame(1), packet);
            qps::transport::observe(packet, observation);
            using enum qps::transport::ObservationKind;
            if (observation.kind == transport || observation.kind == stream) hosts.insert(observation.flow.source);
        }
        CHECK(hosts.size() >= 2);
        std::uint64_t failures = 0;
        std::size_t accused = 0;
        for (const qps::transport::Address& host : hosts) {
            const CheckResult result = result_of(check_capture(capture, host), mutant.id);
            if (result.verdict == Verdict::fail) ++accused;
            failures += result.failures;
        }
        CHECK(accused >= 1);
        if (accused < hosts.size()) ++told_apart;
        CHECK(failures == result_of(check_capture(capture), mutant.id).failures);
    }
    CHECK(told_apart >= 80);
}

TEST_CASE("no passive check lacks two mutants that differ") {
    std::map<std::string_view, std::set<std::string>> ways;
    for (const PassiveMutant& mutant : passive_mutants()) {
        INFO(mutant.id << ": " << mutant.what);
        CHECK(ways[mutant.id].insert(mutant.what).second);
    }
    for (const CheckRow& row : checks()) {
        INFO(row.id);
        const std::size_t count = ways.contains(row.id) ? ways[row.id].size() : 0;
        if (row.passive() && row.exempt.empty()) CHECK(count >= 2);
        else CHECK(count == 0);
        CHECK(is_decided_passively(row) == (count != 0));
    }
}
