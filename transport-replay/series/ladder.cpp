#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/series/ladder.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace qps::transport::series {

using namespace dissect;

namespace {

std::string wait_words(const Recovery& recovery) {
    constexpr std::array<std::string_view, kRecoveryKindNames.size()> kReasons{
        "after a NAK", "receiver not ready", "timeout", "READ retried", "cause undecided"};
    const std::string_view reason = kReasons[static_cast<std::size_t>(recovery.kind)];
    const std::string times = recovery.triggers > 1 ? fmt::format(" {} times", recovery.triggers) : "";
    return fmt::format("{}{}, {}", reason, times, duration_text(recovery.lost_time()));
}

// Draws up one window.
class Drafting {
public:
    Drafting(const CaptureIndex& index, const LadderEntries& entries, const std::set<std::size_t>& expanded)
        : index_(index), entries_(entries), expanded_(expanded) {}

    // A message that stands as one line; its packets come with take().
    void begin(std::size_t entry) {
        const auto at = entries_.message(entry);
        if (!at || expanded_.contains(entry)) return;
        const MessageRow& message = index_.messages[*at];
        const PacketRow& first = index_.row(message.first_frame());
        const auto last = time_of(index_, message.last_frame());
        LadderLine line;
        line.from = message.requester();
        line.begins = first.time();
        line.ends = last ? std::max(*last, first.time()) : first.time();
        line.frame = message.first_frame();
        line.last = message.last_frame();
        line.tone = message.retransmissions() != 0 ? LadderTone::retransmission : LadderTone::request;
        line.entry = entry;
        line.collapsed = true;
        line.label = ladder_words(index_, *at);
        ladder_.lines.push_back(std::move(line));
    }

    void take(FrameIndex frame, std::size_t entry) {
        const auto at = entries_.message(entry);
        if (!at) {
            if (LadderLine* line = add_packet(frame, entry)) line->single = true;
            return;
        }
        const MessageRow& message = index_.messages[*at];
        if (expanded_.contains(entry)) {
            if (std::size_t& shown = of_message_[entry]; shown++ < kMaxMessagePackets) add_packet(frame, entry);
            return;
        }
        const bool answers = frame == message.answer_frame() && !answers_beside(frame, message.kind());
        if (frame == message.first_frame() || answers) return;  // it has a line of its own
        const PacketRow& row = index_.row(frame);
        const bool many = ladder_.marks.size() >= kMaxLadderMarks;
        const LadderTone tone =
            many && row.kind() == ObservationKind::stream ? LadderTone::acknowledgment : ladder_tone(index_, frame);
        if (tone == LadderTone::nak && of_message_[entry]++ < kMaxMessagePackets) add_packet(frame, entry);
        else if (many) ++ladder_.unmarked;
        else ladder_.marks.push_back({row.from(), row.time(), frame, tone});
    }

    // What is known when all packets have come: headings, and answers, which may be packets of other entries.
    void end(std::size_t entry) {
        const auto at = entries_.message(entry);
        if (!at) return;
        if (expanded_.contains(entry)) head(entry, *at);
        if (const auto answer = index_.messages[*at].answer_frame()) add_answer(*answer, entry);
    }

    void add_waits(const Timeline& timeline) {
        if (ladder_.lines.empty()) return;
        const Instant from = std::ranges::min(ladder_.lines, {}, &LadderLine::begins).begins;
        const Instant to = std::ranges::max(ladder_.lines, {}, &LadderLine::ends).ends;
        for (const Recovery& recovery : timeline.recoveries) {
            const auto& time = recovery.time;
            if (recovery.connection != entries_.connection() || time.end() < from || to < time.begin()) continue;
            ladder_.waits.push_back({recovery.requester, time.begin(), time.end(), recovery.kind, recovery.trigger,
                                     recovery.resumed, wait_words(recovery)});
        }
    }

    Ladder finish() {
        std::ranges::stable_sort(ladder_.lines, {},
                                 [](const LadderLine& line) { return std::tuple(line.begins, line.frame); });
        // A packet that is a line of its own as an answer needs no mark.
        std::erase_if(ladder_.marks, [&](const LadderMark& mark) { return shown_.contains(mark.frame); });
        std::ranges::stable_sort(ladder_.marks, {}, &LadderMark::time);
        return std::move(ladder_);
    }

private:
    void head(std::size_t entry, std::uint64_t message) {
        const auto found = shown_.find(index_.messages[message].first_frame());
        if (found == shown_.end()) return;
        LadderLine& line = ladder_.lines[found->second];
        line.heading = true;
        line.entry = entry;
        if (const auto label = index_.label(message)) line.label += fmt::format(", {}", label_text(*label));
        if (of_message_[entry] > kMaxMessagePackets)
            line.label += fmt::format(", only its first {} shown", counted(kMaxMessagePackets, "packet"));
    }

    // A packet stands once, whatever asks for it.
    LadderLine* add_packet(FrameIndex frame, std::size_t entry) {
        const auto time = time_of(index_, frame);
        if (!time) return nullptr;
        const auto [place, is_new] = shown_.try_emplace(frame, ladder_.lines.size());
        if (!is_new) return &ladder_.lines[place->second];
        ladder_.lines.push_back({.from = index_.row(frame).from(),
                                 .begins = *time,
                                 .ends = *time,
                                 .frame = frame,
                                 .last = frame,
                                 .tone = ladder_tone(index_, frame),
                                 .entry = entry,
                                 .collapsed = false,
                                 .heading = false,
                                 .single = false,
                                 .label = ladder_words(index_, frame)});
        return &ladder_.lines.back();
    }

    // Over TCP a segment that carries something answers beside that: what it carries has a line of its own.
    [[nodiscard]] bool answers_beside(FrameIndex frame, MessageKind kind) const {
        if (!index_.has(frame) || index_.row(frame).kind() != ObservationKind::stream) return false;
        return index_.row(frame).payload_length() != 0 && kind != MessageKind::read && kind != MessageKind::atomic;
    }

    void add_answer(FrameIndex frame, std::size_t entry) {
        if (answers_beside(frame, index_.messages[*entries_.message(entry)].kind())) return;
        LadderLine* line = add_packet(frame, entry);
        if (line == nullptr) return;
        const std::uint32_t ends = ++answered_[frame];
        if (ends == 1) return;
        if (line->entry && !line->begins_entry()) line->entry.reset();
        line->label = ladder_words(index_, frame) + fmt::format(", answers {} messages", ends);
    }

    const CaptureIndex& index_;
    const LadderEntries& entries_;
    const std::set<std::size_t>& expanded_;
    std::unordered_map<FrameIndex, std::size_t> shown_;        // packets, by their line
    std::unordered_map<FrameIndex, std::uint32_t> answered_;   // how many messages of the window
    std::unordered_map<std::size_t, std::size_t> of_message_;  // its packets that have lines, or would
    Ladder ladder_;
};

}  // namespace

std::optional<Ladder> ladder(const CaptureIndex& index, const Timeline& timeline, const LadderEntries& entries,
                             std::size_t first, std::size_t end, const std::set<std::size_t>& expanded,
                             const Stop& stop) {
    Drafting drafting(index, entries, expanded);
    end = std::min({end, entries.size(), first + kMaxLadderEntries});
    for (std::size_t entry = first; entry < end; ++entry) drafting.begin(entry);
    const auto take = [&](FrameIndex frame, std::size_t entry) { drafting.take(frame, entry); };
    if (stopped(stop) || !entries.visit_packets(first, end, stop, take)) return std::nullopt;
    for (std::size_t entry = first; entry < end; ++entry) drafting.end(entry);
    drafting.add_waits(timeline);
    return drafting.finish();
}

}  // namespace qps::transport::series
