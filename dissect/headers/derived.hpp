// Fields that no bits hold: what the capture says of a frame, and what we conclude from a packet.
#pragma once

#include <dissect/base/packet.hpp>

namespace qps::dissect {

namespace derived {
// frame.*
std::optional<Value> frame_number(const Packet&, const Layer&);
std::optional<Value> frame_time(const Packet&, const Layer&);
std::optional<Value> frame_elapsed(const Packet&, const Layer&);
std::optional<Value> frame_length(const Packet&, const Layer&);
std::optional<Value> frame_captured(const Packet&, const Layer&);
std::optional<Value> frame_interface(const Packet&, const Layer&);
std::optional<Value> frame_comment(const Packet&, const Layer&);
std::optional<Value> frame_offset(const Packet&, const Layer&);
std::optional<Value> frame_fault(const Packet&, const Layer&);

// rdma.*
std::optional<Value> encapsulation(const Packet&, const Layer&);
std::optional<Value> service(const Packet&, const Layer&);
std::optional<Value> is_request(const Packet&, const Layer&);
std::optional<Value> payload_bytes(const Packet&, const Layer&);
std::optional<Value> payload_captured(const Packet&, const Layer&);
std::optional<Value> icrc_status(const Packet&, const Layer&);
std::optional<Value> icrc_reason(const Packet&, const Layer&);
std::optional<Value> icrc_expected(const Packet&, const Layer&);
std::optional<Value> vcrc_status(const Packet&, const Layer&);
std::optional<Value> vcrc_reason(const Packet&, const Layer&);
std::optional<Value> vcrc_expected(const Packet&, const Layer&);

// of the message that the packet belongs to
std::optional<Value> message_frames(const Packet&, const Layer&);
std::optional<Value> message_first_frame(const Packet&, const Layer&);
std::optional<Value> message_last_frame(const Packet&, const Layer&);

// of an AETH
std::optional<Value> credits(const Packet&, const Layer&);
std::optional<Value> unlimited_credits(const Packet&, const Layer&);
std::optional<Value> rnr_timer_ms(const Packet&, const Layer&);

// Pause timers in picoseconds (a quantum is 0.64 ns at 800 Gbit/s), where the speed of the link is known: quanta at
// byte `at` of the layer.
std::optional<Value> pause_ps(const Packet&, const Layer&, std::size_t at);
template <std::size_t At> std::optional<Value> pause_time(const Packet& packet, const Layer& layer) {
    return pause_ps(packet, layer, At);
}
template <std::size_t Priority> std::optional<Value> pfc_time(const Packet& packet, const Layer& layer) {
    return pause_ps(packet, layer, 2 + 2 * Priority);
}

// What an annotation holds: nothing where a number or a flag is 0.
template <class T> std::optional<Value> unless_absent(T value) {
    if (value == T{}) return std::nullopt;
    return Value{static_cast<std::uint64_t>(value)};
}
template <class T> std::optional<Value> unless_absent(const std::optional<T>& value) {
    if (!value) return std::nullopt;
    return Value{static_cast<std::uint64_t>(*value)};
}
template <auto Member> std::optional<Value> annotated(const Packet& packet, const Layer&) {
    if (packet.annotation == nullptr) return std::nullopt;
    return unless_absent(packet.annotation->*Member);
}
}  // namespace derived

// A row whose value is that member of the packet's annotation.
template <auto Member>
[[nodiscard]] constexpr Field annotated(std::string_view name, std::string_view meaning, Format format) {
    return row::computed(name, meaning, format, derived::annotated<Member>).from_annotation();
}

inline constexpr std::array kCrcStatusNames{
    ValueName{0, "not_applicable"},
    ValueName{1, "good"},
    ValueName{2, "bad"},
    ValueName{3, "not_checkable"},
};
inline constexpr std::array kCrcReasonNames{
    ValueName{0, "none"},       ValueName{1, "cut"},      ValueName{2, "fragment"},     ValueName{3, "bad_length"},
    ValueName{4, "ip_options"}, ValueName{5, "too_deep"}, ValueName{6, "not_captured"},
};
inline constexpr std::array kEncapsulationNames{
    ValueName{0, "none"},
    ValueName{1, "InfiniBand"},
    ValueName{2, "RoCEv1"},
    ValueName{3, "RoCEv2"},
};
inline constexpr std::array kServiceNames{
    ValueName{0, "RC"},  ValueName{1, "UC"},  ValueName{2, "RD"},           ValueName{3, "UD"},
    ValueName{4, "CNP"}, ValueName{5, "XRC"}, ValueName{6, "MANUFACTURER"}, ValueName{7, "MANUFACTURER"},
};
inline constexpr std::array kArrivalNames{
    ValueName{0, "first"}, ValueName{1, "in_order"}, ValueName{2, "ahead"},
    ValueName{3, "late"},  ValueName{4, "repeated"}, ValueName{5, "restart"},
};
inline constexpr std::array kEndNames{ValueName{0, "a"}, ValueName{1, "b"}};
inline constexpr auto kFaultNames = [] {
    std::array<ValueName, kFaults.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = {i, kFaults[i].name};
    return names;
}();

inline constexpr std::array kFrameFields{
    row::computed("frame.number", "Number of the frame in the capture, from 1", Format::decimal, derived::frame_number),
    row::computed("frame.time_epoch", "Capture time, in seconds since 1970-01-01 UTC", Format::instant,
                  derived::frame_time)
        .with_digits(9),
    row::computed("frame.time_relative", "Time since the first frame", Format::decimal, derived::frame_elapsed)
        .with_digits(9)
        .in("s"),
    annotated<&Annotation::since_previous>("frame.time_delta", "Time since the frame before", Format::decimal)
        .with_digits(9)
        .in("s"),
    row::computed("frame.len", "Length on the wire", Format::decimal, derived::frame_length).in("bytes"),
    row::computed("frame.cap_len", "Length captured", Format::decimal, derived::frame_captured).in("bytes"),
    row::computed("frame.interface_id", "Capture interface, from 0", Format::decimal, derived::frame_interface),
    row::computed("frame.comment", "Comment in the capture", Format::text, derived::frame_comment),
    row::computed("rdma.frame.file_offset", "File offset", Format::decimal, derived::frame_offset).in("bytes"),
    row::computed("rdma.frame.fault", "First defect of the frame: a truncated header or a wrong length",
                  Format::decimal, derived::frame_fault)
        .named(kFaultNames),
};

inline constexpr std::array kRdmaFields{
    row::computed("rdma.encapsulation", "How the transport packet travelled", Format::decimal, derived::encapsulation)
        .named(kEncapsulationNames),
    row::computed("rdma.service", "Transport service", Format::decimal, derived::service).named(kServiceNames),
    row::computed("rdma.request", "From requester to responder", Format::flag, derived::is_request),
    row::computed("rdma.payload_bytes", "Payload on the wire, without pad", Format::decimal, derived::payload_bytes)
        .in("bytes"),
    row::computed("rdma.payload_captured_bytes", "Payload in the capture, without pad", Format::decimal,
                  derived::payload_captured)
        .in("bytes"),
    row::computed("rdma.icrc.status", "Verdict on the invariant CRC", Format::decimal, derived::icrc_status)
        .named(kCrcStatusNames),
    row::computed("rdma.icrc.reason", "Why the invariant CRC could not be checked", Format::decimal,
                  derived::icrc_reason)
        .named(kCrcReasonNames),
    row::computed("rdma.icrc.expected", "Expected invariant CRC, where the CRC is wrong", Format::hexadecimal,
                  derived::icrc_expected)
        .of_bits(32),
    row::computed("rdma.vcrc.status", "Verdict on the variant CRC (native InfiniBand)", Format::decimal,
                  derived::vcrc_status)
        .named(kCrcStatusNames),
    row::computed("rdma.vcrc.reason", "Why the variant CRC could not be checked", Format::decimal, derived::vcrc_reason)
        .named(kCrcReasonNames),
    row::computed("rdma.vcrc.expected", "Expected variant CRC, where the CRC is wrong", Format::hexadecimal,
                  derived::vcrc_expected)
        .of_bits(16),
    annotated<&Annotation::connection>(
        "rdma.connection", "Connection, counted from 1 in the order of their first packets", Format::decimal),
    annotated<&Annotation::from>("rdma.from", "Sent by end, a or b of the connection", Format::decimal)
        .named(kEndNames),
    annotated<&Annotation::arrival>("rdma.arrival", "Arrival of a request, by its PSN and those before it",
                                    Format::decimal)
        .named(kArrivalNames),
    annotated<&Annotation::retransmission>(
        "rdma.retransmission", "Retransmission: a request whose PSN had been on the wire before; present if so",
        Format::flag),
    annotated<&Annotation::duplicated>(
        "rdma.duplicated", "Duplicated by the network, not retransmitted by its sender; present if so", Format::flag),
    annotated<&Annotation::mirror_copy>(
        "rdma.mirror_copy", "Copy of a mirror: another recording of a packet seen before; present if so", Format::flag),
    annotated<&Annotation::unmatched>("rdma.unmatched", "Unmatched: an answer that no request waits for; present if so",
                                      Format::flag),
    annotated<&Annotation::psn_missing>("rdma.psn_missing", "PSNs skipped before this packet, where there are any",
                                        Format::decimal),
    annotated<&Annotation::messages_completed>(
        "rdma.message.completed", "Messages completed or failed by this packet, where there are any", Format::decimal),
    annotated<&Annotation::latency>(
        "rdma.message.latency",
        "Latency of the message that this packet completed, from its first request packet on; of several the last",
        Format::decimal)
        .with_digits(9)
        .in("s"),
    annotated<&Annotation::message>(
        "rdma.message",
        "Message that the packet belongs to, counted from 1 in the order in which messages end; of several the last",
        Format::decimal)
        .from_whole_capture(),
    row::computed("rdma.message.first_frame", "First frame of the message", Format::decimal,
                  derived::message_first_frame)
        .from_whole_capture(),
    row::computed("rdma.message.last_frame", "Last frame of the message, that of its answer included", Format::decimal,
                  derived::message_last_frame)
        .from_whole_capture(),
    row::computed("rdma.message.frames", "All frames of the message: its requests, responses, and what completed it",
                  Format::text, derived::message_frames)
        .from_whole_capture(),
};

inline constexpr std::array kDerivedHeaders{
    Header{LayerKind::frame, "frame", "Frame", 0, kFrameFields},
    Header{LayerKind::rdma, "rdma", "RDMA", 0, kRdmaFields},
};

}  // namespace qps::dissect
