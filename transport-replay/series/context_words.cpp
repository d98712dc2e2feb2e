#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/series/context_words.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::series {

using namespace dissect;

std::optional<UetPacket> uet_packet_of(const CaptureIndex& index, FrameIndex number) {
    FrameBuffer buffer;
    const auto frame = index.frame(number, buffer);
    if (!frame) return std::nullopt;
    Packet packet;
    decode(*frame, packet);
    const auto layer = std::ranges::find_if(
        packet.layers(), [](const Layer& each) { return is_of(each.kind, LayerFamily::ultra_ethernet); });
    return layer == packet.layers().end() ? std::nullopt : uet_packet(slice(packet.frame.bytes, layer->offset));
}

std::string context_words(const UetPacket& packet) {
    if (packet.is_request()) return fmt::format("{} request, PSN {}", packet.is_ordered() ? "ROD" : "RUD", packet.psn);
    if (packet.is_ack()) return fmt::format("ACK, PSN {}", packet.answered);
    if (packet.is_nack()) {
        const std::string_view code = name_in(kUetNackCodes, packet.nack_code);
        return fmt::format("NACK {}, PSN {}",
                           code.empty() ? fmt::format("{:#04x}", packet.nack_code) : std::string(code), packet.psn);
    }
    return packet.is_control() ? fmt::format("control packet, PSN {}", packet.psn)
                               : std::string(name_in(kPdsTypes, std::to_underlying(packet.type)));
}

}  // namespace qps::transport::series
