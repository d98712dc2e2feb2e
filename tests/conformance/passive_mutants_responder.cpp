// Captures that break rules of responders, and near misses.
#include <tests/conformance/passive_mutants.hpp>

namespace qps::tests {

using transport::conformance::Verdict;

namespace {

constexpr std::uint64_t kFiveCredits = 5;

// That response comes so much behind the answer after it.
void overtaken(RecordedCapture& capture, std::string_view response, std::string_view by, std::int64_t later) {
    const auto responses = matching(capture, response);
    REQUIRE_FALSE(responses.empty());
    const std::size_t place = responses[responses.size() / 2];
    RecordedFrame& late = capture.frames[place];
    for (const std::size_t answer : matching(capture, by)) {
        const RecordedFrame& other = capture.frames[answer];
        const bool same_way = field_of(other, "infiniband.bth.destqp") == field_of(late, "infiniband.bth.destqp") &&
                              field_of(other, "ip.src") == field_of(late, "ip.src") &&
                              field_of(other, "ipv6.src") == field_of(late, "ipv6.src");
        if (answer <= place || !same_way) continue;
        late.time = other.time + later;
        return sort_by_time(capture);
    }
    FAIL("no later answer");
}

// An ACK the way of a READ's response, with the response's PSN, so much before it or behind it.
void acknowledge_read(RecordedCapture& capture, std::string_view response, std::int64_t later) {
    const auto responses = matching(capture, response);
    REQUIRE_FALSE(responses.empty());
    const std::size_t answered = responses[responses.size() / 2];
    const RecordedFrame& answer = capture.frames[answered];
    for (const std::size_t place : matching(capture, kAcks)) {
        RecordedFrame ack = capture.frames[place];
        if (place < answered) continue;
        const auto same = [&](std::string_view field) { return field_of(ack, field) == field_of(answer, field); };
        if (!same("infiniband.bth.destqp") || !same("ip.src") || !same("ipv6.src")) continue;
        set_field(ack, "infiniband.bth.psn", field_of(answer, "infiniband.bth.psn"));
        ack.time = answer.time + later;
        capture.frames.push_back(ack);
        return sort_by_time(capture);
    }
    FAIL("no ACK this way");
}

// The answer of an ATOMIC is lost before the tap, that of the next is not, and the first one is asked for again after
// 67 ms.
RecordedCapture without_answer() {
    RecordedCapture capture = atomics();
    const auto answers = matching(capture, kAtomicAcks);
    const std::size_t lost = answers[answers.size() / 2], next = answers[answers.size() / 2 + 1];
    RecordedFrame answer = capture.frames[lost];
    std::size_t asked = lost - 1;
    while (field_of(capture.frames[asked], "infiniband.bth.psn") != field_of(answer, "infiniband.bth.psn")) --asked;
    RecordedFrame request = capture.frames[asked];
    delay_behind(capture, next, 100 * kMs);
    request.time = capture.frames[next].time + 67 * kMs;
    answer.time = request.time + kMs / 100;
    capture.frames.erase(capture.frames.begin() + static_cast<std::ptrdiff_t>(lost));
    capture.frames.push_back(request);
    capture.frames.push_back(answer);
    sort_by_time(capture);
    return capture;
}

void announce_credits(RecordedCapture& capture, std::string_view by) {
    if (by != "rep") set_all(capture, "infiniband.cm.request", "infiniband.cm.req.e2eflowctrl", 1);
    if (by != "req") set_all(capture, "infiniband.cm.reply", "infiniband.cm.rep.e2eflowctrl", 1);
}

RecordedCapture with_credits() {
    RecordedCapture capture = rping();
    announce_credits(capture, "both");
    set_all(capture, "infiniband.aeth", "infiniband.aeth.syndrome", kFiveCredits);
    return capture;
}

// From the middle one on, the ACKs the same way count one more.
void count_one_more(RecordedCapture& capture, std::string_view address) {
    const auto acks = matching(capture, kAcks);
    const std::uint64_t to = field_of(capture.frames[acks[acks.size() / 2]], address);
    for (std::size_t i = acks.size() / 2; i < acks.size(); ++i) {
        RecordedFrame& frame = capture.frames[acks[i]];
        if (field_of(frame, address) == to)
            set_field(frame, "infiniband.aeth.msn", field_of(frame, "infiniband.aeth.msn") + 1);
    }
}

// An ACK in the middle acknowledges so many PSNs more than were sent.
RecordedCapture acknowledged_ahead(std::uint64_t more) {
    RecordedCapture capture = rping();
    stretch(capture, 10);
    RecordedFrame& ack = middle_of(capture, kAcks);
    set_field(ack, "infiniband.bth.psn", (field_of(ack, "infiniband.bth.psn") + more) & 0xff'ffff);
    return capture;
}

// An ACK in the middle came so long before the SEND that it acknowledges.
RecordedCapture acknowledged_before(std::int64_t before) {
    RecordedCapture capture = rping();
    stretch(capture, 100);
    const auto acks = matching(capture, kAcks);
    RecordedFrame& ack = capture.frames[acks[acks.size() / 2]];
    REQUIRE(field_of(ack, "infiniband.bth.psn") == field_of((&ack)[-1], "infiniband.bth.psn"));
    ack.time = (&ack)[-1].time - before;
    sort_by_time(capture);
    return capture;
}

}  // namespace

PassiveMutants recorded_responder_mutants() {
    return {
        {"RSP-02", "an ACK goes back by three", rping,
         [](RecordedCapture& c) {
             stretch(c, 1000);
             add_to_one(c, kAcks, "infiniband.bth.psn", 0xffffff - 2);
         }},
        {"RSP-02", "an ACK goes back over the wrap, over IPv6", [] { return wrapping(rping_ipv6()); },
         [](RecordedCapture& c) {
             stretch(c, 1000);
             RecordedFrame& frame = last_of(c, kAcks);
             set_field(frame, "infiniband.bth.psn", (field_of(frame, "infiniband.bth.psn") + 0xff'fff8) & 0xff'ffff);
         }},
        {"RSP-02", "an ACK is a million ahead of what was sent", rping,
         [](RecordedCapture& c) { c = acknowledged_ahead(1'000'000); }},
        {"RSP-20", "the MSN of a READ is one less", rping,
         [](RecordedCapture& c) { add_to_one(c, kReadLasts, "infiniband.aeth.msn", 0xffffff); }},
        {"RSP-20", "the MSN of an ONLY is one less, at the wrap, over IPv6", [] { return wrapping(rping_ipv6()); },
         [](RecordedCapture& c) { add_to_one(c, kReadOnlys, "infiniband.aeth.msn", 0xffffff); }},
        {"RSP-21", "an ACK passes a READ's LAST", rping,
         [](RecordedCapture& c) { overtaken(c, kReadLasts, kAcks, 2 * kMs); }},
        {"RSP-21", "an ATOMIC's answer passes the one before", atomics,
         [](RecordedCapture& c) { overtaken(c, kAtomicAcks, kAtomicAcks, 2 * kMs); }},
        {"RSP-21", "an ACK passes a READ's ONLY, at the wrap, over IPv6", [] { return wrapping(rping_ipv6()); },
         [](RecordedCapture& c) { overtaken(c, kReadOnlys, kAcks, 2 * kMs); }},
        {"RSP-47", "both announce flow control, all credits are unlimited", rping,
         [](RecordedCapture& c) { announce_credits(c, "both"); }},
        {"RSP-47", "the passive side alone announces flow control", rping,
         [](RecordedCapture& c) { announce_credits(c, "rep"); }},
        {"RSP-47", "one ACK among others is unlimited", with_credits,
         [](RecordedCapture& c) { set_one(c, kAcks, "infiniband.aeth.syndrome", 0x1f); }},
        {"RSP-50", "a packet of UC is an ACK", unreliable,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode >= 0x20", "infiniband.bth.opcode", 0x31); }},
        {"RSP-50", "a datagram is a READ response", datagrams,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 0x64", "infiniband.bth.opcode", 0x70); }},
        {"RSP-50", "UC is answered by ACKs of RC", unreliable,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 0x22", "infiniband.bth.opcode", 0x11); }},
        {"RSP-56", "an ACK has the PSN of a READ that is not answered yet", rping,
         [](RecordedCapture& c) { acknowledge_read(c, kReadFirsts, -1); }},
        {"RSP-56", "an ACK has the PSN of a READ, at the wrap, over IPv6", [] { return wrapping(rping_ipv6()); },
         [](RecordedCapture& c) { acknowledge_read(c, kReadOnlys, -1); }},
        {"RSP-56", "an ACK in place of a READ's LAST", rping,
         [](RecordedCapture& c) { set_one(c, kReadLasts, "infiniband.bth.opcode", 17); }},
        {"RSP-56", "an ATOMIC is answered by an ACK", atomics,
         [](RecordedCapture& c) { set_one(c, kAtomicAcks, "infiniband.bth.opcode", 17); }},
        {"ERR-07", "from an ACK on, MSNs count one more", rping,
         [](RecordedCapture& c) { count_one_more(c, "ip.dst"); }},
        {"ERR-07", "the MSN of one of eight queue pairs counts one more", many_queue_pairs,
         [](RecordedCapture& c) { count_one_more(c, "infiniband.bth.destqp"); }},
    };
}

NearMisses recorded_responder_near_misses() {
    return {
        {"RSP-02", "PSNs wrap", [] { return wrapping(rping()); }},
        {"RSP-02", "an ACK two ahead: the tap may lack requests", [] { return acknowledged_ahead(2); },
         Verdict::inconclusive},
        {"RSP-02", "an ACK 5 ms before what it acknowledges: that may be sent again",
         [] { return acknowledged_before(5 * kMs); }, Verdict::inconclusive},
        {"RSP-02", "an ACK 200 us before what it acknowledges", [] { return acknowledged_before(200'000); },
         Verdict::inconclusive},
        {"RSP-20", "PSNs wrap", [] { return wrapping(rping()); }},
        {"RSP-21", "an ACK passes a READ's LAST by 100 us",
         [] {
             RecordedCapture capture = rping();
             overtaken(capture, kReadLasts, kAcks, 100'000);
             return capture;
         },
         Verdict::inconclusive},
        {"RSP-21", "a READ's response comes behind all that follows: a tap may have it late",
         [] {
             RecordedCapture capture = rping_ipv6();
             overtaken(capture, kReadOnlys, kReadOnlys, 2 * kMs);
             return capture;
         },
         Verdict::inconclusive},
        {"RSP-47", "credits are given", with_credits},
        {"RSP-47", "receives are shared",
         [] {
             RecordedCapture capture = rping();
             announce_credits(capture, "both");
             set_all(capture, "infiniband.cm.request", "infiniband.cm.req.srq", 1);
             set_all(capture, "infiniband.cm.reply", "infiniband.cm.rep.srq", 1);
             return capture;
         }},
        {"RSP-50", "both ends send on UC", unreliable},
        {"RSP-21", "the answer of an ATOMIC was lost, and it is asked for again", without_answer},
        {"RSP-56", "PSNs wrap", [] { return wrapping(rping()); }},
        {"RSP-56", "the answer of an ATOMIC was lost, and it is asked for again", without_answer},
        {"RSP-56", "the ACK comes behind the READ's response",
         [] {
             RecordedCapture capture = rping();
             acknowledge_read(capture, kReadLasts, 1);
             return capture;
         }},
        {"ERR-07", "PSNs wrap, over IPv6", [] { return wrapping(rping_ipv6()); }},
    };
}

}  // namespace qps::tests
