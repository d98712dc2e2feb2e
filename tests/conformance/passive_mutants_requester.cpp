// Captures that break rules of requesters, and near misses.
#include <tests/conformance/passive_mutants.hpp>

namespace qps::tests {

using transport::conformance::Verdict;

namespace {

constexpr std::string_view kWriteMiddles = "infiniband.bth.opcode == 7", kWriteLasts = "infiniband.bth.opcode == 8";

// The PSN of the SEND that comes behind a READ of three responses, which were received.
void move_send_behind_read(RecordedCapture& capture, int more) {
    const std::size_t read = matching(capture, kReadRequests)[1];
    const auto sends = matching(capture, kSends);
    const auto send = std::ranges::find_if(sends, [&](std::size_t place) {
        return place > read && field_of(capture.frames[place], "ip.src") == field_of(capture.frames[read], "ip.src");
    });
    REQUIRE(send != sends.end());
    RecordedFrame& frame = capture.frames[*send];
    set_field(frame, "infiniband.bth.psn",
              field_of(frame, "infiniband.bth.psn") + static_cast<std::uint64_t>(std::int64_t{more}));
}

// Where the REQ says that the passive side starts.
void move_start(RecordedCapture& capture, int more) {
    RecordedFrame& request = first_of(capture, "infiniband.cm.request");
    set_field(
        request, "infiniband.cm.req.startpsn",
        (field_of(request, "infiniband.cm.req.startpsn") + static_cast<std::uint64_t>(std::int64_t{more})) & 0xff'ffff);
}

// A SEND in the middle asks for no ACK; none comes, or one does all the same; and then so long nothing does.
void wait_unasked(RecordedCapture& capture, std::int64_t how_long, bool acknowledged) {
    const auto sends = matching(capture, "infiniband.bth.opcode == 4 && infiniband.bth.a == 1");
    const std::size_t place = sends[sends.size() / 2];
    REQUIRE(set_field(capture.frames[place], "infiniband.bth.a", 0));
    const auto acks = matching(capture, kAcks);
    const auto ack = std::ranges::find_if(acks, [&](std::size_t each) { return each > place; });
    REQUIRE(ack != acks.end());
    delay_behind(capture, *ack, how_long);
    if (!acknowledged) capture.frames.erase(capture.frames.begin() + static_cast<std::ptrdiff_t>(*ack));
}

RecordedCapture unasked(std::int64_t how_long, bool acknowledged) {
    RecordedCapture capture = rping();
    wait_unasked(capture, how_long, acknowledged);
    return capture;
}

// rping's passive side READs, one at a time.
void allow_reads(RecordedCapture& capture, std::uint64_t asked, std::uint64_t answered) {
    set_all(capture, "infiniband.cm.request", "infiniband.cm.req.responderres", answered);
    set_all(capture, "infiniband.cm.reply", "infiniband.cm.rep.initdepth", asked);
}

RecordedCapture grown_datagram(int payload) {
    RecordedCapture capture = datagrams();
    lengthen(middle_of(capture, "infiniband.bth.opcode == 0x64"), payload - 1000);
    return capture;
}

}  // namespace

PassiveMutants recorded_requester_mutants() {
    return {
        {"REQ-01", "a LAST has the PSN before", writes,
         [](RecordedCapture& c) { add_to_one(c, kWriteLasts, "infiniband.bth.psn", 0xffffff); }},
        {"REQ-02", "a MIDDLE of a WRITE is one of a SEND", writes,
         [](RecordedCapture& c) { set_one(c, kWriteMiddles, "infiniband.bth.opcode", 1); }},
        {"REQ-03", "a DMA length is one less", writes,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 6", "infiniband.reth.dmalen", 8191); }},
        {"REQ-03", "a WRITE that is sent again has another address", losing,
         [](RecordedCapture& c) {
             RecordedFrame& frame = sent_again(c, "infiniband.bth.opcode == 6");
             REQUIRE(set_field(frame, "infiniband.reth.va", field_of(frame, "infiniband.reth.va") + 4096));
         }},
        {"REQ-04", "the active side starts five behind", rping,
         [](RecordedCapture& c) { add_to_one(c, "infiniband.cm.reply", "infiniband.cm.rep.startpsn", 5); }},
        {"REQ-04", "the passive side starts one behind, at the wrap, over IPv6", [] { return wrapping(rping_ipv6()); },
         [](RecordedCapture& c) { move_start(c, 1); }},
        {"REQ-04", "the passive side starts seven ahead, and the first ACK counts no message before", rping_ipv6,
         [](RecordedCapture& c) { move_start(c, -7); }},
        {"REQ-05", "CM allows no READ at all", rping,
         [](RecordedCapture& c) {
             set_all(c, "infiniband.cm.request", "infiniband.cm.req.responderres", 0);
             set_all(c, "infiniband.cm.reply", "infiniband.cm.rep.respres", 0);
         }},
        {"REQ-05", "who READs announced that it would not, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { allow_reads(c, 0, 16); }},
        {"REQ-05", "two READs at a time where CM allows one", rping,
         [](RecordedCapture& c) {
             allow_reads(c, 1, 1);
             // Each READ after the first is asked for before anything else is answered.
             const auto reads = matching(c, kReadRequests);
             c.frames[reads[1]].time = c.frames[reads[0]].time + 1'000;
             sort_by_time(c);
         }},
        {"REQ-02", "the FIRST of a WRITE among those of eight queue pairs is a MIDDLE", many_queue_pairs,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 6", "infiniband.bth.opcode", 7); }},
        {"REQ-01", "a SEND takes the PSN of the READ's last response", rping,
         [](RecordedCapture& c) { move_send_behind_read(c, -1); }},
        {"REQ-01", "a SEND behind a READ has the next PSN, as if a READ took one", rping,
         [](RecordedCapture& c) { move_send_behind_read(c, -2); }},
        {"REQ-13", "a MIDDLE is asked for 20 s after a LAST came",
         [] { return read_again(0, LostResponse::middle, 200'000); },
         [](RecordedCapture& c) { c = read_again(0, LostResponse::middle, 20 * kSeconds); }},
        {"REQ-13", "a MIDDLE of a later READ, at the wrap, after the ACK timeout",
         [] { return wrapping(read_again(1, LostResponse::middle, 200'000)); },
         [](RecordedCapture& c) { c = wrapping(read_again(1, LostResponse::middle, kTimer)); }},
        {"REQ-21", "the second wait is six times the first", patient,
         [](RecordedCapture& c) { c = stalled(rping(), {kTimer, 6 * kTimer}); }},
        {"REQ-21", "the waits get shorter", patient,
         [](RecordedCapture& c) { c = stalled(rping(), {6 * kTimer, kTimer, kTimer}); }},
        {"REQ-21", "the fourth wait is five times the others, over IPv6",
         [] { return stalled(rping_ipv6(), {kTimer, kTimer}); },
         [](RecordedCapture& c) { c = stalled(rping_ipv6(), {kTimer, kTimer, kTimer, 5 * kTimer}); }},
        {"REQ-29", "a byte of a MIDDLE is another", losing,
         [](RecordedCapture& c) {
             RecordedFrame& frame = sent_again(c, kWriteMiddles);
             frame.bytes[frame.bytes.size() - 100] ^= std::byte{1};
             seal_icrc(frame);
         }},
        {"REQ-29", "an ATOMIC adds another number", atomics,
         [](RecordedCapture& c) {
             repeat(c, "infiniband.bth.opcode == 20", 200'000, [](RecordedFrame& frame) {
                 REQUIRE(set_field(frame, "infiniband.atomiceth.swapdt",
                                   field_of(frame, "infiniband.atomiceth.swapdt") + 1));
             });
         }},
        {"REQ-29", "the last byte of a SEND is another, over IPv6", rping_ipv6,
         [](RecordedCapture& c) {
             repeat(c, kSends, 50'000, [](RecordedFrame& frame) { set_byte_before_icrc(frame, 1, std::byte{0x77}); });
         }},
        {"REQ-30", "nothing asks for an ACK", writes,
         [](RecordedCapture& c) { set_all(c, "infiniband.bth.a == 1", "infiniband.bth.a", 0); }},
        {"REQ-30", "one message does not ask, and its sender waits for 2 s", rping,
         [](RecordedCapture& c) { wait_unasked(c, 2 * kSeconds, false); }},
        {"REQ-35", "a datagram is a FIRST", datagrams,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 0x64", "infiniband.bth.opcode", 0x60); }},
        {"REQ-35", "a datagram is a word longer than 4096 bytes", datagrams,
         [](RecordedCapture& c) { c = grown_datagram(4100); }},
        {"ERR-02", "the responder repeats its NAK", key_refused,
         [](RecordedCapture& c) { repeat(c, kNaks, 60 * kMs); }},
        {"ERR-02", "the requester sends something new", key_refused,
         [](RecordedCapture& c) {
             repeat(c, kWriteLasts, 60 * kMs, [](RecordedFrame& frame) {
                 set_field(frame, "infiniband.bth.opcode", 4);  // a SEND
                 set_field(frame, "infiniband.bth.psn", field_of(frame, "infiniband.bth.psn") + 1);
             });
         }},
        {"ERR-02", "the responder acknowledges after another NAK code", length_refused,
         [](RecordedCapture& c) {
             repeat(c, kNaks, 60 * kMs, [](RecordedFrame& frame) {
                 set_field(frame, "infiniband.aeth.syndrome", 0x1f);
                 set_field(frame, "infiniband.aeth.msn", 1);
             });
         }},
    };
}

NearMisses recorded_requester_near_misses() {
    return {
        {"REQ-01", "PSNs wrap", [] { return wrapping(writes()); }},
        {"REQ-01", "the rest of a READ is asked for again",
         [] { return read_again(1, LostResponse::middle, 200'000); }},
        {"REQ-01", "the last response of a READ is asked for again",
         [] { return read_again(0, LostResponse::last, 200'000); }},
        {"REQ-02", "PSNs wrap", [] { return wrapping(reads()); }},
        {"REQ-03", "PSNs wrap", [] { return wrapping(writes()); }},
        {"REQ-04", "the first PSN is 0, the last was announced", [] { return wrapping(rping_ipv6()); }},
        {"REQ-04", "the passive side starts seven ahead: its start may be missing",
         [] {
             RecordedCapture capture = rping_ipv6();
             move_start(capture, -7);
             for (const std::size_t ack : matching(capture, kAcks))
                 REQUIRE(set_field(capture.frames[ack], "infiniband.aeth.msn",
                                   field_of(capture.frames[ack], "infiniband.aeth.msn") + 7));
             return capture;
         },
         Verdict::inconclusive},
        {"REQ-04", "the first SEND is missing",
         [] {
             RecordedCapture capture = rping();
             capture.frames.erase(capture.frames.begin() +
                                  static_cast<std::ptrdiff_t>(matching(capture, kSends).front()));
             return capture;
         },
         Verdict::inconclusive},
        {"REQ-05", "CM allows one READ at a time",
         [] {
             RecordedCapture capture = rping();
             allow_reads(capture, 1, 1);
             return capture;
         }},
        {"REQ-13", "a LAST is asked for after the ACK timeout, and nothing came behind it",
         [] { return read_again(0, LostResponse::last, kTimer); }, Verdict::inconclusive},
        {"REQ-21", "the second wait is three times the first", [] { return stalled(rping(), {kTimer, 3 * kTimer}); }},
        {"REQ-21", "one wait, as long as it likes", [] { return stalled(rping(), {60 * kSeconds}); }},
        {"REQ-29", "the same bytes, without AckReq",
         [] {
             RecordedCapture capture = rping();
             repeat(capture, kSends, 50'000, [](RecordedFrame& frame) { set_field(frame, "infiniband.bth.a", 0); });
             return capture;
         }},
        {"REQ-30", "one message does not ask, and is acknowledged", [] { return unasked(2 * kSeconds, true); }},
        {"REQ-30", "one message does not ask, the next one does half a second later",
         [] { return unasked(kSeconds / 2, false); }},
        {"REQ-35", "a datagram of 4096 bytes", [] { return grown_datagram(4096); }},
        {"ERR-02", "the NAK twice within 5 ms",
         [] {
             RecordedCapture capture = key_refused();
             repeat(capture, kNaks, 5 * kMs);
             return capture;
         }},
        {"ERR-02", "the requester repeats: it may not have the NAK",
         [] {
             RecordedCapture capture = key_refused();
             repeat(capture, "infiniband.bth.opcode == 6", 60 * kMs);
             return capture;
         },
         Verdict::inconclusive},
    };
}

}  // namespace qps::tests
