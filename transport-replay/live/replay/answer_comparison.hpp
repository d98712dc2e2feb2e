// What a live peer did differently from the recorded one, as values: message by message.
//
// Compared is what a peer decides: how a request was answered, what was read, what its own messages and WRITEs held.
// Not compared, but told: times, and what the network did (sequence NAKs). Bytes that were not recorded, and those of
// keys and addresses, which differ in any two runs, are left out.
//
// What an attacker could feed: a peer that answers anything, at any length. A difference is a few numbers; what comes
// beyond the recording is counted, and kMaxExtra of it kept.
#pragma once

#include <transport-replay/live/replay/conversation_part.hpp>
#include <transport-replay/live/verbs/verbs.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxExtra = 1024;

enum class DifferenceKind : std::uint8_t {
    outcome,        // answered otherwise: refused, or not refused
    rnr,            // the peer was not ready, and was then; or the other way round
    data,           // bytes that were read, sent or written
    length,         // of a message of the peer
    verb,           // SEND instead of WRITE with immediate, or the other way round
    immediate,      // data, or that there are any
    invalidate,     // the key that the peer invalidated, or that it did
    atomic_result,  // the original value
    missing,        // it was recorded and did not come, or could not be asked
    unexpected,     // it came and was not recorded
};
inline constexpr std::array<std::string_view, 10> kDifferenceNames{
    "outcome", "rnr", "data", "length", "verb", "immediate", "invalidate", "atomic_result", "missing", "unexpected"};
[[nodiscard]] constexpr std::string_view name(DifferenceKind kind) {
    return kDifferenceNames[static_cast<std::size_t>(kind)];
}

// How a request ended, in either world.
enum class Ending : std::uint8_t {
    unknown,  // the recording, or the replay, ended before
    completed,
    invalid_request,
    remote_access,
    remote_operational,
    rnr_exceeded,    // given up: the peer was never ready
    retry_exceeded,  // given up: the peer never answered
    flushed,         // the connection ended before it
    other,
};
inline constexpr std::array<std::string_view, 9> kEndingNames{
    "unknown",   "completed", "invalid request", "remote access error", "remote operational error", "not ready",
    "no answer", "flushed",   "failed"};
[[nodiscard]] constexpr std::string_view name(Ending ending) { return kEndingNames[static_cast<std::size_t>(ending)]; }

struct Difference {
    DifferenceKind kind{};
    std::uint64_t recorded = 0;  // outcome: Ending; data: the byte at `offset`; else the value, 0 where there is none
    std::uint64_t live = 0;
    std::uint64_t offset = 0;  // data: the first byte that differs
    std::uint64_t bytes = 0;   // data: how many differ
    [[nodiscard]] bool operator==(const Difference&) const = default;
};
// "12 bytes differ from byte 4 on: 0x61 was recorded, 0x7a is".
[[nodiscard]] std::string sentence(const Difference& difference);

enum class Progress : std::uint8_t {
    waiting,     // not reached yet; in the end: never
    posted,      // ours: not answered yet
    done,        // ours: answered; the peer's: it came
    unplayable,  // its beginning was not recorded, or it asks for more than the memory of a replay
    unseen,      // the peer's: nothing shows it to an application (a READ, a WRITE that the next one covers)
};
inline constexpr std::array<std::string_view, 5> kProgressNames{"not reached", "posted", "done", "not playable",
                                                                "not visible"};
[[nodiscard]] constexpr std::string_view name(Progress progress) {
    return kProgressNames[static_cast<std::size_t>(progress)];
}

// Of a message of the conversation, in the replay.
struct ComparedMessage {
    Progress progress = Progress::waiting;
    Ending ending = Ending::unknown;
    dissect::Instant posted{};
    dissect::Instant done{};
    std::uint32_t rnr_naks = 0;
    std::vector<Difference> differences;
    // As the application sees it: from posting to the completion.
    [[nodiscard]] std::optional<dissect::Duration> latency() const;
};

struct ExtraMessage {
    bool with_immediate = false;
    bool write = false;
    std::uint32_t bytes = 0;
    dissect::Instant time{};
};

// Why a replay ended.
enum class ReplayEnd : std::uint8_t { running, complete, not_connected, peer_left, failed, timed_out, stopped };
inline constexpr std::array<std::string_view, 7> kReplayEndNames{
    "running", "complete", "not connected", "peer left", "connection failed", "timed out", "stopped"};
[[nodiscard]] constexpr std::string_view name(ReplayEnd end) { return kReplayEndNames[static_cast<std::size_t>(end)]; }

struct ReplayComparison {
    std::vector<ComparedMessage> messages;  // as in the conversation
    std::vector<ExtraMessage> extra;
    std::uint64_t extra_count = 0;
    std::uint64_t sequence_naks = 0;  // the network's; told only
    ReplayEnd end = ReplayEnd::running;
    std::string words{};                    // why it could not be connected, or what failed
    std::vector<dissect::Rkey> unmapped{};  // keys of the peer that nothing translates: asked for as they were recorded
    [[nodiscard]] std::uint64_t differences() const;
};

// Of a recorded message.
[[nodiscard]] Ending recorded_ending(const RecordedMessage& recorded);
[[nodiscard]] Ending ending_of(verbs::WcStatus status);

// What differs of bytes, `left_out` aside; both are looked at as far as both go.
[[nodiscard]] std::optional<Difference> compare_bytes(dissect::Bytes recorded, dissect::Bytes live,
                                                      std::span<const ByteRange> left_out);

// An answer to a message of ours: how it ended, whether the peer was ready.
void compare_answer(const RecordedMessage& recorded, ComparedMessage& live);
// What a READ brought, or an ATOMIC, in memory as hosts have it.
// `left_out`, in bytes of the READ: what requests behind it changed while it was under way; without a fence either
// value is right.
void compare_result(const RecordedMessage& recorded, dissect::Bytes result, std::span<const ByteRange> left_out,
                    ComparedMessage& live);
// A message of the peer that came; `invalidated`: the recorded key that stands for the live one.
void compare_arrival(const RecordedMessage& recorded, const verbs::Wc& wc, std::optional<dissect::Rkey> invalidated,
                     dissect::Bytes bytes, std::span<const ByteRange> left_out, ComparedMessage& live);

}  // namespace qps::transport::live
