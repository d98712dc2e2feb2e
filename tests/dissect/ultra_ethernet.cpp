// Ultra Ethernet: packets written byte by byte after the public layouts, every table through the walk, what a switch
// trims, and what is not Ultra Ethernet although it goes to its port.

#include <dissect/ultra_ethernet/native.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>
#include <tests/support/ultra_ethernet.hpp>
#include <transport-replay/model/observation.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

// Bytes behind a UDP header to port 4793.
Decoded to_port(std::string_view bytes, UetWay way = {}) { return Decoded(uet_datagram(way, hex(bytes))); }

bool claimed(const Decoded& decoded) {
    return std::ranges::any_of(decoded.packet.layers(),
                               [](const Layer& layer) { return is_of(layer.kind, LayerFamily::ultra_ethernet); });
}

void check_clean(const Decoded& decoded) {
    for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
}

constexpr std::string_view kOpeningWrite =
    "118c00000001000001010000 010700070100 0abc 0005 0009 0000000000001000 0000002a 1122334455667788 deadbeefcafef00d 00000008 "
    "a0a1a2a3a4a5a6a7";

}  // namespace

TEST_CASE("a WRITE that opens a context of Ultra Ethernet is read from its bytes") {
    const Decoded write(
        hex("020000000002020000000001080045020060000140004011b686c0000201c0000202c00112b9004c0000118c0000000100000101000001070007"
            "01000abc000500090000000000001000 0000002a1122334455667788deadbeefcafef00d00000008a0a1a2a3a4a5a6a71be02760"),
        LinkType::ethernet);
    INFO(write.layers() << '\n' << write.line());
    check_clean(write);
    CHECK(write.layers() == "eth ip udp uet.pds uet.ses uet.payload uet.crc");
    CHECK(write.line() == "UET src=49153 dst=4793 pds=RUD_REQ psn=65536 pdc=257 ar syn op=WRITE msg=7 length=8 len=8");
    CHECK(write.number("uet.pds.start_psn") == 0x10000);
    CHECK(write.number("uet.pds.clear_psn") == 0x10000);
    CHECK(write.number("uet.ses.std.job_id") == 0xabc);
    CHECK(write.number("uet.ses.std.mem_key_match_bits") == 0x1122334455667788);
    CHECK(write.number("uet.ses.std.header_data") == 0xdeadbeefcafef00d);
    CHECK(write.plain("uet.payload") == "a0a1a2a3a4a5a6a7");
    CHECK(write.number("uet.crc.status") == 1);
    CHECK_FALSE(write.value("uet.trimmed_bytes"));
}

TEST_CASE("answers of Ultra Ethernet have PSNs by their offsets, and the state of congestion control") {
    const Decoded ack = to_port(
        "422000000001000002020101 00010000 0000000000000001 000a000000010000 01010007 01000abc 00000008 f3e6a680",
        {.back = true});
    INFO(ack.layers() << '\n' << ack.line());
    check_clean(ack);
    CHECK(ack.layers() == "eth ip udp uet.pds uet.pds.ack uet.ses uet.crc");
    CHECK(ack.line() ==
          "UET src=49153 dst=4793 pds=ACK_CC psn=65536 cack=65536 pdc=514 to_pdc=257 marked op=RESPONSE msg=7");
    CHECK(ack.number("uet.pds.ack.sack_base") == 0x10000);
    CHECK(ack.number("uet.pds.ack.cc_state.service_time_ns") == 1280);
    CHECK(ack.number("uet.ses.rsp.mod_length") == 8);
    const Decoded behind =
        to_port("4020fffe10203040010202040080fff08000000000000001 1234800000000056 00000000", {.back = true});
    INFO(behind.line());
    CHECK(behind.number("uet.pds.ack_psn") == 0x1020303e);
    CHECK(behind.number("uet.pds.ack.sack_base") == 0x10203030);
    CHECK(behind.number("uet.pds.ack.mpr") == 0x80);
    const Decoded nack = to_port("5020010000010002 02020101 00000000", {.back = true});
    check_clean(nack);
    CHECK(nack.line() == "UET src=49153 dst=4793 pds=NACK code=TRIMMED psn=65538 pdc=514 to_pdc=257 marked");
    const Decoded probed = to_port("3808beef0001000302020101", {.back = true});
    check_clean(probed);
    CHECK(probed.line() == "UET src=49153 dst=4793 pds=ACK cack=65539 pdc=514 to_pdc=257 probe=0xbeef");
    CHECK_FALSE(probed.value("uet.pds.ack_psn"));
}

TEST_CASE("later packets, reads with data, and packets without context of Ultra Ethernet are read from their bytes") {
    const Decoded later = to_port(
        "1980fffe00010003010302040100000701000abc0005000900000000000010000000002a112233445566778800000004 00000008 00000010 b0b1b2b3");
    check_clean(later);
    CHECK(later.line() ==
          "UET src=49153 dst=4793 pds=ROD_REQ psn=65539 pdc=259 to_pdc=516 op=WRITE msg=7 offset=8 length=16 len=4");
    CHECK(later.number("uet.pds.clear_psn") == 0x10001);
    const Decoded data = to_port(
        "3a800000000100040202010102010101 00000abc 00090008 00000008 00000000 a0a1a2a3a4a5a6a7", {.back = true});
    check_clean(data);
    CHECK(
        data.line() ==
        "UET src=49153 dst=4793 pds=ACK psn=65540 cack=65540 pdc=514 to_pdc=257 op=RESPONSE_W_DATA msg=9 offset=0 len=8");
    const Decoded read = to_port("208000001122334402030010 01000abc 00050009 0000000000002000");
    check_clean(read);
    CHECK(read.line() == "UET src=49153 dst=4793 pds=RUDI_REQ id=287454020 op=READ length=16");
    const Decoded answer =
        to_port("2b0000001122334402010010 00000abc 11223344 000102030405060708090a0b0c0d0e0f", {.back = true});
    check_clean(answer);
    CHECK(answer.line() ==
          "UET src=49153 dst=4793 pds=RUDI_RESP id=287454020 op=RESPONSE_W_DATA request_psn=287454020 len=16");
    const Decoded datagram =
        to_port("31000000 07070004 00000abc 00050009 0102030405060708 0000002a 0000000000000000 c0c1c2c3");
    check_clean(datagram);
    CHECK(datagram.line() == "UET src=49153 dst=4793 pds=UUD_REQ op=DATAGRAM_SEND length=4 len=4");
    CHECK(datagram.number("uet.ses.med_req.header_data") == 0x0102030405060708);
    const Decoded credit = to_port("7188ffff 00010001 01030204 03000800" +
                                   std::string("010700070100 0abc 0005 0009 0000000000001000 0000002a") +
                                   "1122334455667788 deadbeefcafef00d 00000008 a0a1a2a3a4a5a6a7");
    check_clean(credit);
    CHECK(credit.layers() == "eth ip udp uet.pds uet.pds.cc_state uet.ses uet.payload");
    CHECK(credit.number("uet.pds.cc_state.credit_target") == 0x800);
}

TEST_CASE("control packets and secured packets of Ultra Ethernet are read from their bytes") {
    const Decoded probe = to_port("5b00beef00000000010102020001 0004");
    check_clean(probe);
    CHECK(probe.line() == "UET src=49153 dst=4793 pds=CP control=PROBE psn=0 pdc=257 to_pdc=514");
    CHECK(probe.number("uet.pds.ctrl_payload") == 0x10004);
    const Decoded close = to_port("5a08000000010005010102020000 0000");
    CHECK(close.line() == "UET src=49153 dst=4793 pds=CP control=CLOSE_COMMAND psn=65541 pdc=257 to_pdc=514 ar");
    const Decoded noop = to_port("580c00000001000001010000 00000000");
    CHECK(noop.line() == "UET src=49153 dst=4793 pds=CP control=NOOP psn=65536 pdc=257 ar syn");
    const Decoded negotiation = to_port("5c8400000001000001010000 01020000 00000001 deadbeef");
    check_clean(negotiation);
    CHECK(negotiation.layers() == "eth ip udp uet.pds uet.undecoded uet.crc");
    CHECK(negotiation.number("uet.pds.ctl_type") == 9);
    const std::string body(2 * 80, '7');
    const Decoded secured = to_port("0d00cafe 0a000001 0001 000000000005" + body);
    check_clean(secured);
    CHECK(secured.layers() == "eth ip udp uet.tss uet.encrypted uet.icv");
    CHECK(secured.line() == "UET src=49153 dst=4793 pds=TSS sdi=0x00cafe ssi=0x0a000001 counter=5");
    CHECK(to_port("0800cafe 0001 000000000006" + body).line() ==
          "UET src=49153 dst=4793 pds=TSS sdi=0x00cafe counter=6");
}

TEST_CASE("a packet that a switch trimmed says how much is gone, and is not malformed") {
    const Decoded trimmed(
        hex("02000000000202000000000108004516002c000140004011b6a6c0000201c0000202c00112b90444000011800000"
            "0001000201010202 01010008"),
        LinkType::ethernet);
    INFO(trimmed.line());
    CHECK(trimmed.layers() == "eth ip udp uet.pds uet.ses");
    CHECK(trimmed.number("uet.trimmed_bytes") == 1068);
    CHECK(trimmed.number("uet.ses.std.message_id") == 8);
    CHECK(
        trimmed.line() ==
        "UET src=49153 dst=4793 pds=RUD_REQ psn=65538 pdc=257 to_pdc=514 trimmed=1068 op=WRITE msg=8 !uet.ses:trimmed");
    for (const Layer& layer : trimmed.packet.layers().first(trimmed.packet.layer_count - 1U))
        CHECK(layer.fault == Fault::none);
    // The same where the capture cut it, or IP's length is what lies.
    PacketSpec whole = uet_datagram({}, hex(kOpeningWrite));
    seal(whole);
    const Decoded cut(whole, 14 + 20 + 8 + 12 + 4);
    CHECK(cut.packet.layers().back().fault == Fault::cut);
    CHECK_FALSE(cut.value("uet.trimmed_bytes"));
    PacketSpec lie = whole;
    set(lie, "ip.len", 4000);
    CHECK(Decoded(lie).line().ends_with("!ip:bad_length"));
    CHECK(claimed(Decoded(lie)));
    CHECK_FALSE(Decoded(lie).value("uet.crc"));
    CHECK_FALSE(Decoded(lie).value("uet.trimmed_bytes"));
}

TEST_CASE("the CRC of Ultra Ethernet is good in each way that documents have, and never an error") {
    for (const bool v6 : {false, true}) {
        PacketSpec spec = uet_datagram({}, hex(kOpeningWrite), v6);
        seal(spec);
        const Decoded good(spec);
        CAPTURE(good.layers());
        CHECK(good.number("uet.crc.status") == 1);
        PacketSpec turned = spec;
        std::ranges::reverse(std::span(turned.payload).last(4));
        CHECK(Decoded(turned).number("uet.crc.status") == 1);
        PacketSpec inner = spec;
        write_bits(inner.payload, (inner.payload.size() - 4) * 8, 32,
                   crc32c(Bytes(inner.payload).first(inner.payload.size() - 4)));
        CHECK(Decoded(inner).number("uet.crc.status") == 1);
        PacketSpec other = spec;
        other.payload.back() ^= std::byte{1};
        CHECK(Decoded(other).number("uet.crc.status") == 0);
        check_clean(Decoded(other));
        CHECK_FALSE(Decoded(spec, build(spec).size() - 1).value("uet.crc.status"));
    }
}

TEST_CASE("what documents place differently is shown as bytes") {
    // RUDI of 6 bytes, where its semantic header is right there and nowhere else.
    const Decoded six = to_port("2080 11223344 02030010 01000abc 00050009 0000000000002000");
    check_clean(six);
    CHECK(six.line() == "UET src=49153 dst=4793 pds=RUDI_REQ id=287454020 op=READ length=16");
    CHECK(find(six.packet, kind::uet_rudi_short) != nullptr);
    // A packet ID that looks like the beginning of the semantic header leaves both possible.
    const Decoded both = to_port("2080 0000 11220103 0003 0010 0100 0abc 0005 0009 0000000000002000");
    INFO(both.line());
    if (find(both.packet, kind::uet_rudi_open) == nullptr)
        CHECK((find(both.packet, kind::uet_rudi) != nullptr) != (find(both.packet, kind::uet_rudi_short) != nullptr));
    // The expected PSN that one document has in an ACK; states of CCX.
    const Decoded expected = to_port("3840000000010005 02020101 00010006 deadbeef", {.back = true});
    CHECK(expected.layers() == "eth ip udp uet.pds uet.undecoded uet.crc");
    const Decoded ccx = to_port(
        "4a00 0000 00010005 02020101 e0010000 0000000000000001 00112233445566778899aabbccddeeff 01000007 01000abc 00000008",
        {.back = true});
    CHECK(ccx.layers() == "eth ip udp uet.pds uet.pds.ack");
    CHECK(ccx.number("uet.pds.ack.ccx_type") == 14);
    CHECK_FALSE(ccx.value("uet.ses.rsp.opcode"));
    const std::string masked =
        "118000000001000401010202 04030007 01000abc 00050009 0000000000001000 0000002a 1122334455667788 0000000000000000 00000008";
    CHECK(to_port(masked + "13070000" + std::string(64, '1') + "deadbeef").layers() ==
          "eth ip udp uet.pds uet.ses uet.ses.atomic_op_ext_hdr uet.undecoded uet.crc");
    CHECK(to_port(masked + "0d070000" + std::string(64, '1') + "deadbeef").layers() ==
          "eth ip udp uet.pds uet.ses uet.ses.atomic_op_ext_hdr uet.ses.comp_swap_ext_hdr uet.crc");
}

TEST_CASE("what goes to the port of Ultra Ethernet and is something else is not claimed") {
    const std::string_view others[] = {
        "",
        "11",
        "1234 8180 0001 0001 0000 0000 03777777 07657861 6d706c65 03636f6d 0000 0100 01c0 0c00 0100 0100 000e 1000 04c0 0002 01",  // DNS
        "1180 8180 0001 0001 0000 0000 03777777 07657861 6d706c65 03636f6d 0000 0100 01c0 0c00 0100 0100 000e 1000 04c0 0002 01",
        "24020ae8 00000000 00000000 4c4f434c e1b2a3c4 d5e6f708 00000000 00000000 e1b2a3c4 d5e6f708 e1b2a3c4 d5e6f708",  // NTP
        "474554202f20485454502f312e310d0a0d0a",                                      // text
        "c000000001 08 0102030405060708 00 00 4496 0102030405060708090a0b0c0d0e0f",  // QUIC
        "000100080000000021 12a442 0102030405060708090a0b0c",                        // STUN
        "80e0 1234 00000001 00000002 0102030405060708090a0b0c0d0e0f",                // RTP
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000000",
    };
    for (const std::string_view bytes : others) {
        const Decoded decoded = to_port(bytes, {.entropy = 53});
        CAPTURE(bytes, decoded.line());
        CHECK_FALSE(claimed(decoded));
        CHECK(decoded.line().starts_with("UDP"));
    }
    // Nearly: one bit of a right packet.
    const std::vector<std::byte> right = hex(kOpeningWrite);
    const auto near = [&](std::size_t bit, std::size_t width, std::uint64_t value) {
        std::vector<std::byte> bytes = right;
        write_bits(bytes, bit, width, value);
        return Decoded(uet_datagram({}, bytes));
    };
    CHECK(claimed(Decoded(uet_datagram({}, right))));
    CHECK_FALSE(claimed(near(at(0), 5, 15)));        // no such type
    CHECK_FALSE(claimed(near(at(0, 5), 4, 7)));      // no such next header
    CHECK_FALSE(claimed(near(at(1, 1), 1, 1)));      // a reserved flag
    CHECK_FALSE(claimed(near(at(8), 16, 0)));        // no context
    CHECK_FALSE(claimed(near(at(12), 2, 1)));        // reserved bits of the semantic header
    CHECK_FALSE(claimed(near(at(12, 2), 6, 0x2f)));  // no such operation
    CHECK_FALSE(claimed(near(at(13), 2, 1)));        // another version
    CHECK_FALSE(claimed(near(at(20), 4, 1)));
    CHECK_FALSE(
        claimed(Decoded(uet_datagram({}, {right.begin(), right.begin() + 40}))));  // too short for its semantic header
    // The CRC proves what the bits do not.
    std::vector<std::byte> reserved = right;
    write_bits(reserved, at(1, 1), 1, 1);
    PacketSpec sealed = uet_datagram({}, reserved);
    seal(sealed);
    CHECK(claimed(Decoded(sealed)));
    CHECK(Decoded(sealed).number("uet.pds.flags.rsvd_rud_rod") == 2);
    // Another port, and the port as source alone.
    PacketSpec elsewhere = uet_datagram({}, right);
    set(elsewhere, "udp.dstport", kUltraPort + 1);
    CHECK_FALSE(claimed(Decoded(elsewhere)));
    PacketSpec source = uet_datagram({.entropy = kUltraPort}, right);
    set(source, "udp.dstport", 9000);
    CHECK_FALSE(claimed(Decoded(source)));
    // Secured packets have little that could contradict: services answer from ports below 1024.
    CHECK_FALSE(claimed(to_port("0d00cafe 0a000001 0001 000000000005" + std::string(2 * 80, '7'), {.entropy = 53})));
    CHECK_FALSE(claimed(to_port("0d00cafe 0a000001 0001 000000000005 00112233")));
    CHECK_FALSE(claimed(to_port("0f00cafe 0a000001 0001 000000000005" + std::string(2 * 80, '7'))));
}

TEST_CASE("lengths that announce more than there is are faults, and nothing beyond the packet is believed") {
    std::vector<std::byte> bytes = hex(kOpeningWrite);
    write_bits(bytes, at(12 + 40), 32, 9000);
    const Decoded longer(uet_datagram({}, bytes));
    CHECK(longer.line().ends_with("!uet.ses:bad_length"));
    CHECK(longer.value("uet.payload")->bytes.size() == 4);
    // At any byte of the capture, every layer lies in it.
    PacketSpec spec = uet_packet(
        {},
        {{kind::uet_request, {{"uet.pds.type", 2}, {"uet.pds.nh", 3}, {"uet.pds.spdcid", 1}, {"uet.pds.dpdcid", 2}}},
         {kind::ses_standard, {{"uet.ses.std.opcode", 4}, {"uet.ses.std.som", 1}, {"uet.ses.std.eom", 1}}},
         {kind::ses_atomic, {{"uet.ses.atomic_op_ext_hdr.atomic_opcode", 0x0d}}},
         {kind::ses_compare_swap}});
    const std::size_t length = build(spec).size();
    for (std::size_t captured = 0; captured <= length; ++captured) {
        const Decoded cut(spec, captured);
        for (const Layer& layer : cut.packet.layers())
            if (layer.length > 0) CHECK(layer.offset + layer.length <= captured);
        if (captured < length && captured > 44) CHECK(cut.packet.layers().back().fault == Fault::cut);
    }
    for (std::uint64_t said = 0; said < 120; ++said) {  // UDP lengths
        PacketSpec lying = spec;
        set(lying, "udp.length", said);
        const Decoded decoded(lying);
        for (const Layer& layer : decoded.packet.layers()) CHECK(layer.offset + layer.length <= length);
    }
}

TEST_CASE("every number of Ultra Ethernet's tables reads back what was written") {
    const auto check = [](std::vector<UetHeader> headers, std::size_t which) {
        const Header& row = header(headers[which].kind);
        CAPTURE(row.title);
        for (const Field& field : row.fields) {
            const bool fixed =
                field.computed() || field.is_part || field.name.empty() || value_type(field.format) == ValueType::bytes;
            const auto set_already =
                std::ranges::find(headers[which].fields, field.name, [](const auto& each) { return each.first; });
            if (fixed || field.name.contains("res") || field.name.contains("rs") ||
                set_already != headers[which].fields.end())
                continue;
            if (field.name.ends_with("flags") || field.name.ends_with("opcode") || field.name.ends_with("length"))
                continue;
            auto changed = headers;
            const std::uint64_t value = 0x9e3779b97f4a7c15U >> (64 - field.width) | 1U;
            changed[which].fields.push_back({field.name, value});
            const Decoded decoded(uet_packet({}, changed, std::vector<std::byte>(8)));
            CAPTURE(field.name, decoded.line());
            CHECK(decoded.number(field.name) == value);
        }
    };
    const UetHeader request{kind::uet_request,
                            {{"uet.pds.type", 2}, {"uet.pds.nh", 3}, {"uet.pds.spdcid", 1}, {"uet.pds.dpdcid", 2}}};
    const UetHeader first{kind::ses_standard, {{"uet.ses.std.opcode", 5}, {"uet.ses.std.som", 1}}};
    const UetHeader later{kind::ses_standard_later, {{"uet.ses.std.opcode", 5}}};
    check({request, first}, 0);
    check({request, first}, 1);
    check({request, later}, 1);
    const UetHeader ack{kind::uet_ack,
                        {{"uet.pds.type", 8}, {"uet.pds.nh", 4}, {"uet.pds.spdcid", 1}, {"uet.pds.dpdcid", 2}}};
    const UetHeader nscc{kind::uet_ack_nscc, {{"uet.pds.ack.cc_type", 0}}};
    const UetHeader response{kind::ses_response,
                             {{"uet.ses.rsp.opcode", 1}, {"uet.ses.rsp.ver", 0}, {"uet.ses.rsp.return_code", 1}}};
    check({ack, nscc, response}, 0);
    check({ack, nscc, response}, 1);
    check({ack, nscc, response}, 2);
}

namespace {

// Sets the protocol for as long as it lives.
struct NativeProtocol {
    explicit NativeProtocol(std::uint8_t protocol) { set_uet_protocol(protocol); }
    ~NativeProtocol() { set_uet_protocol(std::nullopt); }
    NativeProtocol(const NativeProtocol&) = delete;
    NativeProtocol& operator=(const NativeProtocol&) = delete;
};
const std::vector<std::byte> kNativeControl = hex(
    "020000000002020000000001080045b8002c0001400040fdb518c0000201c00002021234 0000580c0000000100000101000000000000 1db962ce");

}  // namespace

TEST_CASE("Ultra Ethernet without UDP is read where the user says which IP protocol it has") {
    const Decoded unknown(kNativeControl, LinkType::ethernet);
    CHECK_FALSE(claimed(unknown));
    CHECK(unknown.layers() == "eth ip data");
    const NativeProtocol native(253);
    const Decoded control(kNativeControl, LinkType::ethernet);
    INFO(control.layers() << '\n' << control.line());
    check_clean(control);
    CHECK(control.layers() == "eth ip rdma.uet uet.pds uet.crc");
    CHECK(control.number("rdma.uet.entropy") == 0x1234);
    CHECK(control.number("uet.pds.psn") == 0x10000);
    CHECK(control.number("uet.crc.status") == 1);
    qps::transport::Observation seen;
    qps::transport::observe(control.packet, seen);
    CHECK(seen.kind == qps::transport::ObservationKind::ultra_ethernet);
    CHECK(seen.udp_source_port == 0x1234);
    const NativeProtocol other(254);
    CHECK_FALSE(claimed(Decoded(kNativeControl, LinkType::ethernet)));
}

TEST_CASE("what has the IP protocol of Ultra Ethernet and is none of it stays data, and what is cut is no fault") {
    const NativeProtocol native(253);
    for (std::size_t i = 38; i < 42; ++i) {  // the type, flags, and PSN offset of the control packet
        std::vector<std::byte> other = kNativeControl;
        other[38] = std::byte{0xff};
        other[i] = std::byte{0xff};
        const Decoded decoded(other, LinkType::ethernet);
        CHECK_FALSE(claimed(decoded));
        CHECK(decoded.layers() == "eth ip data");
    }
    for (std::size_t size = 34; size <= kNativeControl.size(); ++size) {
        std::vector<std::byte> cut(kNativeControl.begin(), kNativeControl.begin() + static_cast<std::ptrdiff_t>(size));
        const Decoded decoded(cut, LinkType::ethernet);  // the whole frame was so short: its IP length lies
        CHECK(decoded.packet.layers().size() >= 2);
    }
}

TEST_CASE("which IP protocol Ultra Ethernet has is a number that nobody else has") {
    CHECK(read_uet_protocol("253").value() == std::optional<std::uint8_t>(253));
    CHECK(read_uet_protocol("").value() == std::nullopt);
    CHECK(read_uet_protocol("17").error() == "invalid IP protocol '17': it is UDP's");
    for (const std::string_view wrong : {"0", "255", "256", "-1", "x", "25 3"})
        CHECK(read_uet_protocol(wrong).error() ==
              "invalid IP protocol '" + std::string(wrong) + "': expected 1 to 254");
}
