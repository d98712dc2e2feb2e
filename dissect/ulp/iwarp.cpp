// The walk over iWARP in a TCP segment, from where the hint says that an FPDU or the set-up of MPA begins.
//
// What was begun in an earlier segment stays data; what goes on in a later one is shown as far as it goes, and marked.
// Lengths come from the wire: every layer is clipped to the segment. The CRC is checked where all that it covers is in
// the packet.
#include <dissect/base/field.hpp>
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/fpdu.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/ulp.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>

namespace qps::dissect {

namespace {

constexpr Field kMessageOffset = named(kDdpUntaggedFields, "iwarp_ddp.mo");
constexpr Field kMpaRevision = named(kMpaRequestFields, "iwarp_mpa.rev");
constexpr Field kEnhanced = named(kMpaRequestFields, "rdma.iwarp.enhanced");
constexpr Field kPrivateLength = named(kMpaRequestFields, "iwarp_mpa.pdlength");
constexpr Field kRejected = named(kMpaRequestFields, "iwarp_mpa.rej_flag");

// Goes through an FPDU in the order of the stream, and around its markers.
class FpduWalk {
public:
    FpduWalk(Walk& walk, mpa::ToMarker to_marker) : walk_(walk), to_marker_(to_marker) {}

    [[nodiscard]] mpa::ToMarker to_marker() const { return to_marker_; }
    // The bytes at hand that no marker interrupts.
    [[nodiscard]] Bytes ahead(std::size_t length) const {
        const std::size_t skipped = to_marker_ == 0U ? mpa::kMarkerLength : 0;
        const std::size_t run = !to_marker_ ? length : skipped != 0 ? mpa::kMarkerInterval - skipped : *to_marker_;
        const std::size_t at = walk_.offset + skipped;
        return slice(walk_.packet.frame.bytes, at, std::min({length, run, walk_.end > at ? walk_.end - at : 0}));
    }
    // A layer of `length` plain bytes; what is behind a marker in it is data. False where the segment or the capture
    // ends.
    bool take(LayerKind kind, std::size_t length) {
        while (length > 0) {
            if (to_marker_ == 0U && !take_run(kind::mpa_marker, mpa::kMarkerLength)) return false;
            const std::size_t run = to_marker_ ? std::min(length, *to_marker_) : length;
            if (!take_run(kind, run)) return false;
            length -= run;
            kind = LayerKind::data;
        }
        return true;
    }
    // The same of a payload, which an upper protocol may understand.
    bool take_message(std::size_t length, const UlpHint& hint) {
        const std::size_t skipped = to_marker_ == 0U ? mpa::kMarkerLength : 0;
        const std::size_t run = !to_marker_ ? length : skipped != 0 ? mpa::kMarkerInterval - skipped : *to_marker_;
        const auto ulp = info(hint.protocol).walk;
        if (ulp == nullptr || length == 0 || run < length) return take(LayerKind::data, length);
        if (skipped != 0 && !take_run(kind::mpa_marker, mpa::kMarkerLength)) return false;
        const std::size_t stop = walk_.offset + length;
        const std::uint8_t before = walk_.packet.layer_count;
        Walk inner{walk_.packet, walk_.offset, std::min(stop, walk_.end)};
        ulp(inner, hint);
        if (walk_.packet.layer_count == before) return take(LayerKind::data, length);
        walk_.offset = stop;
        if (to_marker_) *to_marker_ -= length;
        return stop <= walk_.end && stop <= walk_.packet.frame.bytes.size();
    }

private:
    bool take_run(LayerKind kind, std::size_t length) {
        Packet& packet = walk_.packet;
        const std::uint8_t before = packet.layer_count;
        const bool whole = add_layer(packet, kind, walk_.offset, length, walk_.end);
        if (packet.layer_count == before) return false;  // no room
        Layer& added = packet.layer_storage[before];
        if (added.fault == Fault::too_short) added.fault = Fault::fragment;  // the next segment has the rest
        walk_.offset += length;
        if (to_marker_)
            *to_marker_ = kind == kind::mpa_marker ? mpa::kMarkerInterval - mpa::kMarkerLength : *to_marker_ - length;
        return whole;
    }

    Walk& walk_;
    mpa::ToMarker to_marker_;
};

LayerKind behind(std::uint8_t opcode) {
    switch (static_cast<RdmapOpcode>(opcode)) {
        case RdmapOpcode::read_request: return kind::rdmap_read_request;
        case RdmapOpcode::immediate:
        case RdmapOpcode::immediate_solicited: return kind::rdmap_immediate;
        case RdmapOpcode::atomic_request: return kind::rdmap_atomic_request;
        case RdmapOpcode::atomic_response: return kind::rdmap_atomic_response;
        default: return LayerKind::data;
    }
}

bool is_send(std::uint8_t opcode) {
    return opcode >= std::to_underlying(RdmapOpcode::send) &&
           opcode <= std::to_underlying(RdmapOpcode::send_solicited_invalidate);
}

// The DDP header, and RDMAP's control, which lies in it.
bool walk_ddp(FpduWalk& fpdu, Packet& packet, const mpa::Heading& heading) {
    const std::uint8_t at = packet.layer_count;
    const bool whole = fpdu.take(heading.tagged ? kind::ddp_tagged : kind::ddp_untagged, heading.length());
    const auto is_ddp = [](const Layer& layer) {
        return layer.kind == kind::ddp_tagged || layer.kind == kind::ddp_untagged;
    };
    const auto found = std::ranges::find_if(packet.layers().subspan(at), is_ddp);
    if (found == packet.layers().end() || found->length < 2) return false;
    const bool invalidates = heading.opcode == std::to_underlying(RdmapOpcode::send_invalidate) ||
                             heading.opcode == std::to_underlying(RdmapOpcode::send_solicited_invalidate);
    const std::size_t length =
        heading.tagged ? 1 : std::min<std::size_t>(found->length - 1, header(kind::rdmap_invalidate).length);
    const std::size_t offset = std::size_t{found->offset} + 1;
    const LayerKind control =
        invalidates && length == header(kind::rdmap_invalidate).length ? kind::rdmap_invalidate : kind::rdmap;
    return add_layer(packet, control, offset, length, offset + length) && whole;
}

// What follows the DDP header of a ULPDU.
bool walk_rest(FpduWalk& fpdu, const mpa::Heading& heading, std::size_t length, bool begins, const UlpHint& hint) {
    if (is_send(heading.opcode) && begins) return fpdu.take_message(length, hint);
    if (heading.opcode == std::to_underlying(RdmapOpcode::terminate)) return fpdu.take(kind::rdmap_terminate, length);
    const LayerKind kind = behind(heading.opcode);
    const std::size_t own = kind == LayerKind::data ? length : std::min<std::size_t>(length, header(kind).length);
    return fpdu.take(kind, own) && fpdu.take(LayerKind::data, length - own);
}

// One FPDU. False where nothing can follow: its end, or what it is, is not known here.
bool walk_fpdu(Walk& walk, mpa::ToMarker& to_marker, const UlpHint& hint) {
    FpduWalk fpdu(walk, to_marker);
    const Bytes first = fpdu.ahead(mpa::kLengthField + mpa::kUntagged);
    if (!fpdu.take(kind::mpa_fpdu, mpa::kLengthField)) return false;
    const std::size_t length = read_be<std::uint16_t>(first, 0);
    const Bytes ulpdu = slice(first, mpa::kLengthField);
    const auto heading = mpa::heading(ulpdu, length);
    if (!heading) {
        add_data(walk);
        return false;
    }
    if (!walk_ddp(fpdu, walk.packet, *heading)) return false;
    const bool begins = ulpdu.size() == mpa::kUntagged && read(ulpdu, kMessageOffset) == 0;
    if (!walk_rest(fpdu, *heading, length - heading->length(), begins, hint)) return false;
    if (!fpdu.take(kind::mpa_pad, mpa::padding(length))) return false;
    if (!fpdu.take(hint.iwarp.crc ? kind::mpa_crc : kind::mpa_crc_unused, mpa::kCrcLength)) return false;
    to_marker = fpdu.to_marker();
    return true;
}

// Eight bytes that are two depths; nothing where they are anything else, such as the private data of RPC over RDMA (RFC
// 8797).
std::optional<LayerKind> legacy_depths(Bytes data) {
    constexpr std::uint64_t kMost = 0x3fff;  // of either, as RFC 6581 has room for
    constexpr std::array kForms{std::pair(kind::legacy_depths, &kLegacyDepthsFields),
                                std::pair(kind::legacy_depths_turned, &kLegacyDepthsTurnedFields)};
    for (const auto& [form, fields] : kForms) {
        const std::uint64_t ird = read(data, (*fields)[0]), ord = read(data, (*fields)[1]);
        if (ird <= kMost && ord <= kMost && ird + ord != 0) return form;
    }
    return std::nullopt;
}

void walk_set_up(Walk& walk, const UlpHint& hint) {
    constexpr std::size_t kWhich = 9;  // of the key: "MPA ID Req Frame", "MPA ID Rep Frame"
    const bool reply = read_be<std::uint8_t>(walk.header(), kWhich) == 'p';
    const std::size_t start = walk.offset;
    const std::size_t said = read(slice(walk.header(), 0, kMpaSetUpLength), kPrivateLength);
    const std::size_t length =
        kMpaSetUpLength + std::min(said, walk.left() > kMpaSetUpLength ? walk.left() - kMpaSetUpLength : 0);
    const Bytes frame = enter(walk, reply ? kind::mpa_reply : kind::mpa_request, length);
    if (frame.empty()) return;
    if (said + kMpaSetUpLength > length) mark(walk.packet, Fault::bad_length);
    Walk inner{walk.packet, start + kMpaSetUpLength, start + length};
    if (read(frame, kMpaRevision) >= 2 && read(frame, kEnhanced) != 0 && inner.left() >= 4 &&
        enter(inner, kind::mpa_enhanced, 4).empty())
        return;
    const LayerKind message = !reply                        ? LayerKind::cm_req
                              : read(frame, kRejected) != 0 ? LayerKind::cm_rej
                                                            : LayerKind::cm_rep;
    if (const auto ulp = info(hint.protocol).walk_private; ulp != nullptr && inner.left() > 0) {
        ulp(inner, hint, message);
    } else if (inner.left() == kLegacyDepthsLength && inner.header().size() >= kLegacyDepthsLength) {
        if (const auto depths = legacy_depths(inner.header())) (void)enter(inner, *depths, kLegacyDepthsLength);
    }
    add_data(walk);
}

// Where the CRC's coverage begins: at its FPDU, or the marker right before it.
std::optional<std::size_t> covered_from(const Packet& packet, const Layer& crc) {
    const Layer* fpdu = nullptr;
    const Layer* before = nullptr;  // the layer before it
    const Layer* last = nullptr;
    for (const Layer& layer : packet.layers()) {
        if (&layer == &crc) break;
        if (layer.kind == kind::mpa_fpdu) {
            fpdu = &layer;
            before = last;
        }
        last = &layer;
    }
    if (fpdu == nullptr) return std::nullopt;
    const bool marked =
        before != nullptr && before->kind == kind::mpa_marker && before->offset + before->length == fpdu->offset;
    return marked ? before->offset : fpdu->offset;
}

std::optional<std::uint32_t> right_crc(const Packet& packet, const Layer& crc) {
    const auto from = covered_from(packet, crc);
    if (!from || crc.length < mpa::kCrcLength || *from > crc.offset) return std::nullopt;
    return crc32c(slice(packet.frame.bytes, *from, crc.offset - *from));
}

constexpr Field kSegmentLengthFollows = named(kRdmapTerminateFields, "iwarp_rdma.term_hdrct_m");
constexpr Field kDdpFollows = named(kRdmapTerminateFields, "iwarp_rdma.hdrct_d");
constexpr Field kRdmapFollows = named(kRdmapTerminateFields, "iwarp_rdma.hdrct_r");

// The DDP header in a Terminate; empty where it has none.
Bytes ddp_in(Bytes terminate) {
    if (read(terminate, kDdpFollows) == 0) return {};
    const std::size_t at =
        header(kind::rdmap_terminate).length + (read(terminate, kSegmentLengthFollows) != 0 ? 2U : 0U);
    const bool tagged = read_bits(slice(terminate, at), 0, 1) != 0;
    const Bytes found = slice(terminate, at, tagged ? mpa::kTagged : mpa::kUntagged);
    return found.size() == (tagged ? mpa::kTagged : mpa::kUntagged) ? found : Bytes{};
}

}  // namespace

namespace iwarp {

std::optional<Value> crc_status(const Packet& packet, const Layer& layer) {
    const auto right = right_crc(packet, layer);
    if (!right) return Value{static_cast<std::uint64_t>(CrcStatus::not_checkable)};
    const bool good = *right == read_be<std::uint32_t>(packet.bytes_of(layer), 0);
    return Value{static_cast<std::uint64_t>(good ? CrcStatus::good : CrcStatus::bad)};
}

std::optional<Value> crc_expected(const Packet& packet, const Layer& layer) {
    const auto right = right_crc(packet, layer);
    if (!right || *right == read_be<std::uint32_t>(packet.bytes_of(layer), 0)) return std::nullopt;
    return Value{*right};
}

std::optional<Value> terminated_ddp(const Packet& packet, const Layer& layer) {
    const Bytes found = ddp_in(packet.bytes_of(layer));
    if (found.empty()) return std::nullopt;
    return Value{0, found};
}

std::optional<Value> terminated_rdmap(const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    const Bytes ddp = ddp_in(bytes);
    if (ddp.empty() || read(bytes, kRdmapFollows) == 0) return std::nullopt;
    const Bytes found = slice(bytes, static_cast<std::size_t>(ddp.data() - bytes.data()) + ddp.size(),
                              header(kind::rdmap_read_request).length);
    if (found.empty()) return std::nullopt;
    return Value{0, found};
}

}  // namespace iwarp

namespace ulp {

void walk_iwarp(Packet& packet, const UlpHint& hint) {
    const auto segment = mpa::tcp_segment(packet);
    if (!segment || hint.iwarp.first >= segment->captured) return;
    const std::uint8_t data = segment->layer + 1;
    if (packet.layer_count != data + 1 || packet.layer_storage[data].kind != LayerKind::data) return;
    packet.layer_count = data;
    Walk walk{packet, segment->offset, segment->offset + segment->length};
    mpa::ToMarker to_marker;
    if (hint.iwarp.markers)
        to_marker =
            (std::size_t{hint.iwarp.to_marker} + mpa::kMarkerInterval - hint.iwarp.first % mpa::kMarkerInterval) %
            mpa::kMarkerInterval;
    if (hint.iwarp.first > 0) static_cast<void>(enter(walk, LayerKind::data, hint.iwarp.first));
    if (hint.iwarp.what == IwarpPlace::What::set_up) return walk_set_up(walk, hint);
    while (walk.left() > 0 && packet.layer_count < kMaxLayers && walk_fpdu(walk, to_marker, hint)) {
    }
}

}  // namespace ulp

}  // namespace qps::dissect
