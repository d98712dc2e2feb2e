#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/series/context_words.hpp>
#include <transport-replay/series/ladder.hpp>
#include <transport-replay/series/segment_words.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace qps::transport::series {

using namespace dissect;

std::optional<LadderMessages> LadderMessages::of(const CaptureIndex& index, ConnectionId connection, const Stop& stop) {
    LadderMessages found;
    found.connection_ = connection;
    const auto take = [&](const MessageRow& message, std::uint64_t) {
        if (message.connection() == connection && time_of(index, message.first_frame()))
            found.messages_.push_back(message);
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, take)) return std::nullopt;
    std::ranges::stable_sort(found.messages_, {}, &MessageRow::first_frame);
    return found;
}

std::size_t LadderMessages::position_of(FrameIndex frame) const {
    const auto after = std::ranges::upper_bound(messages_, frame, {}, &MessageRow::first_frame);
    return after == messages_.begin() ? 0 : static_cast<std::size_t>(after - messages_.begin()) - 1;
}

namespace {

// Whether a packet goes the way that packets of the message go: requests from its requester, answers to it.
bool belongs(const PacketRow& row, const MessageRow& message) {
    if (row.kind() == ObservationKind::stream) return true;
    if (row.kind() == ObservationKind::ultra_ethernet) return row.from() == message.requester();
    if (row.kind() != ObservationKind::transport || Scope::notifies(row)) return false;
    return info(row.opcode()).request == (row.from() == message.requester());
}

}  // namespace

std::optional<std::size_t> LadderMessages::message_of(const CaptureIndex& index, FrameIndex frame) const {
    if (!index.has(frame) || index.row(frame).connection() != connection_) return std::nullopt;
    const PacketRow& row = index.row(frame);
    std::optional<std::size_t> answered;
    const std::size_t after = static_cast<std::size_t>(
        std::ranges::upper_bound(messages_, frame, {}, &MessageRow::first_frame) - messages_.begin());
    for (std::size_t i = after; i > 0 && i + kMaxLadderMessages > after; --i) {
        const MessageRow& message = messages_[i - 1];
        const FrameIndex last = index.has(message.last_frame()) ? message.last_frame() : message.first_frame();
        if (frame == message.answer_frame()) answered = i - 1;
        if (frame > std::max(last, message.answer_frame().value_or(last)) || !belongs(row, message)) continue;
        if (carries(message, index.row(message.first_frame()), index.row(last), row)) return i - 1;
    }
    return answered;
}

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
    return segment_of(index, frame).responds ? LadderTone::response : LadderTone::request;
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

LadderTone tone_of_context(const CaptureIndex& index, FrameIndex frame) {
    if (index.row(frame).has(Mark::retransmission)) return LadderTone::retransmission;
    const auto packet = uet_packet_of(index, frame);
    if (packet && packet->is_nack()) return LadderTone::nak;
    return packet && packet->is_request() ? LadderTone::request : LadderTone::acknowledgment;
}

std::string words_in_context(const CaptureIndex& index, FrameIndex frame) {
    const auto packet = uet_packet_of(index, frame);
    std::string words = packet ? context_words(*packet) : "UET packet";
    if (index.row(frame).has(Mark::retransmission)) words += ", retransmitted";
    if (index.row(frame).has(Mark::duplicated)) words += ", a copy";
    return words;
}

// An RNR NAK, or one of a sequence error: its requester sends again.
bool is_retry_nak(const PacketRow& row) {
    const Acknowledgment acknowledgment{row.syndrome().value_or(0), {}};
    const auto type = static_cast<SyndromeType>(acknowledgment.type());
    return type == SyndromeType::rnr_nak || (type == SyndromeType::nak && acknowledgment.code() == 0);
}

LadderTone tone_of(const PacketRow& row) {
    if (row.has(Mark::retransmission) || row.has(Mark::duplicated)) return LadderTone::retransmission;
    if (const auto syndrome = row.syndrome();
        syndrome && static_cast<SyndromeType>(*syndrome >> 5 & 3) != SyndromeType::ack)
        return LadderTone::nak;
    const OpcodeRow& opcode = info(row.opcode());
    if (opcode.request) return LadderTone::request;
    return opcode.verb == Verb::acknowledge ? LadderTone::acknowledgment : LadderTone::response;
}

std::string packet_words(const CaptureIndex& index, FrameIndex frame) {
    const PacketRow& row = index.row(frame);
    if (row.kind() == ObservationKind::stream) return segment_words(index, frame);
    if (row.kind() == ObservationKind::ultra_ethernet) return words_in_context(index, frame);
    const OpcodeRow& opcode = info(row.opcode());
    const auto syndrome = row.syndrome();
    std::string words = syndrome ? acknowledgment_words(opcode, *syndrome) : opcode_words(opcode);
    words += fmt::format(", PSN {}", row.psn().value());
    if (row.has(Mark::duplicated)) words += ", doubled by the network";
    else if (row.has(Mark::retransmission)) words += ", retransmitted";
    if (row.icrc() == CrcStatus::bad) words += ", ICRC wrong";
    if (row.has(Mark::mirror_copy)) words += ", copy of a mirror";
    if (row.has(Mark::gap)) words += ", PSNs before it are missing";
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

std::string message_words(const CaptureIndex& index, const MessageRow& message) {
    std::string words = kind_words(index, message);
    if (message.bytes() != 0) words += fmt::format(", {}", bytes_text(message.bytes()));
    if (message.retransmissions() != 0)
        words += fmt::format(", {}{} retransmitted", counted(message.retransmissions(), "packet"),
                             message.retransmissions() == UINT8_MAX ? " or more" : "");
    words += kOutcomeWords[static_cast<std::size_t>(message.outcome())];
    return words;
}

// Draws up one window.
class Drafting {
public:
    Drafting(const CaptureIndex& index, const LadderMessages& messages) : index_(index), messages_(messages) {}

    void add_message(std::size_t position) {
        const MessageRow& message = messages_[position];
        const PacketRow& first = index_.row(message.first_frame());
        const auto last = time_of(index_, message.last_frame());
        LadderLine line;
        line.from = message.requester();
        line.begins = first.time();
        line.ends = last ? std::max(*last, first.time()) : first.time();
        line.frame = message.first_frame();
        line.last = message.last_frame();
        line.tone = message.retransmissions() != 0 ? LadderTone::retransmission : LadderTone::request;
        line.message = position;
        line.collapsed = true;
        line.label = message_words(index_, message);
        ladder_.lines.push_back(std::move(line));
        if (const auto answer = message.answer_frame()) add_answer(*answer, position);
    }

    // Its packets: those of its PSNs from its first to what answered it.
    bool add_packets(std::size_t position, const Stop& stop) {
        const MessageRow& message = messages_[position];
        const auto number = [](FrameIndex frame) { return std::to_underlying(frame); };
        const std::uint64_t begin = number(message.first_frame()) - 1;
        // What was under way when a NAK ended it is behind that.
        const std::uint64_t all =
            std::min(number(std::max(message.last_frame(), message.answer_frame().value_or(FrameIndex{}))),
                     index_.packets.size());
        const std::uint64_t end = std::min(all, begin + kMaxMessageRows);
        const PacketRow& first = index_.row(message.first_frame());
        const PacketRow& last = index_.has(message.last_frame()) ? index_.row(message.last_frame()) : first;
        std::size_t found = 0;
        std::size_t left_out = 0;
        const auto take = [&](const PacketRow& row, std::uint64_t at) {
            if (row.connection() != messages_.connection() || !belongs(row, message) ||
                !carries(message, first, last, row))
                return;
            if (++found > kMaxMessagePackets) ++left_out;
            else add_packet(frame_at(at), position);
        };
        if (!scan(index_.packets, begin, end, stop, take)) return false;
        const auto heading = shown_.find(message.first_frame());
        if (heading != shown_.end()) {
            LadderLine& line = ladder_.lines[heading->second];
            line.heading = true;
            line.message = position;
            if (left_out != 0 || end < all)
                line.label += fmt::format(", only its first {} shown", counted(found - left_out, "packet"));
        }
        if (const auto answer = message.answer_frame()) add_answer(*answer, position);
        return true;
    }

    // The times without progress, and the NAKs that made requesters send again: they ended no message.
    bool add_waits(const Timeline& timeline, const Stop& stop) {
        if (ladder_.lines.empty()) return true;
        const Instant from = std::ranges::min(ladder_.lines, {}, &LadderLine::begins).begins;
        const Instant to = std::ranges::max(ladder_.lines, {}, &LadderLine::ends).ends;
        std::uint64_t rows = kMaxMessageRows;  // that may be looked at
        for (const Recovery& recovery : timeline.recoveries) {
            const auto& time = recovery.time;
            if (recovery.connection != messages_.connection() || time.end() < from || to < time.begin()) continue;
            if ((recovery.nak || recovery.kind == RecoveryKind::sequence_nak ||
                 recovery.kind == RecoveryKind::rnr_nak) &&
                !add_naks(recovery, rows, stop))
                return false;
            ladder_.waits.push_back({recovery.requester, time.begin(), time.end(), recovery.kind, recovery.trigger,
                                     recovery.resumed, wait_words(recovery)});
        }
        return true;
    }

    Ladder finish() {
        std::ranges::stable_sort(ladder_.lines, {},
                                 [](const LadderLine& line) { return std::tuple(line.begins, line.frame); });
        return std::move(ladder_);
    }

private:
    // The NAKs of the PSN that an episode began with, as long as it lasted.
    bool add_naks(const Recovery& recovery, std::uint64_t& rows, const Stop& stop) {
        add_packet(recovery.trigger, std::nullopt);
        if (recovery.triggers < 2 || recovery.trigger == FrameIndex{}) return true;
        const std::uint64_t begin = std::to_underlying(recovery.trigger);  // the row behind it
        const std::uint64_t last = std::min(std::to_underlying(recovery.last), index_.packets.size());
        const std::uint64_t end = std::min(last, begin + rows);
        if (end <= begin) return true;
        rows -= end - begin;
        return scan(index_.packets, begin, end, stop, [&](const PacketRow& row, std::uint64_t at) {
            const bool of_it = row.connection() == recovery.connection && row.from() != recovery.requester &&
                               row.kind() == ObservationKind::transport && !row.has(Mark::mirror_copy);
            if (of_it && row.psn() == recovery.psn && is_retry_nak(row)) add_packet(frame_at(at), std::nullopt);
        });
    }

    static std::string wait_words(const Recovery& recovery) {
        constexpr std::array<std::string_view, kRecoveryKindNames.size()> kReasons{
            "after a NAK", "receiver not ready", "timeout", "READ retried", "cause undecided"};
        const std::string_view reason = kReasons[static_cast<std::size_t>(recovery.kind)];
        const std::string times = recovery.triggers > 1 ? fmt::format(" {} times", recovery.triggers) : "";
        return fmt::format("{}{}, {}", reason, times, duration_text(recovery.lost_time()));
    }

    // A packet stands once, whatever asks for it.
    LadderLine* add_packet(FrameIndex frame, std::optional<std::size_t> message) {
        const auto time = time_of(index_, frame);
        if (!time) return nullptr;
        const auto [place, is_new] = shown_.try_emplace(frame, ladder_.lines.size());
        if (!is_new) return &ladder_.lines[place->second];
        const PacketRow& row = index_.row(frame);
        const LadderTone tone = row.kind() == ObservationKind::stream           ? tone_of_segment(index_, frame)
                                : row.kind() == ObservationKind::ultra_ethernet ? tone_of_context(index_, frame)
                                                                                : tone_of(row);
        ladder_.lines.push_back(
            {row.from(), *time, *time, frame, frame, tone, message, false, false, packet_words(index_, frame)});
        return &ladder_.lines.back();
    }

    // Over TCP a segment that carries something answers beside that: what it carries has a line of its own.
    [[nodiscard]] bool answers_beside(FrameIndex frame, std::size_t message) const {
        if (!index_.has(frame) || index_.row(frame).kind() != ObservationKind::stream) return false;
        const MessageKind kind = messages_[message].kind();
        return index_.row(frame).payload_length() != 0 && kind != MessageKind::read && kind != MessageKind::atomic;
    }

    void add_answer(FrameIndex frame, std::size_t message) {
        if (answers_beside(frame, message)) return;
        LadderLine* line = add_packet(frame, message);
        if (line == nullptr) return;
        const std::uint32_t ends = ++answered_[frame];
        if (ends == 1) return;
        if (line->message && !line->heading) line->message.reset();
        line->label = packet_words(index_, frame) + fmt::format(", answers {} messages", ends);
    }

    const CaptureIndex& index_;
    const LadderMessages& messages_;
    std::unordered_map<FrameIndex, std::size_t> shown_;       // packets, by their line
    std::unordered_map<FrameIndex, std::uint32_t> answered_;  // how many messages of the window
    Ladder ladder_;
};

}  // namespace

std::optional<Ladder> ladder(const CaptureIndex& index, const Timeline& timeline, const LadderMessages& messages,
                             std::size_t first, std::size_t end, const std::set<std::size_t>& expanded,
                             const Stop& stop) {
    Drafting drafting(index, messages);
    end = std::min({end, messages.size(), first + kMaxLadderMessages});
    for (std::size_t position = first; position < end; ++position) {
        if (stopped(stop)) return std::nullopt;
        if (!expanded.contains(position)) drafting.add_message(position);
        else if (!drafting.add_packets(position, stop)) return std::nullopt;
    }
    if (!drafting.add_waits(timeline, stop)) return std::nullopt;
    return drafting.finish();
}

}  // namespace qps::transport::series
