// The computed fields, one small function each.
#include <dissect/base/packet.hpp>
#include <dissect/capture/options.hpp>
#include <dissect/headers/derived.hpp>
#include <dissect/headers/infiniband.hpp>

#include <cmath>
#include <string>

namespace qps::dissect::derived {

namespace {

template <class T> Value number(T value) { return Value{static_cast<std::uint64_t>(value), {}}; }

std::optional<Value> expected(const CrcVerdict& verdict) {
    if (verdict.status != CrcStatus::bad) return std::nullopt;
    return number(verdict.expected);
}

std::optional<Value> reason(const CrcVerdict& verdict) {
    if (verdict.status != CrcStatus::not_checkable) return std::nullopt;
    return number(verdict.reason);
}

// The code of an AETH whose syndrome is of that type.
std::optional<std::uint8_t> code(const Packet& packet, const Layer& layer, SyndromeType type) {
    const Bytes aeth = packet.bytes_of(layer);
    if (aeth.empty()) return std::nullopt;
    const auto syndrome = std::to_integer<std::uint8_t>(aeth[0]);
    if ((syndrome >> 5 & 3) != std::to_underlying(type)) return std::nullopt;
    return static_cast<std::uint8_t>(syndrome & 31);
}

}  // namespace

std::optional<Value> frame_number(const Packet& p, const Layer&) { return number(p.frame.index); }
std::optional<Value> frame_time(const Packet& p, const Layer&) {
    if (!p.frame.has_time) return std::nullopt;
    return number(p.frame.time);
}
std::optional<Value> frame_elapsed(const Packet& p, const Layer&) {
    if (!p.frame.has_time) return std::nullopt;
    return number(p.frame.elapsed);
}
std::optional<Value> frame_length(const Packet& p, const Layer&) { return number(p.frame.wire_bytes()); }
std::optional<Value> frame_captured(const Packet& p, const Layer&) { return number(p.frame.captured_bytes()); }
std::optional<Value> frame_interface(const Packet& p, const Layer&) { return number(p.frame.interface); }
std::optional<Value> frame_offset(const Packet& p, const Layer&) { return number(p.frame.file_offset); }

std::optional<Value> frame_comment(const Packet& p, const Layer&) {
    const std::string_view text = comment(p.frame);
    if (text.empty()) return std::nullopt;
    return Value{0, std::as_bytes(std::span(text))};
}

namespace {
std::span<const std::uint32_t> frames_of_message(const Packet& p) {
    return p.annotation == nullptr ? std::span<const std::uint32_t>() : p.annotation->message_frames;
}
}  // namespace

std::optional<Value> message_first_frame(const Packet& p, const Layer&) {
    const auto frames = frames_of_message(p);
    return frames.empty() ? std::nullopt : std::optional(number(frames.front()));
}

std::optional<Value> message_last_frame(const Packet& p, const Layer&) {
    const auto frames = frames_of_message(p);
    return frames.empty() ? std::nullopt : std::optional(number(frames.back()));
}

// "3-7,9", as `qpscope show -n` takes them; "3-7,9,..." where there are too many. The text is there until this thread
// asks for the next.
std::optional<Value> message_frames(const Packet& p, const Layer&) {
    constexpr std::size_t kMost = 4096;  // bytes
    static thread_local std::string text;
    const auto frames = frames_of_message(p);
    if (frames.empty()) return std::nullopt;
    text.clear();
    for (std::size_t i = 0; i < frames.size();) {
        std::size_t end = i + 1;
        while (end < frames.size() && frames[end] == frames[end - 1] + 1) ++end;
        if (i != 0) text += ',';
        if (text.size() > kMost) {
            text += "...";
            break;
        }
        text += std::to_string(frames[i]);
        if (end > i + 1) text += (end > i + 2 ? "-" : ",") + std::to_string(frames[end - 1]);
        i = end;
    }
    return Value{0, std::as_bytes(std::span(std::string_view(text)))};
}

std::optional<Value> frame_fault(const Packet& p, const Layer&) {
    for (const Layer& layer : p.layers())
        if (layer.fault != Fault::none) return number(layer.fault);
    return std::nullopt;
}

// TCP segments with iWARP have conclusions too, but nothing of InfiniBand's transport.
std::optional<Value> encapsulation(const Packet& p, const Layer&) {
    if (p.encapsulation == Encapsulation::none) return std::nullopt;
    return number(p.encapsulation);
}
std::optional<Value> service(const Packet& p, const Layer&) {
    if (!p.has_transport()) return std::nullopt;
    return number(service_of(p.opcode));
}
std::optional<Value> payload_bytes(const Packet& p, const Layer&) {
    if (!p.has_transport()) return std::nullopt;
    return number(p.payload.length);
}
std::optional<Value> payload_captured(const Packet& p, const Layer&) {
    if (!p.has_transport()) return std::nullopt;
    return number(p.payload.captured);
}
std::optional<Value> is_request(const Packet& p, const Layer&) {
    if (!p.has_transport() || !info(p.opcode).defined || info(p.opcode).verb == Verb::notify) return std::nullopt;
    return number(info(p.opcode).request);
}

std::optional<Value> icrc_status(const Packet& p, const Layer&) {
    if (p.encapsulation == Encapsulation::none) return std::nullopt;
    return number(p.icrc.status);
}
std::optional<Value> icrc_reason(const Packet& p, const Layer&) { return reason(p.icrc); }
std::optional<Value> icrc_expected(const Packet& p, const Layer&) { return expected(p.icrc); }

std::optional<Value> vcrc_status(const Packet& p, const Layer&) {
    if (p.vcrc.status == CrcStatus::not_applicable) return std::nullopt;
    return number(p.vcrc.status);
}
std::optional<Value> vcrc_reason(const Packet& p, const Layer&) { return reason(p.vcrc); }
std::optional<Value> vcrc_expected(const Packet& p, const Layer&) { return expected(p.vcrc); }

std::optional<Value> credits(const Packet& packet, const Layer& layer) {
    const auto credit = code(packet, layer, SyndromeType::ack);
    if (!credit || *credit == kUnlimitedCredits) return std::nullopt;
    return number(kCredits[*credit]);
}

std::optional<Value> unlimited_credits(const Packet& packet, const Layer& layer) {
    const auto credit = code(packet, layer, SyndromeType::ack);
    if (!credit) return std::nullopt;
    return number(*credit == kUnlimitedCredits);
}

std::optional<Value> rnr_timer_ms(const Packet& packet, const Layer& layer) {
    const auto timer = code(packet, layer, SyndromeType::rnr_nak);
    if (!timer) return std::nullopt;
    return number(kRnrTimer[*timer]);
}

std::optional<Value> pause_ps(const Packet& packet, const Layer& layer, std::size_t at) {
    const auto speed = std::to_underlying(packet.frame.link_speed);
    const Bytes bytes = packet.bytes_of(layer);
    if (speed == 0 || bytes.size() < at + 2) return std::nullopt;
    constexpr double kQuantumBits = 512;  // 802.3 31B.2
    constexpr double kPicoseconds = 1e12;
    return number(
        std::llround(read_be<std::uint16_t>(bytes, at) * kQuantumBits * kPicoseconds / static_cast<double>(speed)));
}

}  // namespace qps::dissect::derived
