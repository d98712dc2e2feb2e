// Captures built for the comparison: headers and attributes that no sample capture has, with a distinct value in every
// field.
#include <dissect/capture/writer.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/mad/notice.hpp>
#include <dissect/packet/build.hpp>
#include <tests/parity/specimens.hpp>
#include <tests/support/lustre.hpp>
#include <tests/support/omni_path.hpp>
#include <tests/support/small_ulp.hpp>
#include <tests/support/smb_messages.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace qps::test {

using namespace dissect;

namespace {

using Specs = std::vector<PacketSpec>;

// Fields that decide what follows, or what a header is.
bool structural(const Field& field) {
    static const std::set<std::string_view> names{"infiniband.bth.opcode",
                                                  "infiniband.bth.padcnt",
                                                  "infiniband.bth.tver",
                                                  "infiniband.bth.destqp",
                                                  "infiniband.deth.srcqp",
                                                  "infiniband.mad.baseversion",
                                                  "infiniband.mad.mgmtclass",
                                                  "infiniband.mad.classversion",
                                                  "infiniband.mad.attributeid",
                                                  "infiniband.rmpp.rmpptype",
                                                  "infiniband.sa.attributeoffset",
                                                  "infiniband.lrh.lnh",
                                                  "infiniband.lrh.pktlen",
                                                  "infiniband.lrh.vl",
                                                  "infiniband.lrh.lver",
                                                  "infiniband.grh.ipver",
                                                  "infiniband.grh.paylen",
                                                  "infiniband.grh.nxthdr",
                                                  "infiniband.cm.req.serviceid",
                                                  "infiniband.rmpp.rmppflags",
                                                  "infiniband.smpdirected.hopcount"};
    return names.contains(field.name);
}

// A value for the n-th field that fits and is not zero.
std::uint64_t distinct(const Field& field, std::uint64_t n) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
    constexpr unsigned kLongest = 64;
    const std::uint64_t number = (n + 1) * kGolden >> (kLongest - std::min<unsigned>(kLongest, field.width));
    return number == 0 ? 1 : number;
}

void fill(HeaderSpec& header_spec, std::uint64_t& n) {
    for (const Field& field : header(header_spec.kind).fields) {
        if (field.computed() || field.is_part || field.name.empty() || structural(field)) continue;
        const ValueType type = value_type(field.format);
        if (type == ValueType::bytes || type == ValueType::ipv6 || type == ValueType::text) {
            std::vector<std::byte> bytes;
            constexpr std::uint64_t kPrintable = 26;  // text of tshark's ends at bytes that are none
            for (std::size_t i = 0; i < field.width / 8U; ++i)
                bytes.push_back(static_cast<std::byte>('a' + (n + i) % kPrintable));
            (void)set(header_spec, field.name, Bytes(bytes));
        } else {
            (void)set(header_spec, field.name, distinct(field, n));
        }
        ++n;
    }
}

void fill_from(PacketSpec& spec, LayerKind first, std::uint64_t& n) {
    for (HeaderSpec& header_spec : spec.headers)
        if (header_spec.kind >= first) fill(header_spec, n);
}

PacketSpec sample(Opcode opcode, Network network) {
    constexpr std::size_t kBytes = 61;
    PacketSpec spec = transport_packet(opcode, network);
    set(spec, "infiniband.bth.destqp", 0x123456);
    set(spec, "infiniband.deth.srcqp", 0x00abcd);
    if (info(opcode).carries_payload) spec.payload.assign(kBytes, std::byte{0xa5});
    return spec;
}

// The opcodes that tshark 4.0 takes apart.
bool known_to_tshark(std::size_t code) {
    constexpr std::size_t kFlush = 0x1c, kAtomicWrite = 0x1d;
    constexpr std::size_t kRd = 0x40, kUd = 0x60, kCnp = 0x80;
    return code != kFlush && code != kAtomicWrite && (code < kRd || (code >= kUd && code < kCnp));
}

Specs opcodes(std::span<const Network> networks) {
    Specs specs;
    std::uint64_t n = 0;
    for (std::size_t code = 0; code < kOpcodes.size(); ++code)
        if (kOpcodes[code].defined && known_to_tshark(code))
            for (const Network network : networks) {
                specs.push_back(sample(static_cast<Opcode>(code), network));
                fill_from(specs.back(), LayerKind::lrh, n);
            }
    return specs;
}

Specs mads() {
    constexpr std::uint64_t kRmppData = 1, kPayloadLength = 220;
    Specs specs;
    for (const MadAttribute& row : kMadAttributes)
        for (unsigned code = 0; code < 256; ++code) {
            const auto management_class = static_cast<ManagementClass>(code);
            if (group_of(management_class) != row.group || row.data == LayerKind::mad_data) continue;
            std::uint64_t n = row.id;
            specs.push_back(mad_packet(management_class, row, Network::roce_v2_ipv4));
            for (const LayerKind inner : row.inner)
                if (inner != LayerKind::mad_data) specs.back().headers.push_back({inner});
            fill_from(specs.back(), LayerKind::mad, n);
            if (row.data == kind::notice) set(specs.back(), "infiniband.notice.isgeneric", 1);
            if (row.group != MadGroup::administration) continue;
            specs.push_back(specs.back());  // the same as data of RMPP
            set(specs.back(), "infiniband.rmpp.rmpptype", kRmppData);
            set(specs.back(), "infiniband.rmpp.data1", 1);
            set(specs.back(), "infiniband.rmpp.data2", kPayloadLength);
        }
    return specs;
}

// A notice of each trap.
Specs notices() {
    Specs specs;
    const MadAttribute& row = *find_attribute(ManagementClass::subnet_lid_routed, 2);
    for (const ValueName& trap : kTrapNumbers) {
        std::uint64_t n = trap.value;
        specs.push_back(mad_packet(ManagementClass::subnet_lid_routed, row, Network::roce_v2_ipv4));
        fill_from(specs.back(), LayerKind::mad, n);
        set(specs.back(), "infiniband.notice.isgeneric", 1);
        set(specs.back(), "infiniband.notice.trapnumberdeviceid", trap.value);
    }
    return specs;
}

// Every attribute of Omni-Path, in records of both types.
Specs omni_path() {
    Specs specs;
    for (const OpaAttribute& row : kOpaAttributes)
        for (const ManagementClass management_class : tests::classes_of(row)) {
            std::uint64_t n = row.id;
            specs.push_back(tests::opa_datagram(management_class, row, (row.id & 1) != 0));
            const std::size_t attribute = specs.back().headers.size() -
                                          static_cast<std::size_t>(std::ranges::count_if(
                                              row.layers, [](LayerKind layer) { return layer != LayerKind::frame; }));
            for (std::size_t i = attribute; i < specs.back().headers.size(); ++i) fill(specs.back().headers[i], n);
            constexpr std::uint64_t kOnePort = 1 << 24, kGetResponse = 0x81;
            set(specs.back(), "opa.mad.method", kGetResponse);
            if (row.layers.front() != LayerKind::frame && row.management_class != 3)
                set(specs.back(), "opa.mad.attributemodifier", kOnePort);
        }
    return specs;
}

// A whole frame behind another Ethernet, IPv4 and what is given.
PacketSpec behind(std::vector<HeaderSpec> between) {
    PacketSpec spec = sample(Opcode{0x0a}, Network::roce_v2_ipv4);
    between.insert(between.begin(), {spec.headers[0], spec.headers[1]});
    spec.headers.insert(spec.headers.begin(), between.begin(), between.end());
    return spec;
}

PacketSpec tagged(Network network, std::vector<HeaderSpec> tags) {
    PacketSpec spec = sample(Opcode{0x0a}, network);
    spec.headers.insert(spec.headers.begin() + 1, tags.begin(), tags.end());
    return spec;
}

PacketSpec extended() {
    PacketSpec spec = sample(Opcode{0x0a}, Network::roce_v2_ipv6);
    HeaderSpec hop{LayerKind::ipv6_hop_by_hop};
    hop.tail = {std::byte{1}, std::byte{4}, {}, {}, {}, {}};
    HeaderSpec destination{LayerKind::ipv6_destination};
    destination.tail = hop.tail;
    insert_before(spec, LayerKind::udp, {hop, destination, {LayerKind::ipv6_fragment}});
    set(spec, "ipv6.fraghdr.ident", 0x89abcdef);
    return spec;
}

// On a path of SRv6: two segments, one left; and with a pad behind them.
PacketSpec on_path(bool padded) {
    PacketSpec spec = sample(Opcode{0x0a}, Network::roce_v2_ipv6);
    HeaderSpec routing{kind::segment_routing};
    set(routing, "ipv6.routing.type", 4);
    set(routing, "ipv6.routing.segleft", 1);
    set(routing, "ipv6.routing.srh.last_entry", 1);
    set(routing, "ipv6.routing.srh.flags", 8);
    routing.tail.resize(padded ? 40 : 32);
    for (const std::size_t first : {std::size_t{0}, std::size_t{16}}) routing.tail[first] = std::byte{0xfd};
    routing.tail[15] = std::byte{0x12};
    routing.tail[31] = std::byte{0x34};
    if (padded) routing.tail[32] = std::byte{4}, routing.tail[33] = std::byte{6};
    insert_before(spec, LayerKind::udp, {routing});
    return spec;
}

// The header of a link instead of Ethernet's.
Specs on_link(LinkType link, LayerKind kind) {
    PacketSpec spec = sample(Opcode{0x0a}, Network::roce_v2_ipv4);
    spec.link = link;
    spec.headers[0] = {kind};
    set(spec, "null.family", 2);
    return {spec};
}

PacketSpec control(LayerKind kind) {
    PacketSpec spec;
    spec.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {kind}};
    std::uint64_t n = 0;
    fill(spec.headers.back(), n);
    constexpr std::size_t kShortestFrame = 60;
    spec.trailer.resize(kShortestFrame - build(spec).size());
    return spec;
}

Specs tunnels() {
    using enum LayerKind;
    HeaderSpec tag{vlan};
    set(tag, "vlan.id", 0xabc);
    set(tag, "vlan.priority", 5);
    set(tag, "vlan.dei", 1);
    HeaderSpec label{mpls};
    set(label, "mpls.label", 0xabcde);
    set(label, "mpls.exp", 5);
    HeaderSpec network{vxlan};
    set(network, "vxlan.vni", 0xabcdef);
    HeaderSpec virtual_network{geneve};
    set(virtual_network, "geneve.vni", 0xabcdef);
    HeaderSpec key{gre_key};
    set(key, "gre.key", 0x89abcdef);
    HeaderSpec sequence{gre_sequence};
    set(sequence, "gre.sequence_number", 0x89abcdef);
    Specs specs;
    for (const Network carrier : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1}) {
        specs.push_back(tagged(carrier, {tag}));
        specs.push_back(tagged(carrier, {tag, tag}));
        if (carrier != Network::roce_v1) specs.push_back(tagged(carrier, {label, label}));
    }
    specs.push_back(behind({{udp}, network}));
    specs.push_back(behind({{udp}, virtual_network}));
    specs.push_back(behind({{gre}}));
    specs.push_back(behind({{gre}, {gre_checksum}, key, sequence}));
    specs.push_back(behind({{gre}, sequence, {erspan3}, {erspan3_platform}}));
    for (const LayerKind kind : {erspan2, erspan3}) {
        specs.push_back(behind({{gre}, sequence, {kind}}));
        set(specs.back(), "erspan.vlan", 0xabc);
        set(specs.back(), "erspan.spanid", 0x2bc);
        set(specs.back(), "erspan.index", 0xabcde);
        set(specs.back(), "erspan.timestamp", 0x89abcdef);
        set(specs.back(), "erspan.hw", 9);
    }
    specs.push_back(extended());
    specs.push_back(on_path(false));
    specs.push_back(on_path(true));
    specs.push_back(control(mac_pause));
    specs.push_back(control(mac_pfc));
    return specs;
}

// A dialogue of SMB Direct, each message in a packet: both ways of one connection.
Specs smb_direct() {
    namespace frames = tests::smb_messages;
    struct Said {
        bool by_client;
        std::vector<std::byte> message;
    };
    const std::vector<Said> dialogue{
        {true, frames::negotiate_request(200)},
        {false, frames::negotiate_response(100)},
        {false, frames::data({}, {.granted = 7})},
        {true, frames::data(frames::tree_connect(1), {.granted = 3})},
        {false, frames::data(frames::negotiate_dialect(0, 0x311))},
        {true, frames::data(frames::read_request(2, 8192, {{0x123456789abc, 0x1111, 4096}, {0x9000, 0x2222, 4096}}))},
        {false, frames::data(frames::response({.command = 8, .id = 2}, 17, 14))},
        {true, frames::data(frames::write_request(3, 4096, {0x2000, 0x3333, 4096}))},
        {false, frames::data(frames::response({.command = 9, .id = 3}, 17, 14))},
        {false, frames::data(frames::response({.command = 5, .status = 0xc0000034, .id = 4}, 9, 7))},
    };
    constexpr std::uint64_t kClient = 0x0a000001, kServer = 0x0a000002, kFirstPsn = 100;
    std::array<std::uint64_t, 2> psn{kFirstPsn, kFirstPsn};
    Specs specs;
    for (const Said& said : dialogue) {
        specs.push_back(sample(Opcode{0x04}, Network::roce_v2_ipv4));
        PacketSpec& spec = specs.back();
        set(spec, "ip.src", said.by_client ? kClient : kServer);
        set(spec, "ip.dst", said.by_client ? kServer : kClient);
        set(spec, "infiniband.bth.destqp", said.by_client ? 0x22 : 0x11);
        set(spec, "infiniband.bth.psn", psn[said.by_client ? 0 : 1]++);
        spec.payload = said.message;
    }
    return specs;
}

Specs in_erf() {
    Specs specs = opcodes(std::array{Network::native_local, Network::native_global});
    for (PacketSpec& spec : specs) {
        spec.link = LinkType::erf;
        spec.headers.insert(spec.headers.begin(), {LayerKind::erf});
    }
    specs.push_back(sample(Opcode{0x0a}, Network::roce_v2_ipv4));
    specs.back().link = LinkType::erf;
    specs.back().headers.insert(specs.back().headers.begin(), {{LayerKind::erf}, {LayerKind::erf_ethernet_pad}});
    return specs;
}

// SENDs of one connection.
Specs sends(Opcode opcode, Network network, const std::vector<std::vector<std::byte>>& payloads) {
    Specs specs;
    for (const auto& payload : payloads) {
        specs.push_back(transport_packet(opcode, network));
        set(specs.back(), "infiniband.bth.destqp", 0x48);
        set(specs.back(), "infiniband.deth.srcqp", 0x49);
        set(specs.back(), "infiniband.deth.q_key", 0x0b1b);
        set(specs.back(), "infiniband.bth.psn", specs.size());
        specs.back().payload = payload;
    }
    return specs;
}

// Every message of o2iblnd.
Specs lnet() {
    using namespace qps::tests;
    const auto cookie = octets_of(std::uint64_t{0xc1c2c3c4c5c6c7c8});
    const auto put = lnet_header(1, 4096, 3, lnet_put_rest());
    const auto get = lnet_header(2, 0, 3, lnet_get_rest(8192));
    const auto done = joined({cookie, octets_of(std::uint32_t{7})});
    const auto memory = lnet_memory(0x77, 8192, 0x7f00'1234'5000);
    return sends(
        Opcode{0x04}, Network::roce_v2_ipv4,
        {lnet_message(0xd0, {}, true, 9), lnet_message(0xd2, joined({put, cookie})), lnet_message(0xd3, done),
         lnet_message(0xd4, joined({cookie, octets_of(std::uint64_t{0xd1}), memory})), lnet_message(0xd5, done),
         lnet_message(0xd6, joined({get, cookie, memory})), lnet_message(0xd7, done),
         lnet_message(0xd1,
                      lnet_header(0, 0, 3, joined({octets_of(std::uint64_t{0xabc}), octets_of(std::uint32_t{77})}))),
         lnet_message(0xd1, get)});
}

// Requests and replies of Lustre.
Specs lustre() {
    using namespace qps::tests;
    const auto put = [](const LustreMessage& message, std::uint32_t portal) {
        return lustre_put(lustre_message(message), 1001, portal);
    };
    return sends(
        Opcode{0x04}, Network::roce_v2_ipv4,
        {put({.opcode = 400}, 28), put({.type = 4713, .opcode = 400}, 4), put({.opcode = 400, .body = 152}, 28),
         put({.opcode = 4, .buffers = lustre_extents(77, 0x100000, 2)}, 6),
         put({.opcode = 3, .buffers = lustre_extents(78, 0, 1)}, 6),
         put({.type = 4712, .opcode = 13, .status = 5}, 4)});
}

// Messages in digits; errors quote a RoCE packet, whole or in part.
Specs icmp() {
    const std::string ip = "45a10400123440004011b6ea0a0000010a000002", udp = "c12312b703ec0000",
                      bth = "0440ffff00000011800000aa";
    const std::string ip6 = "60a1234503ec114020010db800000000000000000000000120010db8000000000000000000000002",
                      mac = "525400770011";
    const std::string group = "ff020000000000000000000000000016", target = "20010db8000000000000000000000012";
    const std::vector<std::string> of_ipv4{
        "0800abcd12340005616263646566", "0000abcd12340005616263646566", "0303abcd00000000" + ip + udp + bth,
        "0304abcd000005dc" + ip + udp,  "0304abcd000705dc" + ip + udp,  "0501abcd0a0000fe" + ip + udp,
        "0b00abcd00000000" + ip + udp,  "0c00abcd14000000" + ip + udp,  "0400abcd00000000" + ip + udp,
    };
    const std::vector<std::string> of_ipv6{
        "0104abcd00000000" + ip6 + udp + bth,
        "0200abcd00000500" + ip6 + udp,
        "0300abcd00000000" + ip6 + udp,
        "0401abcd00000028" + ip6 + udp,
        "8000abcd12340005616263646566",
        "8100abcd12340005616263646566",
        "8500abcd000000000101" + mac,
        "8600abcd40d8070800007530000003e80101" + mac + "030440e000000e100000070800000000" + target + "0501000000001068",
        "8700abcd00000000" + target + "0101" + mac + "0e01010203040506",
        "8800abcdc0000000" + target + "0201" + mac,
        "8900abcd00000000" + target + target + "0201" + mac + "0407000000000000" + ip6 + udp,
        "8300abcd00000000" + group,
        "8400abcd00000000" + group,
        "8200abcd27100000" + group,
        "8f00abcd0000000204000000" + group + "03000001" + group + target,
        "c805abcd0102030461626364",
        "8700abcd00000000" + target + "c802000102030405060708090a0b0c0d",
    };
    Specs specs;
    const auto add = [&](Network network, std::string_view next, std::uint64_t protocol, const std::string& digits) {
        specs.push_back(transport_packet(Opcode{0x04}, network));
        PacketSpec& spec = specs.back();
        spec.headers.resize(2);
        (void)set(spec, next, protocol);
        for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
            spec.payload.push_back(static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    };
    for (const std::string& digits : of_ipv4) add(Network::roce_v2_ipv4, "ip.proto", 1, digits);
    for (const std::string& digits : of_ipv6) add(Network::roce_v2_ipv6, "ipv6.nxt", 58, digits);
    return specs;
}

// Native, in ERF.
Specs ipoib() {
    using namespace qps::tests;
    Specs specs = sends(Opcode{0x64}, Network::native_local,
                        {ipoib_arp(false), ipoib_arp(true), ipoib_ipv4(17, udp_datagram(7001, 7003, 40))});
    for (PacketSpec& spec : specs) {
        spec.link = LinkType::erf;
        spec.headers.insert(spec.headers.begin(), {LayerKind::erf});
    }
    return specs;
}

Capture write(const std::string& folder, const std::string& name, LinkType link, const Specs& specs) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    Capture capture{name, folder + "/" + name + ".pcap"};
    auto writer = CaptureWriter::open(capture.path, WriterFormat::pcap, link);
    std::int64_t time = 0;
    for (const PacketSpec& spec : specs) {
        const auto bytes = build(spec);
        Frame frame = frame_of(spec, bytes);
        frame.time = Instant{time += kSecond};
        if (!writer || !writer->write(frame)) throw std::runtime_error("cannot write " + capture.path);
    }
    if (!writer || !writer->close()) throw std::runtime_error("cannot write " + capture.path);
    return capture;
}

}  // namespace

std::vector<Capture> write_specimens(const std::string& folder) {
    return {
        write(folder, "built_opcodes", LinkType::ethernet,
              opcodes(std::array{Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1})),
        write(folder, "built_mads", LinkType::ethernet, mads()),
        write(folder, "built_notices", LinkType::ethernet, notices()),
        write(folder, "built_omni_path", LinkType::erf, omni_path()),
        write(folder, "built_tunnels", LinkType::ethernet, tunnels()),
        write(folder, "built_smb_direct", LinkType::ethernet, smb_direct()),
        write(folder, "built_erf", LinkType::erf, in_erf()),
        write(folder, "built_lnet", LinkType::ethernet, lnet()),
        write(folder, "built_lustre", LinkType::ethernet, lustre()),
        write(folder, "built_ipoib", LinkType::erf, ipoib()),
        write(folder, "built_icmp", LinkType::ethernet, icmp()),
        write(folder, "built_cooked", LinkType::linux_cooked, on_link(LinkType::linux_cooked, LayerKind::linux_cooked)),
        write(folder, "built_loopback", LinkType::null_loopback,
              on_link(LinkType::null_loopback, LayerKind::null_loopback))};
}

}  // namespace qps::test
