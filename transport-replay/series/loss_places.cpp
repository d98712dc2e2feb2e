#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/series/loss_places.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace qps::transport::series {

namespace {

using Pair = std::pair<Address, Address>;

// Adds what happened to the packets of one way; its harm, to find the worst connection.
std::uint64_t add_way(LossRow& row, const Way& way) {
    const Losses losses = losses_of(way);
    const Incidents& had = *way.incidents;
    row.packets += way.all_packets();
    row.before_tap.lost += losses.before_tap();
    row.before_tap.corrupt += had.corrupt;
    row.before_tap.reordered += had.gaps.reordered + had.response_gaps.reordered;
    row.before_tap.marked += had.congestion_experienced;
    row.behind_tap.lost += losses.requests_behind_tap;
    row.behind_tap.reordered += had.ordering->naks_of(NakCause::late_behind_tap);
    const std::uint64_t undecided =
        had.gaps.undecided + had.response_gaps.undecided + had.ordering->naks_of(NakCause::undecided);
    row.undecided += undecided;
    row.by_capture += losses.by_capture;
    return losses.lost() + undecided + had.corrupt;
}

// Where a request was lost that two taps tell of, and of a timer's wait for an answer its answer: that goes the other
// way.
void add_between(std::map<Pair, LossRow>& rows, const Timeline& timeline) {
    for (const Recovery& recovery : timeline.recoveries) {
        if (recovery.passed == HostNumber{} || recovery.missed == HostNumber{}) continue;
        const Connection* of = timeline.find(recovery.connection);
        if (of == nullptr) continue;
        const End from = recovery.missed_answer ? other(recovery.requester) : recovery.requester;
        const auto row = rows.find({of->end(from).address, of->end(other(from)).address});
        if (row == rows.end()) continue;
        auto& between = row->second.between;
        const auto same = std::ranges::find_if(between, [&](const BetweenTaps& one) {
            return one.passed == recovery.passed && one.missed == recovery.missed;
        });
        if (same != between.end()) same->packets += std::max(1U, recovery.lost);
        else between.push_back({recovery.passed, recovery.missed, std::max(1U, recovery.lost)});
    }
}

}  // namespace

LossPlaces loss_places(const Timeline& timeline) {
    std::map<Pair, LossRow> rows;
    std::map<Pair, std::uint64_t> worst;
    for (const Connection& connection : timeline.connections)
        for (const End from : {End::a, End::b}) {
            const Way& way = connection.way(from);
            if (way.packets == 0) continue;
            const Pair pair{connection.end(from).address, connection.end(other(from)).address};
            LossRow& row = rows[pair];
            std::tie(row.from, row.to) = pair;
            ++row.connections;
            const std::uint64_t harm = add_way(row, way);
            if (std::uint64_t& most = worst[pair]; row.worst == ConnectionId{} || harm > most) {
                most = harm;
                row.worst = connection.uid;
            }
        }
    add_between(rows, timeline);
    LossPlaces places;
    for (auto& [pair, row] : rows) {
        if (row.any()) places.rows.push_back(std::move(row));
        else ++places.quiet;
    }
    std::ranges::stable_sort(places.rows, std::greater{}, [](const LossRow& row) {
        return std::tuple(row.harm(), row.before_tap.marked + row.before_tap.reordered + row.behind_tap.reordered);
    });
    if (places.rows.size() > kMostLossRows) {
        places.left_out = places.rows.size() - kMostLossRows;
        places.rows.resize(kMostLossRows);
    }
    return places;
}

}  // namespace qps::transport::series
