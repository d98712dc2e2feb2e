#include <dissect/headers/infiniband.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/series/context_words.hpp>
#include <transport-replay/series/ladder_words.hpp>
#include <transport-replay/series/scope.hpp>
#include <transport-replay/series/segment_words.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport::series {

using namespace dissect;

namespace {

// "RC_SEND_FIRST" is "SEND FIRST": the service is that of the whole connection.
std::string opcode_words(const OpcodeRow& opcode) {
    std::string name(opcode.name());
    if (opcode.defined && opcode.verb != Verb::notify) name.erase(0, name.find('_') + 1);
    std::ranges::replace(name, '_', ' ');
    return name;
}

std::string acknowledgment_words(const OpcodeRow& opcode, std::uint8_t syndrome) {
    const Acknowledgment acknowledgment{syndrome, {}};
    switch (static_cast<SyndromeType>(acknowledgment.type())) {
        case SyndromeType::rnr_nak: return "RNR NAK";
        case SyndromeType::nak: return "NAK, " + nak_text(acknowledgment.code());
        default: return opcode.verb == Verb::acknowledge ? "ACK" : opcode_words(opcode);
    }
}

// Of TCP segments those that carry iWARP say what, others only that they acknowledge.
LadderTone tone_of_segment(const CaptureIndex& index, FrameIndex frame) {
    const PacketRow& row = index.row(frame);
    if (row.has(Mark::retransmission) || row.has(Mark::duplicated)) return LadderTone::retransmission;
    if (row.payload_length() == 0) return LadderTone::acknowledgment;
    const SegmentContent content = segment_of(index, frame);
    if (content.terminates) return LadderTone::nak;
    return content.responds ? LadderTone::response : LadderTone::request;
}

std::string segment_words(const CaptureIndex& index, FrameIndex frame) {
    const PacketRow& row = index.row(frame);
    std::string words =
        row.payload_length() == 0 ? fmt::format("TCP ACK {}", row.tcp_acknowledged()) : segment_of(index, frame).words;
    if (words.empty()) words = "TCP segment";
    if (row.payload_length() != 0)
        words += fmt::format(", sequence {}, {}", row.tcp_sequence(), counted(row.payload_length(), "byte"));
    if (row.has(Mark::duplicated)) words += ", doubled by the network";
    else if (row.has(Mark::retransmission)) words += ", retransmitted";
    if (row.has(Mark::mirror_copy)) words += ", copy of a mirror";
    return words;
}

LadderTone tone_of_context(const PacketRow& row) {
    if (row.uet_fails()) return LadderTone::nak;
    if (row.has(Mark::retransmission) || row.has(Mark::duplicated)) return LadderTone::retransmission;
    return row.uet_answers() ? LadderTone::acknowledgment : LadderTone::request;
}

std::string words_in_context(const CaptureIndex& index, FrameIndex frame) {
    const auto packet = uet_packet_of(index, frame);
    const PacketRow& row = index.row(frame);
    std::string words = packet ? context_words(*packet) : "UET packet";
    if (row.uet_fails() && packet && !packet->is_nack()) words += ", trimmed by a switch";
    if (row.has(Mark::retransmission)) words += ", retransmitted";
    if (row.has(Mark::duplicated)) words += ", a copy";
    return words;
}

constexpr std::array<std::string_view, 6> kOutcomeWords{", not answered", "",          "", ", refused",
                                                        ", not answered", ", given up"};
static_assert(std::to_underlying(Outcome::gave_up) + 1 == kOutcomeWords.size());

std::string kind_words(const CaptureIndex& index, const MessageRow& message) {
    const PacketRow& first = index.row(message.first_frame());
    if (first.kind() == ObservationKind::stream) {
        std::string words(kMessageKindTitles[static_cast<std::size_t>(message.kind())]);
        if (const auto msn = msn_of(index, message)) words += fmt::format(", MSN {}", *msn);
        return words;
    }
    if (first.kind() == ObservationKind::ultra_ethernet)
        return std::string(kMessageKindTitles[static_cast<std::size_t>(message.kind())]);
    std::string words(words::verb(info(first.opcode()).verb));
    if (index.has(message.last_frame()) && info(index.row(message.last_frame()).opcode()).has_immediate())
        words += " with immediate";
    return words;
}

}  // namespace

LadderTone ladder_tone(const CaptureIndex& index, FrameIndex packet) {
    const PacketRow& row = index.row(packet);
    if (row.kind() == ObservationKind::stream) return tone_of_segment(index, packet);
    if (row.kind() == ObservationKind::ultra_ethernet) return tone_of_context(row);
    if (const auto syndrome = row.syndrome();
        syndrome && static_cast<SyndromeType>(*syndrome >> 5 & 3) != SyndromeType::ack)
        return LadderTone::nak;
    if (row.has(Mark::retransmission) || row.has(Mark::duplicated)) return LadderTone::retransmission;
    if (Scope::notifies(row)) return LadderTone::notification;
    const OpcodeRow& opcode = info(row.opcode());
    if (opcode.request) return LadderTone::request;
    return opcode.verb == Verb::acknowledge ? LadderTone::acknowledgment : LadderTone::response;
}

std::string ladder_words(const CaptureIndex& index, FrameIndex packet) {
    const PacketRow& row = index.row(packet);
    if (row.kind() == ObservationKind::stream) return segment_words(index, packet);
    if (row.kind() == ObservationKind::ultra_ethernet) return words_in_context(index, packet);
    if (row.kind() != ObservationKind::transport) return "packet of another kind";
    const OpcodeRow& opcode = info(row.opcode());
    const auto syndrome = row.syndrome();
    std::string words = syndrome ? acknowledgment_words(opcode, *syndrome) : opcode_words(opcode);
    if (!Scope::notifies(row)) words += fmt::format(", PSN {}", row.psn().value());
    if (row.has(Mark::duplicated)) words += ", doubled by the network";
    else if (row.has(Mark::retransmission)) words += ", retransmitted";
    if (row.icrc() == CrcStatus::bad) words += ", ICRC wrong";
    if (row.has(Mark::mirror_copy)) words += ", copy of a mirror";
    if (row.has(Mark::gap)) words += ", PSNs before it are missing";
    return words;
}

std::string ladder_words(const CaptureIndex& index, std::uint64_t at) {
    const MessageRow& message = index.messages[at];
    std::string words = kind_words(index, message);
    if (message.bytes() != 0) words += fmt::format(", {}", bytes_text(message.bytes()));
    if (const auto label = index.label(at)) words += fmt::format(", {}", label_text(*label));
    if (message.retransmissions() != 0)
        words += fmt::format(", {}{} retransmitted", counted(message.retransmissions(), "packet"),
                             message.retransmissions() == UINT8_MAX ? " or more" : "");
    words += kOutcomeWords[static_cast<std::size_t>(message.outcome())];
    return words;
}

}  // namespace qps::transport::series
