// Ladder: the sequence diagram of a connection: its messages as arrows between the two ends, what answered them, the
// packets that are of no message, and the times when a requester waited to send again. A message stands as one line,
// with its other packets as marks on the lanes of who sent them, or as its packets. What refuses is an arrow always.
//
// Only a window of the entries is drawn up at a time, so that a connection may have any number. What an attacker could
// feed: a message that lasts as long as the capture, packets of one PSN without number; kMaxMessagePackets and
// kMaxLadderMarks bound what is drawn, and a message that has more says so.
#pragma once

#include <transport-replay/series/ladder_entries.hpp>
#include <transport-replay/series/ladder_words.hpp>

#include <set>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

inline constexpr std::size_t kMaxMessagePackets = 4096;     // of one message: more lines than anybody reads
inline constexpr std::size_t kMaxLadderEntries = 1U << 12;  // of a window
inline constexpr std::size_t kMaxLadderMarks = 1U << 14;    // of a window

struct LadderLine {
    End from{};
    dissect::Instant begins{};  // of a message: its first request packet; of a packet: it
    dissect::Instant ends{};    // of a message: its last request packet; never before it begins
    dissect::FrameIndex frame{};
    dissect::FrameIndex last{};  // of a packet the same
    LadderTone tone{};
    std::optional<std::size_t> entry;  // that it is, or is a packet of; an answer may be of several
    bool collapsed = false;            // it stands for a message, which can be expanded
    bool heading = false;              // it is the first packet of a message that is expanded
    bool single = false;               // it is an entry itself: a packet of no message
    std::string label;
    [[nodiscard]] bool opens() const { return collapsed || heading; }  // or closes: it has a message's box
    [[nodiscard]] bool begins_entry() const { return opens() || single; }
};

// A packet of a message that stands as one line.
struct LadderMark {
    End from{};
    dissect::Instant time{};
    dissect::FrameIndex frame{};
    LadderTone tone{};
};

struct LadderWait {
    End requester{};
    dissect::Instant from{};
    dissect::Instant to{};
    RecoveryKind kind{};
    dissect::FrameIndex trigger{};
    dissect::FrameIndex resumed{};  // 0: never
    std::string label;
};

struct Ladder {
    std::vector<LadderLine> lines;  // by the time they begin
    std::vector<LadderMark> marks;  // by time
    std::vector<LadderWait> waits;
    std::uint64_t unmarked = 0;  // packets of messages that have neither line nor mark
};

// Entries first .. end - 1, of which the messages in `expanded` as their packets. Nothing where it was stopped.
[[nodiscard]] std::optional<Ladder> ladder(const CaptureIndex& index, const Timeline& timeline,
                                           const LadderEntries& entries, std::size_t first, std::size_t end,
                                           const std::set<std::size_t>& expanded, const Stop& stop = {});

}  // namespace qps::transport::series
