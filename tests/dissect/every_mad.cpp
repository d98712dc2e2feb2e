// Every attribute that can be decoded, written with its field table and read back through the walk; and the walk where
// lengths, versions, segments and captures end it.
#include <dissect/base/walk.hpp>
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/headers.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace qps::dissect;

namespace {

using Storage = std::vector<std::byte>;

// A value for the n-th field: as many different ones as the width allows, never zero, so that a shift shows.
Value distinct(const Field& field, std::uint64_t n, Storage& storage) {
    const ValueType type = value_type(field.format);
    if (type == ValueType::bytes || type == ValueType::text || type == ValueType::ipv6) {
        storage.resize(field.width / 8U);
        for (std::size_t i = 0; i < storage.size(); ++i)
            storage[i] = static_cast<std::byte>(1 + (n * 41 + i * 7) % 255);
        return {0, storage};
    }
    const std::uint64_t mask = field.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
    const std::uint64_t number = (n + 1) * 0x9e3779b97f4a7c15U >> (64 - field.width);
    return {(number & mask) == 0 ? mask : number & mask, {}};
}

void set(MutableBytes part, std::span<const Field> fields, std::string_view name, std::uint64_t number) {
    const auto field = std::ranges::find(fields, name, &Field::name);
    REQUIRE(field != fields.end());
    REQUIRE(set_value(part, *field, Value{number, {}}));
}

struct Datagram {
    Storage bytes = Storage(kMadLength);

    Datagram(ManagementClass management_class, std::uint16_t attribute) {
        set(bytes, kMadFields, "infiniband.mad.baseversion", kMadBaseVersion);
        set(bytes, kMadFields, "infiniband.mad.mgmtclass", static_cast<std::uint64_t>(management_class));
        set(bytes, kMadFields, "infiniband.mad.attributeid", attribute);
    }
    [[nodiscard]] MutableBytes from(std::size_t offset) { return MutableBytes(bytes).subspan(offset); }
    void rmpp(std::uint64_t type, std::uint64_t flags, std::uint64_t data1, std::uint64_t data2) {
        set(from(kMadHeaderLength), kRmppFields, "infiniband.rmpp.rmpptype", type);
        set(from(kMadHeaderLength), kRmppFields, "infiniband.rmpp.rmppflags", flags);
        set(from(kMadHeaderLength), kRmppFields, "infiniband.rmpp.data1", data1);
        set(from(kMadHeaderLength), kRmppFields, "infiniband.rmpp.data2", data2);
    }
    void record_size(std::uint64_t bytes_of_record) {
        set(from(kMadHeaderLength + kRmppHeaderLength), kSaFields, "infiniband.sa.attributeoffset",
            bytes_of_record / 8);
    }
};

// A packet with the bytes it borrows.
struct Walked {
    Storage bytes;
    std::unique_ptr<Packet> packet = std::make_unique<Packet>();

    [[nodiscard]] const Packet& operator*() const { return *packet; }
    [[nodiscard]] const Packet* operator->() const { return packet.get(); }
};

// The layers of a datagram of which `captured` bytes were captured and `length` were sent.
Walked walk(const Storage& bytes, std::size_t captured, std::size_t length, std::uint8_t layers_before = 0) {
    Walked walked{bytes};
    Packet& packet = *walked.packet;
    packet.frame.bytes = Bytes(walked.bytes).first(captured);
    packet.frame.wire_length = static_cast<std::uint32_t>(length);
    for (; packet.layer_count < layers_before; ++packet.layer_count)
        packet.layer_storage[packet.layer_count] = Layer{LayerKind::vlan};
    packet.payload = {0, static_cast<std::uint32_t>(captured), static_cast<std::uint32_t>(length), 0};
    walk_mad(packet, 0, static_cast<std::uint32_t>(captured), static_cast<std::uint32_t>(length));
    return walked;
}

Walked walk(const Datagram& mad) { return walk(mad.bytes, mad.bytes.size(), mad.bytes.size()); }

std::vector<LayerKind> kinds(const Packet& packet) {
    std::vector<LayerKind> all;
    for (const Layer& layer : packet.layers()) all.push_back(layer.kind);
    return all;
}

std::uint64_t number(const Packet& packet, LayerKind kind, std::string_view name) {
    const Layer* layer = find(packet, kind);
    REQUIRE(layer != nullptr);
    for (const Field& field : header(kind).fields)
        if (field.name == name)
            if (const auto value = value_of(packet, *layer, field)) return value->number;
    FAIL("no value of " << name);
    return 0;
}

bool has(const Packet& packet, LayerKind kind, std::string_view name) {
    const Layer* layer = find(packet, kind);
    return layer != nullptr && std::ranges::any_of(header(kind).fields, [&](const Field& field) {
               return field.name == name && value_of(packet, *layer, field).has_value();
           });
}

// Writes every primary field of a table and checks that the walked layer gives the same back.
void write_and_read_back(Datagram& mad, const MadAttribute& row) {
    const Header& table = header(row.data);
    std::map<const Field*, Storage> written;
    std::map<const Field*, std::uint64_t> numbers;
    std::uint64_t n = row.id;
    for (const Field& field : table.fields) {
        if (field.computed() || field.is_part) continue;
        Storage storage;
        const Value value = distinct(field, n++, storage);
        REQUIRE(set_value(mad.from(row.offset), field, value));
        numbers[&field] = value.number;
        written[&field] = storage;
    }
    const auto packet = walk(mad);
    const Layer* layer = find(*packet, row.data);
    REQUIRE(layer != nullptr);
    CHECK(layer->offset == row.offset);
    CHECK(layer->length == table.length);
    for (const Field& field : table.fields) {
        if (field.computed() || field.is_part) continue;
        CAPTURE(field.name, field.bit);
        const auto value = value_of(*packet, *layer, field);
        REQUIRE(value.has_value());
        CHECK(value->number == numbers[&field]);
        CHECK(std::ranges::equal(value->bytes, written[&field]));
    }
    for (const Layer& each : packet->layers()) CHECK(each.fault == Fault::none);
}

std::vector<ManagementClass> classes_of(MadGroup group) {
    std::vector<ManagementClass> all;
    for (unsigned code = 0; code < 256; ++code)
        if (group_of(static_cast<ManagementClass>(code)) == group) all.push_back(static_cast<ManagementClass>(code));
    return all;
}

}  // namespace

TEST_CASE("every attribute reads back what was written, in every class it has") {
    std::size_t decoded = 0;
    for (const MadAttribute& row : kMadAttributes) {
        if (row.data == LayerKind::mad_data) continue;
        for (const ManagementClass management_class : classes_of(row.group)) {
            CAPTURE(row.name, static_cast<unsigned>(management_class));
            Datagram mad(management_class, row.id);
            write_and_read_back(mad, row);
            ++decoded;
        }
    }
    CHECK(decoded >= 30);
}

TEST_CASE("every attribute that is only named keeps its bytes") {
    for (const MadAttribute& row : kMadAttributes) {
        if (row.data != LayerKind::mad_data) continue;
        CAPTURE(row.name);
        Datagram mad(classes_of(row.group).front(), row.id);
        mad.bytes[row.offset + 3U] = std::byte{0x5a};
        const auto packet = walk(mad);
        const Layer* data = find(*packet, LayerKind::mad_data);
        REQUIRE(data != nullptr);
        CHECK(data->offset == row.offset);
    }
}

TEST_CASE("every attribute's name is a value of the common header") {
    for (const MadAttribute& row : kMadAttributes) {
        const auto packet = walk(Datagram(classes_of(row.group).front(), row.id));
        const Layer* mad = find(*packet, LayerKind::mad);
        REQUIRE(mad != nullptr);
        const auto name = value_of(*packet, *mad, named(kMadFields, "infiniband.mad.attribute"));
        REQUIRE(name.has_value());
        CHECK(std::ranges::equal(name->bytes, std::as_bytes(std::span(row.name))));
    }
}

TEST_CASE("the layers of a MAD follow one another without gap where they fill it") {
    using enum LayerKind;
    CHECK(kinds(*walk(Datagram(ManagementClass::communication, 0x13))) == std::vector{mad, cm_rep});
    CHECK(kinds(*walk(Datagram(ManagementClass::subnet_lid_routed, 0x11))) ==
          std::vector{mad, smp_lid_routed, node_info});
    CHECK(kinds(*walk(Datagram(ManagementClass::subnet_directed, 0x11))) ==
          std::vector{mad, smp_directed, node_info, smp_directed_paths});
    CHECK(kinds(*walk(Datagram(ManagementClass::subnet_administration, 0x35))) ==
          std::vector{mad, rmpp, sa, path_record});
    CHECK(kinds(*walk(Datagram(ManagementClass::performance, 0x12))) == std::vector{mad, port_counters});
    CHECK(kinds(*walk(Datagram(ManagementClass{0x05}, 0x10))) == std::vector{mad, mad_data});
}

TEST_CASE("bytes that no table covers are kept when they are not zero") {
    using enum LayerKind;
    Datagram counters(ManagementClass::performance, 0x12);
    counters.bytes[30] = std::byte{1};   // reserved before the attribute
    counters.bytes[255] = std::byte{1};  // reserved behind it
    CHECK(kinds(*walk(counters)) == std::vector{mad, mad_data, port_counters, mad_data});
}

TEST_CASE("a directed-route SMP has its direction and hops in the common header") {
    Datagram mad(ManagementClass::subnet_directed, 0x11);
    mad.bytes[4] = std::byte{0x80};
    mad.bytes[5] = std::byte{0x1c};
    mad.bytes[6] = std::byte{3};
    mad.bytes[7] = std::byte{5};
    const auto packet = walk(mad);
    CHECK(number(*packet, LayerKind::mad, "infiniband.smpdirected.d") == 1);
    CHECK(number(*packet, LayerKind::mad, "infiniband.smpdirected.smpstatus") == 0x1c);
    CHECK(number(*packet, LayerKind::mad, "infiniband.mad.status") == 0x801c);
    CHECK(number(*packet, LayerKind::mad, "infiniband.mad.status.code") == 7);
    CHECK(number(*packet, LayerKind::mad, "infiniband.smpdirected.hoppointer") == 3);
    CHECK(number(*packet, LayerKind::mad, "infiniband.smpdirected.hopcount") == 5);
    CHECK_FALSE(
        has(*walk(Datagram(ManagementClass::subnet_lid_routed, 0x11)), LayerKind::mad, "infiniband.smpdirected.d"));
}

TEST_CASE("a REQ and a SIDR_REQ to an IP service carry IP addresses in their private data") {
    const std::map<std::uint16_t, std::pair<std::size_t, std::size_t>> places{{0x10, {8, 140}},
                                                                              {0x17, {8, 16}}};  // service id, private
    for (const auto& [attribute, place] : places) {
        CAPTURE(attribute);
        Datagram mad(ManagementClass::communication, attribute);
        const auto service = mad.from(mad_places::kCm + place.first);
        write_bits(service, 0, 64, 0x0000'0000'0106'1c06U);
        const auto own = mad.from(mad_places::kCm + place.second);
        set(own, kCmIpPrivateFields, "infiniband.cm.req.ip_cm.ipv", 4);
        set(own, kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sport", 54270);
        set(own, kCmIpPrivateFields, "infiniband.cm.req.ip_cm.sip4", 0x0a4d000b);
        set(own, kCmIpPrivateFields, "infiniband.cm.req.ip_cm.dip4", 0x0a4d000c);
        auto packet = walk(mad);
        CHECK(number(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.sport") == 54270);
        CHECK(number(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.sip4") == 0x0a4d000b);
        CHECK(number(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.dip4") == 0x0a4d000c);
        CHECK_FALSE(has(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.sip6"));
        const Layer* layer = find(*packet, LayerKind::cm_ip_private);
        CHECK(layer->offset + layer->length == kMadLength);
        set(own, kCmIpPrivateFields, "infiniband.cm.req.ip_cm.ipv", 6);
        packet = walk(mad);
        CHECK(has(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.dip6"));
        CHECK_FALSE(has(*packet, LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.dip4"));
        write_bits(service, 0, 64, 0x1000'0000'0000'0404U);  // a service of another kind
        CHECK(find(*walk(mad), LayerKind::cm_ip_private) == nullptr);
    }
}

TEST_CASE("a service id shows its parts, and a GID its IPv4 address, only where it has one") {
    Datagram mad(ManagementClass::communication, 0x10);
    write_bits(mad.from(24 + 8), 0, 64, 0x0000'0000'0111'9c40U);
    write_bits(mad.from(24 + 56), 80, 48, 0xffff'0a4d'000bU);
    const auto packet = walk(mad);
    CHECK(number(*packet, LayerKind::cm_req, "infiniband.cm.req.serviceid.protocol") == 17);
    CHECK(number(*packet, LayerKind::cm_req, "infiniband.cm.req.serviceid.dport") == 40000);
    CHECK(number(*packet, LayerKind::cm_req, "infiniband.cm.req.prim_localgid_ipv4") == 0x0a4d000b);
    CHECK_FALSE(has(*packet, LayerKind::cm_req, "infiniband.cm.req.prim_remotegid_ipv4"));
    write_bits(mad.from(24 + 8), 0, 64, 0x1000'0000'0111'9c40U);
    CHECK_FALSE(has(*walk(mad), LayerKind::cm_req, "infiniband.cm.req.serviceid.dport"));
}

TEST_CASE("a table response shows every record of its segments") {
    using enum LayerKind;
    constexpr std::uint64_t kActive = 1, kFirst = 2, kLast = 4;
    Datagram first(ManagementClass::subnet_administration, 0x38);
    first.rmpp(kRmppData, kActive | kFirst, 1, 0);
    first.record_size(56);
    const std::vector expected{mad, rmpp, sa, mc_member_record, mc_member_record, mc_member_record, mad_data};
    auto packet = walk(first);
    CHECK(kinds(*packet) == expected);
    CHECK(packet->layers()[4].offset == 56 + 56);
    CHECK(packet->layers()[6].length == 200 - 3 * 56);
    CHECK(number(*packet, rmpp, "infiniband.rmpp.segmentnumber") == 1);

    Datagram second(ManagementClass::subnet_administration, 0x38);
    second.rmpp(kRmppData, kActive | kLast, 2, kSaHeaderLength + 24 + 56);  // the rest of the fourth record and a fifth
    second.record_size(56);
    packet = walk(second);
    CHECK(kinds(*packet) == std::vector{mad, rmpp, sa, mad_data, mc_member_record});
    CHECK(packet->layers()[3].length == 24);
    CHECK(packet->layers()[4].offset == 56 + 24);
    CHECK(number(*packet, rmpp, "infiniband.rmpp.payloadlength") == kSaHeaderLength + 24 + 56);
}

TEST_CASE("a table response without records has none") {
    using enum LayerKind;
    Datagram none(ManagementClass::subnet_administration, 0x35);
    none.rmpp(kRmppData, 7, 1, kSaHeaderLength);
    CHECK(kinds(*walk(none)) == std::vector{mad, rmpp, sa});
    none.record_size(64);
    CHECK(kinds(*walk(none)) == std::vector{mad, rmpp, sa});
}

TEST_CASE("sizes of records that lie do not matter") {
    using enum LayerKind;
    for (const std::uint64_t size : {std::uint64_t{8}, std::uint64_t{0}, std::uint64_t{0xffff * 8}}) {
        for (const std::uint64_t segment : {0U, 1U, 2U, 0xffffffffU}) {
            for (const std::uint64_t payload : {0U, 19U, 20U, 21U, 220U, 221U, 0xffffffffU}) {
                CAPTURE(size, segment, payload);
                Datagram mad(ManagementClass::subnet_administration, 0x35);
                mad.rmpp(kRmppData, 5, segment, payload);
                mad.record_size(size);
                const auto packet = walk(mad);
                CHECK(packet->layer_count >= 3);
                for (const Layer& layer : packet->layers()) CHECK(layer.offset + layer.length <= kMadLength);
            }
        }
    }
}

TEST_CASE("acknowledgments of RMPP carry no records") {
    using enum LayerKind;
    Datagram ack(ManagementClass::subnet_administration, 0x35);
    ack.rmpp(kRmppAck, 1, 4, 9);
    const auto packet = walk(ack);
    CHECK(kinds(*packet) == std::vector{mad, rmpp, sa});
    CHECK(number(*packet, rmpp, "infiniband.rmpp.segmentnumber") == 4);
    CHECK(number(*packet, rmpp, "infiniband.rmpp.newwindowlast") == 9);
    CHECK_FALSE(has(*packet, rmpp, "infiniband.rmpp.payloadlength"));
}

TEST_CASE("records leave room for what follows them in the packet") {
    Datagram mad(ManagementClass::subnet_administration, 0x35);
    mad.rmpp(kRmppData, 7, 1, 220);
    mad.record_size(64);
    for (std::uint8_t before = 0; before <= kMaxLayers; ++before) {
        CAPTURE(before);
        const auto packet = walk(mad.bytes, kMadLength, kMadLength, before == 0 ? std::uint8_t{1} : before);
        CHECK(packet->layer_count <= kMaxLayers);
        if (before >= 25) CHECK(packet->layers().back().fault == Fault::too_deep);
    }
}

TEST_CASE("vendor classes have RMPP from 0x30 on, when its type says so") {
    using enum LayerKind;
    Datagram plain(ManagementClass::first_vendor_rmpp, 0x20);
    CHECK(kinds(*walk(plain)) == std::vector{mad, mad_data});
    plain.rmpp(kRmppData, 7, 1, 220);
    CHECK(kinds(*walk(plain)) == std::vector{mad, rmpp, mad_data});
    Datagram low(ManagementClass::first_vendor, 0x20);
    low.rmpp(kRmppData, 7, 1, 220);
    CHECK(kinds(*walk(low)) == std::vector{mad, mad_data});
}

TEST_CASE("another base version is not decoded") {
    Datagram mad(ManagementClass::performance, 0x12);
    mad.bytes[0] = std::byte{0x80};
    const auto packet = walk(mad);
    REQUIRE(packet->layer_count == 1);
    CHECK(packet->layers()[0].kind == LayerKind::data);
    CHECK(packet->layers()[0].fault == Fault::bad_version);
}

TEST_CASE("a MAD of any other length than 256 bytes shows it") {
    for (const MadAttribute& row : kMadAttributes) {
        Datagram mad(classes_of(row.group).front(), row.id);
        mad.bytes.resize(300);
        CAPTURE(row.name);
        for (std::size_t length = 0; length < kMadLength; ++length) {
            const auto packet = walk(mad.bytes, length, length);
            CAPTURE(length);
            REQUIRE(packet->layer_count > 0);
            CHECK(packet->layers().back().fault == Fault::too_short);
            for (const Layer& layer : packet->layers()) CHECK(layer.offset + layer.length <= length);
        }
        const auto packet = walk(mad.bytes, 300, 300);
        CHECK(packet->layers().back().kind == LayerKind::data);
        CHECK(packet->layers().back().fault == Fault::bad_length);
        CHECK(packet->layers().back().offset == kMadLength);
    }
}

TEST_CASE("a MAD that the capture cuts says so at every length") {
    for (const MadAttribute& row : kMadAttributes) {
        const Datagram mad(classes_of(row.group).front(), row.id);
        CAPTURE(row.name);
        for (std::size_t captured = 0; captured < kMadLength; ++captured) {
            const auto packet = walk(mad.bytes, captured, kMadLength);
            CAPTURE(captured);
            REQUIRE(packet->layer_count > 0);
            CHECK(packet->layers().back().fault == Fault::cut);
            for (const Layer& layer : packet->layers()) CHECK(layer.offset + layer.length <= captured);
        }
    }
}
