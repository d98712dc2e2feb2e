#include <dissect/headers/grid_ftp.hpp>
#include <dissect/headers/icmp.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/link.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/lldp/dcbx.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/mad/notice.hpp>
#include <dissect/omni_path/management.hpp>
#include <dissect/omni_path/packets.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/notation_words.hpp>
#include <dissect/packet/render_value.hpp>
#include <dissect/ulp/iser.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/lustre.hpp>
#include <dissect/ulp/nvme.hpp>
#include <dissect/ulp/rds.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <dissect/ulp/sdp.hpp>
#include <dissect/ulp/smb_direct.hpp>
#include <dissect/ulp/srp.hpp>
#include <dissect/ulp/ucx.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

// Numbers as people read them in a line: names where there are names, hex where the field is hex, else plain.
void append_word_value(std::string& out, const Field& field, const Value& value) {
    if (const std::string_view name = name_of(field, value.number); !name.empty() && value.bytes.empty())
        std::ranges::replace_copy(name, std::back_inserter(out), ' ', '_');
    else if (field.format == Format::hexadecimal)
        fmt::format_to(std::back_inserter(out), "0x{:0{}x}", value.number, (field.width + 3) / 4);
    else if (field.format == Format::bytes) fmt::format_to(std::back_inserter(out), "0x"), append_hex(out, value.bytes);
    else if (field.format == Format::text) append_words(out, field, value);
    else append_plain(out, field, value);
}

struct ResolvedWord {
    const Field* field;
    const Word* word;
};

// The words of each kind, in table order, with their fields looked up once.
const std::array<std::vector<ResolvedWord>, kLayerKinds>& resolved() {
    static const auto table = [] {
        std::array<std::vector<ResolvedWord>, kLayerKinds> made;
        for (const Word& word : kWords) {
            const auto fields = header(word.kind).fields;
            const auto field = std::ranges::find(fields, word.field, &Field::name);
            if (field != fields.end()) made[static_cast<std::size_t>(word.kind)].push_back({&*field, &word});
        }
        return made;
    }();
    return table;
}

void append_words_of(std::string& out, const Packet& packet, const Layer& layer) {
    for (const auto& [field, word] : resolved()[static_cast<std::size_t>(layer.kind)]) {
        const auto value = value_of(packet, layer, *field);
        if (!value) continue;
        if (word->mention == Mention::set && value->number == 0) continue;
        if (word->mention == Mention::unusual && value->number == word->usual) continue;
        out += ' ';
        out += word->key;
        if (word->mention == Mention::set) continue;
        out += '=';
        append_word_value(out, *field, *value);
    }
}

// The pause times of the priorities that a PFC frame names, in microseconds where the link speed is known.
void append_pfc(std::string& out, const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    for (std::size_t priority = 0; priority < 8; ++priority) {
        if ((read_be<std::uint16_t>(bytes, 0) >> priority & 1) == 0) continue;
        fmt::format_to(std::back_inserter(out), " p{}={}", priority, read_be<std::uint16_t>(bytes, 2 + 2 * priority));
        if (const auto time = derived::pause_ps(packet, layer, 2 + 2 * priority); time && time->number != 0)
            fmt::format_to(std::back_inserter(out), "({})", human_time(static_cast<double>(time->number) * 1e-12));
    }
}

void append_transport(std::string& out, const Packet& packet) {
    if (!packet.has_transport()) {
        out += "NO_BTH";
        return;
    }
    const OpcodeRow& row = info(packet.opcode);
    out += row.name();
    if (!row.defined) fmt::format_to(std::back_inserter(out), "_0x{:02X}", std::to_underlying(packet.opcode));
    for (const Layer& layer : packet.layers().subspan(packet.bth_layer)) append_words_of(out, packet, layer);
    if (packet.payload.length > 0) fmt::format_to(std::back_inserter(out), " len={}", packet.payload.length);
    if (packet.icrc.status == CrcStatus::bad)
        fmt::format_to(std::back_inserter(out), " icrc=BAD(found=0x{:08x},expected=0x{:08x})", packet.icrc.found,
                       packet.icrc.expected);
    if (packet.vcrc.status == CrcStatus::bad)
        fmt::format_to(std::back_inserter(out), " vcrc=BAD(found=0x{:04x},expected=0x{:04x})", packet.vcrc.found,
                       packet.vcrc.expected);
}

bool is_iwarp(LayerKind kind) { return is_of(kind, LayerFamily::iwarp); }
bool is_icmp(LayerKind kind) { return is_of(kind, LayerFamily::icmp); }
bool is_ultra_ethernet(LayerKind kind) { return is_of(kind, LayerFamily::ultra_ethernet); }

// A CE mark is what a switch has to say about congestion: worth a word on any IP packet.
void append_congestion(std::string& out, const Packet& packet) {
    if (packet.network_layer == kNoLayer) return;
    const Layer& network = packet.layer_storage[packet.network_layer];
    const Bytes bytes = packet.bytes_of(network);
    const std::uint8_t ecn = network.kind == LayerKind::ipv4   ? read_be<std::uint8_t>(bytes, 1) & 3
                             : network.kind == LayerKind::ipv6 ? read_be<std::uint8_t>(bytes, 1) >> 4 & 3
                                                               : 0;
    constexpr std::uint8_t kCongestionExperienced = 3;
    if (ecn == kCongestionExperienced) out += " ce";
}

// The path of SRv6, in the order in which it is travelled, with how much of it is left.
void append_segments(std::string& out, const Packet& packet) {
    constexpr Field kFirst = named(kSegmentRoutingFields, "rdma.srv6.destination");
    for (const Layer& layer : packet.layers()) {
        if (layer.kind != kind::segment_routing || layer.fault != Fault::none) continue;
        const Bytes bytes = packet.bytes_of(layer);
        std::string_view before = " via=";
        const std::size_t count = (bytes.size() - kSegmentsAt) / kSegment;
        for (std::size_t i = count; i-- > 0;) {
            if (count - i > kShownSegments && i != 0) continue;  // the end is worth more than the middle
            out += before;
            append_plain(out, kFirst, Value{0, slice(bytes, kSegmentsAt + i * kSegment, kSegment)});
            before = ">";
        }
        fmt::format_to(std::back_inserter(out), " left={}", read_be<std::uint8_t>(bytes, 3));
    }
}

// Those of the packet itself.
std::span<const Layer> own_layers(const Packet& packet) {
    const auto layers = packet.layers();
    return layers.first(layers.size() - (!layers.empty() && layers.back().kind == LayerKind::rdma ? 1 : 0));
}

const Layer* named_layer(const Packet& packet) {
    const auto layers = own_layers(packet);
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        if (layer->kind != LayerKind::data && layer->kind != LayerKind::frame) return &*layer;
    return nullptr;
}

// The innermost header that has addresses.
const Layer* addressed_layer(const Packet& packet) {
    if (packet.network_layer != kNoLayer) return &packet.layer_storage[packet.network_layer];
    const auto layers = packet.layers();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        if (layer->kind == kind::opa_9b) return &*layer;
        switch (layer->kind) {
            case LayerKind::ipv4:
            case LayerKind::ipv6:
            case LayerKind::grh:
            case LayerKind::lrh:
            case LayerKind::arp:
            case LayerKind::ethernet: return &*layer;
            default: break;
        }
    }
    return nullptr;
}

void append_address(std::string& out, const Packet& packet, bool source) {
    const Layer* layer = addressed_layer(packet);
    if (layer == nullptr) return;
    std::string_view name;
    switch (layer->kind) {
        case LayerKind::ipv4: name = source ? "ip.src" : "ip.dst"; break;
        case LayerKind::ipv6: name = source ? "ipv6.src" : "ipv6.dst"; break;
        case LayerKind::grh: name = source ? "infiniband.grh.sgid" : "infiniband.grh.dgid"; break;
        case LayerKind::arp: name = source ? "arp.src.proto_ipv4" : "arp.dst.proto_ipv4"; break;
        case LayerKind::lrh:
            name = source ? "infiniband.lrh.slid" : "infiniband.lrh.dlid";
            out += "lid ";
            break;
        default: name = source ? "eth.src" : "eth.dst";
    }
    if (layer->kind == kind::opa_9b) {
        name = source ? "opa.9b.slid" : "opa.9b.dlid";
        out += "lid ";
    }
    const auto fields = header(layer->kind).fields;
    const auto field = std::ranges::find(fields, name, &Field::name);
    if (const auto value = value_of(packet, *layer, *field)) append_plain(out, *field, *value);
}

}  // namespace

std::span<const Word> words() { return kWords; }

std::string_view protocol(const Packet& packet) {
    if (packet.encapsulation != Encapsulation::none)
        return kEncapsulationNames[std::to_underlying(packet.encapsulation)].name;
    const Layer* layer = named_layer(packet);
    if (layer == nullptr) return "DATA";
    if (find(packet, kind::opa_9b) != nullptr) return "OPA";
    if (std::ranges::any_of(packet.layers(), is_iwarp, &Layer::kind)) return "iWARP";
    if (is_ultra_ethernet(layer->kind)) return "UET";
    if (layer->kind == kind::flow_control) return "FLOW_CONTROL";
    if (layer->kind == kind::grid_ftp) return "GridFTP";
    if (const auto icmp = std::ranges::find_if(packet.layers(), is_icmp, &Layer::kind); icmp != packet.layers().end())
        return icmp->kind < kind::icmpv6 ? "ICMP" : "ICMPv6";
    if (is_of(layer->kind, LayerFamily::lldp)) return layer->kind == kind::cnm ? "CNM" : "LLDP";
    switch (layer->kind) {
        case LayerKind::tcp: return "TCP";
        case LayerKind::udp: return "UDP";
        case LayerKind::arp: return "ARP";
        case LayerKind::mac_pause: return "PAUSE";
        case LayerKind::mac_pfc: return "PFC";
        case LayerKind::mac_control: return "MAC_CONTROL";
        case LayerKind::ipv4:
        case LayerKind::ipv6: {
            const auto next = read_be<std::uint8_t>(packet.bytes_of(*layer), layer->kind == LayerKind::ipv4 ? 9 : 6);
            const auto row = std::ranges::find(kIpProtocols, next, &ValueName::value);
            return row == kIpProtocols.end() ? "IP" : row->name;
        }
        case LayerKind::ethernet:
        case LayerKind::vlan: {
            const auto type =
                read_be<std::uint16_t>(packet.bytes_of(*layer), layer->kind == LayerKind::ethernet ? 12 : 2);
            const auto row = std::ranges::find(kEtherTypes, type, &ValueName::value);
            return row == kEtherTypes.end() ? "ETHERNET" : row->name;
        }
        default: return header(layer->kind).name;
    }
}

void append_line(std::string& out, const Packet& packet) {
    if (packet.encapsulation != Encapsulation::none) {
        append_transport(out, packet);
    } else {
        out += protocol(packet);
        for (const Layer& layer : packet.layers()) {
            append_words_of(out, packet, layer);
            if (layer.kind == LayerKind::mac_pfc) append_pfc(out, packet, layer);
            if (layer.kind == kind::uet_payload) fmt::format_to(std::back_inserter(out), " len={}", layer.length);
        }
        if (const Layer& last = own_layers(packet).back(); last.kind == LayerKind::data)
            fmt::format_to(std::back_inserter(out), " len={}", last.length);
    }
    append_congestion(out, packet);
    append_segments(out, packet);
    for (const Layer& layer : packet.layers()) {
        if (layer.fault == Fault::none) continue;
        fmt::format_to(std::back_inserter(out), " !{}:{}", header(layer.kind).name, info(layer.fault).name);
        break;
    }
}

void append_words_of_layer(std::string& out, const Packet& packet, const Layer& layer) {
    append_words_of(out, packet, layer);
}

void append_source(std::string& out, const Packet& packet) { append_address(out, packet, true); }
void append_destination(std::string& out, const Packet& packet) { append_address(out, packet, false); }

}  // namespace qps::dissect
