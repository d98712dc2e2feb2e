// Numbers agree: what two outputs show of one fact is one number, of every sample, and of what is left of it where its
// beginning, one of its directions or the ends of its packets are missing.
#include <cli/intervals.hpp>
#include <dissect/base/types.hpp>
#include <dissect/capture/writer.hpp>
#include <dissect/headers/infiniband.hpp>
#include <tests/support/sample_captures.hpp>
#include <tests/support/shown_numbers.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/series/connection_figures.hpp>
#include <transport-replay/series/host_matrix.hpp>
#include <transport-replay/series/latency.hpp>
#include <transport-replay/series/psn_series.hpp>
#include <transport-replay/series/statistics.hpp>
#include <transport-replay/series/throughput.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::tests;
using namespace qps::transport;

namespace {

// A capture, read as the window does and as commands do.
struct Read {
    std::shared_ptr<CaptureIndex> index;
    Timeline timeline;
    qps::cli::Interval interval;                           // all of it
    std::map<ConnectionId, qps::cli::Interval> intervals;  // by connection
};

Read read(const std::string& path, const std::string& folder) {
    Indexing indexing{.files = {path}, .jobs = {1}, .spool_folder = folder};
    Read all;
    for (;;) {
        all.index = std::make_shared<CaptureIndex>();
        Indexed outcome = build_index(*all.index, indexing, {});
        auto again = second_reading(indexing, outcome);
        all.timeline = std::move(outcome.timeline);
        if (!again) break;
        indexing = std::move(*again);
    }
    Analysis analysis({.traits = indexing.traits});
    Observation observation;
    qps::tests::for_each_packet(path, [&](const Packet& packet) {
        observe(packet, observation);
        PacketRecord record = analysis.observe(observation);
        count_packet(all.interval, observation, record);
        if (!record.connection) return;
        all.timeline.numbers.settle(*record.connection, record.from);
        count_packet(all.intervals[*record.connection], observation, record);
    });
    return all;
}

// What `connections` lists and the database has; `analyze` adds the same up.
void show_connections(ShownNumbers& shown, const Timeline& timeline, const ConnectionTimes& times) {
    for (const Connection& connection : timeline.connections) {
        const ConnectionRow row{connection, false, {}, nullptr, times.find(connection.uid), &timeline.congestion};
        for (const auto& column : connection_columns()) {
            if (column.name.empty()) continue;
            const Cell cell = column.value(row);
            if (const auto* number = std::get_if<std::uint64_t>(&cell))
                shown.show("connections", of_connection(connection.uid, column.name), *number);
            if (const auto* number = std::get_if<std::int64_t>(&cell))
                shown.show("connections", of_connection(connection.uid, column.name), *number);
        }
    }
}

// What the lists add up to.
void show_sums(ShownNumbers& shown, const Timeline& timeline, const ConnectionTimes& times) {
    const std::string_view sums = "sums";
    for (const auto* fact : {"retransmitted_packets", "sequence_naks", "rnr_naks", "fatal_naks", "acks", "timeouts"})
        shown.add(sums, of_totals(fact), 0);
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Incidents& had = *way.incidents;
            shown.add(sums, of_totals("retransmitted_packets"), had.retransmitted);
            shown.add(sums, of_totals("sequence_naks"), had.sequence_naks);
            shown.add(sums, of_totals("rnr_naks"), had.rnr_naks);
            shown.add(sums, of_totals("fatal_naks"), had.fatal_naks);
            shown.add(sums, of_totals("acks"), way.acks);
            shown.add(sums, of_totals("timeouts"), connection.timeouts(end));
            shown.add(sums, of_connection(connection.uid, "acks"), way.acks);
            const auto* of_connection_times = times.find(connection.uid);
            if (of_connection_times == nullptr) continue;
            const WayTimes& told = (*of_connection_times)[static_cast<std::size_t>(end)];
            if (told.latencies.count() != 0) shown.show(sums, of_way(connection.uid, end, "latency"), told.most);
        }
}

void show_json(ShownNumbers& shown, const Timeline& timeline) {
    std::string text;
    write_report(timeline, OutputFormat::json, {}, {}, [&](std::string_view piece) { text += piece; });
    const nlohmann::json report = nlohmann::json::parse(text);
    for (const auto* fact : {"packets", "bytes"})
        shown.show("JSON", of_totals(fact), report["capture"][fact].get<std::int64_t>());
    for (const auto& [name, number] : report["totals"].items())
        shown.show("JSON", of_totals(name), number.get<std::int64_t>());
    shown.show(
        "JSON", of_totals("sequence and fatal NAKs"),
        report["totals"]["sequence_naks"].get<std::int64_t>() + report["totals"]["fatal_naks"].get<std::int64_t>());
    shown.add("JSON", of_totals("latencies"), 0);
    for (const auto& [kind, number] : report["messages"].items())
        shown.show("JSON", of_totals("messages " + kind), number.get<std::int64_t>());
    for (const nlohmann::json& connection : report["connections"]) {
        const ConnectionId uid{connection["uid"].get<std::uint32_t>()};
        for (const auto& [name, value] : connection.items())
            if (value.is_number_integer()) shown.show("JSON", of_connection(uid, name), value.get<std::int64_t>());
        for (const End end : {End::a, End::b})
            for (const auto& [name, value] : connection["directions"][static_cast<std::size_t>(end)].items()) {
                if (value.is_number_integer()) shown.show("JSON", of_way(uid, end, name), value.get<std::int64_t>());
                if (name == "messages")
                    for (const auto& [kind, number] : value.items())
                        shown.show("JSON", of_way(uid, end, "messages " + kind), number.get<std::int64_t>());
                if (name == "latency") shown.add("JSON", of_totals("latencies"), value["count"].get<std::int64_t>());
                if (name == "latency")
                    shown.show("JSON", of_way(uid, end, "latency"), value["max_ns"].get<std::int64_t>());
                if (name == "gaps" || name == "response_gaps") {
                    const auto count = [&](const char* of) { return value.value(of, std::int64_t{0}); };
                    shown.add("JSON", of_connection(uid, "lost_by_network"), count("network") + count("again"));
                    shown.add("JSON", of_connection(uid, "lost_by_tap"), count("tap"));
                }
                if (name == "recoveries")
                    for (const auto& [kind, sum] : value.items())
                        for (const auto* fact : {"triggers", "resent_packets", "stalled_ns", "wait_ns"})
                            shown.show("JSON", of_way(uid, end, kind + " " + fact), sum[fact].get<std::int64_t>());
            }
    }
    shown.show("JSON", "findings", report["findings"].size());
}

// What an answer is by its opcode and its syndrome.
std::optional<std::string_view> answer_of(const PacketRow& row) {
    if (row.icrc() == CrcStatus::bad) return std::nullopt;
    const Verb verb = info(row.opcode()).verb;
    if (verb == Verb::read_response) return "read_responses";
    if (verb == Verb::atomic_acknowledge) return "atomic_responses";
    if (verb != Verb::acknowledge || !row.syndrome()) return std::nullopt;
    const Acknowledgment answer{*row.syndrome(), {}};
    switch (static_cast<SyndromeType>(answer.type())) {
        case SyndromeType::ack: return "acks";
        case SyndromeType::rnr_nak: return "rnr_naks";
        case SyndromeType::nak: return answer.code() == 0 ? "sequence_naks" : "fatal_naks";
        case SyndromeType::reserved: break;
    }
    return std::nullopt;
}

// Rows have the packets of all connections; only those of InfiniBand's transport say what answers are.
bool shows_answers(const Connection& connection) {
    return connection.service != Service::iwarp && connection.service != Service::uet;
}

// What the rows of the window say of packets, by their marks.
void show_packets(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    const std::string_view rows = "rows";
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            for (const auto* fact : {"packets", "bytes", "retransmitted", "duplicated"})
                shown.add(rows, of_way(connection.uid, end, fact), 0);
            if (!shows_answers(connection)) continue;
            for (const auto* fact : {"acks", "rnr_naks", "sequence_naks", "fatal_naks", "read_responses",
                                     "atomic_responses", "cnps", "ce_marked"})
                shown.add(rows, of_way(connection.uid, end, fact), 0);
        }
    for (const auto* fact : {"retransmitted_packets", "duplicated_packets"}) shown.add(rows, of_totals(fact), 0);
    for (std::uint64_t at = 0; at < index.packets.size(); ++at) {
        const PacketRow& row = index.packets[at];
        shown.add(rows, of_totals("packets"), 1);
        shown.add(rows, of_totals("bytes"), row.wire_length());
        const bool again = row.has(Mark::retransmission), doubled = row.has(Mark::duplicated);
        if (again) shown.add(rows, of_totals(doubled ? "duplicated_packets" : "retransmitted_packets"), 1);
        const auto connection = row.connection();
        if (!connection || row.has(Mark::mirror_copy)) continue;
        const auto way = [&](std::string_view fact) { return of_way(*connection, row.from(), fact); };
        shown.add(rows, of_connection(*connection, "packets"), 1);
        shown.add(rows, of_connection(*connection, "bytes"), row.wire_length());
        shown.add(rows, way("packets"), 1);
        shown.add(rows, way("bytes"), row.wire_length());
        if (again) shown.add(rows, way(doubled ? "duplicated" : "retransmitted"), 1);
        if (row.kind() != ObservationKind::transport) continue;
        if (again && row.icrc() != CrcStatus::bad) shown.add(rows, way("retransmissions that were drawn"), 1);
        if (info(row.opcode()).verb == Verb::notify) shown.add(rows, way("cnps"), 1);
        if (row.has(Mark::congestion_experienced)) shown.add(rows, way("ce_marked"), 1);
        if (const auto answer = answer_of(row)) shown.add(rows, way(*answer), 1);
    }
}

// And of messages, by their outcomes.
void show_messages(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    const std::string_view rows = "rows";
    shown.add(rows, of_totals("message_bytes"), 0);
    for (const Connection& connection : timeline.connections) {
        shown.add(rows, of_connection(connection.uid, "messages"), 0);
        for (const End end : {End::a, End::b}) {
            for (const auto* fact : {"message_bytes", "open", "completed", "failed", "abandoned"})
                shown.add(rows, of_way(connection.uid, end, fact), 0);
            for (const std::string_view kind : kMessageKindNames)
                shown.add(rows, of_way(connection.uid, end, fmt::format("messages {}", kind)), 0);
        }
    }
    for (std::uint64_t at = 0; at < index.messages.size(); ++at) {
        const MessageRow& row = index.messages[at];
        const std::string kind = "messages " + std::string(kMessageKindNames[static_cast<std::size_t>(row.kind())]);
        shown.add(rows, of_totals(kind), 1);
        shown.add(rows, of_totals("message_bytes"), row.bytes());
        shown.add(rows, of_connection(row.connection(), "messages"), 1);
        const auto way = [&](std::string_view fact) { return of_way(row.connection(), row.requester(), fact); };
        shown.add(rows, way(kind), 1);
        shown.add(rows, way("message_bytes"), row.bytes());
        switch (row.outcome()) {
            case Outcome::open: shown.add(rows, way("open"), 1); break;
            case Outcome::completed:
            case Outcome::sent: shown.add(rows, way("completed"), 1); break;
            case Outcome::failed: shown.add(rows, way("failed"), 1); break;
            case Outcome::abandoned:
            case Outcome::gave_up: shown.add(rows, way("abandoned"), 1); break;
        }
    }
}

// No row has a number that no connection has, and there is no hole among the numbers.
void show_numbers(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    std::set<ConnectionId> nobody;
    for (std::uint64_t at = 0; at < index.packets.size(); ++at)
        if (const auto connection = index.packets[at].connection(); connection && timeline.find(*connection) == nullptr)
            nobody.insert(*connection);
    for (std::uint64_t at = 0; at < index.messages.size(); ++at)
        if (timeline.find(index.messages[at].connection()) == nullptr) nobody.insert(index.messages[at].connection());
    std::uint32_t number = 0;
    for (const Connection& connection : timeline.connections) {
        const std::string of = fmt::format("number of the connection in place {}", ++number);
        shown.show("connections", of, connection.uid);
        if (timeline.retired.connections == 0) shown.show("places", of, number);
    }
    shown.show("rows", "connections that are not there", nobody.size());
    shown.show("connections", "connections that are not there", 0);
}

// What `timeline` counts, and the table of intervals in the database.
void show_intervals(ShownNumbers& shown, const Read& capture) {
    const std::string_view name = "timeline";
    const auto show = [&](const qps::cli::Interval& all, const auto& fact) {
        shown.show(name, fact("packets"), all.packets);
        shown.show(name, fact("bytes"), all.bytes);
        shown.show(name, fact("retransmitted_packets"), all.retransmitted);
        shown.show(name, fact("sequence_naks"), all.sequence_naks);
        shown.show(name, fact("rnr_naks"), all.rnr_naks);
        shown.show(name, fact("fatal_naks"), all.fatal_naks);
        shown.show(name, fact("ce_marked"), all.ce_marked);
        shown.show(name, fact("cnps"), all.cnps);
    };
    show(capture.interval, [](std::string_view fact) { return of_totals(fact); });
    for (const auto& [connection, all] : capture.intervals)
        show(all, [&](std::string_view fact) { return of_connection(connection, fact); });
}

// What `connections --by-host` and Hosts show, against the connections that it is of.
void show_hosts(ShownNumbers& shown, const Timeline& timeline, const ConnectionTimes& times) {
    const series::HostMatrix matrix(timeline, times);
    const auto fact = [](const Address& from, const Address& to, std::string_view what) {
        return fmt::format("from {} to {} {}", text(from), text(to), what);
    };
    for (const series::HostPair& pair : matrix.pairs()) {
        const Address &from = matrix.hosts()[pair.from], &to = matrix.hosts()[pair.to];
        shown.show("hosts", fact(from, to, "bytes"), pair.bytes);
        shown.show("hosts", fact(from, to, "lost"), pair.lost);
        shown.show("hosts", fact(from, to, "stalled_ns"), pair.stalled);
    }
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            if (way.all_packets() == 0) continue;
            const Address &from = connection.end(end).address, &to = connection.end(other(end)).address;
            shown.add("connections", fact(from, to, "bytes"), way.all_bytes());
            shown.add("connections", fact(from, to, "lost"), losses_of(way).lost());
            Duration stalled{};
            for (std::size_t kind = 0; kind < kRecoveryKindNames.size(); ++kind)
                stalled += way.incidents->recovery(static_cast<RecoveryKind>(kind)).lost;
            shown.add("connections", fact(from, to, "stalled_ns"), stalled);
        }
}

// Episodes one by one, as bands, brackets and tables show them.
void show_episodes(ShownNumbers& shown, const Timeline& timeline) {
    const std::string_view name = "episodes";
    if (timeline.left_out.recoveries != 0) return;
    for (const Connection& connection : timeline.connections) {
        shown.add(name, of_connection(connection.uid, "stalled_ns"), 0);
        for (const std::string_view kind : kRecoveryKindNames)
            shown.add(name, of_connection(connection.uid, fmt::format("stalled_{}_ns", kind)), 0);
    }
    for (const Recovery& one : timeline.recoveries) {
        const std::string kind(kRecoveryKindNames[static_cast<std::size_t>(one.kind)]);
        const auto way = [&](std::string_view fact) {
            return of_way(one.connection, one.requester, fmt::format("{} {}", kind, fact));
        };
        shown.add(name, way("triggers"), one.triggers);
        shown.add(name, way("resent_packets"), one.resent);
        shown.add(name, way("stalled_ns"), one.lost_time());
        shown.add(name, way("wait_ns"), one.waited);
        shown.add(name, of_connection(one.connection, "stalled_ns"), one.lost_time());
        shown.add(name, of_connection(one.connection, fmt::format("stalled_{}_ns", kind)), one.lost_time());
    }
}

// Marks and waits of PSN over time, of the first connections.
void show_pictures(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    constexpr std::size_t kMostShown = 4;
    const std::string_view picture = "picture";
    for (const Connection& connection : timeline.connections | std::views::take(kMostShown))
        for (const End end : {End::a, End::b}) {
            if (!shows_answers(connection)) continue;
            const auto series = series::psn_series(index, timeline, connection.uid, end);
            REQUIRE(series);
            using enum series::PsnMark;
            const auto answers = [&](std::string_view fact) { return of_way(connection.uid, other(end), fact); };
            shown.show(picture, answers("sequence_naks"), series->of(sequence_nak).size());
            shown.show(picture, answers("rnr_naks"), series->of(rnr_nak).size());
            shown.show(picture, answers("fatal_naks"), series->of(fatal_nak).size());
            // Those whose ICRC is wrong are not in it.
            const std::string again = of_way(connection.uid, end, "retransmissions that were drawn");
            shown.show(picture, again, series->of(retransmission).size());
            shown.add("rows", again, 0);
            Duration waits{};
            for (const series::PsnWait& wait : series->waits) waits += wait.to - wait.from;
            Duration stalled{};
            for (std::size_t kind = 0; kind < kRecoveryKindNames.size(); ++kind)
                stalled += connection.way(end).incidents->recovery(static_cast<RecoveryKind>(kind)).lost;
            shown.show(picture, of_way(connection.uid, end, "stalled in all"), waits);
            shown.show("connections", of_way(connection.uid, end, "stalled in all"), stalled);
        }
}

// Throughput over the whole capture, and how many latencies are drawn.
void show_curves(ShownNumbers& shown, const CaptureIndex& index) {
    const auto range = series::whole(index);
    if (!range) return;
    const auto curve = series::throughput(index, {}, *range);
    REQUIRE(curve);
    const series::Amount all = curve->total();
    const std::string_view name = "throughput";
    shown.show(name, of_totals("ce_marked"), all.marked);
    shown.show(name, of_totals("cnps"), all.cnps);
    shown.show(name, of_totals("rnr_naks"), all.rnr_naks);
    shown.show(name, of_totals("sequence and fatal NAKs"), all.naks);
    std::uint64_t timeless = 0, timeless_bytes = 0;
    for (std::uint64_t at = 0; at < index.packets.size(); ++at)
        if (const PacketRow& row = index.packets[at]; row.has(Mark::timeless)) {
            ++timeless;
            timeless_bytes += row.wire_length();
        }
    shown.show(name, of_totals("packets"), all.packets + timeless);
    shown.show(name, of_totals("bytes"), all.bytes + timeless_bytes);
    const auto points = series::latencies(index, {});
    REQUIRE(points);
    shown.show("latencies", of_totals("latencies"), points->size());
}

// What the requester of a finding lost, as its connection counts it; nothing where the finding says: at least.
void show_lost(ShownNumbers& shown, const Finding& finding, const Connection& connection) {
    const Fact* const lost = find_fact(finding.facts, "lost");
    const Fact* const requester = find_fact(finding.facts, "requester");
    if (lost == nullptr || requester == nullptr || find_fact(finding.facts, "at_least") != nullptr ||
        find_fact(finding.facts, "corrupt") != nullptr)
        return;
    const auto& who = std::get<Endpoint>(requester->value);
    const End end = text(who) == text(connection.ends[0]) ? End::a : End::b;
    const Losses losses = losses_of(connection.way(end));
    const std::string fact = of_way(connection.uid, end, fmt::format("lost requests of {}", finding.id));
    shown.show("findings", fact, std::get<std::uint64_t>(lost->value));
    shown.show("connections", fact, losses.requests_before_tap + losses.requests_behind_tap);
}

// Findings against what they are drawn from: the packets that one names are those of its connection, and where it
// counts packets that rows mark, it is as many.
void show_findings(ShownNumbers& shown, const CaptureIndex& index, const Timeline& timeline) {
    shown.show("findings", "findings", timeline.findings.size());
    for (const Finding& finding : timeline.findings) {
        const std::string of =
            fmt::format("{} of {}", finding.id,
                        finding.connection ? of_connection(*finding.connection, "") : std::to_string(shown.facts()));
        if (finding.marked && finding.episodes.empty() && !finding.events.empty()) {
            shown.show("findings", of + " count", finding.count);
            shown.show("rows", of + " count", event_frames(finding, timeline, index).size());
        }
        if (!finding.connection) continue;
        shown.show("findings", of + " number", *finding.connection);
        for (const FrameIndex frame : finding.packets)
            if (const auto connection = index.row(frame).connection()) shown.show("rows", of + " number", *connection);
        show_lost(shown, finding, *timeline.find(*finding.connection));
    }
}

// What `info` counts, and Statistics of the window.
void show_census(ShownNumbers& shown, const std::shared_ptr<const CaptureIndex>& index) {
    const auto all = series::statistics(index, index->packets.size(), nullptr);
    REQUIRE(all);
    shown.show("info", of_totals("packets"), all->census.packets);
    shown.show("info", of_totals("bytes"), all->census.bytes);
    series::Share lengths;
    for (const series::Share& share : all->lengths) lengths.add(share);
    shown.show("statistics", of_totals("packets"), lengths.packets);
    shown.show("statistics", of_totals("bytes"), lengths.bytes);
}

// How many facts were compared.
std::size_t check_agreement(const std::string& path, const std::string& folder) {
    const Read capture = read(path, folder);
    const auto times = series::connection_times(*capture.index, MemoryBudget{});
    REQUIRE(times);
    ShownNumbers shown;
    show_connections(shown, capture.timeline, *times);
    show_json(shown, capture.timeline);
    show_packets(shown, *capture.index, capture.timeline);
    show_messages(shown, *capture.index, capture.timeline);
    show_numbers(shown, *capture.index, capture.timeline);
    show_intervals(shown, capture);
    show_hosts(shown, capture.timeline, *times);
    show_episodes(shown, capture.timeline);
    show_sums(shown, capture.timeline, *times);
    show_pictures(shown, *capture.index, capture.timeline);
    show_curves(shown, *capture.index);
    show_findings(shown, *capture.index, capture.timeline);
    show_census(shown, capture.index);
    std::string differences;
    const std::size_t compared = shown.compare(differences);
    INFO(differences);
    CHECK(differences.empty());
    return compared;
}

// What another recorder would have had of it.
using Left = std::function<bool(const Packet& packet, std::uint64_t frames, Frame& frame)>;
void write_left(const std::string& path, const std::string& whole, const Left& left) {
    std::uint64_t frames = 0;
    qps::tests::for_each_packet(whole, [&](const Packet&) { ++frames; });
    auto writer = CaptureWriter::open(path, WriterFormat::pcapng);
    REQUIRE(writer);
    qps::tests::for_each_packet(whole, [&](const Packet& packet) {
        Frame frame = packet.frame;
        if (left(packet, frames, frame)) REQUIRE(writer->write(frame));
    });
    REQUIRE(writer->close());
}

bool is_behind_middle(const Packet& packet, std::uint64_t frames, Frame&) {
    return std::to_underlying(packet.frame.index) > frames / 2;
}
bool goes_up(const Packet& packet, std::uint64_t, Frame&) {
    Observation observation;
    observe(packet, observation);
    return observation.flow.source <= observation.flow.destination;
}
bool is_shortened(const Packet&, std::uint64_t, Frame& frame) {
    constexpr std::size_t kSnapped = 56;  // of an ACK over IPv4 not its AETH
    frame.bytes = frame.bytes.first(std::min(frame.bytes.size(), kSnapped));
    return true;
}

}  // namespace

TEST_CASE("what two outputs show of one fact is one number") {
    const qps::test::TemporaryFolder folder;
    std::size_t compared = 0;
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(path);
        compared += check_agreement(path, folder.path());
    }
    CHECK(compared > 5000);
}

TEST_CASE("what two outputs show of one fact is one number where a part of a capture is missing") {
    const qps::test::TemporaryFolder folder;
    const auto [name, left] = GENERATE(table<std::string, Left>(
        {{"second half", is_behind_middle}, {"one way", goes_up}, {"cut to 56 bytes", is_shortened}}));
    for (const std::string& path : qps::tests::sample_captures()) {
        INFO(name << " of " << path);
        const std::string part = folder.file("part.pcapng");
        write_left(part, path, left);
        check_agreement(part, folder.path());
    }
}
