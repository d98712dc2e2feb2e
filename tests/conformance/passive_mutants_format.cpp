// Captures that break rules of the trace and of formats, and near misses.
#include <dissect/base/packet.hpp>
#include <tests/conformance/passive_mutants.hpp>

namespace qps::tests {

using namespace dissect;
using transport::conformance::Verdict;

namespace {

constexpr std::string_view kGrhPackets = "infiniband.grh && infiniband.payload && eth";

// The VCRC that fits the bytes: the last two.
void seal_vcrc(RecordedFrame& frame) {
    Packet packet;
    decode(frame.frame(1), packet);
    REQUIRE(packet.vcrc.status != CrcStatus::not_applicable);
    for (std::size_t i = 0; i < 2; ++i)
        frame.bytes[frame.bytes.size() - 2 + i] = static_cast<std::byte>(packet.vcrc.expected >> (8 - 8 * i));
    decode(frame.frame(1), packet);
    REQUIRE(packet.vcrc.status == CrcStatus::good);
}

void cut_at(RecordedFrame& frame, std::size_t length) {
    frame.wire_length = static_cast<std::uint32_t>(frame.bytes.size());
    if (frame.bytes.size() > length) frame.bytes.resize(length);
}

void erase_before(RecordedCapture& capture, std::size_t place) {
    capture.frames.erase(capture.frames.begin(), capture.frames.begin() + static_cast<std::ptrdiff_t>(place));
}

// Four bytes of options, all of them "no operation".
void add_options(RecordedFrame& frame) {
    constexpr std::size_t kIpAt = 14, kIpBytes = 20, kOptions = 4;
    frame.bytes.insert(frame.bytes.begin() + kIpAt + kIpBytes, kOptions, std::byte{1});
    frame.wire_length = 0;
    frame.bytes[kIpAt] = std::byte{0x46};
    set_field(frame, "ip.len", field_of(frame, "ip.len") + kOptions);
}

RecordedCapture sends_with_pad() { return recorded_in(QPSCOPE_SOURCE_DIR "/captures/ucx_tag/capture.pcapng"); }
RecordedCapture writes_with_pad() { return recorded_in(QPSCOPE_SOURCE_DIR "/captures/iser_io/capture.pcapng"); }
void spoil_padded(RecordedCapture& capture) {
    const auto padded = matching(capture, "infiniband.pad && infiniband.bth.opcode < 0x20");
    REQUIRE(padded.size() > 1);
    for (const std::size_t place : padded) spoil_icrc(capture.frames[place]);
}

RecordedCapture with(RecordedCapture capture, const std::function<void(RecordedCapture&)>& change) {
    change(capture);
    return capture;
}

}  // namespace

PassiveMutants recorded_format_mutants() {
    return {
        {"TRC-01", "the capture dropped packets", rping, [](RecordedCapture& c) { c.drops = {true, 100, 3, 0}; }},
        {"TRC-01", "a SEND that was acknowledged is missing", rping,
         [](RecordedCapture& c) {
             c.frames.erase(c.frames.begin() + static_cast<std::ptrdiff_t>(matching(c, kSends)[3]));
         }},
        {"TRC-01", "the clock goes back by 5 ms", rping_ipv6,
         [](RecordedCapture& c) { c.frames[c.frames.size() / 2].time -= 5 * kMs; }},
        {"TRC-02", "every packet is cut at 128 bytes", rping,
         [](RecordedCapture& c) {
             for (RecordedFrame& frame : c.frames) cut_at(frame, 128);
         }},
        {"TRC-02", "one ACK lacks its ICRC", rping_ipv6,
         [](RecordedCapture& c) {
             RecordedFrame& ack = middle_of(c, kAcks);
             cut_at(ack, ack.bytes.size() - 4);
         }},
        {"TRC-03", "the first half is missing, CM too", rping,
         [](RecordedCapture& c) { erase_before(c, c.frames.size() / 2); }},
        {"TRC-03", "it begins in the middle of a message", writes,
         [](RecordedCapture& c) { erase_before(c, matching(c, "infiniband.bth.opcode == 7").front()); }},
        {"TRC-03", "it begins with an answer", reads,
         [](RecordedCapture& c) { erase_before(c, matching(c, kReadFirsts).front()); }},

        {"FMT-01", "the ICRC of every ACK", rping,
         [](RecordedCapture& c) {
             for (const std::size_t place : matching(c, kAcks)) spoil_icrc(c.frames[place]);
         }},
        {"FMT-01", "the ICRC of every READ response, over IPv6", rping_ipv6,
         [](RecordedCapture& c) {
             for (const std::size_t place : matching(c, kReadOnlys)) spoil_icrc(c.frames[place]);
         }},
        {"FMT-02", "a byte of the pad is not 0", bidirectional,
         [](RecordedCapture& c) { set_byte_before_icrc(first_of(c, "infiniband.pad"), 1, std::byte{0xff}); }},
        {"FMT-02", "the pad is a byte too short", bidirectional,
         [](RecordedCapture& c) {
             RecordedFrame& frame = middle_of(c, "infiniband.pad");
             const std::uint64_t pad = field_of(frame, "infiniband.bth.padcnt");
             lengthen(frame, -1);
             REQUIRE(set_field(frame, "infiniband.bth.padcnt", pad - 1));
         }},
        {"FMT-02", "the first byte of a datagram's pad is not 0, over IPv6", roce,
         [](RecordedCapture& c) {
             set_byte_before_icrc(middle_of(c, "infiniband.pad && ipv6 && infiniband.bth.opcode == 0x64"), 2,
                                  std::byte{1});
         }},
        {"FMT-02", "the ICRC of every SEND with a pad, as if it did not cover the pad", sends_with_pad, spoil_padded},
        {"FMT-02", "the ICRC of every WRITE with a pad", writes_with_pad, spoil_padded},
        {"FMT-06", "Resv7 is 5", rping,
         [](RecordedCapture& c) { set_one(c, kRcPackets, "infiniband.bth.reserved7", 5); }},
        {"FMT-08", "one packet has MigReq 0", rping,
         [](RecordedCapture& c) { set_one(c, kRcPackets, "infiniband.bth.m", 0); }},
        {"FMT-09", "a datagram of queue pair 1 asks for an ACK", rping,
         [](RecordedCapture& c) { set_one(c, kGsiPackets, "infiniband.bth.a", 1); }},
        {"FMT-10", "a READ has SE", rping,
         [](RecordedCapture& c) { set_one(c, kReadRequests, "infiniband.bth.se", 1); }},
        {"FMT-08", "the answer of an ATOMIC has MigReq 0", atomics,
         [](RecordedCapture& c) { set_one(c, kAtomicAcks, "infiniband.bth.m", 0); }},
        {"FMT-09", "the LAST of a message of UC asks for an ACK", unreliable,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 0x22", "infiniband.bth.a", 1); }},
        {"FMT-10", "a READ's response has SE", reads,
         [](RecordedCapture& c) { set_one(c, kReadLasts, "infiniband.bth.se", 1); }},
        {"FMT-16", "the port is below 0xC000", rping,
         [](RecordedCapture& c) { set_one(c, kRcPackets, "udp.srcport", 4096); }},
        {"FMT-16", "one of eight queue pairs changes its port, in an ACK", many_queue_pairs,
         [](RecordedCapture& c) { set_one(c, kAcks, "udp.srcport", 0xfedc); }},
        {"FMT-17", "DF is 0", rping, [](RecordedCapture& c) { set_one(c, kRcPackets, "ip.flags.df", 0); }},
        {"FMT-17", "a header with options", datagrams,
         [](RecordedCapture& c) { add_options(middle_of(c, "infiniband.deth")); }},
        {"FMT-17", "more fragments follow", writes,
         [](RecordedCapture& c) { set_one(c, "infiniband.bth.opcode == 7", "ip.flags.mf", 1); }},
        {"FMT-17", "the UDP length is four bytes short", rping,
         [](RecordedCapture& c) {
             RecordedFrame& frame = middle_of(c, kSends);
             set_field(frame, "udp.length", field_of(frame, "udp.length") - 4);
         }},
        {"FMT-19", "64 bytes behind what PayLen says", roce,
         [](RecordedCapture& c) {
             RecordedFrame& frame = first_of(c, kGrhPackets);
             frame.wire_length = 0;
             frame.bytes.resize(frame.bytes.size() + 64);  // more than Ethernet pads
         }},
        {"FMT-19", "IPVer is 4", roce, [](RecordedCapture& c) { set_one(c, kGrhPackets, "infiniband.grh.ipver", 4); }},
        {"FMT-19", "PayLen is more than there is", roce,
         [](RecordedCapture& c) { add_to_one(c, kGrhPackets, "infiniband.grh.paylen", 8); }},
        {"FMT-20", "a wrong VCRC", native,
         [](RecordedCapture& c) { spoil_icrc(first_of(c, "infiniband.variant.crc")); }},
        {"FMT-20", "LVer is 1, the VCRC right", native,
         [](RecordedCapture& c) {
             RecordedFrame& frame = middle_of(c, "infiniband.variant.crc");
             REQUIRE(set_field(frame, "infiniband.lrh.lver", 1));
             seal_vcrc(frame);
         }},
        {"FMT-21", "FECN in one packet", rping,
         [](RecordedCapture& c) { set_one(c, kRcPackets, "infiniband.bth.fecn", 1); }},
        {"FMT-22", "another Q_Key", rping,
         [](RecordedCapture& c) { set_one(c, kGsiPackets, "infiniband.deth.q_key", 0x80010001); }},
        {"FMT-21", "BECN in an ACK, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { set_one(c, kAcks, "infiniband.bth.becn", 1); }},
        {"FMT-22", "a MAD is a word short, over IPv6", rping_ipv6,
         [](RecordedCapture& c) { lengthen(middle_of(c, kGsiPackets), -4); }},
        {"FMT-26", "a SEND of 16 bytes is a FIRST", rping,
         [](RecordedCapture& c) { set_one(c, kSends, "infiniband.bth.opcode", 0); }},
        {"FMT-26", "a MIDDLE of a READ's response is a word short", reads,
         [](RecordedCapture& c) { lengthen(middle_of(c, kReadMiddles), -4); }},
        {"FMT-26", "a LAST is a word longer than the path MTU", writes,
         [](RecordedCapture& c) { lengthen(middle_of(c, "infiniband.bth.opcode == 8"), 4); }},
        {"FMT-26", "CM announced another path MTU", rping,
         [](RecordedCapture& c) { set_all(c, "infiniband.cm.request", "infiniband.cm.req.pppmtu", 3); }},
    };
}

NearMisses recorded_format_near_misses() {
    return {
        {"TRC-01", "the clock goes back by 1 us",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 c.frames[c.frames.size() / 2].time = c.frames[c.frames.size() / 2 - 1].time - 1'000;
             });
         },
         Verdict::inconclusive},
        {"TRC-01", "PSNs wrap", [] { return wrapping(rping()); }},
        {"TRC-02", "an ACK is padded by Ethernet",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 RecordedFrame& ack = middle_of(c, kAcks);
                 ack.bytes.resize(ack.bytes.size() + 6);
                 ack.wire_length = 0;
             });
         }},
        {"TRC-03", "the REP alone is missing",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 c.frames.erase(c.frames.begin() +
                                static_cast<std::ptrdiff_t>(matching(c, "infiniband.cm.reply").front()));
             });
         }},
        {"TRC-03", "set up without CM, from a FIRST on", writes},
        {"FMT-01", "one ACK was spoilt on the way",
         [] { return with(rping(), [](RecordedCapture& c) { spoil_icrc(middle_of(c, kAcks)); }); },
         Verdict::inconclusive},
        {"FMT-01", "one packet of each kind was spoilt on the way",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 for (const std::string_view kind : {kAcks, kReadMiddles, kSends}) spoil_icrc(middle_of(c, kind));
             });
         },
         Verdict::inconclusive},
        {"FMT-02", "the byte before the pad is not 0",
         [] {
             return with(bidirectional(), [](RecordedCapture& c) {
                 RecordedFrame& frame = first_of(c, "infiniband.pad");
                 set_byte_before_icrc(frame, field_of(frame, "infiniband.bth.padcnt") + 1, std::byte{0xff});
             });
         }},
        {"FMT-02", "one ICRC of many with a pad is wrong",
         [] { return with(sends_with_pad(), [](RecordedCapture& c) { spoil_icrc(middle_of(c, "infiniband.pad")); }); }},
        {"FMT-02", "every ICRC is wrong, with a pad or without",
         [] {
             return with(sends_with_pad(), [](RecordedCapture& c) {
                 for (const std::size_t place : matching(c, kRcPackets)) spoil_icrc(c.frames[place]);
             });
         }},
        {"FMT-06", "Resv7 of a packet whose ICRC is wrong: nobody's word",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 RecordedFrame& frame = middle_of(c, kSends);
                 set_field(frame, "infiniband.bth.reserved7", 5);
                 spoil_icrc(frame);
             });
         }},
        {"FMT-10", "the LAST of a SEND has SE",
         [] { return with(rping(), [](RecordedCapture& c) { set_all(c, kSends, "infiniband.bth.se", 1); }); }},
        {"FMT-16", "the answers have a port of their own",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 set_all(c, "infiniband.bth.opcode >= 13 && infiniband.bth.opcode < 19", "udp.srcport", 0xf000);
             });
         }},
        {"FMT-17", "identification, DSCP, TTL and ECN are anything",
         [] {
             return with(rping(), [](RecordedCapture& c) {
                 set_all(c, kRcPackets, "ip.id", 4711);
                 set_all(c, kRcPackets, "ip.dsfield.dscp", 26);
                 set_all(c, kRcPackets, "ip.dsfield.ecn", 1);
                 set_all(c, kRcPackets, "ip.ttl", 1);
             });
         }},
        {"FMT-17", "IPv6", rping_ipv6, Verdict::not_applicable},
        {"FMT-19", "the tap kept the FCS",
         [] {
             return with(roce(), [](RecordedCapture& c) {
                 for (const std::size_t place : matching(c, kGrhPackets)) {
                     c.frames[place].wire_length = 0;
                     c.frames[place].bytes.resize(c.frames[place].bytes.size() + 4);
                 }
             });
         }},
        {"FMT-20", "another virtual lane",
         [] {
             return with(native(), [](RecordedCapture& c) {
                 RecordedFrame& frame = middle_of(c, "infiniband.variant.crc");
                 REQUIRE(set_field(frame, "infiniband.lrh.vl", 3));
                 seal_vcrc(frame);
             });
         }},
        {"FMT-26", "an ONLY is as long as the path MTU, a LAST is a word",
         [] {
             return with(writes(), [](RecordedCapture& c) {
                 RecordedFrame& last = middle_of(c, "infiniband.bth.opcode == 8");
                 lengthen(last, 4 - static_cast<int>(field_of(last, "udp.length") - 8 - 12 - 4));
             });
         }},
    };
}

}  // namespace qps::tests
