// The tracker on the real captures: connections joined, messages counted, losses seen.
#include <tests/support/catch.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/tracker.hpp>

#include <map>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

struct Followed {
    std::map<Verb, std::uint64_t> messages;  // distinct ones
    std::map<Outcome, std::uint64_t> outcomes;
    std::uint64_t bytes = 0;
    std::uint64_t pairs = 0;   // flows that have a partner, halved
    std::uint64_t single = 0;  // flows of reliable services without one
    FlowCounts total;
};

Followed follow(const std::string& name) {
    Followed result;
    Tracker tracker([&](FlowId, const Message& message) {
        ++result.messages[message.verb];
        ++result.outcomes[message.outcome];
        result.bytes += message.bytes;
    });
    qps::tests::for_each_observation(name, [&](const Observation& observation) { tracker.observe(observation); });
    tracker.finish();
    for (const Flow& flow : tracker.flows()) {
        if (flow.partner) ++result.pairs;
        else if (flow.service == Service::rc) ++result.single;
        result.total.retransmitted += flow.counts.retransmitted;
        result.total.sequence_naks += flow.counts.sequence_naks;
        result.total.rnr_naks += flow.counts.rnr_naks;
        result.total.fatal_naks += flow.counts.fatal_naks;
        result.total.acks += flow.counts.acks;
        result.total.unseen += flow.counts.unseen;
        result.total.unmatched += flow.counts.unmatched;
        result.total.bad_icrc += flow.counts.bad_icrc;
    }
    result.pairs /= 2;
    return result;
}

}  // namespace

TEST_CASE("twenty writes of 8 KiB are twenty messages of one connection") {
    Followed f = follow("write_8k");
    CHECK(f.pairs == 1);
    CHECK(f.single == 0);
    CHECK(f.messages[Verb::write] == 20);
    CHECK(f.outcomes[Outcome::completed] == 20);
    CHECK(f.bytes == 20 * 8192);
    CHECK(f.total.retransmitted == 0);
    CHECK(f.total.unseen == 0);
    CHECK(f.total.unmatched == 0);
}

TEST_CASE("twenty reads of 8 KiB complete with their responses") {
    Followed f = follow("read_8k");
    CHECK(f.pairs == 1);
    CHECK(f.messages[Verb::read_request] == 20);
    CHECK(f.outcomes[Outcome::completed] == 20);
    CHECK(f.bytes == 20 * 8192);
}

TEST_CASE("eight queue pairs between two hosts are eight connections") {
    Followed f = follow("multi_qp");
    CHECK(f.pairs == 8);
    CHECK(f.single == 0);
    CHECK(f.total.unmatched == 0);
}

TEST_CASE("the same queue pair number at both ends is no obstacle") {
    Followed f = follow("rping_v4");
    CHECK(f.pairs == 1);
    CHECK(f.single == 0);
    CHECK(f.outcomes[Outcome::completed] > 0);
    CHECK(f.outcomes[Outcome::open] == 0);
}

TEST_CASE("losses show as sequence NAKs and retransmissions, and every message completes once") {
    Followed f = follow("loss_write");
    CHECK(f.pairs == 1);
    CHECK(f.total.sequence_naks > 0);
    CHECK(f.total.retransmitted > 100);
    CHECK(f.messages[Verb::write] == f.outcomes[Outcome::completed]);
    CHECK(f.bytes == f.messages[Verb::write] * 16384);
}

TEST_CASE("errors fail their message: NAKs for a wrong key, RNR until the requester gives up") {
    Followed key = follow("err_bad_rkey");
    CHECK(key.total.fatal_naks == 1);
    CHECK(key.outcomes[Outcome::failed] == 1);
    Followed rnr = follow("err_rnr");
    CHECK(rnr.total.rnr_naks == 7);
    CHECK(rnr.total.retransmitted == 6);
    CHECK(rnr.outcomes[Outcome::open] == 1);
}

TEST_CASE("packets with a wrong ICRC are not followed, their retransmissions are") {
    Followed f = follow("corrupt_send");
    CHECK(f.total.bad_icrc == 31);
    CHECK(f.messages[Verb::send] == 31);    // thirty of 16 KiB, and the last frame of the capture on another queue pair,
    CHECK(f.outcomes[Outcome::open] == 1);  // which nobody answers any more
    CHECK(f.outcomes[Outcome::completed] == 30);
}
