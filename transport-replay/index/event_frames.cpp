#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using dissect::FrameIndex;

namespace {

bool has(const PacketRow& row, PacketMark mark) {
    switch (mark) {
        case PacketMark::late: return row.arrival() == Arrival::late;
        case PacketMark::duplicated: return row.has(Mark::duplicated);
        case PacketMark::copy: return row.has(Mark::mirror_copy);
        case PacketMark::bad_icrc: return row.icrc() == dissect::CrcStatus::bad;
        case PacketMark::congestion_experienced: return row.has(Mark::congestion_experienced);
        case PacketMark::cnp:
            return row.kind() == ObservationKind::transport &&
                   dissect::info(row.opcode()).verb == dissect::Verb::notify;
        case PacketMark::retransmission: return row.has(Mark::retransmission);
        case PacketMark::after_gap: return row.has(Mark::gap);
    }
    return false;
}

// When an episode was noticed.
FrameIndex frame_of(const Recovery& episode) {
    return episode.trigger != FrameIndex{}   ? episode.trigger
           : episode.resumed != FrameIndex{} ? episode.resumed
                                             : episode.original;
}

void add_marked(const Finding& finding, const CaptureIndex& index, const std::function<bool()>& stop,
                std::vector<FrameIndex>& events) {
    constexpr std::uint64_t kAskEvery = 1U << 16;  // rows: a fraction of a millisecond
    const MarkedPackets& marked = *finding.marked;
    const std::uint64_t packets = index.packets.size();
    for (std::uint64_t at = 0; at < packets && events.size() < kMostEvents; ++at) {
        if (at % kAskEvery == 0 && stop && stop()) return;
        const PacketRow& row = index.packets[at];
        if (finding.connection && row.connection() != *finding.connection) continue;
        if (marked.from && row.has(Mark::from_b) != (*marked.from == End::b)) continue;
        if (has(row, marked.mark)) events.push_back(FrameIndex{at + 1});
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

std::vector<FrameIndex> event_frames(const Finding& finding, const Timeline& timeline, const CaptureIndex& index,
                                     const std::function<bool()>& stop) {
    std::vector<FrameIndex> events;
    if (finding.marked) add_marked(finding, index, stop, events);
    for (const std::uint32_t place : finding.episodes)
        if (place < timeline.recoveries.size()) events.push_back(frame_of(timeline.recoveries[place]));
    // What marks and episodes count, they count alone: other events only prove it.
    if (events.empty())
        for (const FindingEvent& event : finding.events) events.push_back(event.frame);
    tidy(events);
    return events;
}

std::vector<FrameIndex> event_frames(std::string_view id, const Timeline& timeline, const CaptureIndex& index,
                                     const std::function<bool()>& stop) {
    std::vector<FrameIndex> all;
    for (const Finding& finding : timeline.findings) {
        if (finding.id != id || all.size() >= kMostEvents) continue;
        if (stop && stop()) break;
        const std::vector<FrameIndex> events = event_frames(finding, timeline, index, stop);
        all.insert(all.end(), events.begin(), events.end());
    }
    tidy(all);
    return all;
}

}  // namespace qps::transport
