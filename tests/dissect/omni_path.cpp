// Omni-Path packets: every attribute written with its tables and read back through the walk; lengths that lie, captures
// that end.
#include <dissect/base/packet.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/omni_path.hpp>

#include <algorithm>
#include <memory>

using namespace qps::dissect;
using namespace qps::tests;

namespace {

struct BuiltOpa {
    std::vector<std::byte> bytes;
    std::unique_ptr<Packet> packet = std::make_unique<Packet>();

    explicit BuiltOpa(const PacketSpec& spec, std::size_t captured = std::dynamic_extent) : bytes(build(spec)) {
        decode(frame_of(spec, bytes, captured), *packet);
    }
    [[nodiscard]] std::vector<LayerKind> kinds() const {
        std::vector<LayerKind> all;
        for (const Layer& layer : packet->layers()) all.push_back(layer.kind);
        return all;
    }
    [[nodiscard]] std::optional<Value> value(std::string_view name) const {
        for (const Layer& layer : packet->layers())
            for (const Field& field : header(layer.kind).fields)
                if (field.name == name)
                    if (const auto found = value_of(*packet, layer, field)) return found;
        return std::nullopt;
    }
};

const OpaAttribute& attribute_of(std::uint8_t management_class, std::uint16_t id) {
    const auto found = std::ranges::find_if(kOpaAttributes, [&](const OpaAttribute& row) {
        return row.management_class == management_class && row.id == id;
    });
    REQUIRE(found != kOpaAttributes.end());
    return *found;
}

// Different numbers for the fields of one layer, as wide as they are.
std::uint64_t distinct(const Field& field, std::uint64_t n) {
    const std::uint64_t number = (n + 1) * 0x9e3779b97f4a7c15U >> (64 - std::min<unsigned>(64, field.width));
    return number == 0 ? 1 : number;
}

}  // namespace

TEST_CASE("every attribute of Omni-Path that is decoded reads back what was written") {
    std::size_t decoded = 0;
    for (const OpaAttribute& row : kOpaAttributes)
        for (const ManagementClass management_class : classes_of(row)) {
            CAPTURE(row.name, static_cast<int>(management_class));
            PacketSpec spec = opa_datagram(management_class, row);
            std::uint64_t n = row.id;
            for (const LayerKind layer : row.layers) {
                if (layer == LayerKind::frame) continue;
                for (const Field& field : header(layer).fields)
                    if (!field.name.empty() && !field.is_part &&
                        value_type(field.format) == ValueType::unsigned_integer)
                        REQUIRE(set(spec, field.name, distinct(field, n++)));
                ++decoded;
            }
            const BuiltOpa built(spec);
            const auto name = built.value("opa.mad.attribute");
            REQUIRE(name);
            CHECK(std::ranges::equal(name->bytes, std::as_bytes(std::span(row.name))));
            n = row.id;
            for (const LayerKind layer : row.layers) {
                if (layer == LayerKind::frame) continue;
                for (const Field& field : header(layer).fields)
                    if (!field.name.empty() && !field.is_part &&
                        value_type(field.format) == ValueType::unsigned_integer) {
                        CAPTURE(field.name);
                        const auto value = built.value(field.name);
                        REQUIRE(value);
                        CHECK(value->number == distinct(field, n++));
                    }
            }
            for (const Layer& layer : built.packet->layers()) CHECK(layer.fault == Fault::none);
            CHECK(built.packet->layers().back().kind == kind::opa_icrc);
        }
    CHECK(decoded == 2 + 2 + 2 + 3 + 1);
}

TEST_CASE("tables of Omni-Path tile, and names of their headers are their own") {
    std::vector<Header> all(kOpaPacketHeaders.begin(), kOpaPacketHeaders.end());
    all.insert(all.end(), kOpaManagementHeaders.begin(), kOpaManagementHeaders.end());
    for (const Header& row : all) {
        CAPTURE(row.name);
        CHECK(tiles(row.fields, row.length));
        CHECK(header(row.kind).name == row.name);
        CHECK_FALSE(is_ulp(row.kind));
        for (const Field& field : row.fields) CHECK_FALSE(field.meaning.empty());
    }
}

TEST_CASE("the layers of an Omni-Path packet are those of its class, with congestion bits of its BTH") {
    using namespace kind;
    PacketSpec spec = opa_datagram(ManagementClass::subnet_directed, attribute_of(1, 0x11));
    set(spec, "opa.bth.bcn", 1);
    set(spec, "opa.bth.psn", 0x7ffffffe);
    set(spec, "opa.mad.dr.hopcounter", 3);
    const BuiltOpa built(spec);
    CHECK(built.kinds() == std::vector{LayerKind::frame, LayerKind::erf, opa_9b, opa_bth, opa_deth, opa_mad_directed,
                                       opa_smp_directed, opa_node_info, opa_icrc});
    CHECK(built.value("erf.types.type")->number == 29);
    CHECK(built.value("opa.bth.fcn")->number == 0);
    CHECK(built.value("opa.bth.bcn")->number == 1);
    CHECK(built.value("opa.bth.psn")->number == 0x7ffffffe);
    CHECK(built.value("opa.9b.icrc")->number == 0xdeadbeef);
    CHECK(built.packet->encapsulation == Encapsulation::none);
}

TEST_CASE("notes of the capturing host stand before the packet") {
    PacketSpec spec = opa_datagram(ManagementClass::performance, attribute_of(4, 0x40), true);
    set(spec, "opa.snc.direction", 1);
    const BuiltOpa built(spec);
    CHECK(built.value("erf.types.type")->number == 28);
    CHECK(built.value("opa.snc.direction")->number == 1);
    CHECK(built.value("opa.pm.portstatus.portnumber")->number == 0);
}

TEST_CASE("a table of NodeRecords shows those that are whole and have room") {
    using namespace kind;
    PacketSpec spec = opa_datagram(ManagementClass::subnet_administration, attribute_of(3, 0x11));
    set(spec, "opa.rmpp.rmpptype", 1);
    set(spec, "opa.rmpp.flags.active", 1);
    set(spec, "opa.rmpp.data1", 1);
    set(spec, "opa.sa.attributeoffset", 15);  // 120 bytes
    const BuiltOpa built(spec);
    CHECK(std::ranges::count(built.kinds(), opa_lid_record) == 7);
    CHECK(built.packet->layer_count <= kMaxLayers);
    set(spec, "opa.rmpp.data1", 2);
    CHECK(std::ranges::count(BuiltOpa(spec).kinds(), opa_lid_record) == 0);
    for (const std::uint64_t size : {0U, 1U, 14U, 0xffffU}) {
        set(spec, "opa.rmpp.data1", 1);
        set(spec, "opa.sa.attributeoffset", size);
        CHECK(std::ranges::count(BuiltOpa(spec).kinds(), opa_lid_record) == 1);
    }
}

TEST_CASE("other operations, versions and next headers of Omni-Path are kept as bytes") {
    using namespace kind;
    PacketSpec spec = opa_datagram(ManagementClass::performance, attribute_of(4, 0x40));
    set(spec, "opa.bth.opcode", 0x04);
    CHECK(BuiltOpa(spec).kinds() ==
          std::vector{LayerKind::frame, LayerKind::erf, opa_9b, opa_bth, opa_undecoded, opa_icrc});
    set(spec, "opa.bth.opcode", 0x64);
    set(spec, "opa.mad.baseversion", 0x42);
    CHECK(BuiltOpa(spec).kinds() ==
          std::vector{LayerKind::frame, LayerKind::erf, opa_9b, opa_bth, opa_deth, opa_undecoded, opa_icrc});
    set(spec, "opa.9b.lnh", 0);
    CHECK(BuiltOpa(spec).kinds() == std::vector{LayerKind::frame, LayerKind::erf, opa_9b, LayerKind::data});
}

TEST_CASE("Omni-Path packets cut at any byte, and lengths that lie, do no harm") {
    for (const OpaAttribute& row : kOpaAttributes) {
        if (row.layers.front() == LayerKind::frame) continue;
        PacketSpec spec = opa_datagram(classes_of(row).back(), row, true);
        const std::size_t length = build(spec).size();
        for (std::size_t captured = 0; captured < length; captured += captured < 600 ? 1 : 97) {
            const BuiltOpa built(spec, captured);
            CAPTURE(row.name, captured);
            for (const Layer& layer : built.packet->layers())
                if (layer.length > 0) CHECK(layer.offset + layer.length <= captured);
        }
        for (const std::uint64_t lie : {0U, 1U, 2U, 5U, 7U, 8U, 12U, 13U, 100U, 0xfffU}) {
            set(spec, "opa.length", lie);
            const BuiltOpa built(spec);
            for (const Layer& layer : built.packet->layers()) CHECK(layer.offset + layer.length <= length);
        }
    }
}
