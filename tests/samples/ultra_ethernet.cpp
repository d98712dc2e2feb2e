#include <tests/samples/ultra_ethernet.hpp>
#include <tests/support/ultra_ethernet.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

using Packets = std::vector<SamplePacket>;
using Fields = std::vector<std::pair<std::string_view, std::uint64_t>>;

constexpr UetWay kThere{};
constexpr std::uint8_t kControlClass = 46;
constexpr UetWay kBack{.back = true, .dscp = kControlClass};
constexpr std::uint64_t kFirstPsn = 0x10000;
constexpr std::uint64_t kHere = 0x0101, kPeer = 0x0202;  // contexts of both ends
constexpr std::uint64_t kJob = 0xabc;
constexpr std::uint64_t kOrdered = 3, kCcOrdered = 14;

std::vector<std::byte> octets(std::size_t length, unsigned first) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < length; ++i) bytes.push_back(static_cast<std::byte>(first + i));
    return bytes;
}

UetHeader request(std::uint64_t psn, std::uint64_t next = 3, std::uint64_t type = 2) {
    const bool ordered = type == kOrdered || type == kCcOrdered;
    return {kind::uet_request,
            {{"uet.pds.type", type},
             {"uet.pds.nh", next},
             {"uet.pds.psn", psn},
             {"uet.pds.spdcid", ordered ? 0x0103 : kHere},
             {"uet.pds.dpdcid", ordered ? 0x0204 : kPeer}}};
}
UetHeader with(UetHeader header, const Fields& more) {
    header.fields.insert(header.fields.end(), more.begin(), more.end());
    return header;
}
UetHeader ack(std::uint64_t type, std::uint64_t psn, std::uint64_t next = 0) {
    return {kind::uet_ack,
            {{"uet.pds.type", type},
             {"uet.pds.nh", next},
             {"uet.pds.cack_psn", psn},
             {"uet.pds.spdcid", kPeer},
             {"uet.pds.dpdcid", kHere}}};
}
UetHeader standard(std::uint64_t opcode, std::uint64_t message, std::uint64_t length) {
    return {kind::ses_standard,
            {{"uet.ses.std.opcode", opcode},
             {"uet.ses.std.som", 1},
             {"uet.ses.std.eom", 1},
             {"uet.ses.std.message_id", message},
             {"uet.ses.std.index_generation", 1},
             {"uet.ses.std.job_id", kJob},
             {"uet.ses.std.pidonfep", 5},
             {"uet.ses.std.resource_index", 9},
             {"uet.ses.std.buffer_offset", 0x1000},
             {"uet.ses.std.initiator", 0x2a},
             {"uet.ses.std.mem_key_match_bits", 0x1122334455667788},
             {"uet.ses.std.request_length", length}}};
}
UetHeader later(std::uint64_t message, std::uint64_t offset, std::uint64_t payload, std::uint64_t length, bool last) {
    return {kind::ses_standard_later,
            {{"uet.ses.std.opcode", 1},
             {"uet.ses.std.eom", last ? 1 : 0},
             {"uet.ses.std.message_id", message},
             {"uet.ses.std.index_generation", 1},
             {"uet.ses.std.job_id", kJob},
             {"uet.ses.std.pidonfep", 5},
             {"uet.ses.std.resource_index", 9},
             {"uet.ses.std.buffer_offset", 0x1000},
             {"uet.ses.std.initiator", 0x2a},
             {"uet.ses.std.mem_key_match_bits", 0x1122334455667788},
             {"uet.ses.std.payload_length", payload},
             {"uet.ses.std.message_offset", offset},
             {"uet.ses.std.request_length", length}}};
}
UetHeader response(std::uint64_t message, std::uint64_t length, std::uint64_t code = 1) {
    return {kind::ses_response,
            {{"uet.ses.rsp.opcode", 1},
             {"uet.ses.rsp.return_code", code},
             {"uet.ses.rsp.message_id", message},
             {"uet.ses.rsp.resource_index_gen", 1},
             {"uet.ses.rsp.job_id", kJob},
             {"uet.ses.rsp.mod_length", length}}};
}
UetHeader nscc(std::uint64_t base) {
    return {kind::uet_ack_nscc,
            {{"uet.pds.ack.mpr", 1},
             {"uet.pds.ack.sack_bitmap", base},
             {"uet.pds.ack.cc_state.service_time", 10},
             {"uet.pds.ack.cc_state.rcvd_bytes", 1}}};
}
UetHeader control(std::uint64_t type, std::uint64_t psn, std::uint64_t payload) {
    return {kind::uet_control,
            {{"uet.pds.type", 11},
             {"uet.pds.ctl_type", type},
             {"uet.pds.psn", psn},
             {"uet.pds.spdcid", kHere},
             {"uet.pds.dpdcid", kPeer},
             {"uet.pds.ctrl_payload", payload}}};
}

// A context is opened by a WRITE, whose packet met congestion on its way.
void open(Packets& packets) {
    const UetHeader opens{kind::uet_request_syn,
                          {{"uet.pds.type", 2},
                           {"uet.pds.nh", 3},
                           {"uet.pds.flags.ar", 1},
                           {"uet.pds.flags.syn", 1},
                           {"uet.pds.psn", kFirstPsn},
                           {"uet.pds.spdcid", kHere}}};
    UetHeader write = with(standard(1, 7, 8), {{"uet.ses.std.hd", 1}, {"uet.ses.std.header_data", 0xdeadbeefcafef00d}});
    packets.push_back({uet_packet({.ecn = 3}, {opens, write}, octets(8, 0xa0))});
    packets.push_back(
        {uet_packet(kBack, {with(ack(8, kFirstPsn, 4), {{"uet.pds.flags.m", 1}}), nscc(1), response(7, 8)})});
}

// A message of three packets over three paths; the second is trimmed by a switch, refused and sent again.
void trimmed(Packets& packets) {
    constexpr std::uint64_t kPiece = 1024, kLength = 3 * kPiece;
    UetHeader first = standard(1, 8, kLength);
    std::erase_if(first.fields, [](const auto& field) { return field.first == "uet.ses.std.eom"; });
    packets.push_back({uet_packet(kThere, {request(kFirstPsn + 1), first}, octets(kPiece, 0))});
    PacketSpec cut = uet_packet({.entropy = 0xc002, .dscp = 5},
                                {request(kFirstPsn + 2), later(8, kPiece, kPiece, kLength, false)}, octets(kPiece, 0));
    const std::uint64_t whole = 8 + 12 + 44 + kPiece + 4;
    cut.payload.clear();
    set(cut, "udp.length", whole);  // as its sender wrote it; the switch corrects IP's length alone
    packets.push_back({cut});
    packets.push_back({uet_packet(
        {.entropy = 0xc003},
        {with(request(kFirstPsn + 3), {{"uet.pds.flags.ar", 1}}), later(8, 2 * kPiece, kPiece, kLength, true)},
        octets(kPiece, 0))});
    packets.push_back({uet_packet(kBack, {{kind::uet_nack,
                                           {{"uet.pds.type", 10},
                                            {"uet.pds.nack.code", 1},
                                            {"uet.pds.nack.psn", kFirstPsn + 2},
                                            {"uet.pds.spdcid", kPeer},
                                            {"uet.pds.dpdcid", kHere}}}})});
    packets.push_back({uet_packet(kBack, {with(ack(8, kFirstPsn + 1), {{"uet.pds.ack_psn_offset", 2}}), nscc(5)})});
    packets.push_back(
        {uet_packet({.entropy = 0xc004},
                    {with(request(kFirstPsn + 2),
                          {{"uet.pds.flags.retx", 1}, {"uet.pds.flags.ar", 1}, {"uet.pds.clear_psn_offset", 0xfffe}}),
                     later(8, kPiece, kPiece, kLength, false)},
                    octets(kPiece, 0))});
    packets.push_back({uet_packet(kBack, {ack(7, kFirstPsn + 3, 4), response(8, kLength)})});
}

// What reads and what computes: data in an ACK, atomics, a rendezvous, a refusal.
void operations(Packets& packets) {
    packets.push_back({uet_packet(kThere, {request(kFirstPsn + 4), standard(2, 9, 8)})});
    packets.push_back({uet_packet(kBack,
                                  {ack(7, kFirstPsn + 4, 5),
                                   {kind::ses_response_data,
                                    {{"uet.ses.rsp.opcode", 2},
                                     {"uet.ses.rsp.return_code", 1},
                                     {"uet.ses.rsp.message_id", 0x101},
                                     {"uet.ses.rsp.job_id", kJob},
                                     {"uet.ses.rsp.read_req_message_id", 9},
                                     {"uet.ses.rsp.payload_length", 8},
                                     {"uet.ses.rsp.mod_length", 8}}}},
                                  octets(8, 0xa0))});
    const UetHeader sum{
        kind::ses_atomic,
        {{"uet.ses.atomic_op_ext_hdr.atomic_opcode", 2}, {"uet.ses.atomic_op_ext_hdr.atomic_data_type", 7}}};
    const UetHeader swap{
        kind::ses_atomic,
        {{"uet.ses.atomic_op_ext_hdr.atomic_opcode", 0x0d}, {"uet.ses.atomic_op_ext_hdr.atomic_data_type", 7}}};
    packets.push_back({uet_packet(kThere, {request(kFirstPsn + 5), standard(3, 10, 8), sum}, octets(8, 1))});
    packets.push_back(
        {uet_packet(kThere, {request(kFirstPsn + 6), standard(4, 11, 8), swap, {kind::ses_compare_swap}})});
    packets.push_back({uet_packet(kThere,
                                  {request(kFirstPsn + 7),
                                   standard(6, 12, 65536),
                                   {kind::ses_rendezvous, {{"uet.ses.rendv_ext_hdr.eager_length", 16}}}},
                                  octets(16, 0x40))});
    packets.push_back({uet_packet(kBack, {ack(7, kFirstPsn + 7, 4), response(12, 0, 0x1c)})});  // the key is bad
}

// Without a context; ordered; with credit; extended congestion control; control packets.
void others(Packets& packets) {
    const UetHeader ordered = with(request(0x10003, 3, kOrdered), {{"uet.pds.clear_psn_offset", 0xfffe}});
    packets.push_back({uet_packet(kThere, {ordered, later(7, 8, 4, 16, false)}, octets(4, 0xb0))});
    packets.push_back({uet_packet(
        kThere,
        {request(0x10004, 3, kCcOrdered),
         {kind::uet_request_cc, {{"uet.pds.cc_state.ccc_id", 3}, {"uet.pds.cc_state.credit_target", 0x800}}},
         later(7, 12, 4, 16, true)},
        octets(4, 0xb4))});
    packets.push_back({uet_packet(
        kBack, {ack(8, 0x10004),
                {kind::uet_ack_credit, {{"uet.pds.ack.cc_type", 1}, {"uet.pds.ack.cc_state.credit", 0x400}}}})});
    packets.push_back(
        {uet_packet(kBack, {ack(9, 0x10004), {kind::uet_ack_ccx, {{"uet.pds.ack.ccx_type", 14}}}}, octets(16, 0xd0))});
    packets.push_back({uet_packet(kBack,
                                  {{kind::uet_nack,
                                    {{"uet.pds.type", 12},
                                     {"uet.pds.nack.code", 7},
                                     {"uet.pds.nack.psn", kFirstPsn + 8},
                                     {"uet.pds.spdcid", kPeer},
                                     {"uet.pds.dpdcid", kHere}}},
                                   {kind::uet_nack_ccx, {{"uet.pds.nack.nccx_type", 1}}}},
                                  octets(15, 0xd0))});
    const UetHeader small{kind::ses_small,
                          {{"uet.ses.std.opcode", 2},
                           {"uet.ses.small_req.som", 1},
                           {"uet.ses.small_req.eom", 1},
                           {"uet.ses.small_req.req_length", 16},
                           {"uet.ses.small_req.job_id", kJob},
                           {"uet.ses.small_req.buffer_offset", 0x2000}}};
    packets.push_back({uet_packet(
        kThere,
        {{kind::uet_rudi, {{"uet.pds.type", 4}, {"uet.pds.nh", 1}, {"uet.pds.rudi.pkt_id", 0x11223344}}}, small})});
    packets.push_back(
        {uet_packet(kBack,
                    {{kind::uet_rudi, {{"uet.pds.type", 5}, {"uet.pds.nh", 6}, {"uet.pds.rudi.pkt_id", 0x11223344}}},
                     {kind::ses_response_data_small,
                      {{"uet.ses.rsp.opcode", 2},
                       {"uet.ses.rsp.return_code", 1},
                       {"uet.ses.rsp.payload_length", 16},
                       {"uet.ses.rsp.job_id", kJob},
                       {"uet.ses.rsp.original_request_psn", 0x11223344}}}},
                    octets(16, 0))});
    const UetHeader datagram{kind::ses_medium_data,
                             {{"uet.ses.std.opcode", 7},
                              {"uet.ses.med_req.flags.hd", 1},
                              {"uet.ses.med_req.som", 1},
                              {"uet.ses.med_req.eom", 1},
                              {"uet.ses.med_req.req_length", 4},
                              {"uet.ses.med_req.job_id", kJob},
                              {"uet.ses.med_req.header_data", 0x0102030405060708}}};
    packets.push_back(
        {uet_packet(kThere, {{kind::uet_uud, {{"uet.pds.type", 6}, {"uet.pds.nh", 2}}}, datagram}, octets(4, 0xc0))});
    packets.push_back(
        {uet_packet(kThere, {with(control(6, 0, kFirstPsn + 8), {{"uet.pds.ctrl_probe_opaque", 0xbeef}})})});
    packets.push_back({uet_packet(kBack, {{kind::uet_ack_probe,
                                           {{"uet.pds.type", 7},
                                            {"uet.pds.flags.p", 1},
                                            {"uet.pds.ctrl_probe_opaque", 0xbeef},
                                            {"uet.pds.cack_psn", kFirstPsn + 7},
                                            {"uet.pds.spdcid", kPeer},
                                            {"uet.pds.dpdcid", kHere}}}})});
    packets.push_back({uet_packet(kThere, {with(control(4, kFirstPsn + 8, 0), {{"uet.pds.flags.ar", 1}})})});
    packets.push_back({uet_packet(kBack, {ack(7, kFirstPsn + 8)})});
}

// Secured, and a datagram that only has the port.
void last(Packets& packets) {
    const UetHeader secured{kind::uet_tss_ssi,
                            {{"uet.tss.type", 1},
                             {"uet.tss.sp", 1},
                             {"uet.tss.an", 1},
                             {"uet.tss.sdi", 0xcafe},
                             {"uet.tss.ssi", 0x0a000001},
                             {"uet.tss.tsc.epoch", 1},
                             {"uet.tss.tsc.counter", 5}}};
    packets.push_back({uet_packet(kThere, {secured}, octets(80, 0x51), false)});
    packets.push_back({uet_packet(
        kThere, {{kind::uet_tss, {{"uet.tss.type", 1}, {"uet.tss.sdi", 0xcafe}, {"uet.tss.tsc.counter", 6}}}},
        octets(80, 0x52), false)});
    packets.push_back({uet_datagram({.back = true, .entropy = 53, .ecn = 0}, octets(48, 0x2d))});
}

}  // namespace

std::vector<SamplePacket> ultra_ethernet() {
    Packets packets;
    open(packets);
    trimmed(packets);
    operations(packets);
    others(packets);
    last(packets);
    return packets;
}

}  // namespace qps::tests
