// The packet builder: what is left open is filled in right, what is set stays, and every management attribute that is
// built decodes to the fields it was built from.
#include <dissect/mad/attributes.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/packets.hpp>

using namespace qps::dissect;
using qps::tests::Decoded;
using qps::tests::hex;
using qps::tests::is_bytes;

namespace {

std::vector<ManagementClass> written_classes_of(MadGroup group) {
    switch (group) {
        case MadGroup::subnet: return {ManagementClass::subnet_lid_routed, ManagementClass::subnet_directed};
        case MadGroup::administration: return {ManagementClass::subnet_administration};
        case MadGroup::performance: return {ManagementClass::performance};
        case MadGroup::device: return {ManagementClass::device_management};
        case MadGroup::communication: return {ManagementClass::communication};
        case MadGroup::congestion: return {ManagementClass::congestion_control};
        case MadGroup::vendor: return {ManagementClass::first_vendor, ManagementClass::last_vendor};
        case MadGroup::vendor_rmpp: return {ManagementClass::first_vendor_rmpp};
        case MadGroup::any: return {ManagementClass::performance, ManagementClass::device_management};
    }
    return {};
}

struct Wanted {
    const Field* field;
    std::uint64_t number;
    std::vector<std::byte> bytes;
};

// A value in every primary field of the attribute that no other field's meaning depends on.
std::vector<Wanted> fill(HeaderSpec& attribute) {
    std::vector<Wanted> wanted;
    std::uint64_t seed = 99;
    for (const Field& field : header(attribute.kind).fields) {
        if (field.computed() || field.is_part || field.name.empty() || field.when.width != 0 || field.width == kToEnd)
            continue;
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        Wanted value{&field, field.width >= 64 ? seed : (seed >> 20) & ((std::uint64_t{1} << field.width) - 1), {}};
        if (is_bytes(field))
            for (std::size_t i = 0; i < field.width / 8U; ++i)
                value.bytes.push_back(static_cast<std::byte>('a' + (seed + i) % 26));
        attribute.settings.push_back({&field, value.number, value.bytes});
        wanted.push_back(std::move(value));
    }
    return wanted;
}

}  // namespace

TEST_CASE("every management attribute that is built decodes to the same fields") {
    for (const MadAttribute& row : kMadAttributes) {
        for (const ManagementClass management_class : written_classes_of(row.group)) {
            INFO(row.name << " of class " << static_cast<int>(management_class));
            PacketSpec spec = mad_packet(
                management_class, row,
                group_of(management_class) == MadGroup::subnet ? Network::native_local : Network::roce_v2_ipv4);
            std::vector<Wanted> wanted;
            if (HeaderSpec* attribute = find(spec, row.data); attribute != nullptr) wanted = fill(*attribute);
            const Decoded decoded(spec);
            CHECK(decoded.packet.icrc.status == CrcStatus::good);
            CHECK(decoded.packet.payload.length == kMadLength);
            CHECK(decoded.plain("infiniband.mad.attribute") == row.name);
            for (const Layer& layer : decoded.packet.layers()) CHECK(layer.fault == Fault::none);
            const Layer* layer = find(decoded.packet, row.data);
            if (row.data == LayerKind::mad_data) continue;
            REQUIRE(layer != nullptr);
            for (const Wanted& field : wanted) {
                INFO(field.field->name);
                const auto value = value_of(decoded.packet, *layer, *field.field);
                REQUIRE(value);
                if (is_bytes(*field.field)) CHECK(std::ranges::equal(value->bytes, field.bytes));
                else CHECK(value->number == field.number);
            }
        }
    }
}

TEST_CASE("a connection request over IP has its addresses in the private data") {
    const MadAttribute* request = find_attribute(ManagementClass::communication, 0x10);
    PacketSpec spec = mad_packet(ManagementClass::communication, *request, Network::roce_v2_ipv4);
    set(spec, "infiniband.cm.req.serviceid", 0x0000000001061c06);
    set(spec, "infiniband.cm.req.private",
        Bytes(hex("00400400 000000000000000000000000 0a4d000b 000000000000000000000000 0a4d000c cafe")));
    const Decoded decoded(spec);
    CHECK(decoded.number("infiniband.cm.req.serviceid.dport") == 7174);
    CHECK(decoded.plain("infiniband.cm.req.ip_cm.sip4") == "10.77.0.11");
    CHECK(decoded.plain("infiniband.cm.req.ip_cm.dip4") == "10.77.0.12");
    CHECK(decoded.number("infiniband.cm.req.ip_cm.sport") == 0x0400);
}

TEST_CASE("what a specification leaves open is filled in") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = hex("010203");
    const Decoded decoded(spec);
    CHECK(decoded.number("eth.type") == 0x0800);
    CHECK(decoded.number("ip.version") == 4);
    CHECK(decoded.number("ip.hdr_len") == 20);
    CHECK(decoded.number("ip.len") == 20 + 8 + 12 + 4 + 4);
    CHECK(decoded.number("ip.proto") == 17);
    CHECK(decoded.number("ip.flags.df") == 1);
    CHECK(decoded.number("udp.dstport") == 4791);
    CHECK(decoded.number("udp.length") == 8 + 12 + 4 + 4);
    CHECK(decoded.number("infiniband.bth.padcnt") == 1);
    // The sum of all 16-bit words of a right IPv4 header is 0xffff (RFC 1071).
    std::uint32_t sum = 0;
    const Bytes ip = decoded.packet.bytes_of(*find(decoded.packet, LayerKind::ipv4));
    for (std::size_t i = 0; i < ip.size(); i += 2) sum += read_be<std::uint16_t>(ip, i);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    CHECK(sum == 0xffff);
}

TEST_CASE("what a specification sets stays, however wrong") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    spec.payload = hex("0102030405060708");
    for (const auto& [field, value] :
         std::vector<std::pair<std::string_view, std::uint64_t>>{{"eth.type", 0x1234},
                                                                 {"ip.version", 7},
                                                                 {"ip.len", 9},
                                                                 {"ip.checksum", 0},
                                                                 {"udp.length", 3},
                                                                 {"infiniband.bth.padcnt", 2},
                                                                 {"infiniband.bth.tver", 9}}) {
        PacketSpec wrong = spec;
        REQUIRE(set(wrong, field, value));
        const std::vector<std::byte> bytes = build(wrong);
        // Read where the field lies, since a wrong packet need not decode that far.
        std::size_t offset = 0;
        for (const HeaderSpec& header_spec : wrong.headers) {
            const auto fields = header(header_spec.kind).fields;
            const auto found = std::ranges::find(fields, field, &Field::name);
            if (found != fields.end()) {
                INFO(field);
                CHECK(read(Bytes(bytes).subspan(offset), *found) == value);
                break;
            }
            offset += header(header_spec.kind).length;
        }
    }
}

TEST_CASE("a field that does not exist, or a value that does not fit, is refused") {
    PacketSpec spec = transport_packet(Opcode{0x04}, Network::roce_v2_ipv4);
    CHECK_FALSE(set(spec, "infiniband.reth.va", 1));
    CHECK_FALSE(set(spec, "no.such.field", 1));
    CHECK_FALSE(set(spec, "infiniband.bth.psn", 1 << 24));
    CHECK_FALSE(set(spec, "rdma.icrc.status", 1));
    CHECK(set(spec, "infiniband.bth.psn", (1 << 24) - 1));
}
