#include <dissect/base/packet.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/pause_rows.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace qps::transport::series {

using namespace dissect;

namespace {

constexpr std::uint8_t kPriorities = 8;

using RowKey = std::tuple<InterfaceId, std::uint8_t, std::uint64_t>;  // interface, priority, MAC address
RowKey key_of(const PauseSummary& pause) { return {pause.interface, pause.priority, pause.sender.bits[1]}; }

// A frame of the capture again, as the analysis saw it; nothing where it is gone.
class FrameReading {
public:
    explicit FrameReading(const CaptureIndex& index) : index_(index) {}
    [[nodiscard]] const Observation* read(FrameIndex number) {
        const auto frame = number == FrameIndex{} ? std::nullopt : index_.frame(number, buffer_);
        if (!frame) return nullptr;
        decode(*frame, packet_);
        seen_ = {};
        observe(packet_, seen_);
        return &seen_;
    }

private:
    const CaptureIndex& index_;
    FrameBuffer buffer_;
    Packet packet_;
    Observation seen_;
};

class PauseGathering {
public:
    PauseGathering(const CaptureIndex& index, const Timeline& timeline)
        : index_(index), timeline_(timeline), reading_(index) {
        for (const PauseSummary& pause : timeline.congestion.pauses) {
            if (made_.rows.size() == kMostPauseRows) {
                ++made_.rows_left_out;
                continue;
            }
            places_[key_of(pause)] = made_.rows.size();
            made_.rows.push_back({pause, {}, {}, {}, {}});
        }
        for (const PausePeriod& period : timeline.congestion.periods)
            if (PauseRow* row = row_of({period.interface, period.priority, period.sender.bits[1]}))
                row->periods.push_back(period);
        for (PauseRow& row : made_.rows) std::ranges::stable_sort(row.periods, {}, &PausePeriod::start);
    }

    [[nodiscard]] bool empty() const { return made_.rows.empty(); }

    void take(const PacketRow& row, FrameIndex frame) {
        if ((row.kind() != ObservationKind::pause && row.kind() != ObservationKind::pfc) || row.has(Mark::timeless))
            return;
        const Observation* seen = ++frames_ > kMostPauseFrames ? nullptr : reading_.read(frame);
        if (seen == nullptr) {
            ++made_.frames_unread;
            return;
        }
        const Bytes said = seen->payload;
        if (row.kind() == ObservationKind::pause) return add(*seen, kWholeLink, read_be<std::uint16_t>(said, 0), frame);
        const auto enabled = read_be<std::uint8_t>(said, 1);  // IEEE 802.1Q 36.2, its class-enable vector
        for (std::uint8_t priority = 0; priority < kPriorities; ++priority)
            if ((enabled >> priority & 1U) != 0)
                add(*seen, priority, read_be<std::uint16_t>(said, 2 + std::size_t{2} * priority), frame);
    }

    bool find_ways(const Stop& stop) {
        std::size_t ways = 0;
        for (const Connection& connection : timeline_.connections) {
            if (stopped(stop)) return false;
            for (const End end : {End::a, End::b}) take_way(connection, end, ways);
        }
        for (PauseRow& row : made_.rows) keep_sure_ones(row);
        return true;
    }

    PauseRows finish() { return std::move(made_); }

private:
    PauseRow* row_of(const RowKey& key) {
        const auto found = places_.find(key);
        return found == places_.end() ? nullptr : &made_.rows[found->second];
    }

    void add(const Observation& seen, std::uint8_t priority, std::uint16_t quanta, FrameIndex frame) {
        PauseRow* row = row_of({seen.interface, priority, seen.flow.source.bits[1]});
        if (row == nullptr) return;
        (quanta == 0 ? row->resumes : row->stops).push_back({index_.row(frame).time(), quanta, frame});
    }

    // By its first packet: a way keeps its path, as a rule.
    void take_way(const Connection& connection, End end, std::size_t& read) {
        const Way& way = connection.way(end);
        if (way.packets == 0) return;
        const auto touched = [&](const PauseRow& row) {
            return std::ranges::any_of(row.periods,
                                       [&](const PausePeriod& pause) { return hit_by(pause, way) != PauseHit::no; });
        };
        if (std::ranges::none_of(made_.rows, touched)) return;
        const Observation* first = ++read > kMostPausedWays ? nullptr : reading_.read(way.first_frame);
        if (first == nullptr) {
            ++made_.ways_unread;
            return;
        }
        for (PauseRow& row : made_.rows) {
            if (first->interface != row.summary.interface || !touched(row)) continue;
            const bool to_it = first->link_destination == row.summary.sender.bits[1];
            if (to_it) told_.insert(key_of(row.summary));
            const bool tagged = std::ranges::any_of(
                row.periods, [&](const PausePeriod& pause) { return hit_by(pause, way) == PauseHit::yes; });
            row.ways.push_back(
                {connection.uid, end, to_it && tagged ? PauseHit::yes : PauseHit::perhaps, way.all_bytes()});
            if (to_it) to_it_.emplace(key_of(row.summary), connection.uid, end);
        }
    }

    // Where packets to the sender are in the capture the others go another way.
    void keep_sure_ones(PauseRow& row) {
        const RowKey key = key_of(row.summary);
        if (told_.contains(key))
            std::erase_if(row.ways, [&](const PausedWay& way) {
                return !to_it_.contains(std::tuple(key, way.connection, way.from));
            });
        std::ranges::stable_sort(row.ways, std::greater{},
                                 [](const PausedWay& way) { return std::tuple(way.hit == PauseHit::yes, way.bytes); });
    }

    const CaptureIndex& index_;
    const Timeline& timeline_;
    FrameReading reading_;
    std::map<RowKey, std::size_t> places_;
    std::set<RowKey> told_;  // whose own address is the destination of some packets
    std::set<std::tuple<RowKey, ConnectionId, End>> to_it_;
    std::size_t frames_ = 0;
    PauseRows made_;
};

}  // namespace

std::optional<PauseRows> pause_rows(const CaptureIndex& index, const Timeline& timeline, const Stop& stop) {
    PauseGathering gathering(index, timeline);
    if (gathering.empty()) return PauseRows{};
    const auto take = [&](const PacketRow& row, std::uint64_t at) { gathering.take(row, frame_at(at)); };
    if (!scan(index.packets, 0, index.packets.size(), stop, take) || !gathering.find_ways(stop)) return std::nullopt;
    return gathering.finish();
}

}  // namespace qps::transport::series
