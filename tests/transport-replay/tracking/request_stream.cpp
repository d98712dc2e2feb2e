// Requests put in order: messages from packets that come in order, late, twice, or not at all.
#include <tests/support/catch.hpp>
#include <transport-replay/tracking/incident_log.hpp>
#include <transport-replay/tracking/request_stream.hpp>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr std::uint32_t kPmtu = 1024;
constexpr std::uint8_t kFirst = 0x00, kMiddle = 0x01, kLast = 0x02, kOnly = 0x04, kRead = 0x0c, kReadFirst = 0x0d,
                       kReadMiddle = 0x0e, kReadLast = 0x0f, kFetchAndAdd = 0x14;

// What one end asks for: packets in, what they were and which messages ended out.
struct RequestsOfOne {
    RequestStream stream;
    std::vector<Message> done;
    std::uint64_t clock = 0;

    Observation packet(std::uint8_t opcode, std::uint32_t psn, std::uint32_t length) {
        Observation made;
        made.opcode = static_cast<Opcode>(opcode);
        made.psn = Psn(psn);
        made.payload_length = length;
        made.time = Instant{static_cast<std::int64_t>(++clock) * 1000};
        made.frame = FrameIndex{clock};
        return made;
    }
    RequestArrival send(std::uint8_t opcode, std::uint32_t psn, std::uint32_t length = kPmtu) {
        return stream.send(packet(opcode, psn, length), kPmtu, done);
    }
    RequestArrival read(std::uint32_t psn, std::uint32_t length, std::uint32_t pmtu = kPmtu,
                        std::uint64_t address = 0x1000) {
        Observation request = packet(kRead, psn, 0);
        request.access = RemoteAccess{address, Rkey{7}, length};
        return stream.send(request, pmtu, done);
    }
    Acknowledged ack(std::uint32_t psn) { return stream.acknowledge(Psn(psn), packet(0x11, psn, 0), done); }
    bool response(std::uint8_t opcode, std::uint32_t psn, std::uint32_t length = kPmtu) {
        return stream.respond(packet(opcode, psn, length), kPmtu, {}, done).matched;
    }
};

}  // namespace

TEST_CASE("a message of three packets completes when its last PSN is acknowledged") {
    RequestsOfOne c;
    CHECK(c.send(kFirst, 10).arrival == Arrival::first);
    CHECK(c.send(kMiddle, 11).arrival == Arrival::in_order);
    CHECK(c.send(kLast, 12, 100).arrival == Arrival::in_order);
    CHECK(c.ack(11).messages == 0);
    CHECK(c.ack(12).messages == 1);
    REQUIRE(c.done.size() == 1);
    CHECK(c.done[0].outcome == Outcome::completed);
    CHECK(c.done[0].bytes == 2 * kPmtu + 100);
    CHECK(c.done[0].packets == 3);
    CHECK(c.done[0].first == Psn(10));
    CHECK(c.done[0].last == Psn(12));
    CHECK(c.stream.open() == 0);
}

TEST_CASE("one acknowledgment completes all messages before it, across the wrap of the PSN") {
    RequestsOfOne c;
    for (std::uint32_t i = 0; i < 10; ++i) c.send(kOnly, 0xfffffb + i);
    CHECK(c.ack(0xfffffb + 9).messages == 10);
    CHECK(c.stream.next() == Psn(5));
}

TEST_CASE("a gap that is filled joins the message") {
    RequestsOfOne c;
    c.send(kFirst, 1);
    CHECK(c.send(kLast, 4).missing == 2);
    CHECK(c.send(kMiddle, 3).arrival == Arrival::late);
    CHECK(c.send(kMiddle, 2).arrival == Arrival::late);
    CHECK(c.stream.open() == 1);
    CHECK(c.ack(4).unseen == 0);
    REQUIRE(c.done.size() == 1);
    CHECK(c.done[0].packets == 4);
    CHECK(c.done[0].missing == 0);
}

TEST_CASE("a gap between two messages that is filled leaves two messages") {
    RequestsOfOne c;
    c.send(kFirst, 1);
    c.send(kMiddle, 4);
    c.send(kLast, 5);
    c.send(kLast, 2);
    c.send(kFirst, 3);
    CHECK(c.ack(5).messages == 2);
    REQUIRE(c.done.size() == 2);
    CHECK(c.done[0].last == Psn(2));
    CHECK(c.done[1].first == Psn(3));
    CHECK(c.done[1].packets == 3);
}

TEST_CASE("a PSN that was on the wire before is a repetition, of its message while that is open") {
    RequestsOfOne c;
    c.send(kFirst, 1);
    c.send(kLast, 2);
    CHECK(c.send(kFirst, 1).arrival == Arrival::repeated);
    CHECK(c.send(kLast, 2).arrival == Arrival::repeated);
    c.ack(2);
    CHECK(c.done[0].retransmissions == 2);
    CHECK(c.done[0].bytes == 2 * kPmtu);
    CHECK(c.send(kLast, 2).arrival == Arrival::repeated);  // a duplicate request after its acknowledgment
    CHECK(c.done.size() == 1);
}

TEST_CASE("an acknowledgment of PSNs never seen says that the tap missed them") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    c.send(kOnly, 4);
    const Acknowledged acknowledged = c.ack(4);
    CHECK(acknowledged.unseen == 2);
    CHECK(acknowledged.messages == 2);
    c.send(kOnly, 5);
    const Acknowledged beyond = c.ack(8);
    CHECK(beyond.beyond == 3);
    CHECK(beyond.unseen == 3);
    CHECK(c.stream.next() == Psn(9));
    CHECK(c.send(kOnly, 9).arrival == Arrival::in_order);
}

TEST_CASE("a READ takes as many PSNs as its response has packets, and ends with the last of them") {
    RequestsOfOne c;
    c.read(100, 2500);
    CHECK(c.stream.next() == Psn(103));
    CHECK(c.send(kOnly, 103).arrival == Arrival::in_order);
    CHECK(c.response(kReadFirst, 100));
    CHECK(c.response(kReadMiddle, 101));
    CHECK(c.done.empty());
    CHECK(c.response(kReadLast, 102, 452));
    REQUIRE(c.done.size() == 1);
    CHECK(c.done[0].bytes == 2500);
    CHECK(c.done[0].outcome == Outcome::completed);
    CHECK(c.ack(103).messages == 1);
}

TEST_CASE("a READ seen before the path MTU was known learns its PSNs from its responses") {
    RequestsOfOne c;
    c.read(100, 2500, 0);
    CHECK(c.response(kReadFirst, 100));
    CHECK_FALSE(c.done.size() == 2);
    RequestStream stream;
    std::vector<Message> done;
    RequestsOfOne d;
    d.read(7, 2048, 0);
    CHECK(d.stream.next() == Psn(8));
    CHECK(d.response(kReadLast, 8));  // the first response was not captured
    CHECK(d.done.empty());            // whether the requester has it shows later
    CHECK(d.stream.next() == Psn(9));
    d.stream.finish(Outcome::open, d.done);
    REQUIRE(d.done.size() == 1);
    CHECK(d.done[0].outcome == Outcome::completed);
    CHECK(d.done[0].missing == 1);
}

TEST_CASE("a plain acknowledgment does not complete a READ or an ATOMIC, and what it passes is an implied NAK") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    c.read(2, 100);
    c.send(kOnly, 3);
    const Acknowledged acknowledged = c.ack(3);
    CHECK(acknowledged.messages == 2);  // the responder has both SENDs
    CHECK(acknowledged.passed_response);
    CHECK(c.stream.open() == 1);
    RequestsOfOne d;
    d.send(kFetchAndAdd, 1, 0);
    CHECK_FALSE(d.ack(1).passed_response);
    CHECK(d.done.empty());
    CHECK(d.response(0x12, 1, 0));
    CHECK(d.done.size() == 1);
}

TEST_CASE("a response acknowledges what was sent before its request") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    c.send(kOnly, 2);
    c.read(3, 10);
    CHECK(c.response(0x10, 3, 10));
    CHECK(c.done.size() == 3);
}

TEST_CASE("a fatal NAK fails its message and abandons what is behind it") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    c.send(kFirst, 2);
    c.send(kLast, 3);
    c.send(kOnly, 4);
    Observation nak = c.packet(0x11, 2, 0);
    nak.acknowledgment = Acknowledgment{0x62, Msn{1}};
    c.ack(1);
    const auto failed = c.stream.fail(Psn(2), nak);
    c.send(kMiddle, 5);  // was under way
    c.stream.finish(Outcome::abandoned, c.done);
    REQUIRE(failed);
    CHECK(failed->nak_code == 2);
    REQUIRE(c.done.size() == 4);
    CHECK(c.done[1].outcome == Outcome::failed);
    CHECK(c.done[1].packets == 2);
    CHECK(c.done[2].outcome == Outcome::abandoned);
}

TEST_CASE("what the requester gave up for says so, and what is behind it went with the queue pair") {
    for (const bool gave_up : {true, false}) {
        RequestsOfOne c;
        c.send(kOnly, 1);
        c.send(kFirst, 2);
        c.send(kLast, 3);
        c.send(kOnly, 4);
        c.stream.finish(Outcome::open, c.done, gave_up ? std::optional(Psn(3)) : std::nullopt);
        REQUIRE(c.done.size() == 3);
        CHECK(c.done[0].outcome ==
              Outcome::open);  // before it: answered, as the requester knows, or it would have been sent again
        CHECK(c.done[1].outcome == (gave_up ? Outcome::gave_up : Outcome::open));
        CHECK(c.done[2].outcome == (gave_up ? Outcome::abandoned : Outcome::open));
    }
}

TEST_CASE("a PSN far from everything is a queue pair that began anew") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    CHECK(c.send(kOnly, 0x500000).arrival == Arrival::restart);
    CHECK(c.done.size() == 1);
    CHECK(c.done[0].outcome == Outcome::abandoned);
    CHECK(c.ack(0x500000).messages == 1);
}

TEST_CASE("open messages are bounded") {
    RequestsOfOne c;
    for (std::uint32_t i = 0; i < RequestStream::kMaxOpen + 10; ++i) c.send(kOnly, i);
    CHECK(c.stream.open() == RequestStream::kMaxOpen);
    CHECK(c.stream.dropped() == 10);
    CHECK(c.done.size() == 10);
}

TEST_CASE("two READs in a row tell the path MTU by the distance of their PSNs") {
    RequestsOfOne c;
    c.read(100, 8192, 0);
    CHECK(c.read(108, 8192, 0).arrival == Arrival::in_order);
    CHECK(c.stream.inferred_pmtu() == 1024);
    CHECK(c.read(117, 8192, 0).arrival == Arrival::ahead);  // no path MTU explains nine packets
}

TEST_CASE("a READ that was overtaken takes back the path MTU that two others told by their distance") {
    RequestsOfOne c;
    c.read(100, 4096, 0, 0x1000);
    CHECK(c.read(108, 4096, 0, 0x3000).arrival == Arrival::in_order);
    CHECK(c.stream.inferred_pmtu() == 512);
    c.read(112, 4096, 512, 0x4000);  // within the one before it, by that path MTU
    CHECK(c.stream.inferred_pmtu() == 1024);
    CHECK(c.stream.next() == Psn(116));
    CHECK(c.read(104, 4096, 1024, 0x2000).arrival == Arrival::late);
    for (const std::uint32_t first : {100U, 104U, 108U, 112U}) {
        CHECK(c.response(kReadFirst, first));
        for (const std::uint32_t middle : {1U, 2U}) CHECK(c.response(kReadMiddle, first + middle));
        CHECK(c.response(kReadLast, first + 3));
    }
    REQUIRE(c.done.size() == 4);
    for (const Message& read : c.done) {
        CHECK(read.outcome == Outcome::completed);
        CHECK(read.retransmissions == 0);
        CHECK(read.missing == 0);
    }
}

TEST_CASE("a READ that asks for the rest of another one takes no path MTU back") {
    RequestsOfOne c;
    c.read(100, 4096, 0, 0x1000);
    c.read(108, 4096, 0, 0x3000);
    CHECK(c.stream.inferred_pmtu() == 512);
    const RequestArrival rest = c.read(102, 4096 - 1024, 512, 0x1000 + 1024);
    CHECK(rest.arrival == Arrival::repeated);
    CHECK(rest.partial_read);
    CHECK(c.stream.inferred_pmtu() == 512);
}

TEST_CASE("a READ that lacks a response keeps those behind it open until it is asked for again") {
    RequestsOfOne c;
    c.read(100, 2048);
    c.read(102, 2048);
    CHECK(c.response(kReadLast, 101));
    CHECK(c.response(kReadFirst, 102));
    CHECK(c.response(kReadLast, 103));
    CHECK(c.done.empty());
    const RequestArrival again = c.read(100, 2048);
    CHECK(again.arrival == Arrival::repeated);
    CHECK_FALSE(again.answered);
    CHECK(again.holes == 1);
    c.read(102, 2048);
    CHECK(c.response(kReadFirst, 100));
    CHECK(c.response(kReadLast, 101));
    CHECK(c.response(kReadFirst, 102));
    CHECK(c.response(kReadLast, 103));
    REQUIRE(c.done.size() == 2);
    CHECK(c.done[0].retransmissions == 1);
    CHECK(c.done[0].missing == 0);
    CHECK(c.done[0].bytes == 2048);
}

TEST_CASE("a READ that lacks a response and is not asked for again was missed by the tap") {
    RequestsOfOne c;
    c.read(100, 2048);
    CHECK(c.response(kReadLast, 101));
    std::uint32_t unseen = 0;
    for (std::uint32_t psn = 102; psn < 112; ++psn) {
        c.send(kOnly, psn);
        unseen += c.ack(psn).unseen_responses;
    }
    CHECK(unseen == 0);  // a slow requester notices later
    c.clock += 4000;
    c.send(kOnly, 112);
    CHECK(c.ack(112).unseen_responses == 1);
    CHECK(c.done.size() == 12);
    CHECK(c.read(100, 2048).missed_after_all == 1);  // or not
    CHECK(c.stream.open() == 0);
}

TEST_CASE("the rest of a READ that is asked for is no retransmission, unless it is asked for twice") {
    RequestsOfOne c;
    c.read(100, 4096);
    CHECK(c.response(kReadFirst, 100));
    const RequestArrival rest = c.read(102, 2048);
    CHECK(rest.arrival == Arrival::repeated);
    CHECK(rest.partial_read);
    CHECK_FALSE(c.read(102, 2048).partial_read);
}

TEST_CASE("a corrupt request was on the wire, and its message is not") {
    RequestsOfOne c;
    c.send(kFirst, 1);
    CHECK(c.stream.send_corrupt(c.packet(kMiddle, 2, kPmtu)).arrival == Arrival::ahead);
    CHECK(c.send(kLast, 3).arrival == Arrival::in_order);
    CHECK(c.send(kMiddle, 2).arrival == Arrival::late);
    CHECK(c.stream.send_corrupt(c.packet(kMiddle, 2, kPmtu)).arrival == Arrival::repeated);
    CHECK(c.ack(3).messages == 1);
    CHECK(c.done[0].packets == 3);
}

TEST_CASE("how many PSNs a corrupt READ takes is not known: its length may be what is wrong") {
    RequestsOfOne c;
    c.send(kOnly, 1);
    Observation corrupt = c.packet(kRead, 2, 0);
    corrupt.access = RemoteAccess{0x1000, Rkey{7}, 0x4000'0400};
    CHECK(c.stream.send_corrupt(corrupt).arrival == Arrival::ahead);
    CHECK(c.stream.next() == Psn(3));
    CHECK(c.send(kOnly, 4).missing == 1);
    CHECK(c.read(2, 2 * kPmtu).arrival == Arrival::late);
    CHECK(c.stream.next() == Psn(5));
}

TEST_CASE("PSNs behind a corrupt request, which may be a READ, are not missed by the tap where they are acknowledged") {
    for (const bool behind_read : {false, true}) {
        IncidentLog log;
        log.skip(Psn(2), 1, {}, true);
        if (behind_read) log.skip_behind_read(Psn(3), 2, {});
        else log.skip(Psn(3), 2);
        log.acknowledged(Psn(6), {}, {});
        const Judgement judged = log.judge({});
        CHECK(judged.gaps.tap == (behind_read ? 0U : 2U));
        CHECK(judged.gaps.undecided == (behind_read ? 2U : 0U));
        CHECK(judged.corrupt_taken == 1);
    }
}

TEST_CASE("a queue pair that began anew has nothing to do with the READs of the one before") {
    RequestsOfOne c;
    c.read(100, 2048);
    c.response(kReadFirst, 100);
    c.response(kReadLast, 101);
    c.send(kOnly, 0x500000);
    CHECK(c.send(kOnly, 101).arrival == Arrival::restart);
    CHECK(c.send(kOnly, 102).arrival == Arrival::in_order);
    CHECK(c.ack(102).messages == 2);
    const RequestArrival again = c.send(kOnly, 101);
    CHECK(again.arrival == Arrival::repeated);
    CHECK_FALSE(again.partial_read);
}

TEST_CASE("a response that was sent after those behind it answers another request, and is not late") {
    for (const bool again : {false, true}) {
        RequestsOfOne c;
        c.read(10, 3 * kPmtu);
        const auto respond = [&](std::uint8_t opcode, std::uint32_t psn, std::uint16_t id) {
            Observation made = c.packet(opcode, psn, kPmtu);
            made.ip_id = id;
            return c.stream.respond(made, kPmtu, {}, c.done);
        };
        CHECK(respond(kReadMiddle, 11, 101).skipped == 1);
        const Responded first = respond(kReadFirst, 10, again ? 102 : 100);
        CHECK(first.late == (again ? 0U : 1U));
        CHECK(first.withdrawn == (again ? 1U : 0U));
    }
}

TEST_CASE("responses from before the first request show that their READs had been asked for before") {
    RequestsOfOne c;
    const Observation earlier = c.packet(kReadLast, 13, kPmtu);  // kept until it was known whose requests it answers
    c.read(10, 2 * kPmtu);
    c.read(12, 2 * kPmtu);
    CHECK_FALSE(c.stream.respond(earlier, kPmtu, {}, c.done).matched);
    // What is still under way of the earlier round leaves no gap, and what answers the request is not late for it.
    CHECK(c.stream.respond(c.packet(kReadLast, 11, kPmtu), kPmtu, {}, c.done).skipped == 0);
    CHECK(c.stream.respond(c.packet(kReadFirst, 10, kPmtu), kPmtu, {}, c.done).late == 0);
    CHECK(c.response(kReadLast, 11));
    CHECK(c.response(kReadFirst, 12));
    CHECK(c.response(kReadLast, 13));
    CHECK(c.done.size() == 2);
}

TEST_CASE("a response inside of a READ to its first PSN answers a request from before the capture") {
    for (const bool again : {false, true}) {
        RequestsOfOne c;
        c.read(10, 3 * kPmtu);
        CHECK(c.stream.respond(c.packet(kReadMiddle, 11, kPmtu), kPmtu, {}, c.done).skipped == 1);
        const Responded first =
            c.stream.respond(c.packet(again ? kReadMiddle : kReadFirst, 10, kPmtu), kPmtu, {}, c.done);
        CHECK(first.late == (again ? 0U : 1U));
        CHECK(first.withdrawn == (again ? 1U : 0U));
    }
}

TEST_CASE("a READ of PSNs before the first request seen may have been asked for before the capture began") {
    for (const bool again : {false, true}) {
        RequestsOfOne c;
        c.send(kOnly, 20);
        CHECK(c.read(10, 3 * kPmtu).arrival == Arrival::late);
        if (again) c.stream.perhaps_again(Psn(10));
        CHECK(c.stream.respond(c.packet(kReadMiddle, 11, kPmtu), kPmtu, {}, c.done).skipped == (again ? 0U : 1U));
        CHECK(c.stream.respond(c.packet(kReadFirst, 10, kPmtu), kPmtu, {}, c.done).late == (again ? 0U : 1U));
    }
}
