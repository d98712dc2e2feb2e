#include <transport-replay/index/finding_events.hpp>

#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace qps::transport {

using dissect::FrameIndex;

namespace {

// What tells of the events of a finding: episodes in which a requester sent again, or packets.
struct EventRow {
    std::string_view id;
    bool (*episode)(const Recovery& episode) = nullptr;
    bool (*packet)(const PacketRow& row) = nullptr;
};

bool was_asked(const Recovery& episode) { return episode.nak || episode.kind == RecoveryKind::sequence_nak; }
bool is_timeout(const Recovery& episode) { return episode.kind == RecoveryKind::timeout && !episode.spurious; }
bool is_rnr(const Recovery& episode) { return episode.kind == RecoveryKind::rnr_nak; }
bool gave_up(const Recovery& episode) { return episode.end == RecoveryEnd::gave_up; }
bool is_cnp(const PacketRow& row) {
    return row.kind() == ObservationKind::transport && dissect::info(row.opcode()).verb == dissect::Verb::notify;
}
template <Mark kMark>
bool has(const PacketRow& row) {
    return row.has(kMark);
}

constexpr std::array kEventRows{
    EventRow{"go-back-n-loss", was_asked},
    EventRow{"selective-repeat", was_asked},
    EventRow{"reordered-not-lost", was_asked},
    EventRow{"ack-timeout", is_timeout},
    EventRow{"nak-ignored", [](const Recovery& episode) { return episode.ignored_nak(); }},
    EventRow{"rnr-stall", is_rnr},
    EventRow{"rnr-wait-too-short", is_rnr},
    EventRow{"rnr-retries-exceeded", [](const Recovery& episode) { return is_rnr(episode) && gave_up(episode); }},
    EventRow{"transport-retries-exceeded", [](const Recovery& episode) { return !is_rnr(episode) && gave_up(episode); }},
    EventRow{"read-response-lost", [](const Recovery& episode) { return episode.kind == RecoveryKind::read_retry; }},
    EventRow{"spurious-retransmission", [](const Recovery& episode) { return episode.spurious; }},
    EventRow{"retransmission-undecided", [](const Recovery& episode) { return episode.kind == RecoveryKind::undecided; }},
    EventRow{"out-of-order-delivery", nullptr, [](const PacketRow& row) { return row.arrival() == Arrival::late; }},
    EventRow{"duplicated-by-network", nullptr, has<Mark::duplicated>},
    EventRow{"capture-duplicates", nullptr, has<Mark::mirror_copy>},
    EventRow{"icrc-wrong", nullptr, [](const PacketRow& row) { return row.icrc() == dissect::CrcStatus::bad; }},
    EventRow{"ecn-congestion", nullptr, has<Mark::congestion_experienced>},
    EventRow{"ecn-not-answered", nullptr, has<Mark::congestion_experienced>},
    EventRow{"cnp-without-mark", nullptr, is_cnp},
    EventRow{"cnp-without-effect", nullptr, is_cnp},
    EventRow{"uet-retransmitted", nullptr, has<Mark::retransmission>},
    EventRow{"gaps-unexplained", nullptr, has<Mark::gap>},
    EventRow{"capture-lost-packets", nullptr, has<Mark::gap>},
};

// When it was noticed.
FrameIndex frame_of(const Recovery& episode) {
    return episode.trigger != FrameIndex{} ? episode.trigger : episode.resumed != FrameIndex{} ? episode.resumed : episode.original;
}

// Both ends of a connection may have a finding of the same kind: its packets tell which end it is about.
bool proves(const Finding& finding, const Recovery& episode) {
    return std::ranges::any_of(std::array{episode.original, episode.trigger, episode.resumed, episode.last}, [&](FrameIndex frame) {
        return frame != FrameIndex{} && std::ranges::find(finding.packets, frame) != finding.packets.end();
    });
}

void add_episodes(const Finding& finding, const Timeline& timeline, bool (*fits)(const Recovery&), std::vector<FrameIndex>& events) {
    const auto is_meant = [&](const Recovery& episode) {
        return (!finding.connection || episode.connection == *finding.connection) && fits(episode);
    };
    std::array<bool, 2> proven{};
    for (const Recovery& episode : timeline.recoveries)
        if (is_meant(episode) && proves(finding, episode)) proven[static_cast<std::size_t>(episode.requester)] = true;
    const bool both = !finding.connection || proven[0] == proven[1];
    for (const Recovery& episode : timeline.recoveries)
        if (is_meant(episode) && (both || proven[static_cast<std::size_t>(episode.requester)])) events.push_back(frame_of(episode));
}

void add_packets(const Finding& finding, const CaptureIndex& index, bool (*fits)(const PacketRow&), const std::function<bool()>& stop,
                 std::vector<FrameIndex>& events) {
    constexpr std::uint64_t kAskEvery = 1U << 16;  // rows: a fraction of a millisecond
    const std::uint64_t packets = index.packets.size();
    for (std::uint64_t at = 0; at < packets && events.size() < kMostEvents; ++at) {
        if (at % kAskEvery == 0 && stop && stop()) return;
        const PacketRow& row = index.packets[at];
        if ((!finding.connection || row.connection() == *finding.connection) && fits(row)) events.push_back(FrameIndex{at + 1});
    }
}

void tidy(std::vector<FrameIndex>& events) {
    std::erase(events, FrameIndex{});
    std::ranges::sort(events);
    const auto repeated = std::ranges::unique(events);
    events.erase(repeated.begin(), repeated.end());
    if (events.size() > kMostEvents) events.resize(kMostEvents);
}

}  // namespace

std::vector<FrameIndex> finding_events(const Finding& finding, const Timeline& timeline, const CaptureIndex& index,
                                       const std::function<bool()>& stop) {
    std::vector<FrameIndex> events;
    if (const auto row = std::ranges::find(kEventRows, finding.id, &EventRow::id); row != kEventRows.end()) {
        if (row->episode != nullptr) add_episodes(finding, timeline, row->episode, events);
        else add_packets(finding, index, row->packet, stop, events);
    }
    tidy(events);
    return events.empty() ? finding.packets : events;
}

std::vector<FrameIndex> finding_events(std::string_view id, const Timeline& timeline, const CaptureIndex& index,
                                       const std::function<bool()>& stop) {
    std::vector<FrameIndex> all;
    for (const Finding& finding : timeline.findings) {
        if (finding.id != id || all.size() >= kMostEvents) continue;
        if (stop && stop()) break;
        const std::vector<FrameIndex> events = finding_events(finding, timeline, index, stop);
        all.insert(all.end(), events.begin(), events.end());
    }
    tidy(all);
    return all;
}

}  // namespace qps::transport
