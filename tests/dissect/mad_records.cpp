// Notices with the details of their traps, records that hold another attribute, and where lengths and captures end
// them.
#include <dissect/base/packet.hpp>
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/headers.hpp>
#include <dissect/packet/build.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>

using namespace qps::dissect;

namespace {

struct BuiltMad {
    std::vector<std::byte> bytes;
    std::unique_ptr<Packet> packet = std::make_unique<Packet>();

    explicit BuiltMad(const PacketSpec& spec, std::size_t captured = std::dynamic_extent) : bytes(build(spec)) {
        decode(frame_of(spec, bytes, captured), *packet);
    }
    [[nodiscard]] std::vector<LayerKind> kinds() const {
        std::vector<LayerKind> all;
        bool inside = false;
        for (const Layer& layer : packet->layers()) {
            if (inside && layer.kind != LayerKind::icrc && layer.kind != LayerKind::vcrc) all.push_back(layer.kind);
            inside |= layer.kind == LayerKind::mad;
        }
        return all;
    }
    // Nothing where no layer has a value of that name.
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
        for (const Layer& layer : packet->layers())
            for (const Field& field : header(layer.kind).fields)
                if (field.name == name)
                    if (const auto value = value_of(*packet, layer, field)) return value->number;
        return std::nullopt;
    }
};

PacketSpec of(ManagementClass management_class, std::uint16_t attribute) {
    return mad_packet(management_class, *find_attribute(management_class, attribute), Network::native_local);
}

PacketSpec notice(std::uint64_t trap, std::size_t place, std::size_t width, std::uint64_t number) {
    PacketSpec spec = of(ManagementClass::subnet_lid_routed, 2);
    set(spec, "infiniband.notice.isgeneric", 1);
    set(spec, "infiniband.notice.trapnumberdeviceid", trap);
    std::vector<std::byte> details(kNoticeDetailsLength);
    write_bits(details, place * 8, width, number);
    set(spec, "infiniband.notice.datadetails", Bytes(details));
    return spec;
}

}  // namespace

TEST_CASE("each trap has the details of its number, at their place") {
    struct Detail {
        std::uint64_t trap;
        std::size_t byte;
        std::size_t width;
        std::string_view field;
    };
    for (const Detail& detail : {
             Detail{128, 0, 16, "infiniband.trap.lidaddr"},
             Detail{129, 2, 16, "infiniband.trap.lidaddr"},
             Detail{129, 4, 8, "infiniband.trap.portno"},
             Detail{131, 4, 8, "infiniband.trap.portno"},
             Detail{144, 2, 16, "infiniband.trap.lidaddr"},
             Detail{144, 6, 32, "infiniband.trap.capabilitymask"},
             Detail{145, 6, 64, "infiniband.trap.systemimageguid"},
             Detail{256, 4, 16, "infiniband.trap.drslid"},
             Detail{256, 6, 8, "infiniband.trap.method"},
             Detail{256, 8, 16, "infiniband.trap.attributeid"},
             Detail{256, 14, 64, "infiniband.trap.mkey"},
             Detail{257, 6, 32, "infiniband.trap.key"},
             Detail{257, 4, 16, "infiniband.trap.lidaddr2"},
             Detail{258, 11, 24, "infiniband.trap.qp1"},
             Detail{258, 15, 24, "infiniband.trap.qp2"},
             Detail{259, 6, 16, "infiniband.trap.pkey"},
             Detail{259, 13, 24, "infiniband.trap.qp2"},
             Detail{259, 48, 16, "infiniband.trap.swlidaddr"},
             Detail{259, 50, 8, "infiniband.trap.portno"},
         }) {
        CAPTURE(detail.trap, detail.field);
        const std::uint64_t number = 0x8182838485868788 >> (64 - detail.width);
        CHECK(BuiltMad(notice(detail.trap, detail.byte, detail.width, number)).number(detail.field) == number);
        CHECK_FALSE(BuiltMad(notice(1, detail.byte, detail.width, number)).number(detail.field));
    }
    CHECK(BuiltMad(notice(144, 11, 8, 5)).number("infiniband.trap.linkspeecenabledchange") == 1);
    CHECK(BuiltMad(notice(144, 11, 8, 5)).number("infiniband.trap.linkwidthenabledchange") == 0);
    CHECK(BuiltMad(notice(144, 11, 8, 5)).number("infiniband.trap.nodedescriptionchange") == 1);
    CHECK(BuiltMad(notice(256, 23, 8, 0x83)).number("infiniband.trap.drhopcount") == 3);
}

TEST_CASE("a vendor's notice has no details of ours, whatever its number") {
    PacketSpec spec = notice(64, 6, 64, 1);
    set(spec, "infiniband.notice.isgeneric", 0);
    const BuiltMad built(spec);
    CHECK(built.kinds() == std::vector{LayerKind::smp_lid_routed, kind::vendor_notice});
    CHECK(built.number("infiniband.notice.trapnumberdeviceid") == 64);
}

TEST_CASE("a notice has its issuer's GID where there is room for it") {
    using enum LayerKind;
    PacketSpec spec = of(ManagementClass::subnet_administration, 2);
    set(spec, "infiniband.notice.isgeneric", 1);
    spec.headers.push_back({kind::notice_issuer});
    set(spec, "infiniband.notice.issuergid", Bytes(std::vector<std::byte>(16, std::byte{0x5a})));
    const BuiltMad built(spec);
    CHECK(built.kinds() == std::vector{rmpp, sa, kind::notice, kind::notice_issuer});
    const Layer* issuer = find(*built.packet, kind::notice_issuer);
    CHECK(issuer->length == 16);
    CHECK(built.packet->bytes_of(*issuer)[15] == std::byte{0x5a});
}

TEST_CASE("records of ports, nodes and tables hold the attribute they are of") {
    using enum LayerKind;
    struct Shape {
        std::uint16_t attribute;
        std::vector<LayerKind> kinds;
    };
    for (const Shape& shape : {
             Shape{0x11, {kind::lid_record, node_info, node_description}},
             Shape{0x12, {kind::port_info_record, port_info}},
             Shape{0x14, {kind::lid_record, switch_info}},
             Shape{0x15, {kind::linear_forwarding_record, kind::linear_forwarding_table}},
             Shape{0x17, {kind::multicast_forwarding_record, kind::multicast_forwarding_table}},
             Shape{0x18, {kind::lid_record, sm_info}},
             Shape{0x20, {kind::link_record}},
             Shape{0x30, {kind::guid_info_record, guid_info}},
             Shape{0x33, {kind::p_key_table_record, p_key_table}},
             Shape{0x39, {kind::trace_record}},
             Shape{0x3a, {kind::multi_path_record}},
             Shape{0xf3, {kind::inform_info_record, kind::inform_info}},
         }) {
        CAPTURE(shape.attribute);
        std::vector<LayerKind> expected{rmpp, sa};
        expected.insert(expected.end(), shape.kinds.begin(), shape.kinds.end());
        const BuiltMad built(of(ManagementClass::subnet_administration, shape.attribute));
        CHECK(built.kinds() == expected);
        for (const Layer& layer : built.packet->layers()) CHECK(layer.fault == Fault::none);
    }
    PacketSpec node = of(ManagementClass::subnet_administration, 0x11);
    node.headers.push_back({node_info});
    node.headers.push_back({node_description});
    set(node, "infiniband.sa.lid", 17);
    set(node, "infiniband.nodeinfo.nodeguid", 0x0002c90300a1b2c3);
    const BuiltMad built(node);
    CHECK(built.number("infiniband.sa.lid") == 17);
    CHECK(built.number("infiniband.nodeinfo.nodeguid") == 0x0002c90300a1b2c3);
    CHECK(find(*built.packet, node_description)->offset == find(*built.packet, kind::lid_record)->offset + 44);
}

TEST_CASE("a table response of records in layers shows all that are whole") {
    using enum LayerKind;
    PacketSpec spec = of(ManagementClass::subnet_administration, 0x12);
    set(spec, "infiniband.rmpp.rmpptype", 1);
    set(spec, "infiniband.rmpp.rmppflags", 3);
    set(spec, "infiniband.rmpp.data1", 1);
    set(spec, "infiniband.sa.attributeoffset", 9);  // 72 bytes
    set(spec, "infiniband.sa.portnum", 3);
    const BuiltMad built(spec);
    CHECK(built.kinds() ==
          std::vector{rmpp, sa, kind::port_info_record, port_info, kind::port_info_record, port_info, mad_data});
    CHECK(built.packet->layers().size() <= kMaxLayers);
}

TEST_CASE("a LinkRecord and a MultiPathRecord have their fields where the specification has them") {
    PacketSpec link = of(ManagementClass::subnet_administration, 0x20);
    set(link, "infiniband.linkrecord.fromlid", 0x0102);
    set(link, "infiniband.linkrecord.toport", 4);
    set(link, "infiniband.linkrecord.tolid", 0x0506);
    BuiltMad built(link);
    const Layer* record = find(*built.packet, kind::link_record);
    CHECK(read_be<std::uint64_t>(built.packet->bytes_of(*record), 0) == 0x0102000405060000);
    PacketSpec path = of(ManagementClass::subnet_administration, 0x3a);
    set(path, "infiniband.multipathrecord.sgidcount", 1);
    set(path, "infiniband.multipathrecord.dgidcount", 2);
    built = BuiltMad(path);
    record = find(*built.packet, kind::multi_path_record);
    CHECK(read_be<std::uint16_t>(built.packet->bytes_of(*record), 15) == 0x0102);
}

TEST_CASE("notices and records that the capture cuts end at every byte without harm") {
    for (const auto& [management_class, attribute] : {std::pair{ManagementClass::subnet_lid_routed, 2},
                                                      {ManagementClass::subnet_administration, 2},
                                                      {ManagementClass::subnet_administration, 0x11},
                                                      {ManagementClass::subnet_administration, 0x3a},
                                                      {ManagementClass::subnet_administration, 0xf3}}) {
        const PacketSpec spec = of(management_class, static_cast<std::uint16_t>(attribute));
        const std::size_t length = build(spec).size();
        for (std::size_t captured = 0; captured < length; ++captured) {
            CAPTURE(attribute, captured);
            const BuiltMad built(spec, captured);
            for (const Layer& layer : built.packet->layers())
                CHECK(layer.offset + layer.length <= std::max<std::size_t>(captured, layer.offset));
        }
    }
}
