// The walk: link layers, tunnels, fragments, cut captures and lengths that lie.
#include <dissect/headers/derived.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

#include <algorithm>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::hex;

namespace {

constexpr Opcode kRcWriteOnly{0x0a};

PacketSpec sample(Network network = Network::roce_v2_ipv4) {
    PacketSpec spec = transport_packet(kRcWriteOnly, network);
    set(spec, "infiniband.bth.destqp", 17);
    set(spec, "infiniband.bth.psn", 4711);
    set(spec, "infiniband.reth.dmalen", 100);
    spec.payload.assign(100, std::byte{0x77});
    return spec;
}

// An outer Ethernet, IPv4 and UDP (or GRE) in front of a whole frame.
PacketSpec tunnelled(std::vector<HeaderSpec> between) {
    PacketSpec spec = sample();
    const PacketSpec outer = sample();
    std::vector<HeaderSpec> front{outer.headers[0], outer.headers[1]};
    front.insert(front.end(), between.begin(), between.end());
    spec.headers.insert(spec.headers.begin(), front.begin(), front.end());
    return spec;
}

void check_inner(const Decoded& decoded) {
    INFO(decoded.layers());
    INFO(decoded.line());
    CHECK(decoded.packet.psn == Psn{4711});
    CHECK(decoded.packet.dest_qp == Qpn{17});
    CHECK(decoded.packet.payload.length == 100);
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
    for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
}

}  // namespace

TEST_CASE("RoCE is found behind VLAN, QinQ and MPLS") {
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6, Network::roce_v1}) {
        const LayerKind first = network == Network::roce_v2_ipv4   ? LayerKind::ipv4
                                : network == Network::roce_v2_ipv6 ? LayerKind::ipv6
                                                                   : LayerKind::grh;
        PacketSpec vlan = sample(network);
        insert_before(vlan, first, {{LayerKind::vlan}});
        set(vlan, "vlan.id", 100);
        set(vlan, "vlan.priority", 3);
        check_inner(Decoded(vlan));
        CHECK(Decoded(vlan).number("vlan.id") == 100);
        CHECK(Decoded(vlan).number("vlan.priority") == 3);
        PacketSpec qinq = sample(network);
        insert_before(qinq, first, {{LayerKind::vlan}, {LayerKind::vlan}});
        set(qinq, "eth.type", 0x88a8);
        check_inner(Decoded(qinq));
        if (network == Network::roce_v1) continue;  // MPLS carries IP
        PacketSpec mpls = sample(network);
        insert_before(mpls, first, {{LayerKind::mpls}, {LayerKind::mpls}});
        set(mpls, "mpls.label", 16);
        check_inner(Decoded(mpls));
        CHECK(Decoded(mpls).number("mpls.bottom") == 0);
    }
}

TEST_CASE("a pseudo-wire carries Ethernet behind its control word") {
    PacketSpec spec = sample();
    const HeaderSpec ethernet = spec.headers[0];
    spec.headers.insert(spec.headers.begin(), {ethernet, {LayerKind::mpls}, {LayerKind::mpls_control_word}});
    check_inner(Decoded(spec));
}

TEST_CASE("RoCE is found inside VXLAN, GENEVE, GRE and ERSPAN") {
    check_inner(Decoded(tunnelled({{LayerKind::udp}, {LayerKind::vxlan}})));
    check_inner(Decoded(tunnelled({{LayerKind::udp}, {LayerKind::geneve}})));
    HeaderSpec with_options{LayerKind::geneve};
    with_options.tail = hex("0102800100000000");
    check_inner(Decoded(tunnelled({{LayerKind::udp}, with_options})));
    check_inner(Decoded(tunnelled({{LayerKind::gre}})));
    check_inner(Decoded(
        tunnelled({{LayerKind::gre}, {LayerKind::gre_checksum}, {LayerKind::gre_key}, {LayerKind::gre_sequence}})));
    check_inner(Decoded(tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, {LayerKind::erspan2}})));
    check_inner(Decoded(tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, {LayerKind::erspan3}})));
    check_inner(Decoded(
        tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, {LayerKind::erspan3}, {LayerKind::erspan3_platform}})));
}

TEST_CASE("ERSPAN type I has no header of its own") {
    HeaderSpec gre{LayerKind::gre};
    set(gre, "gre.proto", 0x88be);
    check_inner(Decoded(tunnelled({gre})));
}

TEST_CASE("IP in GRE and IP in IP are followed") {
    PacketSpec in_gre = sample();
    const HeaderSpec outer = in_gre.headers[1];
    insert_before(in_gre, LayerKind::udp, {{LayerKind::gre}, outer});
    check_inner(Decoded(in_gre));
    PacketSpec in_ip = sample();
    insert_before(in_ip, LayerKind::udp, {outer});
    check_inner(Decoded(in_ip));
    PacketSpec six_in_four = sample(Network::roce_v2_ipv6);
    insert_before(six_in_four, LayerKind::ipv6, {outer});
    check_inner(Decoded(six_in_four));
}

TEST_CASE("every link type reaches the BTH") {
    for (const auto& [link, kind] : {std::pair{LinkType::linux_cooked, LayerKind::linux_cooked},
                                     std::pair{LinkType::linux_cooked_v2, LayerKind::linux_cooked_v2}}) {
        PacketSpec spec = sample();
        spec.link = link;
        spec.headers[0] = {kind};
        check_inner(Decoded(spec));
    }
    for (const LinkType link : {LinkType::raw_ip, LinkType::ipv4}) {
        PacketSpec spec = sample();
        spec.link = link;
        spec.headers.erase(spec.headers.begin());
        check_inner(Decoded(spec));
    }
    PacketSpec six = sample(Network::roce_v2_ipv6);
    six.link = LinkType::ipv6;
    six.headers.erase(six.headers.begin());
    check_inner(Decoded(six));
    PacketSpec loopback = sample();
    loopback.link = LinkType::null_loopback;
    loopback.headers[0] = {LayerKind::null_loopback};
    check_inner(Decoded(loopback));
}

TEST_CASE("ERF records carry Ethernet and InfiniBand, with extension headers") {
    PacketSpec ethernet = sample();
    ethernet.link = LinkType::erf;
    ethernet.headers.insert(ethernet.headers.begin(), {{LayerKind::erf}, {LayerKind::erf_ethernet_pad}});
    const Decoded wired(ethernet);
    check_inner(wired);
    // The header and the padding of the record were never on a wire.
    CHECK(wired.packet.frame.wire_bytes() == wired.packet.frame.bytes.size() - 18);
    CHECK(wired.packet.frame.captured_bytes() == wired.packet.frame.wire_bytes());
    CHECK(Decoded(sample()).packet.frame.wire_bytes() == wired.packet.frame.wire_bytes());
    for (const Network network : {Network::native_local, Network::native_global}) {
        PacketSpec native = sample(network);
        native.link = LinkType::erf;
        native.headers.insert(native.headers.begin(),
                              {{LayerKind::erf}, {LayerKind::erf_extension}, {LayerKind::erf_extension}});
        set(native.headers[1], "rdma.erf.extension_type", 0x80 | 3);
        set(native.headers[2], "rdma.erf.extension_type", 4);
        const Decoded decoded(native);
        check_inner(decoded);
        CHECK(decoded.packet.vcrc.status == CrcStatus::good);
        CHECK(decoded.packet.frame.wire_bytes() == decoded.packet.frame.bytes.size() - 32);
    }
}

TEST_CASE("link type 247 starts at the LRH") {
    for (const Network network : {Network::native_local, Network::native_global}) {
        const Decoded decoded(sample(network));
        check_inner(decoded);
        CHECK(decoded.packet.encapsulation == Encapsulation::native);
        CHECK(decoded.packet.vcrc.status == CrcStatus::good);
    }
}

TEST_CASE("a raw packet of InfiniBand shows what it carries") {
    PacketSpec raw;
    raw.link = LinkType::infiniband;
    raw.headers = {{LayerKind::lrh}, {LayerKind::rwh}};
    const PacketSpec inner = sample();
    raw.headers.insert(raw.headers.end(), inner.headers.begin() + 1, inner.headers.end());
    raw.payload = inner.payload;
    set(raw, "infiniband.lrh.lnh", 0);
    const Decoded decoded(raw);
    CHECK(decoded.layers().starts_with("infiniband.lrh infiniband.rwh ip udp rdma infiniband.bth"));
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
}

TEST_CASE("PAUSE and PFC timers become microseconds at the speed of the link") {
    PacketSpec spec;
    spec.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {LayerKind::mac_pfc}};
    set(spec, "macc.cbfc.enbv", 0x08);
    set(spec, "macc.cbfc.pause_time.c3", 65535);
    spec.trailer.resize(26);
    const std::vector<std::byte> bytes = build(spec);
    Frame frame = frame_of(spec, bytes);
    Packet packet;
    decode(frame, packet);
    std::string line;
    append_line(line, packet);
    CHECK(line == "PFC priorities=0x0008 p3=65535");
    frame.link_speed = BitsPerSecond{100'000'000'000};
    decode(frame, packet);
    line.clear();
    append_line(line, packet);
    CHECK(line == "PFC priorities=0x0008 p3=65535(335.5 us)");
    const Layer* pfc = find(packet, LayerKind::mac_pfc);
    REQUIRE(pfc != nullptr);
    CHECK(derived::pfc_time<3>(packet, *pfc)->number == 335539200);  // 65535 * 512 bit times of 10 ps
    CHECK(derived::pfc_time<2>(packet, *pfc)->number == 0);
    PacketSpec pause;
    pause.headers = {{LayerKind::ethernet}, {LayerKind::mac_control}, {LayerKind::mac_pause}};
    set(pause, "macc.pause_time", 100);
    CHECK(Decoded(pause).line() == "PAUSE quanta=100");
}

TEST_CASE("fragments are flagged, and their ICRC is not checkable") {
    PacketSpec first = sample();
    set(first, "ip.flags.mf", 1);
    const Decoded start(first);
    CHECK(start.packet.psn == Psn{4711});
    CHECK(start.packet.icrc.status == CrcStatus::not_checkable);
    CHECK(start.packet.icrc.reason == CrcReason::fragment);
    CHECK(find(start.packet, LayerKind::ipv4)->fault == Fault::fragment);
    PacketSpec later = sample();
    set(later, "ip.frag_offset", 1480);
    const Decoded rest(later);
    CHECK_FALSE(rest.packet.has_transport());
    CHECK(rest.layers() == "eth ip data");
    CHECK(rest.line().find("!ip:fragment") != std::string::npos);
    PacketSpec six = sample(Network::roce_v2_ipv6);
    insert_before(six, LayerKind::udp, {{LayerKind::ipv6_fragment}});
    set(six, "ipv6.fraghdr.more", 1);
    CHECK(Decoded(six).packet.icrc.reason == CrcReason::fragment);
    set(six, "ipv6.fraghdr.more", 0);
    CHECK(Decoded(six).packet.icrc.reason == CrcReason::ip_options);  // an atomic fragment is whole
    set(six, "ipv6.fraghdr.offset", 8);
    CHECK_FALSE(Decoded(six).packet.has_transport());
}

TEST_CASE("IP options and extension headers are walked, and leave the ICRC undefined") {
    PacketSpec options = sample();
    find(options, LayerKind::ipv4)->tail = hex("94040000");  // router alert
    const Decoded four(options);
    CHECK(four.packet.psn == Psn{4711});
    CHECK(four.packet.icrc.reason == CrcReason::ip_options);
    CHECK(four.plain("rdma.ip.options") == "94040000");
    PacketSpec extended = sample(Network::roce_v2_ipv6);
    HeaderSpec hop{LayerKind::ipv6_hop_by_hop};
    hop.tail = hex("010400000000");
    HeaderSpec destination{LayerKind::ipv6_destination};
    destination.tail = hex("010c000000000000000000000000");
    HeaderSpec routing{LayerKind::ipv6_routing};
    routing.tail = hex("00000000");
    insert_before(extended, LayerKind::udp, {hop, routing, destination});
    const Decoded six(extended);
    CHECK(six.packet.psn == Psn{4711});
    CHECK(six.layers().starts_with("eth ipv6 ipv6.hopopts ipv6.routing ipv6.dstopts udp rdma"));
}

TEST_CASE("a capture cut at 128 bytes decodes fully, with an ICRC that is not checkable") {
    for (const Network network : kNetworks) {
        const PacketSpec spec = sample(network);
        const Decoded decoded(spec, 128);
        INFO(decoded.line());
        CHECK(decoded.packet.psn == Psn{4711});
        CHECK(decoded.number("infiniband.reth.dmalen") == 100);
        CHECK(decoded.packet.payload.length == 100);
        CHECK(decoded.packet.payload.captured < 100);
        CHECK(decoded.packet.icrc.status == CrcStatus::not_checkable);
        CHECK(decoded.packet.icrc.reason == CrcReason::cut);
        CHECK(decoded.number("rdma.payload_bytes") == 100);
    }
}

TEST_CASE("a packet cut anywhere keeps what was captured, and says where it ends") {
    for (const Network network : kNetworks) {
        const PacketSpec spec = sample(network);
        const std::vector<std::byte> bytes = build(spec);
        const Decoded whole(spec);
        for (std::size_t captured = 0; captured < bytes.size(); ++captured) {
            const Decoded cut(bytes, spec.link, captured);
            INFO("network " << static_cast<int>(network) << " captured " << captured << ": " << cut.layers());
            const bool icrc_there =
                captured >= bytes.size() - (spec.link == LinkType::infiniband ? 2 : 0);  // only the VCRC is cut
            CHECK((cut.packet.icrc.status == CrcStatus::good) == icrc_there);
            CHECK(cut.packet.icrc.status != CrcStatus::bad);
            CHECK(cut.packet.vcrc.status != CrcStatus::good);
            if (find(cut.packet, LayerKind::grh) != nullptr || find(cut.packet, LayerKind::lrh) != nullptr)
                CHECK(cut.packet.icrc.status != CrcStatus::not_applicable);
            if (!cut.packet.has_transport()) CHECK_FALSE(cut.number("rdma.service"));
            // The layers are a prefix of the whole packet's, and only the last may be cut. (Conclusions and the VCRC
            // may stand behind it.)
            const auto layers = cut.packet.layers();
            const auto ends_prefix = [&](std::size_t i) {
                return i >= layers.size() || layers[i].kind == LayerKind::vcrc ||
                       (layers[i].kind == LayerKind::rdma && i > 0 && layers[i - 1].fault != Fault::none);
            };
            for (std::size_t i = 0; !ends_prefix(i); ++i) {
                REQUIRE(layers[i].kind == whole.packet.layers()[i].kind);
                CHECK(layers[i].offset == whole.packet.layers()[i].offset);
                if (!ends_prefix(i + 1)) CHECK(layers[i].fault == Fault::none);
            }
        }
    }
}

TEST_CASE("lengths that lie are faults, and nothing beyond the packet is believed") {
    for (const std::uint64_t lie : {0U, 1U, 7U, 19U, 20U, 27U, 28U, 60U, 5000U, 65535U}) {
        INFO("length " << lie);
        PacketSpec ip = sample();
        set(ip, "ip.len", lie);
        if (lie != 0)
            CHECK(Decoded(ip).packet.icrc.status != CrcStatus::good);  // zero: an offloading sender leaves it out
        PacketSpec udp = sample();
        set(udp, "udp.length", lie);
        if (lie != 0) CHECK(Decoded(udp).packet.icrc.status != CrcStatus::good);  // zero: left to the IP length
        PacketSpec grh = sample(Network::roce_v1);
        set(grh, "infiniband.grh.paylen", lie);
        CHECK(Decoded(grh).packet.icrc.status != CrcStatus::good);
        PacketSpec lrh = sample(Network::native_local);
        set(lrh, "infiniband.lrh.pktlen", lie & 0x7ff);
        CHECK(Decoded(lrh).packet.icrc.status != CrcStatus::good);
    }
    PacketSpec long_ip = sample();
    set(long_ip, "ip.len", 5000);
    const Decoded lying(long_ip);
    CHECK(lying.packet.icrc.reason == CrcReason::bad_length);
    CHECK(lying.packet.psn == Psn{4711});
    CHECK(find(lying.packet, LayerKind::ipv4)->fault == Fault::bad_length);
}

namespace {

// As a mirror sends it on that cuts what it mirrors: the lengths of headers stay.
Decoded cut_by_mirror(const PacketSpec& spec, std::size_t length, std::size_t fcs = 0) {
    std::vector<std::byte> bytes = build(spec);
    bytes.resize(length);
    bytes.resize(length + fcs, std::byte{0xfc});
    return Decoded(bytes, spec.link);
}

void check_cut(const Decoded& decoded) {
    INFO(decoded.line());
    CHECK(decoded.packet.layers().back().fault == Fault::cut);
    CHECK(decoded.packet.psn == Psn{4711});
    CHECK(decoded.packet.payload.length == 100);
    CHECK(decoded.packet.icrc.status == CrcStatus::not_checkable);
    CHECK(decoded.packet.icrc.reason == CrcReason::cut);
    for (const Layer& layer : decoded.packet.layers()) CHECK((layer.fault == Fault::none || layer.fault == Fault::cut));
}

}  // namespace

TEST_CASE("a frame that ends before its own lengths do was cut, and its lengths count") {
    for (const Network network : {Network::roce_v2_ipv4, Network::roce_v2_ipv6}) {
        const std::size_t whole = build(sample(network)).size();
        for (std::size_t length = whole - 120; length < whole; ++length)
            check_cut(cut_by_mirror(sample(network), length));
        check_inner(Decoded(sample(network)));
    }
}

TEST_CASE("what a mirror cut inside a tunnel is cut, and nothing behind the cut is taken for it") {
    HeaderSpec said{LayerKind::erspan2};
    set(said, "erspan.truncated", 1);
    for (const HeaderSpec& erspan : {said, HeaderSpec{LayerKind::erspan2}}) {
        PacketSpec spec = tunnelled({{LayerKind::gre}, {LayerKind::gre_sequence}, erspan});
        const std::size_t whole = build(spec).size();
        for (const std::size_t missing : {4U, 60U, 104U}) {
            set(spec, "ip.len", whole - missing - 14);  // of the mirror's own header, the first of them
            for (const std::size_t fcs : {0U, 4U}) {
                const Decoded decoded = cut_by_mirror(spec, whole - missing, fcs);
                check_cut(decoded);
                CHECK(decoded.packet.payload.captured == (missing > 104 ? 0 : 104 - missing));
            }
        }
    }
}

TEST_CASE("lengths beyond the frame that contradict each other are a lie, not a cut") {
    for (const std::uint64_t udp : {80U, 300U}) {
        PacketSpec spec = sample();
        set(spec, "ip.len", 500);
        set(spec, "udp.length", udp);
        const Decoded decoded(spec);
        CHECK(decoded.packet.icrc.reason == CrcReason::bad_length);
        CHECK(find(decoded.packet, LayerKind::ipv4)->fault == Fault::bad_length);
    }
    PacketSpec agree = sample();
    set(agree, "ip.len", 500);
    set(agree, "udp.length", 480);
    CHECK(Decoded(agree).packet.icrc.reason == CrcReason::cut);
    CHECK(find(Decoded(agree).packet, LayerKind::ipv4)->fault == Fault::none);
}

TEST_CASE("the first fragment of a datagram says how long all of it is") {
    PacketSpec spec = sample();
    const std::size_t whole = build(spec).size();
    set(spec, "ip.flags.mf", 1);
    set(spec, "ip.len", whole - 14 - 64);
    set(spec, "udp.length", whole - 14 - 20);
    const Decoded decoded = cut_by_mirror(spec, whole - 64);
    CHECK(decoded.packet.payload.length == 100);
    CHECK(decoded.packet.payload.captured == 40);
    CHECK(decoded.packet.icrc.reason == CrcReason::fragment);
    CHECK(find(decoded.packet, LayerKind::ipv4)->fault == Fault::fragment);
}

TEST_CASE("a pad count larger than the payload is a fault of the BTH") {
    PacketSpec spec = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    set(spec, "infiniband.bth.padcnt", 3);
    const Decoded decoded(spec);
    CHECK(decoded.packet.layer_storage[decoded.packet.bth_layer].fault == Fault::bad_length);
    CHECK(decoded.packet.payload.length == 0);
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
}

TEST_CASE("a transport version other than 0 is a fault, and the packet is decoded all the same") {
    PacketSpec spec = sample();
    set(spec, "infiniband.bth.tver", 3);
    const Decoded decoded(spec);
    CHECK(decoded.packet.layer_storage[decoded.packet.bth_layer].fault == Fault::bad_version);
    CHECK(decoded.packet.psn == Psn{4711});
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
}

TEST_CASE("headers stacked without end stop at the bound") {
    PacketSpec spec = sample();
    const HeaderSpec outer = spec.headers[1];
    spec.headers.insert(spec.headers.begin() + 1, 60, outer);
    const Decoded decoded(spec);
    CHECK(decoded.packet.layers().size() == kMaxLayers);
    CHECK(decoded.packet.layers().back().fault == Fault::too_deep);
}

TEST_CASE("Ethernet padding is no part of the packet") {
    PacketSpec spec = transport_packet(Opcode::rc_acknowledge, Network::roce_v2_ipv4);
    spec.trailer = hex("000000000000");
    const Decoded decoded(spec);
    CHECK(decoded.packet.icrc.status == CrcStatus::good);
    CHECK(decoded.packet.payload.length == 0);
}

TEST_CASE("only the destination port 4791 makes RoCE") {
    PacketSpec spec = sample();
    set(spec, "udp.srcport", 4791);
    set(spec, "udp.dstport", 5000);
    CHECK_FALSE(Decoded(spec).packet.has_transport());
    set(spec, "udp.dstport", 4791);
    CHECK(Decoded(spec).packet.has_transport());
}

TEST_CASE("an empty datagram to a RoCE port is no RDMA packet, a short one is a broken one") {
    const auto to_roce_port = [](std::size_t bytes) {
        PacketSpec spec = sample();
        std::vector<std::byte> frame = build(spec);
        constexpr std::size_t kHeaders = 14 + 20 + 8;
        frame.resize(kHeaders + bytes);
        frame[17] = static_cast<std::byte>(28 + bytes);  // of IP
        frame[16] = std::byte{};
        frame[39] = static_cast<std::byte>(8 + bytes);  // of UDP
        frame[38] = std::byte{};
        frame.resize(60);
        return Decoded(frame, LinkType::ethernet);
    };
    const auto is_broken = [](const Decoded& decoded) {
        return std::ranges::any_of(decoded.packet.layers(),
                                   [](const Layer& layer) { return layer.fault != Fault::none; });
    };
    const Decoded empty = to_roce_port(0);
    CHECK_FALSE(empty.packet.has_transport());
    CHECK_FALSE(is_broken(empty));
    CHECK(is_broken(to_roce_port(3)));
}

TEST_CASE("a frame of nothing and a frame of junk are decoded to what they are") {
    const Decoded empty(std::vector<std::byte>{}, LinkType::ethernet);
    CHECK(empty.packet.layers().size() == 2);
    const Decoded unknown(hex("00112233"), LinkType{147});
    CHECK(unknown.layers() == "data");
    PacketSpec llc;
    llc.headers = {{LayerKind::ethernet}};
    set(llc, "eth.type", 38);
    llc.payload.assign(46, std::byte{0x42});
    CHECK(Decoded(llc).layers() == "eth data");
}
