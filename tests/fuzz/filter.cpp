// Fuzzer of the display filter language: any text compiles or is explained, and can be completed; what compiles runs
// over a few packets.
//
// The packets are fixed: every kind of layer, some whole, some cut short, over bytes that are numbers, text and zeros.
#include <dissect/filter/completion.hpp>
#include <dissect/filter/filter.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace qps::dissect;

namespace {

constexpr std::size_t kFrameBytes = 512;

std::array<std::byte, kFrameBytes> make_bytes() {
    std::array<std::byte, kFrameBytes> bytes{};
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
    constexpr std::string_view kText = "NVMe over RDMA ";
    for (std::size_t i = bytes.size() / 2; i < bytes.size() * 3 / 4; ++i)
        bytes[i] = static_cast<std::byte>(kText[i % kText.size()]);
    return bytes;
}

// Packets of kMaxLayers layers each, until every kind had its turn; lengths run through whole, cut and none.
std::vector<Packet> make_packets(Bytes bytes) {
    std::vector<Packet> packets;
    for (std::size_t kind = 0; kind < kLayerKinds; ++kind) {
        if (header(static_cast<LayerKind>(kind)).title.empty()) continue;
        if (packets.empty() || packets.back().layer_count == kMaxLayers - 1) {
            Packet& packet = packets.emplace_back();
            packet.frame.bytes = bytes;
            packet.frame.wire_length = kFrameBytes + 4;
            packet.bth_layer = 0;
            packet.opcode = Opcode::rc_acknowledge;
            packet.payload = {.offset = 100, .captured = 50, .length = 52, .pad = 2};
        }
        Packet& packet = packets.back();
        const std::array<std::uint32_t, 4> lengths{kFrameBytes, 64, 7, 0};
        packet.layer_storage[packet.layer_count++] = {.kind = static_cast<LayerKind>(kind),
                                                      .offset = static_cast<std::uint16_t>(kind * 13 % 300),
                                                      .length = lengths[kind % 4]};
    }
    for (Packet& packet : packets)
        packet.layer_storage[packet.layer_count++] = {.kind = LayerKind::bth, .offset = 20, .length = 12};
    return packets;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::array<std::byte, kFrameBytes> bytes = make_bytes();
    static const std::vector<Packet> packets = make_packets(bytes);
    const std::string text(data, data + size);
    const Completions next = completions(text, size / 2);
    if (next.offset > size || next.length > size - next.offset || next.list.size() > kMaxCompletions) std::abort();
    const auto filter = Filter::compile(text);
    if (!filter) {
        const std::string shown = explain(text, filter.error());
        if (std::ranges::count(shown, '\n') != 2) std::abort();
        if (filter.error().column < 1 || filter.error().column > text.size() + 1) std::abort();
        return 0;
    }
    const auto negation = Filter::compile("not (" + text + ")");
    for (const Packet& packet : packets) {
        const bool passes = filter->matches(packet);
        if (negation && negation->matches(packet) == passes) std::abort();
    }
    return 0;
}
