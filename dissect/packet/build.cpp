#include <dissect/headers/infiniband.hpp>
#include <dissect/mad/subnet.hpp>
#include <dissect/packet/build.hpp>
#include <dissect/packet/build_fill.hpp>

#include <algorithm>
#include <iterator>

namespace qps::dissect {

namespace {

const Field* find_field(LayerKind kind, std::string_view name) {
    const auto fields = header(kind).fields;
    const auto field = std::ranges::find(fields, name, &Field::name);
    return field == fields.end() || field->computed() ? nullptr : &*field;
}

// Whether a value fits: tried on a header of the right size.
bool fits(const HeaderSpec& header_spec, const Field& field, const Value& value) {
    std::vector<std::byte> trial(header(header_spec.kind).length + header_spec.tail.size());
    return set_value(trial, field, value);
}

bool add_setting(HeaderSpec& header_spec, const Field* field, std::uint64_t number, Bytes bytes) {
    if (field == nullptr || !fits(header_spec, *field, {number, bytes})) return false;
    std::erase_if(header_spec.settings, [&](const FieldSetting& setting) { return setting.field == field; });
    header_spec.settings.push_back({field, number, {bytes.begin(), bytes.end()}});
    return true;
}

template <class T> bool set_first(PacketSpec& spec, std::string_view field, T value) {
    for (HeaderSpec& header_spec : spec.headers)
        if (find_field(header_spec.kind, field) != nullptr) return set(header_spec, field, value);
    return false;
}

// An IPv6 address or GID that ends in `last`.
std::array<std::byte, 16> address(std::uint32_t prefix, std::uint8_t last) {
    std::array<std::byte, 16> bytes{};
    write_bits(bytes, 0, 32, prefix);
    bytes.back() = std::byte{last};
    return bytes;
}

constexpr std::uint64_t kSourceMac = 0x020000000001;  // locally administered
constexpr std::uint64_t kDestinationMac = 0x020000000002;
constexpr std::uint32_t kSourceIpv4 = 0xc0000201;  // 192.0.2.1, RFC 5737
constexpr std::uint32_t kDestinationIpv4 = 0xc0000202;
constexpr std::uint32_t kDocumentation = 0x20010db8;  // 2001:db8::/32, RFC 3849
constexpr std::uint32_t kLinkLocal = 0xfe800000;
constexpr std::uint64_t kEntropyPort = 0xc000;  // first of the source ports that carry entropy

HeaderSpec ethernet() {
    HeaderSpec spec{LayerKind::ethernet};
    set(spec, "eth.src", kSourceMac);
    set(spec, "eth.dst", kDestinationMac);
    return spec;
}

HeaderSpec ipv4() {
    HeaderSpec spec{LayerKind::ipv4};
    set(spec, "ip.src", kSourceIpv4);
    set(spec, "ip.dst", kDestinationIpv4);
    return spec;
}

HeaderSpec ipv6() {
    HeaderSpec spec{LayerKind::ipv6};
    set(spec, "ipv6.src", Bytes(address(kDocumentation, 1)));
    set(spec, "ipv6.dst", Bytes(address(kDocumentation, 2)));
    return spec;
}

HeaderSpec udp() {
    HeaderSpec spec{LayerKind::udp};
    set(spec, "udp.srcport", kEntropyPort);
    return spec;
}

HeaderSpec grh() {
    HeaderSpec spec{LayerKind::grh};
    set(spec, "infiniband.grh.sgid", Bytes(address(kLinkLocal, 1)));
    set(spec, "infiniband.grh.dgid", Bytes(address(kLinkLocal, 2)));
    return spec;
}

HeaderSpec lrh() {
    HeaderSpec spec{LayerKind::lrh};
    set(spec, "infiniband.lrh.slid", 1);
    set(spec, "infiniband.lrh.dlid", 2);
    return spec;
}

std::vector<HeaderSpec> network_headers(Network network) {
    switch (network) {
        case Network::roce_v2_ipv4: return {ethernet(), ipv4(), udp()};
        case Network::roce_v2_ipv6: return {ethernet(), ipv6(), udp()};
        case Network::roce_v1: return {ethernet(), grh()};
        case Network::native_local: return {lrh()};
        case Network::native_global: return {lrh(), grh()};
    }
    return {};
}

bool is_mad(LayerKind kind) {
    return (kind > LayerKind::mad && kind <= LayerKind::cm_ip_private) || is_of(kind, LayerFamily::management);
}

// Where a part of a MAD begins, from the MAD's start; nothing where it follows what was placed before.
std::optional<std::size_t> place_in_mad(LayerKind kind, const HeaderSpec& mad) {
    if (kind == LayerKind::smp_directed_paths) return mad_places::kSmp + kSmpDataLength;
    std::uint64_t management_class = 0;
    for (const FieldSetting& setting : mad.settings)
        if (setting.field->name == "infiniband.mad.mgmtclass") management_class = setting.number;
    for (const MadAttribute& row : kMadAttributes)
        if (row.data == kind &&
            (row.group == group_of(static_cast<ManagementClass>(management_class)) || row.group == MadGroup::any))
            return row.offset;
    return std::nullopt;
}

// Lays the headers out, each with its settings applied.
std::vector<PlacedHeader> place(const PacketSpec& spec, std::vector<std::byte>& bytes) {
    std::vector<PlacedHeader> placed;
    const HeaderSpec* mad = nullptr;
    std::size_t mad_start = 0;
    for (const HeaderSpec& header_spec : spec.headers) {
        std::size_t offset = bytes.size();
        if (header_spec.kind == LayerKind::mad) {
            mad = &header_spec;
            mad_start = offset;
        } else if (mad != nullptr && is_mad(header_spec.kind)) {
            if (const auto within = place_in_mad(header_spec.kind, *mad)) offset = mad_start + *within;
        }
        const std::size_t length = header(header_spec.kind).length + header_spec.tail.size();
        bytes.resize(std::max(bytes.size(), offset + length));
        const MutableBytes own(bytes.data() + offset, length);
        std::ranges::copy(header_spec.tail, own.end() - static_cast<std::ptrdiff_t>(header_spec.tail.size()));
        for (const FieldSetting& setting : header_spec.settings)
            set_value(own, *setting.field, {setting.number, setting.bytes});
        placed.push_back({&header_spec, offset, length});
    }
    if (mad != nullptr && bytes.size() < mad_start + kMadLength) bytes.resize(mad_start + kMadLength);
    return placed;
}

}  // namespace

bool set(HeaderSpec& header_spec, std::string_view field, std::uint64_t value) {
    return add_setting(header_spec, find_field(header_spec.kind, field), value, {});
}
bool set(HeaderSpec& header_spec, std::string_view field, Bytes value) {
    return add_setting(header_spec, find_field(header_spec.kind, field), 0, value);
}
bool set(PacketSpec& spec, std::string_view field, std::uint64_t value) { return set_first(spec, field, value); }
bool set(PacketSpec& spec, std::string_view field, Bytes value) { return set_first(spec, field, value); }

HeaderSpec* find(PacketSpec& spec, LayerKind kind) {
    const auto found = std::ranges::find(spec.headers, kind, &HeaderSpec::kind);
    return found == spec.headers.end() ? nullptr : &*found;
}

void insert_before(PacketSpec& spec, LayerKind before, std::vector<HeaderSpec> headers) {
    const auto at = std::ranges::find(spec.headers, before, &HeaderSpec::kind);
    spec.headers.insert(at, std::make_move_iterator(headers.begin()), std::make_move_iterator(headers.end()));
}

PacketSpec transport_packet(Opcode opcode, Network network) {
    PacketSpec spec;
    spec.link = network == Network::native_local || network == Network::native_global ? LinkType::infiniband
                                                                                      : LinkType::ethernet;
    spec.headers = network_headers(network);
    HeaderSpec bth{LayerKind::bth};
    constexpr std::uint64_t kDefaultPkey = 0xffff;
    set(bth, "infiniband.bth.opcode", std::to_underlying(opcode));
    set(bth, "infiniband.bth.p_key", kDefaultPkey);
    spec.headers.push_back(std::move(bth));
    const OpcodeRow& row = info(opcode);
    for (std::size_t i = 0; i < row.header_count; ++i) spec.headers.push_back({row.headers[i]});
    return spec;
}

PacketSpec mad_packet(ManagementClass management_class, const MadAttribute& attribute, Network network) {
    PacketSpec spec = transport_packet(Opcode::ud_send_only, network);
    const bool subnet = group_of(management_class) == MadGroup::subnet;
    const Qpn qp = subnet ? kSmiQpn : kGsiQpn;
    constexpr std::uint64_t kGsiQkey = 0x80010000;
    set(spec, "infiniband.bth.destqp", std::to_underlying(qp));
    set(spec, "infiniband.deth.srcqp", std::to_underlying(qp));
    if (!subnet) set(spec, "infiniband.deth.q_key", kGsiQkey);
    HeaderSpec mad{LayerKind::mad};
    set(mad, "infiniband.mad.mgmtclass", std::to_underlying(management_class));
    set(mad, "infiniband.mad.attributeid", attribute.id);
    spec.headers.push_back(std::move(mad));
    if (management_class == ManagementClass::subnet_lid_routed) spec.headers.push_back({LayerKind::smp_lid_routed});
    if (management_class == ManagementClass::subnet_directed) spec.headers.push_back({LayerKind::smp_directed});
    if (management_class == ManagementClass::subnet_administration) {
        spec.headers.push_back({LayerKind::rmpp});
        spec.headers.push_back({LayerKind::sa});
    }
    if (attribute.data != LayerKind::mad_data) spec.headers.push_back({attribute.data});
    if (management_class == ManagementClass::subnet_directed) spec.headers.push_back({LayerKind::smp_directed_paths});
    return spec;
}

std::vector<std::byte> build(const PacketSpec& spec) {
    std::vector<std::byte> bytes;
    std::vector<PlacedHeader> headers = place(spec, bytes);
    bytes.insert(bytes.end(), spec.payload.begin(), spec.payload.end());
    fill_in(spec, headers, bytes);
    bytes.insert(bytes.end(), spec.trailer.begin(), spec.trailer.end());
    return bytes;
}

Frame frame_of(const PacketSpec& spec, Bytes bytes, std::size_t captured) {
    Frame frame;
    frame.bytes = slice(bytes, 0, captured);
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    frame.link = spec.link;
    return frame;
}

}  // namespace qps::dissect
