// Marks are answered by CNPs, CNPs slow down the queue pair they name: between two adapters under a virtual clock.
#include <tests/support/catch.hpp>
#include <tests/support/verbs_pair.hpp>

using namespace qps;
using namespace qps::transport;
using namespace qps::transport::verbs;
using namespace qps::tests;

namespace {

// Every packet of a that may be marked, is; counts the CNPs that pass.
struct Marking {
    explicit Marking(VerbsPair& pair) {
        pair.network = [this](Flying& flown, bool from_a) {
            if (flown.packet.opcode == dissect::Opcode::cnp) {
                ++cnps;
                last = flown;
            }
            if (from_a && on && flown.ecn != Ecn::not_capable) flown.ecn = Ecn::congestion_experienced;
            return true;
        };
    }
    bool on = true;
    int cnps = 0;
    Flying last{};
};

AdapterSettings paced() { return {.dcqcn = DcqcnSettings{.line_rate = dissect::BitsPerSecond{10'000'000'000}}}; }

void write(VerbsPair& pair, dissect::Qpn qa, std::uint32_t length) {
    REQUIRE(pair.a.send(qa, 0, length, {.opcode = WrOpcode::rdma_write, .remote = at(pair.b, 0)}));
}

}  // namespace

TEST_CASE("a mark is answered by one CNP in a gap, which names the sender's queue pair") {
    VerbsPair pair;
    Marking marking(pair);
    const auto [qa, qb] = pair.pair();
    write(pair, qa, 2560);  // ten packets
    pair.converse();
    CHECK(marking.cnps == 1);
    CHECK(marking.last.packet.dest_qp == qa);
    CHECK(marking.last.packet.psn == dissect::Psn(0));
    CHECK_FALSE(marking.last.packet.ack_request);
    CHECK(marking.last.ecn == Ecn::not_capable);
    CHECK(marking.last.to.destination == v4(1));
    pair.now = pair.now + nanoseconds(49'999);
    write(pair, qa, 256);
    pair.converse();
    CHECK(marking.cnps == 1);
    pair.now = pair.now + nanoseconds(1);
    write(pair, qa, 256);
    pair.converse();
    CHECK(marking.cnps == 2);
    CHECK(pair.b.adapter.counts().cnps_sent == 2);
    CHECK(pair.a.adapter.counts().cnps_received == 2);
    CHECK(pair.a.adapter.query_qp(qa)->counts.cnps_received == 2);
    CHECK(pair.b.adapter.counts().marked == 12);
}

TEST_CASE("each queue pair has its own gap, CNPs, ACKs and groups are never answered") {
    VerbsPair pair;
    Marking marking(pair);
    const auto [qa, qb] = pair.pair();
    const auto [ra, rb] = pair.pair();
    write(pair, qa, 8);
    write(pair, ra, 8);
    pair.converse();
    CHECK(marking.cnps == 2);

    IncomingPacket in{.source = v4(1), .destination = v4(2), .ecn = Ecn::congestion_experienced};
    in.packet.opcode = dissect::Opcode::cnp;
    in.packet.dest_qp = qb;
    pair.now = pair.now + microseconds(100);
    pair.b.adapter.process(in, pair.now);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));
    CHECK(pair.b.adapter.counts().cnps_received == 1);

    in.packet.opcode = dissect::Opcode::rc_acknowledge;
    in.packet.acknowledgment = Acknowledgment{.syndrome = 0x1f};
    pair.b.adapter.process(in, pair.now);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));

    const auto ub = VerbsPair::datagram_qp(pair.b, dissect::Qkey{1});
    REQUIRE(pair.b.adapter.attach_mcast(ub, kGroup));
    REQUIRE(pair.b.receive(ub, 1, 0, 100));
    in.packet = {};
    in.packet.opcode = dissect::Opcode::ud_send_only;
    in.packet.dest_qp = dissect::kMulticastQpn;
    in.packet.datagram = Datagram{.key = dissect::Qkey{1}, .source_qp = dissect::Qpn{5}};
    in.destination = kGroup;
    pair.b.adapter.process(in, pair.now);
    CHECK(pair.b.received().size() == 1);
    CHECK_FALSE(pair.b.adapter.poll(pair.now));
}

TEST_CASE("a marked datagram is answered to the queue pair it came from") {
    VerbsPair pair;
    Marking marking(pair);
    const auto ua = VerbsPair::datagram_qp(pair.a, dissect::Qkey{1}),
               ub = VerbsPair::datagram_qp(pair.b, dissect::Qkey{1});
    REQUIRE(pair.b.receive(ub, 1, 0, 100));
    REQUIRE(pair.a.send(ua, 0, 8, {.ud = {.ah = handle_to(v4(2)), .remote_qpn = ub, .remote_qkey = dissect::Qkey{1}}}));
    pair.converse();
    CHECK(marking.cnps == 1);
    CHECK(marking.last.packet.dest_qp == ua);
    CHECK(pair.a.adapter.counts().cnps_received == 1);
}

TEST_CASE("a marked READ response slows down who answers") {
    VerbsPair pair({}, paced());
    pair.network = [](Flying& flown, bool from_a) {
        if (!from_a && flown.ecn != Ecn::not_capable) flown.ecn = Ecn::congestion_experienced;
        return true;
    };
    const auto [qa, qb] = pair.pair();
    REQUIRE(pair.a.send(qa, 0, 8, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    pair.converse();
    CHECK(pair.a.adapter.counts().cnps_sent == 1);
    CHECK(pair.a.sent().size() == 1);
    REQUIRE(pair.a.send(qa, 0, 8000, {.opcode = WrOpcode::rdma_read, .remote = at(pair.b, 0)}));
    pair.converse();
    REQUIRE(pair.b.adapter.query_qp(qb)->rate);
    CHECK(*pair.b.adapter.query_qp(qb)->rate == dissect::BitsPerSecond{5'000'000'000});
    CHECK(pair.a.sent().empty());  // the rest waits for its time
    REQUIRE(pair.b.adapter.poll_at());
    pair.converse_for(microseconds(100'000));
    CHECK(pair.a.sent().size() == 1);
}

TEST_CASE("DCQCN: packets leave at the rate, and at line rate nothing waits") {
    VerbsPair pair(paced());
    Marking marking(pair);
    const auto [qa, qb] = pair.pair();
    write(pair, qa, 256);
    CHECK(pair.a.adapter.poll_at() == kAtOnce);
    pair.converse();
    REQUIRE(marking.cnps == 1);
    CHECK(*pair.a.adapter.query_qp(qa)->rate == dissect::BitsPerSecond{5'000'000'000});
    marking.on = false;

    // 256 + 58 bytes at 5 Gbit/s take 503 ns: in 20 us some 40 packets, and what silence saved.
    write(pair, qa, 256 * 200);
    const std::uint64_t before = pair.a.adapter.query_qp(qa)->counts.packets_sent;
    pair.converse_for(microseconds(20));
    const std::uint64_t passed = pair.a.adapter.query_qp(qa)->counts.packets_sent - before;
    CHECK(passed >= 39);
    CHECK(passed <= 62);
    pair.converse_for(microseconds(100'000));
    CHECK(pair.a.sent().size() == 2);
    write(pair, qa, 8);
    pair.converse();
    CHECK_FALSE(pair.a.adapter.query_qp(qa)->rate);  // recovered
}

TEST_CASE("one that is slowed down does not hold up another, rate_control says who is paced") {
    VerbsPair pair(paced());
    Marking marking(pair);
    const auto [qa, qb] = pair.pair();
    const auto [ra, rb] = pair.pair();
    REQUIRE(pair.a.adapter.modify_qp(ra, {.rate_control = false}));
    write(pair, qa, 256);
    write(pair, ra, 256);
    pair.converse();
    CHECK(marking.cnps == 2);
    CHECK(pair.a.adapter.query_qp(qa)->rate);
    CHECK_FALSE(pair.a.adapter.query_qp(ra)->rate);
    marking.on = false;
    write(pair, qa, 256 * 100);
    write(pair, ra, 256 * 100);
    pair.converse();
    const auto done = pair.a.sent();
    REQUIRE(done.size() == 3);
    CHECK(done[2].qp_num == ra);

    VerbsPair plain;
    const auto [pa, pb] = plain.pair();
    REQUIRE(plain.a.adapter.modify_qp(pa, {.rate_control = true}));
    IncomingPacket in{.source = v4(2), .destination = v4(1)};
    in.packet.opcode = dissect::Opcode::cnp;
    in.packet.dest_qp = pa;
    plain.a.adapter.process(in, plain.now);
    CHECK(plain.a.adapter.query_qp(pa)->rate);
    in.source = v4(9);
    plain.a.adapter.process(in, plain.now);
    CHECK(plain.a.refused(Refusal::source) == 1);
}

TEST_CASE("a timer that ends while the rate lets nothing go does not ask to be called again and again") {
    AdapterSettings slow;
    slow.dcqcn = DcqcnSettings{.line_rate = dissect::BitsPerSecond{10'000},
                               .min_rate = dissect::BitsPerSecond{1'000},
                               .rate_period = microseconds(100'000'000)};
    VerbsPair pair(slow, AdapterSettings{});
    Marking marking(pair);
    const auto [qa, qb] = pair.pair();
    write(pair, qa,
          8);  // marked: from now on limited to so little that the next packet takes longer than the ACK timeout
    pair.converse();
    REQUIRE(marking.cnps == 1);
    pair.network = [](Flying&, bool) { return false; };
    write(pair, qa, 8);
    pair.converse();
    const auto timeout = pair.a.adapter.poll_at();
    REQUIRE(timeout);
    pair.now = std::max(pair.now, *timeout);
    int calls = 0;
    for (; calls < 20 && pair.a.adapter.poll_at() && *pair.a.adapter.poll_at() <= pair.now; ++calls) pair.converse();
    CHECK(calls < 20);
}

TEST_CASE("many queue pairs share what may be in flight, and none is left without") {
    struct Row {
        std::size_t queue_pairs;
        std::size_t packets;  // before the first answer
    };
    for (const Row& row : {Row{1, 512}, Row{4, 2048}, Row{16, 2048}, Row{64, 2048}, Row{128, 4096}}) {
        VerbsPair pair;
        pair.network = [](Flying&, bool) { return false; };
        std::vector<std::pair<dissect::Qpn, dissect::Qpn>> made;
        for (std::size_t i = 0; i < row.queue_pairs; ++i)
            made.emplace_back(*pair.a.adapter.create_qp(pair.a.init()), *pair.b.adapter.create_qp(pair.b.init()));
        for (const auto& [qa, qb] : made) pair.connect(qa, qb);
        for (const auto& [qa, qb] : made)
            for (int i = 0; i < 3; ++i) write(pair, qa, 65'536);  // 256 packets each
        std::size_t sent = 0;
        while (pair.a.adapter.poll(pair.now)) ++sent;
        INFO(row.queue_pairs);
        CHECK(sent == row.packets);
    }
}
