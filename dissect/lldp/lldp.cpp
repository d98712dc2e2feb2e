#include <dissect/lldp/dcbx.hpp>
#include <dissect/lldp/lldp.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kTlvStart = 2;
constexpr std::uint64_t kEndType = 0;
constexpr std::uint64_t kOrganizationType = 127;

struct TlvRow {
    std::uint64_t type;
    std::uint64_t subtype;  // of chassis and port IDs; kAny for the others
    LayerKind kind;
};
constexpr std::uint64_t kAny = 0x100;
constexpr std::array kTlvs{
    TlvRow{1, 4, kind::lldp_chassis_mac},     TlvRow{1, 5, kind::lldp_chassis_address},
    TlvRow{1, kAny, kind::lldp_chassis},      TlvRow{2, 3, kind::lldp_port_mac},
    TlvRow{2, 4, kind::lldp_port_address},    TlvRow{2, kAny, kind::lldp_port},
    TlvRow{3, kAny, kind::lldp_time_to_live}, TlvRow{4, kAny, kind::lldp_port_description},
    TlvRow{5, kAny, kind::lldp_system_name},  TlvRow{6, kAny, kind::lldp_system_description},
    TlvRow{7, kAny, kind::lldp_capabilities}, TlvRow{8, kAny, kind::lldp_management_address},
};

struct OrganizationRow {
    std::uint64_t oui;
    std::uint64_t subtype;
    LayerKind kind;
};
constexpr std::array kOrganizationTlvs{
    OrganizationRow{kOuiBridging, 1, kind::lldp_port_vlan},
    OrganizationRow{kOuiBridging, 2, kind::lldp_protocol_vlan},
    OrganizationRow{kOuiBridging, 3, kind::lldp_vlan_name},
    OrganizationRow{kOuiBridging, 7, kind::lldp_aggregation},
    OrganizationRow{kOuiBridging, 8, kind::lldp_congestion},
    OrganizationRow{kOuiBridging, 9, kind::dcbx_ets},
    OrganizationRow{kOuiBridging, 10, kind::dcbx_ets_recommended},
    OrganizationRow{kOuiBridging, 11, kind::dcbx_pfc},
    OrganizationRow{kOuiBridging, 12, kind::dcbx_applications},
    OrganizationRow{kOuiEthernet, 4, kind::lldp_max_frame},
    OrganizationRow{kOuiCee, 2, kind::cee},
};

constexpr std::array<LayerKind, 5> kCeeKinds{kind::cee_other, kind::cee_control, kind::cee_groups, kind::cee_pfc,
                                             kind::cee_applications};

std::uint64_t type_of(Bytes tlv) { return read_bits(tlv, 0, 7); }
std::size_t length_of(Bytes tlv) { return kTlvStart + static_cast<std::size_t>(read_bits(tlv, 7, 9)); }

LayerKind kind_of(Bytes tlv) {
    const auto type = type_of(tlv);
    if (type == kEndType) return kind::lldp_end;
    if (type == kOrganizationType) {
        const auto oui = read_bits(tlv, at(2), 24), subtype = read_bits(tlv, at(5), 8);
        const auto found = std::ranges::find_if(
            kOrganizationTlvs, [&](const OrganizationRow& row) { return row.oui == oui && row.subtype == subtype; });
        return found == kOrganizationTlvs.end() ? kind::lldp_organization : found->kind;
    }
    const auto subtype = read_bits(tlv, at(2), 8);
    const auto found = std::ranges::find_if(
        kTlvs, [&](const TlvRow& row) { return row.type == type && (row.subtype == kAny || row.subtype == subtype); });
    return found == kTlvs.end() ? kind::lldp_other : found->kind;
}

// A layer of that kind, or of the other where the TLV is too short for its table. False where nothing can follow.
bool add_tlv(Walk& walk, LayerKind kind, LayerKind otherwise, std::size_t length) {
    const bool fits = length >= header(kind).length;
    if (!fits && length < header(otherwise).length) otherwise = kind::lldp_other;
    const std::uint8_t before = walk.packet.layer_count;
    const bool whole = add_layer(walk.packet, fits ? kind : otherwise, walk.offset, length, walk.end);
    if (walk.packet.layer_count == before) return false;
    if (!fits && whole) mark(walk.packet, Fault::bad_length);
    walk.offset += length;
    return whole;
}

// The TLVs in one of CEE.
bool walk_cee(Walk& walk, std::size_t end) {
    const std::size_t start = walk.offset;
    const std::size_t most = walk.end;
    if (!add_tlv(walk, kind::cee, kind::lldp_organization,
                 std::min(end - start, std::size_t{header(kind::cee).length})))
        return false;
    walk.end = std::min(end, most);
    bool whole = true;
    while (whole && walk.left() >= kTlvStart) {
        const Bytes tlv = walk.header();
        if (tlv.size() < kTlvStart) break;
        const auto type = type_of(tlv);
        whole =
            add_tlv(walk, type < kCeeKinds.size() ? kCeeKinds[type] : kind::cee_other, kind::cee_other, length_of(tlv));
    }
    if (whole && walk.left() > 0) whole = add_tlv(walk, LayerKind::data, LayerKind::data, walk.left());
    walk.end = most;
    return whole;
}

std::optional<std::size_t> behind_address(Bytes tlv) {
    if (tlv.size() < kTlvStart + 1) return std::nullopt;
    const std::size_t at = kTlvStart + 1 + read_be<std::uint8_t>(tlv, kTlvStart);
    return at <= tlv.size() ? std::optional(at) : std::nullopt;
}

std::optional<Value> number_behind(Bytes tlv, std::size_t after, std::size_t length) {
    const auto place = behind_address(tlv);
    if (!place || *place + after + length > tlv.size()) return std::nullopt;
    return Value{read_bits(tlv, (*place + after) * 8, length * 8)};
}

// A signed number of 64 bytes, in ten-thousandths of a KiB.
std::optional<Value> queue_bytes(Bytes bytes, std::size_t at) {
    constexpr std::int64_t kUnit = 64 * 10'000 / 1024;
    if (at + 2 > bytes.size()) return std::nullopt;
    return Value{static_cast<std::uint64_t>(kUnit * static_cast<std::int16_t>(read_be<std::uint16_t>(bytes, at)))};
}

}  // namespace

void walk_lldp(Walk& walk) {
    while (walk.left() >= kTlvStart) {
        const Bytes tlv = walk.header();
        if (tlv.size() < kTlvStart) {  // the capture ends
            add_layer(walk.packet, kind::lldp_other, walk.offset, kTlvStart, walk.end);
            return;
        }
        const LayerKind kind = kind_of(tlv);
        const std::size_t length = length_of(tlv);
        if (kind == kind::cee && length >= header(kind::cee).length && walk.left() >= length) {
            if (!walk_cee(walk, walk.offset + length)) return;
            continue;
        }
        const LayerKind otherwise = type_of(tlv) == kOrganizationType ? kind::lldp_organization : kind::lldp_other;
        if (!add_tlv(walk, kind, otherwise, length) || kind == kind::lldp_end)
            return;  // what follows the end is padding
    }
    add_data(walk);
}

void walk_cnm(Walk& walk) {
    constexpr std::size_t kMsduLength = 22;
    const std::size_t said = header(kind::cnm).length + read_be<std::uint16_t>(walk.header(), kMsduLength);
    const std::size_t length = std::clamp<std::size_t>(walk.left(), header(kind::cnm).length,
                                                       std::max<std::size_t>(said, header(kind::cnm).length));
    if (enter(walk, kind::cnm, length).empty()) return;
    if (length < said) mark(walk.packet, Fault::bad_length);
}

namespace lldp_computed {

std::optional<Value> management_address(const Packet& packet, const Layer& layer) {
    const Bytes tlv = packet.bytes_of(layer);
    const auto end = behind_address(tlv);
    constexpr std::size_t kAddress = 4;
    if (!end || *end <= kAddress) return std::nullopt;
    const auto family = read_be<std::uint16_t>(tlv, 2);
    if (family == 0x0501 || family == 0x1102) return std::nullopt;  // IPv4 and IPv6 have rows of their own
    return Value{0, slice(tlv, kAddress, *end - kAddress)};
}
std::optional<Value> interface_subtype(const Packet& packet, const Layer& layer) {
    return number_behind(packet.bytes_of(layer), 0, 1);
}
std::optional<Value> interface_number(const Packet& packet, const Layer& layer) {
    return number_behind(packet.bytes_of(layer), 1, 4);
}
std::optional<Value> object_length(const Packet& packet, const Layer& layer) {
    return number_behind(packet.bytes_of(layer), 5, 1);
}

std::optional<Value> queue_offset(const Packet& packet, const Layer& layer) {
    return queue_bytes(packet.bytes_of(layer), 10);
}
std::optional<Value> queue_delta(const Packet& packet, const Layer& layer) {
    return queue_bytes(packet.bytes_of(layer), 12);
}

}  // namespace lldp_computed

}  // namespace qps::dissect
