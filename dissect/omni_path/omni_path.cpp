#include <dissect/mad/mad.hpp>
#include <dissect/omni_path/management.hpp>
#include <dissect/omni_path/omni_path.hpp>
#include <dissect/omni_path/packets.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr std::size_t kIcrcLength = 4;
constexpr std::uint8_t kGrhFollows = 3;
constexpr std::uint8_t kBthFollows = 2;
constexpr std::size_t kLayersOfRecord = 3;
constexpr std::size_t kLayersAfter = 2;  // what no table covers, ICRC

constexpr Field kNext = named(kOpa9bFields, "opa.9b.lnh");
constexpr Field kLength = named(kOpa9bFields, "opa.length");
constexpr Field kOpcode = named(kOpaBthFields, "opa.bth.opcode");
constexpr Field kPad = named(kOpaBthFields, "opa.bth.padcnt");
constexpr Field kDestQp = named(kOpaBthFields, "opa.bth.destqp");
constexpr Field kSourceQp = named(kOpaDethFields, "opa.deth.srcqp");
constexpr Field kKeyVersion = named(kOpaKdethFields, "opa.kdeth.kver");
constexpr Field kClass = named(kOpaMadFields, "opa.mad.mgmtclass");
constexpr Field kAttribute = named(kOpaMadFields, "opa.mad.attributeid");
constexpr Field kOpaRmppType = named(kOpaRmppFields, "opa.rmpp.rmpptype");
constexpr Field kActive = named(kOpaRmppFields, "opa.rmpp.flags.active");
constexpr Field kSegment = named(kOpaRmppFields, "opa.rmpp.data1");
constexpr Field kRecordSize = named(kOpaSaFields, "opa.sa.attributeoffset");

std::size_t length_of(LayerKind kind) { return header(kind).length; }

const OpaAttribute* find_opa_attribute(ManagementClass management_class, std::uint64_t id) {
    const auto of =
        management_class == ManagementClass::subnet_directed ? ManagementClass::subnet_lid_routed : management_class;
    const auto found = std::ranges::find_if(kOpaAttributes, [&](const OpaAttribute& row) {
        return row.management_class == std::to_underlying(of) && row.id == id;
    });
    return found == kOpaAttributes.end() ? nullptr : &*found;
}

// What no table covers, where it says something, or where the wire or the capture ends in it.
void add_undecoded(Walk& walk) {
    if (walk.left() == 0) return;
    const Bytes rest = slice(walk.packet.frame.bytes, walk.offset, walk.left());
    const bool silent =
        rest.size() == walk.left() && std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; });
    if (!silent) add_layer(walk.packet, kind::opa_undecoded, walk.offset, walk.left(), walk.end);
    walk.offset = walk.end;
}

// The layers of an attribute, one after the other; whether all were whole.
bool add_attribute(Walk& walk, const OpaAttribute& attribute) {
    for (const LayerKind layer : attribute.layers) {
        if (layer == LayerKind::frame) break;
        if (enter(walk, layer, length_of(layer)).empty()) return false;
    }
    return true;
}

// Records `size` bytes apart, as many as are whole and have room; a segment behind the first begins within one.
bool add_records(Walk& walk, const OpaAttribute& attribute, std::size_t size, bool several) {
    std::size_t length = 0;
    for (const LayerKind layer : attribute.layers)
        if (layer != LayerKind::frame) length += length_of(layer);
    if (length == 0) return true;
    do {
        if (walk.left() < length) return true;
        if (walk.packet.layer_count + kLayersOfRecord + kLayersAfter > kMaxLayers) {
            mark(walk.packet, Fault::too_deep);
            return true;
        }
        const std::size_t start = walk.offset;
        if (!add_attribute(walk, attribute)) return false;
        if (several) walk.offset = std::min(walk.end, start + size);
    } while (several && size >= length);
    return true;
}

bool walk_administration(Walk& walk, const OpaAttribute* attribute) {
    const Bytes rmpp = enter(walk, kind::opa_rmpp, length_of(kind::opa_rmpp));
    if (rmpp.empty()) return false;
    const Bytes sa = enter(walk, kind::opa_sa, length_of(kind::opa_sa));
    if (sa.empty()) return false;
    const bool segmented = read(rmpp, kActive) != 0;
    if (attribute == nullptr || read(rmpp, kOpaRmppType) > kRmppData || (segmented && read(rmpp, kSegment) > 1))
        return true;
    return add_records(walk, *attribute, static_cast<std::size_t>(read(sa, kRecordSize)) * 8, segmented);
}

// What follows the common header.
bool walk_class(Walk& walk, ManagementClass management_class, const OpaAttribute* attribute) {
    switch (management_class) {
        case ManagementClass::subnet_lid_routed:
            if (enter(walk, kind::opa_smp_lid_routed, length_of(kind::opa_smp_lid_routed)).empty()) return false;
            break;
        case ManagementClass::subnet_directed:
            if (enter(walk, kind::opa_smp_directed, length_of(kind::opa_smp_directed)).empty()) return false;
            break;
        case ManagementClass::subnet_administration: return walk_administration(walk, attribute);
        default: break;
    }
    return attribute == nullptr || add_attribute(walk, *attribute);
}

void walk_opa_mad(Walk& walk) {
    const std::size_t start = walk.offset;
    const bool directed = read(walk.header(), kClass) == kDirectedClass;
    const Bytes common = enter(walk, directed ? kind::opa_mad_directed : kind::opa_mad, kOpaMadHeaderLength);
    if (common.empty()) return;
    const auto management_class = static_cast<ManagementClass>(read(common, kClass));
    if (!walk_class(walk, management_class, find_opa_attribute(management_class, read(common, kAttribute)))) return;
    const std::size_t packet_end = walk.end;
    walk.end = std::min(walk.end, start + kOpaMadLength);
    add_undecoded(walk);
    walk.end = packet_end;
    if (walk.left() > 0) {
        add_undecoded(walk);
        mark(walk.packet, Fault::bad_length);
    }
}

// Payload, pad and ICRC, behind the BTH.
void walk_body(Walk& walk, Bytes bth, bool between_managers) {
    const std::size_t icrc = walk.end - kIcrcLength;
    const std::size_t pad = std::min<std::size_t>(read(bth, kPad), icrc - walk.offset);
    const std::size_t whole = walk.end;
    walk.end = icrc - pad;
    const std::uint8_t version = read_be<std::uint8_t>(walk.header(), 0);
    if (between_managers && walk.left() > 0 && version == kOpaBaseVersion) {
        walk_opa_mad(walk);
    } else if (between_managers && walk.left() > 0 && version == kMadBaseVersion) {
        const Bytes captured = slice(walk.packet.frame.bytes, walk.offset, walk.left());
        walk.packet.payload = {static_cast<std::uint32_t>(walk.offset), static_cast<std::uint32_t>(captured.size()),
                               static_cast<std::uint32_t>(walk.left()), 0};
        walk_mad(walk.packet, walk.packet.payload.offset, walk.packet.payload.captured, walk.packet.payload.length);
    } else if (walk.left() > 0) {
        add_layer(walk.packet, kind::opa_undecoded, walk.offset, walk.left(), walk.end);
    }
    const Fault fault = walk.packet.layers().back().fault;
    if (fault == Fault::none || fault == Fault::bad_length)
        add_layer(walk.packet, kind::opa_icrc, icrc, kIcrcLength, whole);
}

// An opcode of PSM2 and a key datagram header of its version behind the BTH.
bool is_psm(Bytes bth, Bytes next) {
    const std::uint64_t opcode = read(bth, kOpcode);
    return opcode >= kPsmFirst && opcode <= kPsmLast && next.size() >= length_of(kind::opa_kdeth) &&
           read(next, kKeyVersion) == kKdethVersion;
}

bool add_psm(Walk& walk) {
    const std::size_t whole = walk.end;
    walk.end -= kIcrcLength;
    const bool added = !enter(walk, kind::opa_kdeth, length_of(kind::opa_kdeth)).empty() &&
                       !enter(walk, kind::opa_psm, length_of(kind::opa_psm)).empty();
    walk.end = whole;
    return added;
}

void walk_opa_transport(Walk& walk) {
    const Bytes bth = enter(walk, kind::opa_bth, length_of(kind::opa_bth));
    if (bth.empty()) return;
    if (walk.left() < kIcrcLength) return mark(walk.packet, Fault::bad_length);
    if (is_psm(bth, walk.header()) && !add_psm(walk)) return;
    bool between_managers = false;
    if (static_cast<Opcode>(read(bth, kOpcode)) == Opcode::ud_send_only) {
        const std::size_t whole = walk.end;
        walk.end -= kIcrcLength;
        const Bytes deth = enter(walk, kind::opa_deth, length_of(kind::opa_deth));
        walk.end = whole;
        if (deth.empty()) return;
        constexpr auto kLast = std::to_underlying(kGsiQpn);
        between_managers = read(bth, kDestQp) <= kLast || read(deth, kSourceQp) <= kLast;
    }
    walk_body(walk, bth, between_managers);
}

}  // namespace

void walk_opa_snc(Walk& walk) {
    if (!enter(walk, kind::opa_snc, length_of(kind::opa_snc)).empty()) walk_opa_9b(walk);
}

void walk_opa_9b(Walk& walk) {
    const std::size_t start = walk.offset;
    const Bytes link = enter(walk, kind::opa_9b, length_of(kind::opa_9b));
    if (link.empty()) return;
    const std::size_t length = static_cast<std::size_t>(read(link, kLength)) * 4;
    if (length < length_of(kind::opa_9b) || start + length > walk.end) mark(walk.packet, Fault::bad_length);
    else walk.end = start + length;
    switch (read(link, kNext)) {
        case kGrhFollows:
            if (enter(walk, kind::opa_grh, length_of(kind::opa_grh)).empty()) return;
            return walk_opa_transport(walk);
        case kBthFollows: return walk_opa_transport(walk);
        default: return add_data(walk);
    }
}

namespace opa_computed {

std::optional<Value> attribute(const Packet& packet, const Layer& layer) {
    const Bytes mad = packet.bytes_of(layer);
    if (mad.size() < kOpaMadHeaderLength) return std::nullopt;
    const OpaAttribute* row =
        find_opa_attribute(static_cast<ManagementClass>(read(mad, kClass)), read(mad, kAttribute));
    if (row == nullptr) return std::nullopt;
    return Value{0, std::as_bytes(std::span(row->name))};
}

}  // namespace opa_computed

}  // namespace qps::dissect
