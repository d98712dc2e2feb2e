// Numbers agree: what pictures show of a fact is what tables and packets have of it, of every sample. Pictures of the
// window are made of series over an index; those of the command line are the rows of `timeline`.
#include <dissect/base/types.hpp>
#include <dissect/filter/filter.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/shown_numbers.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/series/congestion_series.hpp>
#include <transport-replay/series/connection_figures.hpp>
#include <transport-replay/series/event_map.hpp>
#include <transport-replay/series/io_graph.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/outstanding.hpp>
#include <transport-replay/series/pause_rows.hpp>
#include <transport-replay/series/psn_series.hpp>
#include <transport-replay/series/run_comparison.hpp>
#include <transport-replay/series/throughput.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

bool is_timed(const PacketRow& row) { return !row.has(Mark::timeless); }

struct Opened {
    std::shared_ptr<CaptureIndex> index;
    Timeline timeline;
    std::optional<series::Range> range;  // nothing: no packet has a time
    bool all_timed = true;
};

Opened open(const std::string& path, const std::string& folder) {
    Indexing indexing{.files = {path}, .jobs = {1}, .spool_folder = folder};
    Opened all;
    for (;;) {
        all.index = std::make_shared<CaptureIndex>();
        Indexed outcome = build_index(*all.index, indexing, {});
        auto again = second_reading(indexing, outcome);
        all.timeline = std::move(outcome.timeline);
        if (!again) break;
        indexing = std::move(*again);
    }
    for (std::uint64_t at = 0; at < all.index->packets.size(); ++at)
        all.all_timed = all.all_timed && is_timed(all.index->packets[at]);
    all.range = series::whole(*all.index);
    return all;
}

// What the rows of packets that have a time add up to, which are those that a picture over time can show.
void show_rows(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    for (const auto* fact : {"packets", "bytes", "events", "marks and notifications"})
        shown.add("rows", of_totals(fact), 0);
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b})
            for (const auto* fact : {"marked", "told by CNPs"}) shown.add("rows", of_way(connection.uid, end, fact), 0);
    for (std::uint64_t at = 0; at < index.packets.size(); ++at) {
        const PacketRow& row = index.packets[at];
        if (!is_timed(row)) continue;
        shown.add("rows", of_totals("packets"), 1);
        shown.add("rows", of_totals("bytes"), row.wire_length());
        shown.add("rows", of_totals("events"), series::event_of(row) == series::EventKind::none ? 0 : 1);
        if (row.has(Mark::mirror_copy)) continue;
        const bool told = series::Scope::notifies(row), marked = !told && row.has(Mark::congestion_experienced);
        shown.add("rows", of_totals("marks and notifications"), (marked ? 1 : 0) + (told ? 1 : 0));
        if (!row.connection()) continue;
        const End way = series::Scope::way_of(row);
        if (marked) shown.add("rows", of_way(*row.connection(), way, "marked"), 1);
        if (told) shown.add("rows", of_way(*row.connection(), way, "told by CNPs"), 1);
    }
}

// Bins of any width, coarse and fine, add up to the same.
void show_graphs(ShownNumbers& shown, const Opened& capture) {
    const auto packets = Filter::compile("frame");
    REQUIRE(packets);
    const std::array lines{series::GraphSeries{*packets, series::Measure::packets, {}},
                           series::GraphSeries{*packets, series::Measure::bytes, {}}};
    for (const Duration width : {Duration{}, capture.range->length()}) {
        const auto graph = series::io_graph(capture.index, capture.index->packets.size(), lines, *capture.range, width);
        REQUIRE(graph);
        std::uint64_t counted = 0;
        double bytes = 0;
        for (const series::GraphBin& bin : graph->lines[0].bins) counted += bin.count;
        for (const series::GraphBin& bin : graph->lines[1].bins) bytes += bin.value;
        shown.show("I/O graph", of_totals("packets"), counted);
        shown.show("I/O graph, as it says", of_totals("packets"), graph->lines[0].packets);
        shown.show("I/O graph", of_totals("bytes"), bytes);
    }
}

void show_maps(ShownNumbers& shown, const Opened& capture) {
    for (const std::size_t slots : {1U, 7U, 640U}) {
        const auto by_time = series::events_by_time(*capture.index, *capture.range, nullptr, slots);
        const auto by_place = series::events_by_place(*capture.index, nullptr, slots);
        REQUIRE((by_time && by_place));
        std::uint64_t events = 0, bytes = 0, timed_by_place = 0;
        for (const series::EventSlot& slot : *by_time) {
            events += slot.events;
            bytes += slot.bytes;
        }
        for (const series::EventSlot& slot : *by_place) timed_by_place += slot.events;
        shown.show("map by time", of_totals("events"), events);
        shown.show("map by time", of_totals("bytes"), bytes);
        if (capture.all_timed) shown.show("map by place", of_totals("events"), timed_by_place);
    }
}

void show_congestion(ShownNumbers& shown, const Opened& capture) {
    const auto congestion = series::congestion_series(*capture.index, {}, *capture.range);
    REQUIRE(congestion);
    const std::string_view name = "congestion";
    const std::size_t all = congestion->marks.size() + congestion->notifications.size();
    shown.show(name, of_totals("marks and notifications"), all);
    if (congestion->hits_left_out != 0) return;
    std::uint64_t hits = congestion->unnamed;
    for (const Connection& connection : capture.timeline.connections)
        for (const End end : {End::a, End::b})
            for (const auto* fact : {"marked", "told by CNPs"}) shown.add(name, of_way(connection.uid, end, fact), 0);
    for (const series::HitWay& way : congestion->hits) {
        shown.add(name, of_way(way.connection, way.from, "marked"), way.marked);
        shown.add(name, of_way(way.connection, way.from, "told by CNPs"), way.cnps);
        hits += way.all();
    }
    shown.show("ways that congestion hit", of_totals("marks and notifications"), hits);
}

// A step up for each message that begins and one down for each that ends: nothing is outstanding at the end, and never
// more than the connection's own column says.
void show_outstanding(ShownNumbers& shown, const Opened& capture, const ConnectionTimes& times) {
    for (const Connection& connection : capture.timeline.connections) {
        if (times.find(connection.uid) == nullptr) continue;
        for (const End end : {End::a, End::b}) {
            series::Scope scope;
            scope.add(connection.uid, end);
            const auto steps = series::outstanding(*capture.index, capture.timeline, scope);
            REQUIRE(steps);
            const std::string left = of_way(connection.uid, end, "outstanding at the end");
            shown.show("outstanding", left, steps->empty() ? 0 : steps->messages.back().y);
            shown.show("outstanding bytes", left, steps->empty() ? 0 : steps->bytes.back().y);
            shown.show("nobody", left, 0);
        }
    }
}

// Each connection's own pictures: throughput of its packets, latencies, PSN over time.
void show_connections(ShownNumbers& shown, const Opened& capture, const ConnectionTimes& times) {
    for (const Connection& connection : capture.timeline.connections)
        for (const End end : {End::a, End::b}) {
            series::Scope scope;
            scope.add(connection.uid, end);
            const auto points = series::latencies(*capture.index, scope);
            REQUIRE(points);
            const auto* const of_times = times.find(connection.uid);
            if (of_times != nullptr && capture.all_timed) {
                const WayTimes& told = (*of_times)[static_cast<std::size_t>(end)];
                const std::string count = of_way(connection.uid, end, "latencies");
                shown.show("latencies", count, points->size());
                shown.show("connections", count, told.latencies.count());
                if (!points->empty()) {
                    const std::string most = of_way(connection.uid, end, "longest latency");
                    shown.show("latencies", most, std::ranges::max(*points, {}, &series::LatencyPoint::y).y);
                    shown.show("latencies, summed up", most, series::distribution(*points).most);
                    shown.show("connections", most, told.most);
                }
            }
            if (connection.service == Service::iwarp || connection.service == Service::uet) continue;
            const auto psns = series::psn_series(*capture.index, capture.timeline, connection.uid, end);
            REQUIRE(psns);
            const auto answers = [&](std::string_view fact) { return of_way(connection.uid, other(end), fact); };
            using enum series::PsnMark;
            const Incidents& had = *connection.way(other(end)).incidents;
            shown.show("PSN over time", answers("sequence_naks"), psns->of(sequence_nak).size());
            shown.show("PSN over time", answers("rnr_naks"), psns->of(rnr_nak).size());
            shown.show("PSN over time", answers("fatal_naks"), psns->of(fatal_nak).size());
            shown.show("connections", answers("sequence_naks"), had.sequence_naks);
            shown.show("connections", answers("rnr_naks"), had.rnr_naks);
            shown.show("connections", answers("fatal_naks"), had.fatal_naks);
        }
}

// What "Before and after" has of a run, against the connections that it is of.
void show_run(ShownNumbers& shown, const Opened& capture) {
    const auto run = series::run_of(*capture.index, capture.timeline, MemoryBudget{});
    REQUIRE(run);
    const std::string_view name = "before and after";
    shown.show(name, "packets of the run", run->packets);
    shown.show("timeline", "packets of the run", capture.timeline.packets);
    shown.show(name, "connections of the run", run->connections);
    shown.show("timeline", "connections of the run", capture.timeline.connections.size());
    std::uint64_t lost = 0;
    Duration stalled{};
    for (const Connection& connection : capture.timeline.connections)
        for (const End end : {End::a, End::b}) {
            lost += losses_of(connection.way(end)).lost();
            for (std::size_t kind = 0; kind < kRecoveryKindNames.size(); ++kind)
                stalled += connection.way(end).incidents->recovery(static_cast<RecoveryKind>(kind)).lost;
        }
    shown.show(name, "lost in the run", run->lost);
    shown.show("connections", "lost in the run", lost);
    shown.show(name, "stalled in the run", run->stalled);
    shown.show("connections", "stalled in the run", stalled);
    std::uint64_t findings = 0;
    for (const auto& [id, finding] : run->findings) findings += finding.findings;
    shown.show(name, "findings of the run", findings);
    shown.show("timeline", "findings of the run", capture.timeline.findings.size());
}

// A row of pauses has as many XOFF and XON frames as it draws, and as its sums say.
void show_pauses(ShownNumbers& shown, const Opened& capture) {
    const auto pauses = series::pause_rows(*capture.index, capture.timeline);
    REQUIRE(pauses);
    if (pauses->frames_unread != 0) return;
    std::size_t number = 0;
    for (const series::PauseRow& row : pauses->rows) {
        const std::string of = fmt::format("pauses in row {}: ", ++number);
        shown.show("picture", of + "XOFF", row.stops.size());
        shown.show("sums", of + "XOFF", row.summary.stops);
        shown.show("picture", of + "XON", row.resumes.size());
        shown.show("sums", of + "XON", row.summary.resumes);
    }
}

}  // namespace

TEST_CASE("what a picture shows of a fact is the number that tables and packets have") {
    const qps::test::TemporaryFolder folder;
    std::size_t compared = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        const Opened capture = open(path, folder.path());
        if (!capture.range) continue;
        const auto times = series::connection_times(*capture.index, MemoryBudget{});
        REQUIRE(times);
        ShownNumbers shown;
        show_rows(shown, *capture.index, capture.timeline);
        show_graphs(shown, capture);
        show_maps(shown, capture);
        show_congestion(shown, capture);
        show_outstanding(shown, capture, *times);
        show_connections(shown, capture, *times);
        show_run(shown, capture);
        show_pauses(shown, capture);
        std::string differences;
        compared += shown.compare(differences);
        INFO(differences);
        CHECK(differences.empty());
    }
    CHECK(compared > 3000);
}
