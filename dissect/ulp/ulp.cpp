// The table of upper protocols, and how their layers come into a packet.
#include <dissect/base/field.hpp>
#include <dissect/base/walk.hpp>
#include <dissect/ulp/ulp.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::dissect {

namespace {

constexpr std::array kRows{
    UlpRow{UlpProtocol::none, "none", "nothing known"},
    UlpRow{UlpProtocol::nvme, "nvme", "NVMe over RDMA", ulp::walk_nvme, ulp::walk_nvme_private, ulp::walk_nvme_data},
    UlpRow{UlpProtocol::iser, "iser", "iSER", ulp::walk_iser, ulp::walk_iser_private},
    UlpRow{UlpProtocol::srp, "srp", "SRP", ulp::walk_srp, ulp::walk_srp_private},
    UlpRow{UlpProtocol::rpc_rdma, "rpc", "RPC over RDMA", ulp::walk_rpc_rdma, ulp::walk_rpc_rdma_private,
           ulp::walk_rpc_rdma_data},
    UlpRow{UlpProtocol::smb_direct, "smb", "SMB Direct", ulp::walk_smb_direct},
    UlpRow{UlpProtocol::rds, "rds", "RDS", ulp::walk_rds, ulp::walk_rds_private},
    UlpRow{UlpProtocol::ipoib, "ipoib", "IP over InfiniBand", ulp::walk_ipoib, ulp::walk_ipoib_private},
    UlpRow{UlpProtocol::rsockets, "rsockets", "rsockets", ulp::walk_rsockets, ulp::walk_rsockets_private},
    UlpRow{UlpProtocol::lnet, "lnet", "LNet", ulp::walk_lnet, ulp::walk_lnet_private},
    UlpRow{UlpProtocol::ucx, "ucx", "UCX", ulp::walk_ucx},
    UlpRow{UlpProtocol::ucx_datagram, "ucx-ud", "UCX datagrams", ulp::walk_ucx_datagram},
    UlpRow{UlpProtocol::rxm, "rxm", "libfabric rxm", ulp::walk_rxm},
    UlpRow{UlpProtocol::rxd, "rxd", "libfabric rxd", ulp::walk_rxd},
    UlpRow{UlpProtocol::sdp, "sdp", "SDP", ulp::walk_sdp, ulp::walk_sdp_private},
};
static_assert(kRows.size() == static_cast<std::size_t>(UlpProtocol::count_));
static_assert([] {
    for (std::size_t i = 0; i < kRows.size(); ++i)
        if (static_cast<std::size_t>(kRows[i].protocol) != i) return false;
    return true;
}());

constexpr std::size_t kMostTrailing = 3;  // pad, ICRC, VCRC

// The layers behind the payload, which come back behind those that take its place.
struct Trailing {
    std::array<Layer, kMostTrailing> layers{};
    std::uint8_t count = 0;
};

Trailing take_from(Packet& packet, std::uint8_t first) {
    Trailing trailing;
    for (std::uint8_t i = first; i < packet.layer_count && trailing.count < kMostTrailing; ++i)
        trailing.layers[trailing.count++] = packet.layer_storage[i];
    packet.layer_count = first;
    return trailing;
}

// Where the walk used up all room, its last layers make place: a CRC is worth more than the end of a long list.
void put_back(Packet& packet, const Trailing& trailing) {
    const auto most = static_cast<std::uint8_t>(kMaxLayers - trailing.count);
    if (packet.layer_count > most) {
        packet.layer_count = most;
        mark(packet, Fault::too_deep);
    }
    for (std::uint8_t i = 0; i < trailing.count; ++i) packet.layer_storage[packet.layer_count++] = trailing.layers[i];
}

using UlpWalk = void (*)(Walk&, const UlpHint&);

// Which walk the payload of a packet is for that begins a message of ours, SENDs of datagrams too, or moves memory.
UlpWalk walk_for(const Packet& packet, const UlpHint& hint) {
    if (!packet.has_transport()) return nullptr;
    const OpcodeRow& row = info(packet.opcode);
    if (row.place != Place::first && row.place != Place::only) return nullptr;
    if (row.verb == Verb::send) return info(hint.protocol).walk;
    const bool moves = row.verb == Verb::write || row.verb == Verb::read_response;
    return moves && hint.detail != 0 ? info(hint.protocol).walk_data : nullptr;
}

std::optional<std::uint8_t> payload_layer(const Packet& packet) {
    for (std::uint8_t i = packet.bth_layer; i < packet.layer_count; ++i)
        if (packet.layer_storage[i].kind == LayerKind::payload) return i;
    return std::nullopt;
}

void walk_in_place(Packet& packet, std::uint8_t payload, UlpWalk ulp, const UlpHint& hint) {
    const Layer was = packet.layer_storage[payload];
    const Trailing trailing = take_from(packet, payload + 1);
    packet.layer_count = payload;
    Walk walk{packet, packet.payload.offset, std::size_t{packet.payload.offset} + packet.payload.length};
    ulp(walk, hint);
    if (packet.layer_count == payload) packet.layer_storage[packet.layer_count++] = was;
    put_back(packet, trailing);
}

struct PrivateArea {
    LayerKind message{};
    std::size_t offset = 0;
    std::size_t length = 0;
};

// The consumer's private data of a CM message: behind the header of the RDMA IP CM service where there is one.
std::optional<PrivateArea> private_area(const Packet& packet) {
    std::optional<PrivateArea> found;
    for (const Layer& layer : packet.layers()) {
        if (layer.kind < LayerKind::cm_req || layer.kind > LayerKind::cm_ip_private) continue;
        for (const Field& field : header(layer.kind).fields) {
            if (!field.name.ends_with(".private")) continue;
            const std::size_t at = field.bit / 8U;
            const std::size_t width =
                field.width == kToEnd ? layer.length - std::min<std::size_t>(layer.length, at) : field.width / 8U;
            found = PrivateArea{layer.kind == LayerKind::cm_ip_private && found ? found->message : layer.kind,
                                layer.offset + at, width};
        }
    }
    return found;
}

bool is_trailer(LayerKind kind) { return kind == LayerKind::pad || kind == LayerKind::icrc || kind == LayerKind::vcrc; }

void walk_private_data(Packet& packet, const UlpHint& hint) {
    const auto found = private_area(packet);
    if (!found || info(hint.protocol).walk_private == nullptr) return;
    std::uint8_t behind = packet.layer_count;
    while (behind > 0 && is_trailer(packet.layer_storage[behind - 1].kind)) --behind;
    const Trailing trailing = take_from(packet, behind);
    Walk walk{packet, found->offset, std::size_t{found->offset} + found->length};
    info(hint.protocol).walk_private(walk, hint, found->message);
    put_back(packet, trailing);
}

}  // namespace

std::span<const UlpRow> ulp_rows() { return kRows; }

const UlpRow& info(UlpProtocol protocol) { return kRows[static_cast<std::size_t>(protocol)]; }

std::optional<UlpProtocol> ulp_protocol(std::string_view word) {
    const auto row = std::ranges::find(kRows, word, &UlpRow::word);
    if (row == kRows.end()) return std::nullopt;
    return row->protocol;
}

void add_ulp_layers(Packet& packet, const UlpHint& hint) {
    if (hint.iwarp.what != IwarpPlace::What::none) return ulp::walk_iwarp(packet, hint);
    if (hint.protocol == UlpProtocol::none) return;
    if (find(packet, LayerKind::mad) != nullptr) return walk_private_data(packet, hint);
    const UlpWalk walk = walk_for(packet, hint);
    if (walk == nullptr) return;
    if (const auto payload = payload_layer(packet)) walk_in_place(packet, *payload, walk, hint);
}

void add_stream_layer(Packet& packet) {
    if (packet.annotation == nullptr || !packet.annotation->connection) return;
    if (packet.encapsulation != Encapsulation::none && find(packet, LayerKind::tcp) == nullptr) return;
    if (packet.layer_count == kMaxLayers) {
        --packet.layer_count;  // to which connection it belongs is worth more than the end of a long list
        mark(packet, Fault::too_deep);
    }
    packet.layer_storage[packet.layer_count++] = Layer{.kind = LayerKind::rdma};
}

void decode_message(Bytes message, const UlpHint& hint, Packet& packet) {
    packet = Packet{};
    packet.frame.bytes = message;
    packet.frame.wire_length = static_cast<std::uint32_t>(message.size());
    packet.payload = {0, static_cast<std::uint32_t>(message.size()), static_cast<std::uint32_t>(message.size()), 0};
    Walk walk{packet, 0, message.size()};
    if (info(hint.protocol).walk != nullptr) info(hint.protocol).walk(walk, hint);
    if (packet.layer_count == 0) add_data(walk);
}

}  // namespace qps::dissect
