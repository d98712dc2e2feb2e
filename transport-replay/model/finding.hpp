// Finding: something that went wrong, as data: its facts, the events that prove it, whose fault it is and what to do
// about it. Sentence and advice are made of the facts, by the templates of its row (findings/findings.hpp).
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/fact.hpp>

#include <string>
#include <vector>

namespace qps::transport {

enum class Severity : std::uint8_t { note, warning, error };
inline constexpr std::array<std::string_view, 3> kSeverityNames{"note", "warning", "error"};

// Who can do something about it.
enum class Party : std::uint8_t { requester, responder, fabric, congestion, capture, application, undecided };
inline constexpr std::array<std::string_view, 7> kPartyNames{"requester", "responder",   "fabric",   "congestion",
                                                             "capture",   "application", "undecided"};

inline constexpr std::string_view kObserved = "heuristic";  // the clause of what rests on none

inline constexpr std::size_t kMaxEvidence = 16;  // frames listed; more prove no more

// What a packet has to do with a finding.
enum class EventRole : std::uint8_t {
    evidence,        // it shows it
    original,        // what was lost, refused or not answered
    nak,             // that asked for it again, or refused it
    retransmission,  // of the original
    end,             // what ended the episode
};
inline constexpr std::array<std::string_view, 5> kEventRoleNames{"evidence", "original", "nak", "retransmission",
                                                                 "end"};

struct FindingEvent {
    dissect::FrameIndex frame{};  // 0: not captured
    EventRole role{};
    std::optional<dissect::Instant> time{};  // nothing: not kept
};

// Packets that are too many to be kept one by one: rows of an index have the mark.
enum class PacketMark : std::uint8_t {
    late,
    duplicated,
    copy,
    bad_icrc,
    congestion_experienced,
    cnp,
    retransmission,
    after_gap
};
struct MarkedPackets {
    PacketMark mark{};
    std::optional<End> from{};  // of the connection of the finding; nothing: of both
};

struct Finding {
    std::string_view id;  // of a FindingRow
    Severity severity{};
    Party party{};
    std::optional<ConnectionId> connection;    // nothing where it is not of one connection
    std::vector<dissect::FrameIndex> packets;  // the first of its events, in order, at most kMaxEvidence
    std::uint64_t count = 1;                   // how often it happened
    std::string summary;                       // one sentence with the numbers
    std::string advice;                        // one sentence
    std::string_view clause;                   // what it rests on: IBA is volume 1 of the InfiniBand specification
    Facts facts{};
    std::vector<FindingEvent> events{};       // in order
    std::vector<std::uint32_t> episodes{};    // places in Timeline::recoveries whose events are its own too
    std::optional<MarkedPackets> marked{};    // likewise
    std::optional<dissect::Instant> first{};  // when it began and was seen last, as far as its events have times
    std::optional<dissect::Instant> last{};
};

struct Recovery;
struct Timeline;

// Packets of an episode, with what they have to do with it and their times as far as those are kept.
[[nodiscard]] std::array<FindingEvent, 4> events_of(const Recovery& episode);
// The events of a finding and its episodes, in order, each frame once: of as many of the first as have room. What is
// marked is not among them.
[[nodiscard]] std::vector<FindingEvent> events_of(const Finding& finding, const Timeline& timeline, std::size_t most);
// In order, each frame once, without those that were not captured.
void tidy(std::vector<FindingEvent>& events);

}  // namespace qps::transport
