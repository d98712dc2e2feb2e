// The walk over a management datagram: common header, class headers, attribute or records.
#include <dissect/base/walk.hpp>
#include <dissect/mad/administration.hpp>
#include <dissect/mad/attributes.hpp>
#include <dissect/mad/cm.hpp>
#include <dissect/mad/headers.hpp>
#include <dissect/mad/subnet.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

// Layers that must still fit where a record begins: the two others of its own, the rest of the segment, ICRC, VCRC, the
// conclusions.
inline constexpr std::size_t kLayersAfterRecords = 7;

constexpr std::size_t kPrivateOffset = named(kCmReqFields, "infiniband.cm.req.private").bit / 8;
constexpr std::size_t kSidrPrivateOffset = named(kCmSidrReqFields, "infiniband.cm.sidr_req.private").bit / 8;
constexpr Field kReqServicePrefix = named(kCmReqFields, "infiniband.cm.req.serviceid.prefix");
constexpr Field kSidrServicePrefix = named(kCmSidrReqFields, "infiniband.cm.sidr_req.serviceid.prefix");
constexpr Field kClassField = named(kMadFields, "infiniband.mad.mgmtclass");
constexpr Field kAttributeField = named(kMadFields, "infiniband.mad.attributeid");
constexpr Field kRmppType = named(kRmppFields, "infiniband.rmpp.rmpptype");
constexpr Field kRmppFirst = named(kRmppFields, "infiniband.rmpp.rmppflags.first");
constexpr Field kRmppLast = named(kRmppFields, "infiniband.rmpp.rmppflags.last");
constexpr Field kRmppActive = named(kRmppFields, "infiniband.rmpp.rmppflags.active");
constexpr Field kRmppData1 = named(kRmppFields, "infiniband.rmpp.data1");
constexpr Field kRmppData2 = named(kRmppFields, "infiniband.rmpp.data2");
constexpr Field kAttributeOffset = named(kSaFields, "infiniband.sa.attributeoffset");
constexpr Field kIsGeneric = named(kNoticeFields, "infiniband.notice.isgeneric");

constexpr MadAttribute kOnlyBytes{MadGroup::any, 0, {}, LayerKind::mad_data, 0};  // an attribute that nobody knows

// Of the data and what follows it at once.
std::size_t length_of(const MadAttribute& attribute) {
    std::size_t length = header(attribute.data).length;
    for (const LayerKind inner : attribute.inner) length += header(inner).length;
    return length;
}

// One MAD in its packet. Offsets of the members count from the start of the MAD.
struct Mad {
    Packet& packet;
    std::size_t start;  // in the frame
    std::size_t end;    // in the frame, of the datagram on the wire
    Bytes bytes;        // as captured, at most kMadLength

    bool add(LayerKind kind, std::size_t offset, std::size_t length) const {
        return add_layer(packet, kind, start + offset, length, end);
    }
    // What no field table covers: kept where it says something, or where the wire or the capture ends in it. Returns
    // whether anything may follow.
    bool add_rest(std::size_t from, std::size_t to) const {
        if (from >= to) return true;
        const Bytes rest = slice(bytes, from, to - from);
        const bool whole = rest.size() == to - from && start + to <= end;
        if (whole && std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; })) return true;
        return add(LayerKind::mad_data, from, to - from);
    }
    // An attribute at `offset`, layer after layer.
    bool add_layers(const MadAttribute& attribute, std::size_t offset) const {
        if (!add(attribute.data, offset, header(attribute.data).length)) return false;
        offset += header(attribute.data).length;
        for (const LayerKind inner : attribute.inner) {
            if (inner == LayerKind::mad_data) break;
            if (!add(inner, offset, header(inner).length)) return false;
            offset += header(inner).length;
        }
        return true;
    }
    // Vendors number their notices themselves. Outside of SMPs there is room for the issuer's GID.
    bool add_notice(std::size_t offset, std::size_t room) const {
        const bool generic = read(slice(bytes, offset), kIsGeneric) != 0;
        if (!add(generic ? kind::notice : kind::vendor_notice, offset, kNoticeLength)) return false;
        std::size_t next = offset + kNoticeLength;
        if (room > kNoticeLength) {
            if (!add(kind::notice_issuer, next, header(kind::notice_issuer).length)) return false;
            next += header(kind::notice_issuer).length;
        }
        return add_rest(next, offset + room);
    }
    // An attribute that has `room` bytes at `offset`.
    bool add_attribute(const MadAttribute& attribute, std::size_t offset, std::size_t room) const {
        if (attribute.data == LayerKind::mad_data) return add(attribute.data, offset, room);
        if (attribute.data == kind::notice) return add_notice(offset, room);
        return add_layers(attribute, offset) && add_rest(offset + length_of(attribute), offset + room);
    }
};

bool may_have_rmpp(ManagementClass management_class) {
    return management_class == ManagementClass::subnet_administration ||
           management_class == ManagementClass::device_administration ||
           management_class == ManagementClass::boot_information ||
           (management_class >= ManagementClass::first_vendor_rmpp &&
            management_class <= ManagementClass::last_vendor_rmpp);
}

void walk_subnet(const Mad& mad, ManagementClass management_class, const MadAttribute* attribute) {
    const bool directed = management_class == ManagementClass::subnet_directed;
    const LayerKind class_header = directed ? LayerKind::smp_directed : LayerKind::smp_lid_routed;
    if (!mad.add(class_header, kMadHeaderLength, header(class_header).length)) return;
    if (!mad.add_attribute(attribute ? *attribute : kOnlyBytes, mad_places::kSmp, kSmpDataLength)) return;
    const std::size_t after = mad_places::kSmp + kSmpDataLength;
    if (directed) mad.add(LayerKind::smp_directed_paths, after, 2 * kSmpPathLength);
    else mad.add_rest(after, kMadLength);
}

// Records `size` bytes apart in the 200 bytes of a segment, of which `valid` count; `before` bytes of the stream of
// records were in segments before this one. A record that began or ends in another segment is kept as bytes.
void walk_records(const Mad& mad, const MadAttribute& attribute, std::size_t size, std::uint64_t before,
                  std::size_t valid) {
    const std::size_t started = static_cast<std::size_t>(before % size);  // of the record that an earlier segment began
    std::size_t next = started == 0 ? 0 : std::min(size - started, valid);
    if (next > 0 && !mad.add(LayerKind::mad_data, mad_places::kSa, next)) return;
    for (; next + size <= valid; next += size) {
        if (mad.packet.layer_count + kLayersAfterRecords > kMaxLayers) {
            if (mad.add(LayerKind::mad_data, mad_places::kSa + next, valid - next)) mark(mad.packet, Fault::too_deep);
            return;
        }
        if (!mad.add_layers(attribute, mad_places::kSa + next)) return;
    }
    if (next < valid && !mad.add(LayerKind::mad_data, mad_places::kSa + next, valid - next)) return;
    mad.add_rest(mad_places::kSa + valid, kMadLength);
}

void walk_administration(const Mad& mad, const MadAttribute* attribute) {
    const std::size_t sa_offset = kMadHeaderLength + kRmppHeaderLength;
    if (!mad.add(LayerKind::sa, sa_offset, kSaHeaderLength)) return;
    const Bytes rmpp = slice(mad.bytes, kMadHeaderLength, kRmppHeaderLength);
    const std::uint64_t type = read(rmpp, kRmppType);
    if (type > kRmppData) {  // ACK, STOP, ABORT: no records
        mad.add_rest(mad_places::kSa, kMadLength);
        return;
    }
    const MadAttribute& known = attribute ? *attribute : kOnlyBytes;
    const bool segmented = type == kRmppData && read(rmpp, kRmppActive) != 0;
    const std::size_t valid = segmented ? valid_in_segment(rmpp) : kSaDataLength;
    const std::size_t size = static_cast<std::size_t>(read(slice(mad.bytes, sa_offset), kAttributeOffset)) * 8;
    const std::size_t length = length_of(known);
    if (segmented && known.record && known.data != LayerKind::mad_data && size >= length) {
        const std::uint64_t segment =
            read(rmpp, kRmppFirst) != 0 ? 1 : std::max<std::uint64_t>(read(rmpp, kRmppData1), 1);
        walk_records(mad, known, size, (segment - 1) * kSaDataLength, valid);
    } else if (valid < std::max<std::size_t>(length, 1)) {  // a table without records, or the tail of one
        mad.add_rest(mad_places::kSa, kMadLength);
    } else {
        mad.add_attribute(known, mad_places::kSa, kSaDataLength);
    }
}

void walk_communication(const Mad& mad, const MadAttribute* attribute) {
    const LayerKind kind = attribute ? attribute->data : LayerKind::mad_data;
    if (!mad.add_attribute(attribute ? *attribute : kOnlyBytes, mad_places::kCm, kCmMessageLength)) return;
    const Bytes message = slice(mad.bytes, mad_places::kCm);
    std::size_t own = 0;  // offset of the private data, where it begins with IP addresses
    if (kind == LayerKind::cm_req && read(message, kReqServicePrefix) == kIpCmServicePrefix) own = kPrivateOffset;
    if (kind == LayerKind::cm_sidr_req && read(message, kSidrServicePrefix) == kIpCmServicePrefix)
        own = kSidrPrivateOffset;
    if (own != 0) mad.add(LayerKind::cm_ip_private, mad_places::kCm + own, kCmMessageLength - own);
}

void walk_other(const Mad& mad, const MadAttribute* attribute, bool rmpp) {
    const std::size_t after = kMadHeaderLength + (rmpp ? kRmppHeaderLength : 0);
    if (attribute == nullptr || attribute->offset < after) {
        mad.add(LayerKind::mad_data, after, kMadLength - after);
        return;
    }
    if (!mad.add_rest(after, attribute->offset)) return;
    mad.add_attribute(*attribute, attribute->offset, kMadLength - attribute->offset);
}

}  // namespace

std::size_t valid_in_segment(Bytes rmpp) {
    const std::uint64_t payload = read(rmpp, kRmppData2);
    const bool says =
        read(rmpp, kRmppLast) != 0 && payload >= kSaHeaderLength && payload <= kSaHeaderLength + kSaDataLength;
    return says ? static_cast<std::size_t>(payload) - kSaHeaderLength : kSaDataLength;
}

void walk_mad(Packet& packet, std::uint32_t offset, std::uint32_t captured, std::uint32_t length) {
    const std::size_t on_wire = std::min<std::size_t>(length, kMadLength);
    const Mad mad{packet, offset, offset + on_wire,
                  slice(packet.frame.bytes, offset, std::min<std::size_t>(captured, on_wire))};
    if (!mad.bytes.empty() && read_be<std::uint8_t>(mad.bytes, 0) != kMadBaseVersion) {
        add_layer(packet, LayerKind::data, offset, length, std::size_t{offset} + length);
        return mark(packet, Fault::bad_version);
    }
    if (!mad.add(LayerKind::mad, 0, kMadHeaderLength)) return;
    const auto management_class = static_cast<ManagementClass>(read(mad.bytes, kClassField));
    const MadAttribute* attribute =
        find_attribute(management_class, static_cast<std::uint16_t>(read(mad.bytes, kAttributeField)));
    const bool always = management_class == ManagementClass::subnet_administration;
    const bool rmpp =
        always || (may_have_rmpp(management_class) && read(slice(mad.bytes, kMadHeaderLength), kRmppType) != 0);
    if (rmpp && !mad.add(LayerKind::rmpp, kMadHeaderLength, kRmppHeaderLength)) return;
    switch (group_of(management_class)) {
        case MadGroup::subnet: walk_subnet(mad, management_class, attribute); break;
        case MadGroup::administration: walk_administration(mad, attribute); break;
        case MadGroup::communication: walk_communication(mad, attribute); break;
        default: walk_other(mad, attribute, rmpp); break;
    }
    if (length > kMadLength) {  // against C13-3: what lies beyond is nobody's
        add_layer(packet, LayerKind::data, offset + kMadLength, length - kMadLength, std::size_t{offset} + length);
        mark(packet, Fault::bad_length);
    }
}

namespace mad_computed {

namespace {

// `length` bytes after the header of a layer, as far as the MAD, which ends with the packet's payload, was captured.
std::optional<Value> after(const Packet& packet, const Layer& layer, std::size_t header_length, std::size_t length) {
    const std::size_t from = layer.offset + header_length;
    const std::size_t captured = std::size_t{packet.payload.offset} + packet.payload.captured;
    if (from >= captured) return std::nullopt;
    return Value{0, slice(packet.frame.bytes, from, std::min(length, captured - from))};
}

}  // namespace

std::optional<Value> attribute(const Packet& packet, const Layer& layer) {
    const Bytes mad = packet.bytes_of(layer);
    if (mad.size() < kMadHeaderLength) return std::nullopt;
    const auto management_class = static_cast<ManagementClass>(read(mad, kClassField));
    const MadAttribute* row = find_attribute(management_class, static_cast<std::uint16_t>(read(mad, kAttributeField)));
    if (row == nullptr) return std::nullopt;
    return Value{0, std::as_bytes(std::span(row->name))};
}

std::optional<Value> data(const Packet& packet, const Layer& layer) {
    return after(packet, layer, kMadHeaderLength, kMadLength - kMadHeaderLength);
}

std::optional<Value> sa_data(const Packet& packet, const Layer& layer) {
    return after(packet, layer, kSaHeaderLength, kSaDataLength);
}

}  // namespace mad_computed

}  // namespace qps::dissect
