// Conclusions on congestion: marks, CNPs, and who is told to slow down.
#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

// The data that CNPs of a stream answer. Pairs are sorted: there may be many of both.
const PairCongestion* pair_of(const CongestionReport& report, const CnpStream& stream) {
    const auto hosts = [](const PairCongestion& pair) { return std::pair(pair.source, pair.destination); };
    const auto wanted = std::pair(stream.flow.destination, stream.flow.source);
    const auto found = std::ranges::lower_bound(report.pairs, wanted, {}, hosts);
    return found == report.pairs.end() || hosts(*found) != wanted ? nullptr : &*found;
}

// A mark may be made behind the tap; where the tap sees marks at all, CNPs beyond them have no cause.
void check_counts(const CongestionReport& report, Tallies& tallies) {
    std::vector<FrameIndex> first(report.pairs.size());  // CNP of each
    for (const CnpStream& stream : report.notifications)
        if (const PairCongestion* pair = pair_of(report, stream)) {
            FrameIndex& frame = first[static_cast<std::size_t>(pair - report.pairs.data())];
            frame = frame == FrameIndex{} ? stream.first_frame : std::min(frame, stream.first_frame);
        }
    for (std::size_t i = 0; i < report.pairs.size(); ++i) {
        const PairCongestion& pair = report.pairs[i];
        tallies.about(pair.destination);
        tallies.look(Passive::cnp_03, pair.notifications);
        if (pair.notifications <= pair.marked) continue;
        const std::uint64_t beyond = pair.notifications - pair.marked;
        if (pair.marked != 0) tallies.fail(Passive::cnp_03, first[i]);
        else tallies.doubt(Passive::cnp_03, first[i]);
        if (pair.marked != 0) tallies.fail_more(Passive::cnp_03, beyond - 1);
        else tallies.doubt_more(Passive::cnp_03, beyond - 1);
    }
}

// CNPs within the deadline after a mark are its answer; the others come late, where the tap sees the marks.
void check_delays(const CongestionReport& report, Tallies& tallies) {
    for (const CnpStream& stream : report.notifications) {
        const PairCongestion* pair = pair_of(report, stream);
        if (pair == nullptr || pair->marked == 0) continue;
        tallies.about(stream.flow.source);
        tallies.look(Passive::cnp_10, stream.count);
        if (!tallies.counts() || 2 * stream.without_mark <= stream.count) continue;
        tallies.fail(Passive::cnp_10, stream.first_frame);
        const auto median = stream.delays.median();
        tallies[Passive::cnp_10].words =
            fmt::format("{} of {} came later than {} after the last mark{}", grouped(stream.without_mark),
                        counted(stream.count, "CNP"), duration_text(kCnpDeadline),
                        median ? fmt::format("; half of the others within {}", duration_text(*median)) : "");
    }
}

// Whose queue pair is slowed down by CNPs takes part in ECN.
void check_capable(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies) {
    for_each_watched(timeline.connections, watched, [&](const Connection& connection, const WatchedConnection& watch) {
        for (const End end : {End::a, End::b}) {
            const WatchedEnd& state = watch.end(end);
            if (state.data == 0 || connection.way(other(end)).incidents->cnps == 0) continue;
            tallies.about(connection.end(end).address);
            tallies.look(Passive::cnp_08, state.data);
            if (state.not_capable == 0) continue;
            tallies.fail(Passive::cnp_08, state.not_capable_frame);
            tallies.fail_more(Passive::cnp_08, state.not_capable - 1);
        }
    });
}

}  // namespace

void conclude_congestion(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies) {
    check_counts(timeline.congestion, tallies);
    check_delays(timeline.congestion, tallies);
    check_capable(timeline, watched, tallies);
}

}  // namespace qps::transport::conformance
