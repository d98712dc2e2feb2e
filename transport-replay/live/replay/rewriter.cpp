#include <dissect/base/ethertypes.hpp>
#include <transport-replay/evidence/frame_sums.hpp>
#include <transport-replay/live/replay/rewriter.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace qps::transport::live {

using namespace dissect;

namespace {

struct RewriteTarget {
    LayerKind kind;
    std::string_view field;
    Subject subject;
    Side side;
};

// Where everything that can be rewritten stands; of a layer in the order in which it is: a PSN before the QPN that owns
// it.
constexpr std::array kTargets{
    RewriteTarget{LayerKind::ethernet, "eth.src", Subject::mac, Side::source},
    RewriteTarget{LayerKind::ethernet, "eth.dst", Subject::mac, Side::destination},
    RewriteTarget{LayerKind::arp, "arp.src.hw_mac", Subject::mac, Side::source},
    RewriteTarget{LayerKind::arp, "arp.dst.hw_mac", Subject::mac, Side::destination},
    RewriteTarget{LayerKind::arp, "arp.src.proto_ipv4", Subject::ip, Side::source},
    RewriteTarget{LayerKind::arp, "arp.dst.proto_ipv4", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::ipv4, "ip.src", Subject::ip, Side::source},
    RewriteTarget{LayerKind::ipv4, "ip.dst", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::ipv6, "ipv6.src", Subject::ip, Side::source},
    RewriteTarget{LayerKind::ipv6, "ipv6.dst", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::grh, "infiniband.grh.sgid", Subject::ip, Side::source},
    RewriteTarget{LayerKind::grh, "infiniband.grh.dgid", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.prim_localgid", Subject::ip, Side::source},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.prim_remotegid", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.alt_localgid", Subject::ip, Side::source},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.alt_remotegid", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_lap, "infiniband.cm.lap.alt_localgid", Subject::ip, Side::source},
    RewriteTarget{LayerKind::cm_lap, "infiniband.cm.lap.alt_remotegid", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.sip6", Subject::ip, Side::source},
    RewriteTarget{LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.sip4", Subject::ip, Side::source},
    RewriteTarget{LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.dip6", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm.dip4", Subject::ip, Side::destination},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.startpsn", Subject::psn, Side::source},
    RewriteTarget{LayerKind::cm_rep, "infiniband.cm.rep.startpsn", Subject::psn, Side::source},
    RewriteTarget{LayerKind::bth, "infiniband.bth.destqp", Subject::qpn, Side::destination},
    RewriteTarget{LayerKind::deth, "infiniband.deth.srcqp", Subject::qpn, Side::source},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.localqpn", Subject::qpn, Side::source},
    RewriteTarget{LayerKind::cm_rep, "infiniband.cm.rep.localqpn", Subject::qpn, Side::source},
    RewriteTarget{LayerKind::cm_dreq, "infiniband.cm.req.remoteqpneecn", Subject::qpn, Side::destination},
    RewriteTarget{LayerKind::cm_lap, "infiniband.cm.lap.remoteqpneecn", Subject::qpn, Side::destination},
    RewriteTarget{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep.qpn", Subject::qpn, Side::source},
    RewriteTarget{LayerKind::bth, "infiniband.bth.psn", Subject::psn, Side::destination},
    RewriteTarget{LayerKind::bth, "infiniband.bth.p_key", Subject::pkey, Side::neither},
    RewriteTarget{LayerKind::cm_req, "infiniband.cm.req.pkey", Subject::pkey, Side::neither},
    RewriteTarget{LayerKind::cm_sidr_req, "infiniband.cm.sidr_req.pkey", Subject::pkey, Side::neither},
    RewriteTarget{LayerKind::reth, "infiniband.reth.r_key", Subject::rkey, Side::destination},
    RewriteTarget{LayerKind::atomiceth, "infiniband.reth.r_key", Subject::rkey, Side::destination},
    RewriteTarget{LayerKind::ieth, "infiniband.ieth", Subject::rkey, Side::destination},
};

const Field* field_of(const RewriteTarget& target) {
    for (const Field& field : header(target.kind).fields)
        if (field.name == target.field) return &field;
    return nullptr;
}

// A value of any field as one that rules compare.
Wide wide(const Field& field, const Value& value) {
    if (field.width == 128) return {read_be<std::uint64_t>(value.bytes, 0), read_be<std::uint64_t>(value.bytes, 8)};
    if (field.format == Format::ipv4) return {0, kMappedPrefix | value.number};
    if (!value.bytes.empty()) return {0, read_be<std::uint32_t>(value.bytes, 0)};  // a word that is shown as bytes
    return {0, value.number};
}

// The queue pair that a PSN is about: that of the packet, or the one that a set-up message opens.
std::optional<Qpn> owner_of_psn(const Packet& packet, const Layer& layer) {
    if (layer.kind == LayerKind::bth) return packet.dest_qp;
    for (const RewriteTarget& target : kTargets) {
        if (target.kind != layer.kind || target.subject != Subject::qpn || target.side != Side::source) continue;
        const Field* field = field_of(target);
        const auto value = field != nullptr ? value_of(packet, layer, *field) : std::nullopt;
        if (value) return Qpn{static_cast<std::uint32_t>(value->number)};
    }
    return std::nullopt;
}

// Queue pairs that everybody has: "any" does not mean them.
bool well_known(std::uint64_t qpn) {
    return Qpn{static_cast<std::uint32_t>(qpn)} == kSmiQpn || Qpn{static_cast<std::uint32_t>(qpn)} == kGsiQpn ||
           Qpn{static_cast<std::uint32_t>(qpn)} == kMulticastQpn;
}

Wide address_of(const Packet& packet, const Layer& layer, Side side) {
    for (const RewriteTarget& target : kTargets) {
        if (target.kind != layer.kind || target.subject != Subject::ip || target.side != side) continue;
        const Field* field = field_of(target);
        const auto value = field != nullptr ? value_of(packet, layer, *field) : std::nullopt;
        return value ? wide(*field, *value) : Wide{};
    }
    return {};
}

void decode_into(Packet& packet, Bytes bytes) {
    Frame frame;
    frame.bytes = bytes;
    frame.wire_length = static_cast<std::uint32_t>(bytes.size());
    decode(frame, packet);
}

}  // namespace

Rewriter::Rewriter(std::span<const RewriteRule> rules) {
    rules_.assign(rules.begin(), rules.begin() + static_cast<std::ptrdiff_t>(std::min(rules.size(), kMaxRewriteRules)));
    for (const RewriteTarget& target : kTargets) {
        const Field* field = field_of(target);
        const bool wanted = std::ranges::any_of(rules_, [&](const RewriteRule& rule) {
            return rule.subject == target.subject && (rule.only == Side::neither || rule.only == target.side);
        });
        if (!wanted || field == nullptr) continue;
        fields_ = true;
        auto row = std::ranges::find(layers_, target.kind, &RuledLayer::kind);
        if (row == layers_.end()) row = layers_.insert(row, RuledLayer{target.kind});
        row->places.push_back({field, target.subject, target.side});
    }
    asks_ends_ = std::ranges::any_of(rules_, [](const RewriteRule& rule) { return rule.at.has_value(); });
    tags_ = std::ranges::any_of(rules_, [](const RewriteRule& rule) { return rule.subject == Subject::vlan; });
}

// For psn the value is the queue pair's number.
const RewriteRule* Rewriter::rule_for(const RuledField& place, const Wide& value, const Ends& ends) const {
    const bool ipv4 =
        place.field->format == Format::ipv4 || (value.high == 0 && (value.low >> 32 << 32) == kMappedPrefix);
    for (const RewriteRule& rule : rules_) {
        if (rule.subject != place.subject || (rule.only != Side::neither && rule.only != place.side)) continue;
        if (rule.subject == Subject::ip && rule.only_ipv4 != ipv4) continue;
        if (rule.at && *rule.at != (place.side == Side::source ? ends.source : ends.destination)) continue;
        if ((rule.subject == Subject::qpn || rule.subject == Subject::psn) && rule.compared == Wide{} &&
            well_known(value.low))
            continue;
        if (rule.fits(value)) return &rule;
    }
    return nullptr;
}

bool Rewriter::rewrite_field(MutableBytes frame, const Layer& layer, const RuledField& place, const Ends& ends) const {
    const auto found = value_of(packet_, layer, *place.field);
    if (!found) return false;
    const Wide value = wide(*place.field, *found);
    const bool is_psn = place.subject == Subject::psn;
    const auto owner = is_psn ? owner_of_psn(packet_, layer) : std::nullopt;
    if (is_psn && !owner) return false;
    const RewriteRule* rule = rule_for(place, owner ? Wide{0, std::to_underlying(*owner)} : value, ends);
    if (rule == nullptr) return false;
    const Wide written = is_psn ? Wide{0, (value.low + rule->psn_offset) & Psn::kMask} : rule->applied(value);
    const std::size_t bit = std::size_t{layer.offset} * 8 + place.field->bit;
    if (place.field->width == 128) {
        write_bits(frame, bit, 64, written.high);
        write_bits(frame, bit + 64, 64, written.low);
    } else {
        write_bits(frame, bit, place.field->width, written.low);
    }
    return true;
}

std::size_t Rewriter::apply(MutableBytes room, std::size_t length) {
    if (length > room.size()) return 0;
    if (tags_) length = retag(room, length);
    if (!fields_ || length == 0) return length;
    const MutableBytes frame = room.first(length);
    decode_into(packet_, frame);
    const FrameSums sums = sums_of(packet_);
    Ends ends;
    if (asks_ends_ && packet_.has_transport() && packet_.network_layer != kNoLayer) {
        const Layer& network = packet_.layers()[packet_.network_layer];
        ends = {address_of(packet_, network, Side::source), address_of(packet_, network, Side::destination)};
    }
    bool changed = false;
    for (const Layer& layer : packet_.layers()) {
        const auto row = std::ranges::find(layers_, layer.kind, &RuledLayer::kind);
        if (row == layers_.end()) continue;
        for (const RuledField& place : row->places) changed = rewrite_field(frame, layer, place, ends) || changed;
    }
    if (!changed) return length;
    const CrcVerdict recorded = packet_.icrc;
    const Layer* icrc = find(packet_, LayerKind::icrc);
    if (icrc != nullptr && (recorded.status == CrcStatus::good || recorded.status == CrcStatus::bad)) {
        const std::size_t at = icrc->offset;
        decode_into(packet_, frame);
        write_bits(frame, at * 8, 32, recorded.found ^ recorded.expected ^ packet_.icrc.expected);
    }
    restore(sums, frame);
    return length;
}

// The outermost tag: its number, or whether it is there at all. Its priority stays.
std::size_t Rewriter::retag(MutableBytes room, std::size_t length) const {
    constexpr std::size_t kType = 12, kTag = 4, kNumber = 12;  // bytes before the type, of a tag; bits of its number
    if (length < kType + 2) return length;
    const auto type = read_be<std::uint16_t>(room, kType);
    const bool tagged = ethertype::is_tag(type) && length >= kType + kTag + 2;
    const std::uint64_t number = tagged ? read_be<std::uint16_t>(room, kType + 2) & 0xfffU : kNoTag;
    const auto rule = std::ranges::find_if(
        rules_, [&](const RewriteRule& each) { return each.subject == Subject::vlan && each.fits(Wide{0, number}); });
    if (rule == rules_.end() || rule->to.low == number) return length;
    if (rule->to.low == kNoTag) {
        std::memmove(room.data() + kType, room.data() + kType + kTag, length - kType - kTag);
        return length - kTag;
    }
    if (!tagged) {
        if (room.size() < length + kTag) return 0;
        std::memmove(room.data() + kType + kTag, room.data() + kType, length - kType);
        write_bits(room, kType * 8, 32, std::uint32_t{ethertype::customer_tag} << 16);
        length += kTag;
    }
    write_bits(room, (kType + 2) * 8 + 4, kNumber, rule->to.low);
    return length;
}

}  // namespace qps::transport::live
