// How packets and messages become rows.
#include <dissect/headers/internet.hpp>
#include <transport-replay/index/message_row.hpp>
#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/model/final_numbers.hpp>
#include <transport-replay/model/uet_packet.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint16_t bit(Mark mark, bool set) { return set ? std::to_underlying(mark) : std::uint16_t{0}; }

std::uint32_t marks(const Observation& observation, const PacketRecord& record) {
    unsigned marks = bit(Mark::from_b, record.from == End::b);
    marks |= bit(Mark::retransmission, record.retransmission);
    marks |= bit(Mark::duplicated, record.duplicated);
    marks |= bit(Mark::mirror_copy, record.mirror_copy);
    marks |= bit(Mark::unmatched, record.unmatched);
    marks |= bit(Mark::gap, record.missing != 0);
    marks |= bit(Mark::completes, record.completed != 0);
    marks |= bit(Mark::congestion_experienced, observation.congestion_experienced);
    marks |= bit(Mark::timeless, !observation.has_time);
    marks |= bit(Mark::acknowledgment, observation.acknowledgment.has_value());
    return marks;
}

constexpr Field kTcpSequence = named(kTcpFields, "tcp.seq_raw");
constexpr Field kTcpAcknowledgment = named(kTcpFields, "tcp.ack_raw");

std::uint64_t number(FrameIndex frame) { return std::to_underlying(frame); }

// From one frame to another, as far as it fits below `most`; 0 where the other is not behind it.
std::uint64_t distance(FrameIndex from, FrameIndex to, std::uint64_t most) {
    return to <= from ? 0 : std::min(number(to) - number(from), most);
}

}  // namespace

static_assert(FinalNumbers::kMost == ConnectionWord::kMostNumber);

void ConnectionWord::settle(const FinalNumbers& numbers) {
    ConnectionId number = connection();
    if (number == ConnectionId{}) return;
    End from = end();
    numbers.settle(number, from);
    word_.store(word_of(number) | ((above() & ~1U) | std::to_underlying(from)) << kAbove, std::memory_order_relaxed);
}

PacketRow::PacketRow(std::size_t file, std::uint64_t file_offset, const Observation& observation,
                     const PacketRecord& record)
    : offset_(std::min(file_offset, kMaxOffset) & kMaxOffset), file_(file & (kMaxFiles - 1)) {
    time_ = observation.time;
    const std::uint32_t length = std::min(observation.wire_length, kMaxLength);
    length_ = length & kMaxLength;
    const std::uint32_t overhead = length - std::min(length, observation.payload_length);
    overhead_ = observation.payload_length == 0 || overhead >= kNoPayload ? kNoPayload : overhead & 0xffU;
    if (observation.kind == ObservationKind::stream) take_segment(observation);
    else if (observation.kind == ObservationKind::ultra_ethernet) take_context(observation);
    else take_transport(observation);
    // Flow control of links is like any other packet to who reads rows, whose three bits have no room for it.
    const ObservationKind kept =
        observation.kind == ObservationKind::credits ? ObservationKind::other : observation.kind;
    kind_ = std::to_underlying(kept) & 7U;
    arrival_ = record.arrival ? (std::to_underlying(*record.arrival) + 1U) & 7U : 0U;
    encapsulation_ = std::to_underlying(observation.encapsulation) & 3U;
    word_ = ConnectionWord(record.connection.value_or(ConnectionId{}),
                           marks(observation, record) | std::uint32_t{std::to_underlying(observation.icrc)} << kMarks);
}

void PacketRow::take_transport(const Observation& observation) {
    opcode_ = std::to_underlying(observation.opcode) & 0xffU;
    psn_ = observation.psn.value() & Psn::kMask;
    syndrome_ = observation.acknowledgment ? observation.acknowledgment->syndrome : std::uint8_t{0};
    if (observation.kind == ObservationKind::transport)
        dest_qp_ = std::to_underlying(observation.flow.destination_qp) & 0xffffffU;
}

void PacketRow::take_segment(const Observation& observation) {
    const auto sequence = static_cast<std::uint32_t>(read(observation.payload, kTcpSequence));
    const auto acknowledged = static_cast<std::uint32_t>(read(observation.payload, kTcpAcknowledgment));
    psn_ = sequence & 0xffffffU;
    syndrome_ = static_cast<std::uint8_t>(sequence >> 24U);
    dest_qp_ = acknowledged & 0xffffffU;
    opcode_ = static_cast<std::uint8_t>(acknowledged >> 24U);
}

void PacketRow::take_context(const Observation& observation) {
    const auto packet = uet_packet(observation.payload);
    if (!packet) return;
    const std::uint32_t psn = packet->is_ack() ? packet->answered : packet->psn;
    psn_ = psn & Psn::kMask;
    syndrome_ = static_cast<std::uint8_t>(psn >> 24U);
    const bool fails = packet->is_nack() || observation.fault == Fault::trimmed;
    opcode_ = fails ? kUetFails : packet->is_ack() || packet->is_control() ? kUetAnswers : 0U;
    if (packet->is_request() && packet->semantics && packet->semantics->form == SesForm::standard)
        dest_qp_ = packet->semantics->message;
}

MessageRow::MessageRow(ConnectionId connection, End requester, const Message& message)
    : first_frame_(number(message.first_frame) & 0xff'ffff'ffffU), psns_(message.span() & 0xffffffU) {
    last_distance_ = distance(message.first_frame, message.last_frame, 0xffffff) & 0xffffffU;
    retransmissions_ = std::min<std::uint32_t>(message.retransmissions, 255) & 0xffU;
    const std::uint64_t answer = distance(message.first_frame, message.answer_frame, UINT64_MAX);
    answer_distance_ = answer > UINT32_MAX ? 0 : static_cast<std::uint32_t>(answer);
    bytes_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(message.bytes, UINT32_MAX));
    std::uint32_t above = std::to_underlying(requester);
    above |= std::uint32_t{std::to_underlying(message.outcome)} << kOutcome;
    above |= std::uint32_t{std::to_underlying(kind_of(message))} << kKind;
    // Return codes of Ultra Ethernet have more bits.
    if (message.service != Service::uet) above |= (message.nak_code & 31U) << kNak;
    word_ = ConnectionWord(connection, above);
}

bool carries(const MessageRow& message, const PacketRow& first, const PacketRow& last, const PacketRow& packet) {
    if (packet.kind() != first.kind()) return false;
    if (packet.kind() == ObservationKind::ultra_ethernet && first.uet_message() != 0)
        return packet.from() == message.requester() && packet.uet_message() == first.uet_message();
    if (packet.kind() != ObservationKind::stream) {
        const std::int32_t at = packet.psn() - first.psn();
        return 0 <= at && static_cast<std::uint32_t>(at) < std::max<std::uint32_t>(message.psns(), 1);
    }
    if (packet.payload_length() == 0) return false;
    // Which READ a response is for its sequence number does not say: those of one way come in the order of the requests
    // (RFC 5040 5.5).
    if (packet.from() != message.requester())
        return message.kind() == MessageKind::read || message.kind() == MessageKind::atomic;
    const std::uint32_t end = last.tcp_sequence() + last.payload_length();
    const auto is_before = [](std::uint32_t one, std::uint32_t two) {
        return static_cast<std::int32_t>(one - two) < 0;
    };
    return is_before(packet.tcp_sequence(), end) &&
           is_before(first.tcp_sequence(), packet.tcp_sequence() + packet.payload_length());
}

}  // namespace qps::transport
