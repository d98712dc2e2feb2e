#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/ulp.hpp>
#include <transport-replay/series/segment_words.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace qps::transport::series {

using namespace dissect;

namespace {

constexpr Field kMsn = named(kDdpUntaggedFields, "iwarp_ddp.msn");
constexpr Field kOpcode = named(kRdmapFields, "iwarp_rdma.opcode");

struct Carried {
    RdmapOpcode opcode{};
    std::optional<std::uint32_t> msn;
};

std::vector<Carried> carried_by(const CaptureIndex& index, FrameIndex number) {
    std::vector<Carried> all;
    FrameBuffer buffer;
    const auto frame = index.frame(number, buffer);
    if (!frame) return all;
    Packet packet;
    decode(*frame, packet);
    add_ulp_layers(packet, index.ulp_hint(number));
    std::optional<std::uint32_t> msn;
    for (const Layer& layer : packet.layers()) {
        if (layer.kind == kind::ddp_tagged) msn.reset();
        if (layer.kind == kind::ddp_untagged)
            if (const auto value = value_of(packet, layer, kMsn)) msn = static_cast<std::uint32_t>(value->number);
        if (layer.kind == kind::rdmap || layer.kind == kind::rdmap_invalidate)
            all.push_back({static_cast<RdmapOpcode>(read(packet.bytes_of(layer), kOpcode)), msn});
    }
    return all;
}

std::string words_of(const Carried& carried) {
    const auto row = std::ranges::find(kRdmapOpcodeNames, std::to_underlying(carried.opcode), &ValueName::value);
    std::string words(row == kRdmapOpcodeNames.end() ? "reserved RDMAP opcode" : row->name);
    std::ranges::replace(words, '_', ' ');
    return carried.msn ? fmt::format("{}, MSN {}", words, *carried.msn) : words;
}

MessageKind kind_of(RdmapOpcode opcode) {
    switch (opcode) {
        case RdmapOpcode::write:
        case RdmapOpcode::read_response: return MessageKind::write;
        case RdmapOpcode::read_request: return MessageKind::read;
        case RdmapOpcode::atomic_request: return MessageKind::atomic;
        default: return MessageKind::send;
    }
}

}  // namespace

SegmentContent segment_of(const CaptureIndex& index, FrameIndex frame) {
    const std::vector<Carried> all = carried_by(index, frame);
    SegmentContent content;
    std::string last;
    std::size_t named = 0;
    for (const Carried& each : all) {
        std::string words = words_of(each);
        if (words == last) continue;  // the segments of one message
        if (++named > kMostNamed) break;
        content.words += (content.words.empty() ? "" : "; ") + words;
        last = std::move(words);
    }
    if (named > kMostNamed) content.words += "; more";
    content.responds = !all.empty() && (all.front().opcode == RdmapOpcode::read_response ||
                                        all.front().opcode == RdmapOpcode::atomic_response);
    content.terminates = std::ranges::find(all, RdmapOpcode::terminate, &Carried::opcode) != all.end();
    return content;
}

std::optional<std::uint32_t> msn_of(const CaptureIndex& index, const MessageRow& message) {
    std::optional<std::uint32_t> found;
    for (const Carried& each : carried_by(index, message.first_frame())) {
        if (!each.msn || kind_of(each.opcode) != message.kind()) continue;
        if (found && found != each.msn) return std::nullopt;
        found = each.msn;
    }
    return found;
}

}  // namespace qps::transport::series
