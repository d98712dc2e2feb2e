// The reconstruction of the real captures: connections joined, messages counted, losses and recoveries told.
#include <tests/support/catch.hpp>
#include <tests/support/observations.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <map>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

struct Followed {
    Timeline timeline;
    std::map<Outcome, std::uint64_t> outcomes;
    std::uint64_t messages(MessageKind kind) const { return timeline.totals.messages[static_cast<std::size_t>(kind)]; }
};

// rdma: without what programs told each other over TCP.
enum class Heard { all, rdma };

Followed follow(const std::string& name, Heard heard = Heard::all) {
    Followed result;
    AnalysisSettings settings;
    settings.message = [&](ConnectionId, End, const Message& message) { ++result.outcomes[message.outcome]; };
    Analysis analysis(settings);
    const Drops drops = qps::tests::for_each_observation(name, [&](const Observation& observation) {
        if (heard == Heard::all || observation.kind != ObservationKind::stream) analysis.observe(observation);
    });
    result.timeline = analysis.finish(drops);
    return result;
}

std::size_t episodes(const Timeline& timeline, RecoveryKind kind) {
    return static_cast<std::size_t>(std::ranges::count(timeline.recoveries, kind, &Recovery::kind));
}

}  // namespace

TEST_CASE("twenty writes of 8 KiB are twenty messages of one connection") {
    Followed f = follow("write_8k", Heard::rdma);
    REQUIRE(f.timeline.connections.size() == 1);
    const Connection& connection = f.timeline.connections[0];
    CHECK(connection.confidence == Confidence::strong);
    CHECK(connection.joined_by == JoinedBy::traffic);
    CHECK(connection.ends[0].qpn == Qpn{28});
    CHECK(connection.ends[1].qpn == Qpn{28});
    CHECK(f.messages(MessageKind::write) == 20);
    CHECK(f.outcomes[Outcome::completed] == 20);
    CHECK(f.timeline.totals.message_bytes == 20 * 8192);
    CHECK(f.timeline.totals.retransmitted_packets == 0);
    CHECK(connection.way(End::a).incidents->gaps == Gaps{});
    CHECK(f.timeline.recoveries.empty());
}

TEST_CASE("READs take their bytes from the responses") {
    Followed f = follow("read_8k");
    CHECK(f.messages(MessageKind::read) == 20);
    CHECK(f.timeline.totals.message_bytes == 20 * 8192);
    CHECK(f.timeline.connections.size() == 1);
    CHECK(f.timeline.connections[0].way(End::a).most_reads == 5);
}

TEST_CASE("eight queue pairs between two hosts are eight connections, numbered without holes") {
    const Followed f = follow("multi_qp", Heard::rdma);
    REQUIRE(f.timeline.connections.size() == 8);
    for (std::uint32_t i = 0; i < 8; ++i) {
        const Connection& connection = f.timeline.connections[i];
        CHECK(connection.uid == ConnectionId{i + 1});
        CHECK(connection.confidence == Confidence::strong);
        CHECK(connection.way(End::a).messages_of(MessageKind::write) == 20);
        CHECK(connection.way(End::b).acks == 20);
    }
}

TEST_CASE("connections of the connection manager are certain, with the same QPN at both ends and side by side") {
    const Followed rping = follow("rping_v4");
    REQUIRE(rping.timeline.connections.size() == 1);
    CHECK(rping.timeline.connections[0].confidence == Confidence::certain);
    CHECK(rping.timeline.connections[0].cm_attempt == 0);
    CHECK(rping.timeline.connections[0].released);
    CHECK(rping.messages(MessageKind::send) == 16);
    CHECK(rping.messages(MessageKind::read) == 4);
    CHECK(rping.messages(MessageKind::write) == 4);
    CHECK(rping.timeline.totals.management == 5);
    const Followed four = follow("ucmatose");
    CHECK(four.timeline.connections.size() == 4);
    CHECK(std::ranges::all_of(four.timeline.connections,
                              [](const Connection& c) { return c.joined_by == JoinedBy::connection_manager; }));
}

TEST_CASE("datagrams name both ends, and UC is joined where only one other way is there") {
    const Followed ud = follow("ud_pingpong");
    REQUIRE(ud.timeline.connections.size() == 1);
    CHECK(ud.timeline.connections[0].joined_by == JoinedBy::datagram);
    CHECK(ud.messages(MessageKind::send) == 20);
    Followed uc = follow("uc_pingpong", Heard::rdma);
    REQUIRE(uc.timeline.connections.size() == 1);
    CHECK(uc.timeline.connections[0].confidence == Confidence::likely);
    CHECK(uc.messages(MessageKind::send) == 20);
    CHECK(uc.outcomes[Outcome::sent] == 20);
}

TEST_CASE("losses: every NAK begins an episode, and what was lost upstream of the tap was lost by the network") {
    const Followed f = follow("loss_write");
    CHECK(f.messages(MessageKind::write) == 40);
    CHECK(f.timeline.totals.sequence_naks == 21);
    // Twelve were answered; seven times the requester waited for its timer; twice it went back between the two.
    CHECK(episodes(f.timeline, RecoveryKind::sequence_nak) == 12);
    CHECK(episodes(f.timeline, RecoveryKind::timeout) == 7);
    CHECK(episodes(f.timeline, RecoveryKind::undecided) == 2);
    CHECK(std::ranges::all_of(f.timeline.recoveries, &Recovery::asked));
    const auto kind_at = [&](std::uint64_t frame) {
        const auto found = std::ranges::find(f.timeline.recoveries, FrameIndex{frame}, &Recovery::resumed);
        REQUIRE(found != f.timeline.recoveries.end());
        return found->kind;
    };
    for (const std::uint64_t frame : {664U, 1721U})
        CHECK(kind_at(frame) == RecoveryKind::sequence_nak);  // 0.45 and 6.0 ms of silence
    for (const std::uint64_t frame : {778U, 1133U})
        CHECK(kind_at(frame) == RecoveryKind::timeout);  // 68 ms after the NAK
    for (const std::uint64_t frame : {440U, 1242U}) CHECK(kind_at(frame) == RecoveryKind::undecided);
    REQUIRE(f.timeline.connections[0].way(End::a).incidents->ack_timer);
    CHECK(f.timeline.connections[0].way(End::a).incidents->ack_timer->exponent == 14);
    CHECK(f.timeline.totals.retransmitted_packets == 1486);
    std::uint64_t resent = 0, first_seen = 0;
    for (const Recovery& episode : f.timeline.recoveries) resent += episode.resent, first_seen += episode.first_seen;
    CHECK(resent - first_seen == 1486);
    CHECK(first_seen == 17);
    const Way& requests = f.timeline.connections[0].way(End::a);
    CHECK(requests.incidents->gaps.skipped == 17);
    CHECK(requests.incidents->gaps.network == 17);
    CHECK(requests.completed == 40);
    CHECK(
        std::ranges::all_of(f.timeline.recoveries, [](const Recovery& r) { return r.end == RecoveryEnd::recovered; }));
}

TEST_CASE("READs whose responses were lost are asked for again, each episode once, and no byte counts twice") {
    const Followed f = follow("loss_read");
    CHECK(f.messages(MessageKind::read) == 40);
    CHECK(episodes(f.timeline, RecoveryKind::read_retry) + episodes(f.timeline, RecoveryKind::timeout) > 20);
    const Connection& connection = f.timeline.connections.back();
    CHECK(connection.way(End::a).message_bytes == 40 * 16384);
    CHECK(connection.way(End::a).completed == 40);
    CHECK(connection.way(End::b).incidents->response_gaps.tap == 0);
    CHECK(connection.way(End::b).incidents->response_gaps.network ==
          60);  // five others were not taken, and had passed the tap
    CHECK(f.timeline.totals.retransmitted_packets == 157);
}

TEST_CASE("packets that the network doubles are no timeouts") {
    const Followed f = follow("dup_write");
    CHECK(f.timeline.totals.retransmitted_packets == 2);  // a copy was not retransmitted
    CHECK(f.timeline.totals.duplicated_packets == 46);
    CHECK(episodes(f.timeline, RecoveryKind::sequence_nak) == 0);
    CHECK(f.messages(MessageKind::write) == 30);
}

TEST_CASE("corrupt packets were on the wire and are lost by the network") {
    const Followed f = follow("corrupt_send");
    const Connection& connection = f.timeline.connections.back();
    CHECK(connection.way(End::a).incidents->corrupt == 31);
    CHECK(connection.way(End::a).messages_of(MessageKind::send) == 30);
    CHECK(connection.way(End::a).incidents->gaps.network == connection.way(End::a).incidents->gaps.skipped);
    CHECK(f.timeline.totals.retransmitted_packets == 538);
}

TEST_CASE("RNR NAKs until the requester gives up are one episode that ends so") {
    const Followed f = follow("err_rnr");
    REQUIRE(f.timeline.recoveries.size() == 1);
    const Recovery& record = f.timeline.recoveries[0];
    CHECK(record.kind == RecoveryKind::rnr_nak);
    CHECK(record.triggers == 7);
    CHECK(record.end == RecoveryEnd::gave_up);
    CHECK(record.rnr_timer == 12);
}

TEST_CASE("requests to a queue pair that is not there time out until the requester gives up") {
    const Followed f = follow("err_bad_qpn");
    REQUIRE(f.timeline.recoveries.size() == 1);
    const Recovery& record = f.timeline.recoveries[0];
    CHECK(record.kind == RecoveryKind::timeout);
    CHECK(record.triggers == 3);
    CHECK(record.end == RecoveryEnd::stopped);  // three retries are all that there were, which nothing tells
    CHECK_FALSE(record.inferred);               // the host is heard, by TCP
    CHECK(f.timeline.totals.timeouts == 3);
}

TEST_CASE("a fatal NAK names the request that it refused") {
    const Followed f = follow("err_bad_rkey");
    REQUIRE(f.timeline.fatalities.size() == 1);
    REQUIRE(f.timeline.fatalities[0].request);
    CHECK(f.timeline.fatalities[0].nak_code == 2);
    CHECK(f.timeline.fatalities[0].request->verb == Verb::write);
    CHECK(f.timeline.connections[0].failed);
}

TEST_CASE("a retransmission after which the first sending is answered too was spurious") {
    const Followed f = follow("err_mixed");
    REQUIRE(f.timeline.recoveries.size() == 1);
    CHECK(f.timeline.recoveries[0].spurious());
    CHECK(f.messages(MessageKind::atomic) == 8);
    CHECK(f.messages(MessageKind::write_imm) == 4);
}
