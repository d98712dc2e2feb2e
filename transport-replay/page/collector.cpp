#include <dissect/headers/infiniband.hpp>
#include <transport-replay/model/message.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/report/connections.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qps::transport::page {

using namespace dissect;

namespace {

constexpr std::uint64_t kFewestPsns = 16;  // below there is nothing to see
constexpr std::uint8_t kSent = 1, kAgain = 2, kRefused = 4;

// A requester whose packets were lost or sent again: what a picture of PSNs is for.
bool is_eventful(const Connection& connection, End end) {
    const Way& way = connection.way(end);
    return connection.reliable() && way.requests >= kFewestPsns &&
           way.incidents->retransmitted + way.incidents->gaps.skipped != 0;
}

template <class Each> void for_each_group(const FindingPanel& panel, Each each) {
    each(panel.head);
    for (const FindingGroup& group : panel.also) each(group);
}

}  // namespace

std::vector<FrameIndex> ladder_packets(const FindingPanel& panel) {
    const Finding& worst = panel.head.first();
    std::vector<FrameIndex> packets;
    const auto add = [&](const Finding& finding) {
        for (const FrameIndex frame : finding.packets)
            if (packets.size() < kMostLadderPackets && std::ranges::find(packets, frame) == packets.end())
                packets.push_back(frame);
    };
    add(worst);
    for (const FindingGroup& group : panel.also)
        for (const Finding* finding : group.findings)
            if (finding->connection == worst.connection) add(*finding);
    std::ranges::sort(packets);
    return packets;
}

std::int64_t LatencyColumn::percentile(double percent) const {
    if (count == 0) return 0;
    constexpr double kWhole = 100;
    const auto rank = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) * percent / kWhole)));
    std::uint64_t below = 0;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        below += bins[bin];
        if (below >= rank) return std::min(most, series::latency_bin_begin(bin));
    }
    return most;
}

Collector::Collector(const Timeline& timeline, std::vector<ConnectionId> connections)
    : timeline_(timeline), connections_(std::move(connections)), amounts_(kColumns), latencies_(kColumns) {
    for (const Finding& finding : timeline.findings)
        if (wants(finding.connection)) findings_.push_back(&finding);
    panels_ = finding_panels(findings_);
    first_.resize(panels_.size());
    for (std::size_t at = 0; at < panels_.size(); ++at) {
        for_each_group(panels_[at], [&](const FindingGroup& group) {
            for (const Finding* finding : group.findings)
                if (!finding->packets.empty()) events_.push_back({finding->packets.front(), at});
        });
        if (at >= kMostLadders) continue;
        const std::vector<FrameIndex> packets = ladder_packets(panels_[at]);
        wanted_.insert(wanted_.end(), packets.begin(), packets.end());
    }
    std::ranges::sort(events_, {}, [](const Event& event) { return std::pair(event.frame, event.panel); });
    std::ranges::sort(wanted_);
    const auto same = std::ranges::unique(wanted_);
    wanted_.erase(same.begin(), same.end());
    choose_grids();
}

// Of the connections whose packets ladders show; both ends.
void Collector::choose_grids() {
    for (const FindingPanel& panel : panels_) {
        const Finding& finding = panel.head.first();
        const Connection* connection = finding.connection ? timeline_.find(*finding.connection) : nullptr;
        if (connection == nullptr) continue;
        for (const End end : {End::a, End::b}) {
            if (grids_.size() == kMostPsnPictures) return;
            if (!is_eventful(*connection, end)) continue;
            if (std::ranges::any_of(grids_, [&](const PsnGrid& each) {
                    return each.connection == connection->uid && each.requester == end;
                }))
                continue;
            const Way& way = connection->way(end);
            PsnGrid grid{.connection = connection->uid,
                         .requester = end,
                         .first = way.first_psn,
                         .range = 1,
                         .cells = {},
                         .acknowledged = {},
                         .requests = {}};
            const Incidents& had = *way.incidents;
            grid.range = static_cast<std::int64_t>(std::clamp<std::uint64_t>(
                way.requests - had.retransmitted - had.doubled.identified + had.gaps.skipped, 1, Psn::kMask));
            grid.cells.resize(kColumns * kPsnRows);
            grid.acknowledged.assign(kColumns, -1);
            grids_.push_back(std::move(grid));
        }
    }
}

bool Collector::wants(std::optional<ConnectionId> connection) const { return is_wanted(connections_, connection); }

std::uint64_t Collector::connections() const {
    if (connections_.empty()) return timeline_.connections.size() + timeline_.retired.connections;
    return static_cast<std::uint64_t>(
        std::ranges::count_if(timeline_.connections, [&](const Connection& each) { return wants(each.uid); }));
}

bool Collector::wants_text(FrameIndex frame) const { return std::ranges::binary_search(wanted_, frame); }

std::size_t Collector::column_of(Instant time) const {
    if (!timeline_.first || !timeline_.last || *timeline_.last <= *timeline_.first || time <= *timeline_.first)
        return 0;
    const auto all = static_cast<double>(std::to_underlying(*timeline_.last - *timeline_.first));
    const auto at = static_cast<double>(std::to_underlying(time - *timeline_.first));
    return std::min(kColumns - 1, static_cast<std::size_t>(at / all * static_cast<double>(kColumns)));
}

void Collector::take(FrameIndex frame, const PacketRow& row) {
    if (wants_text(frame)) {
        EvidencePacket& packet = evidence_[frame];
        packet.time = row.time();
        packet.timeless = row.has(Mark::timeless);
        packet.retransmission = row.has(Mark::retransmission);
    }
    if (row.has(Mark::timeless)) return;
    for (auto event = std::ranges::lower_bound(events_, frame, {}, &Event::frame);
         event != events_.end() && event->frame == frame; ++event)
        first_[event->panel] = std::min(first_[event->panel].value_or(row.time()), row.time());
    if (!wants(row.connection())) return;
    if (!row.has(Mark::mirror_copy)) amounts_[column_of(row.time())] += series::amount_of(row);
    if (row.kind() != ObservationKind::transport || !row.connection() || row.has(Mark::mirror_copy)) return;
    for (PsnGrid& grid : grids_)
        if (grid.connection == *row.connection()) take(grid, row);
}

void Collector::take(PsnGrid& grid, const PacketRow& row) const {
    const std::size_t column = column_of(row.time());
    const auto row_of = [&](std::int64_t psn) -> std::optional<std::size_t> {
        const std::int64_t up = psn - grid.first;
        if (up < 0 || up >= grid.range) return std::nullopt;
        return static_cast<std::size_t>(up * static_cast<std::int64_t>(kPsnRows) / grid.range);
    };
    if (row.from() == grid.requester) {
        if (!row.arrival()) return;
        const auto at = row_of(grid.requests.take(row.psn()));
        if (at) grid.cells[*at * kColumns + column] |= row.has(Mark::retransmission) ? kAgain : kSent;
        return;
    }
    const auto syndrome = row.syndrome();
    if (!syndrome) return;
    const std::int64_t psn = grid.requests.near(row.psn());
    const auto at = row_of(psn);
    if (!at) return;
    const auto type = static_cast<SyndromeType>(Acknowledgment{*syndrome, {}}.type());
    if (type == SyndromeType::ack) grid.acknowledged[column] = std::max(grid.acknowledged[column], psn - grid.first);
    else if (type != SyndromeType::reserved) grid.cells[*at * kColumns + column] |= kRefused;
}

void Collector::take_text(FrameIndex frame, EvidencePacket packet) {
    if (!wants_text(frame)) return;
    EvidencePacket& kept = evidence_[frame];
    kept.source = std::move(packet.source);
    kept.destination = std::move(packet.destination);
    kept.line = std::move(packet.line);
}

void Collector::take(ConnectionId connection, const Message& message) {
    if (!wants(connection) || message.outcome != Outcome::completed || !message.starts ||
        message.answer_time < message.first_time)
        return;
    LatencyColumn& column = latencies_[column_of(message.answer_time)];
    const std::int64_t took = std::to_underlying(message.answer_time - message.first_time);
    ++column.count;
    column.most = std::max(column.most, took);
    ++column.bins[series::latency_bin(took)];
}

const EvidencePacket* Collector::evidence(FrameIndex frame) const {
    const auto found = evidence_.find(frame);
    return found == evidence_.end() ? nullptr : &found->second;
}

}  // namespace qps::transport::page
