// LLDP: every TLV of bridging read back from its bytes, DCBX of IEEE and CEE, lengths that lie, and congestion
// notification messages.
#include <tests/support/catch.hpp>
#include <tests/support/lldp.hpp>
#include <tests/support/packets.hpp>

#include <algorithm>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

constexpr std::string_view kEthernet = "0180c200000e 0200000000f1 88cc ";
constexpr std::string_view kStation = "0207 04 0200000000f1 0408 05 65746865726e 31 0602 0078 ";

Decoded lldp(std::string_view tlvs) {
    return Decoded(hex(std::string(kEthernet) + std::string(kStation) + std::string(tlvs)), LinkType::ethernet);
}

void check_clean(const Decoded& decoded) {
    for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
}

}  // namespace

TEST_CASE("a station's LLDP is read from its bytes") {
    const Decoded found = lldp("0a06 6c6561662d31 0e04 0014 0004 100c 05 01 c00002fe 02 0000000c 00 0000 00000000");
    INFO(found.layers() << '\n' << found.line());
    check_clean(found);
    CHECK(found.plain("lldp.chassis.id.mac") == "02:00:00:00:00:f1");
    CHECK(found.plain("lldp.port.id") == "ethern1");
    CHECK(found.number("lldp.time_to_live") == 120);
    CHECK(found.plain("lldp.tlv.system.name") == "leaf-1");
    CHECK(found.number("lldp.tlv.system_cap.router") == 1);
    CHECK(found.number("lldp.tlv.enable_system_cap.router") == 0);
    CHECK(found.number("lldp.tlv.enable_system_cap.bridge") == 1);
    CHECK(found.plain("lldp.mgn.addr.ip4") == "192.0.2.254");
    CHECK(found.number("lldp.mgn.interface.subtype") == 2);
    CHECK(found.number("lldp.mgn.interface.number") == 12);
    CHECK(found.number("lldp.mgn.obj.len") == 0);
    CHECK_FALSE(found.value("lldp.mgn.addr.hex"));
    CHECK(found.packet.layers().back().kind == kind::lldp_end);  // what follows is padding
    CHECK(found.line() == "LLDP chassis=02:00:00:00:00:f1 port=ethern1 ttl=120 name=leaf-1");
}

TEST_CASE("ETS, PFC and application priorities of IEEE 802.1Q are read from their bytes") {
    const Decoded ets = lldp("fe19 0080c2 09 83 00010020 3232000000000000 02020000000000ff 0000");
    check_clean(ets);
    CHECK(find(ets.packet, kind::dcbx_ets) != nullptr);
    CHECK(ets.number("lldp.dcbx.ieee.willing") == 1);
    CHECK(ets.number("lldp.dcbx.ieee.ets.cbs") == 0);
    CHECK(ets.number("lldp.dcbx.ieee.ets.maxtcs") == 3);
    CHECK(ets.number("lldp.dcbx.feature.pg.pgid_prio3") == 1);
    CHECK(ets.number("lldp.dcbx.feature.pg.pgid_prio6") == 2);
    CHECK(ets.number("lldp.dcbx.feature.pg.per1") == 50);
    CHECK(ets.number("lldp.dcbx.ieee.ets.tsa0") == 2);
    CHECK(ets.number("lldp.dcbx.ieee.ets.tsa7") == 255);
    CHECK(find(lldp("fe19 0080c2 0a 00 00010020 3232000000000000 0202000000000000 0000").packet,
               kind::dcbx_ets_recommended) != nullptr);
    const Decoded pfc = lldp("fe06 0080c2 0b 44 09 0000");
    check_clean(pfc);
    CHECK(pfc.number("lldp.dcbx.ieee.willing") == 0);
    CHECK(pfc.number("lldp.dcbx.ieee.pfc.mbc") == 1);
    CHECK(pfc.number("lldp.dcbx.ieee.pfc.numtcs") == 4);
    CHECK(pfc.number("rdma.lldp.pfc.enabled") == 9);
    CHECK(pfc.number("lldp.dcbx.feature.pfc.prio0") == 1);
    CHECK(pfc.number("lldp.dcbx.feature.pfc.prio1") == 0);
    CHECK(pfc.number("lldp.dcbx.feature.pfc.prio3") == 1);
    CHECK(pfc.line().ends_with("pfc=0x09"));
    const Decoded applications = lldp("fe0b 0080c2 0c 00 6312b7 c50030 0000");
    check_clean(applications);
    CHECK(applications.number("lldp.dcbx.ieee.app.prio") == 3);
    CHECK(applications.number("lldp.dcbx.iee.app.sf") == 3);
    CHECK(applications.number("lldp.dcbx.feature.app.proto") == 4791);
    const Layer* layer = find(applications.packet, kind::dcbx_applications);
    REQUIRE(layer != nullptr);
    std::vector<std::uint64_t> protocols;
    for (const Field& field : header(layer->kind).fields)
        if (const auto value = value_of(applications.packet, *layer, field);
            value && field.name == "lldp.dcbx.feature.app.proto")
            protocols.push_back(value->number);
    CHECK(protocols == std::vector<std::uint64_t>{4791, 48});
}

TEST_CASE("DCBX of CEE is read feature by feature") {
    const Decoded found = lldp(
        "fe37 001b21 02 020a 0000 00000007 00000006 0411 0000 8000 00010000 3232000000000000 08 0606 0000 c000 08 08 "
        "080a 0000 8000 8915 00 1b21 08 0000");
    INFO(found.layers() << '\n' << found.line());
    check_clean(found);
    CHECK(found.number("lldp.dcbx.control.seq") == 7);
    CHECK(found.number("lldp.dcbx.control.ack") == 6);
    CHECK(found.number("lldp.dcbx.feature.pg.pgid_prio3") == 1);
    CHECK(found.number("lldp.dcbx.feature.pg.numtcs") == 8);
    const Layer* pfc = find(found.packet, kind::cee_pfc);
    const Layer* applications = find(found.packet, kind::cee_applications);
    REQUIRE((pfc != nullptr && applications != nullptr));
    CHECK(found.number("rdma.lldp.pfc.enabled") == 8);
    CHECK(found.number("lldp.dcbx.feature.pfc.prio3") == 1);
    CHECK(found.number("lldp.dcbx.feature.app.proto") == 0x8915);
    CHECK(found.number("rdma.lldp.cee.app.priorities") == 8);
    CHECK(found.packet.layers().back().kind == kind::lldp_end);
}

TEST_CASE("LLDP whose lengths lie, or that the capture cut, is shown as far as it goes") {
    CHECK(lldp("fe04 0080c2 0b 0000").packet.layers().back().kind == kind::lldp_end);
    const Decoded shorter = lldp("fe05 0080c2 0b 44 0000");
    CHECK(find(shorter.packet, kind::dcbx_pfc) == nullptr);
    const Layer* organization = find(shorter.packet, kind::lldp_organization);
    REQUIRE(organization != nullptr);
    CHECK(organization->fault == Fault::bad_length);
    CHECK(lldp("fe02 0080").packet.layers().back().fault == Fault::bad_length);
    CHECK(lldp("0bff 6c").packet.layers().back().fault == Fault::too_short);
    CHECK(lldp("0a").packet.layers().back().kind == LayerKind::data);
    std::string names;
    for (int i = 0; i < 60; ++i) names += "0a01 61";
    const Decoded many = lldp(names);
    CHECK(many.packet.layer_count == kMaxLayers);
    CHECK(many.packet.layers().back().fault == Fault::too_deep);
    PacketSpec spec = lldp_frame(0x020000000001, [] {
        std::vector<HeaderSpec> tlvs = lldp_station(0x020000000001, "port");
        const auto features =
            cee({cee_tlv(3, kind::cee_pfc), cee_tlv(9, kind::cee_other, {}, std::vector<std::byte>(3))});
        tlvs.insert(tlvs.end(), features.begin(), features.end());
        tlvs.push_back(pfc_tlv(8, false));
        return tlvs;
    }());
    check_clean(Decoded(spec));
    CHECK(find(Decoded(spec).packet, kind::dcbx_pfc) != nullptr);
    const std::vector<std::byte> bytes = build(spec);
    for (std::size_t captured = 0; captured < bytes.size(); ++captured) {
        const Decoded cut(spec, captured);
        for (const Layer& layer : cut.packet.layers())
            if (layer.length > 0) CHECK(layer.offset + layer.length <= captured);
        if (captured > 14) CHECK(cut.packet.layers().back().fault == Fault::cut);
    }
    for (std::size_t byte = 14; byte < bytes.size(); ++byte)
        for (const unsigned value : {0x00U, 0x01U, 0xfeU, 0xffU}) {
            std::vector<std::byte> wrong = bytes;
            wrong[byte] = static_cast<std::byte>(value);
            const Decoded decoded(wrong, LinkType::ethernet);
            for (const Layer& layer : decoded.packet.layers()) CHECK(layer.offset + layer.length <= wrong.size());
        }
}

TEST_CASE("a congestion notification message of a bridge is read from its bytes") {
    const Decoded message(
        hex("020000000001 0200000000f1 8100 c000 22e7 0011 0200000000f1000c ffd8 000c 6000 020000000002 0008 c0ffee0001020304"),
        LinkType::ethernet);
    check_clean(message);
    CHECK(message.number("rdma.cnm.quantized_feedback") == 17);
    CHECK(message.plain("rdma.cnm.queue_offset") == "-2.5000");
    CHECK(message.plain("rdma.cnm.queue_delta") == "0.7500");
    CHECK(message.number("rdma.cnm.priority") == 3);
    CHECK(message.plain("rdma.cnm.destination") == "02:00:00:00:00:02");
    CHECK(message.plain("rdma.cnm.msdu") == "c0ffee0001020304");
    CHECK(message.line().starts_with("CNM feedback=17"));
    const Decoded lie(
        hex("020000000001 0200000000f1 22e7 0011 0200000000f1000c ffd8 000c 6000 020000000002 0108 c0ffee0001020304"),
        LinkType::ethernet);
    CHECK(lie.packet.layers().back().fault == Fault::bad_length);
    const Decoded padded(
        hex("020000000001 0200000000f1 22e7 0011 0200000000f1000c ffd8 000c 6000 020000000002 0002 c0ff00000000"),
        LinkType::ethernet);
    CHECK(padded.plain("rdma.cnm.msdu") == "c0ff");
    CHECK(Decoded(hex("020000000001 0200000000f1 22e7 0011"), LinkType::ethernet).packet.layers().back().fault ==
          Fault::too_short);
}
