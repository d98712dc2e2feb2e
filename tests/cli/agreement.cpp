// Numbers agree: what two commands print of one fact is one number, of every sample, in whatever format.
#include <tests/cli/qpscope.hpp>
#include <tests/support/shown_numbers.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::test;
using qps::tests::ShownNumbers;
using Json = nlohmann::json;

namespace {

// What the rows of `timeline` count, which its pictures are drawn from, and the names of the same in totals.
constexpr std::array<std::string_view, 9> kCounted{"packets",   "bytes",      "retransmitted_packets",
                                                   "ce_marked", "cnps",       "sequence_naks",
                                                   "rnr_naks",  "fatal_naks", "completed_messages"};

std::vector<Json> printed_rows(const std::vector<std::string>& words) {
    std::vector<Json> all;
    const Ending ending = qpscope(words);
    for (const std::string& line : lines_of(ending.out)) all.push_back(Json::parse(line));
    return all;
}

void add_rows(ShownNumbers& shown, const std::string& output, const std::vector<Json>& intervals) {
    for (const std::string_view fact : kCounted) shown.add(output, std::string(fact), 0);
    for (const Json& interval : intervals)
        for (const std::string_view fact : kCounted)
            shown.add(output, std::string(fact), interval.at(std::string(fact)).get<std::int64_t>());
}

// The same as comma-separated values; none of these columns needs quotes.
void add_separated(ShownNumbers& shown, const std::string& output, const std::string& text) {
    const auto cells = [](const std::string& line) {
        std::vector<std::string> all(1);
        for (const char c : line)
            if (c == ',') all.emplace_back();
            else all.back() += c;
        return all;
    };
    const std::vector<std::string> lines = lines_of(text);
    REQUIRE_FALSE(lines.empty());
    const std::vector<std::string> heads = cells(lines.front());
    for (const std::string_view fact : kCounted) shown.add(output, std::string(fact), 0);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const std::vector<std::string> values = cells(lines[i]);
        REQUIRE(values.size() == heads.size());
        for (std::size_t column = 0; column < heads.size(); ++column)
            if (std::ranges::find(kCounted, heads[column]) != kCounted.end())
                shown.add(output, heads[column], std::stoll(values[column]));
    }
}

std::string bytes_as_text(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void show_totals(ShownNumbers& shown, const std::string& path) {
    const Json report = Json::parse(qpscope({"analyze", "-f", "json", path}).out);
    const Json &totals = report["totals"], &capture = report["capture"];
    for (const auto* fact : {"packets", "bytes"}) shown.show("analyze", fact, capture[fact].get<std::int64_t>());
    for (const auto* fact : {"retransmitted_packets", "sequence_naks", "rnr_naks", "fatal_naks", "ce_marked", "cnps"})
        if (totals.contains(fact)) shown.show("analyze", fact, totals[fact].get<std::int64_t>());
    const Json info = Json::parse(qpscope({"info", "-f", "json", path}).out);
    shown.show("info", "packets", info["packets"].get<std::int64_t>());
    shown.show("info", "bytes", info["bytes"].get<std::int64_t>());
}

// Of each connection: the picture that is its own, against its row.
void show_connections(ShownNumbers& shown, const std::string& path) {
    constexpr std::size_t kMost = 3;
    const std::vector<Json> connections = printed_rows({"connections", "-f", "ndjson", path});
    for (std::size_t i = 0; i < std::min(kMost, connections.size()); ++i) {
        const Json& connection = connections[i];
        const std::string uid = std::to_string(connection["uid"].get<unsigned>());
        const std::vector<Json> intervals =
            printed_rows({"timeline", "-f", "ndjson", "--interval", "1ms", "-C", uid, path});
        for (const auto* fact : {"packets", "bytes", "retransmitted_packets", "sequence_naks", "rnr_naks", "fatal_naks",
                                 "ce_marked", "cnps"}) {
            const std::string of = fmt::format("connection {} {}", uid, fact);
            shown.show("connections", of, connection[fact].get<std::int64_t>());
            shown.add("timeline", of, 0);
            for (const Json& interval : intervals) shown.add("timeline", of, interval[fact].get<std::int64_t>());
        }
        const std::string messages = fmt::format("connection {} messages", uid);
        shown.show("connections", messages, connection["messages"].get<std::int64_t>());
        shown.show("messages", messages, printed_rows({"messages", "-f", "ndjson", "-C", uid, path}).size());
    }
    std::int64_t stalled = 0, lost = 0;
    for (const Json& connection : connections) {
        stalled += connection["stalled_ns"].get<std::int64_t>();
        lost += connection["lost_by_network"].get<std::int64_t>() + connection["lost_behind_tap"].get<std::int64_t>();
    }
    shown.show("connections", "stalled_ns", stalled);
    shown.show("connections", "lost packets", lost);
    shown.add("hosts", "stalled_ns", 0);
    shown.add("hosts", "lost packets", 0);
    for (const Json& pair : printed_rows({"connections", "--by-host", "-f", "ndjson", path})) {
        shown.add("hosts", "stalled_ns", pair["stalled_ns"].get<std::int64_t>());
        shown.add("hosts", "lost packets", pair["lost_packets"].get<std::int64_t>());
    }
}

}  // namespace

TEST_CASE("what two commands print of one fact is one number, in whatever format and interval") {
    const TemporaryFolder folder;
    std::size_t compared = 0;
    for (const std::string& name : all_samples()) {
        const std::string path = sample(name);
        INFO(name);
        ShownNumbers shown;
        show_totals(shown, path);
        add_rows(shown, "timeline", printed_rows({"timeline", "-f", "ndjson", path}));
        add_rows(shown, "timeline of milliseconds",
                 printed_rows({"timeline", "-f", "ndjson", "--interval", "1ms", path}));
        add_separated(shown, "timeline as values", qpscope({"timeline", "-f", "csv", path}).out);
        const std::string tables = folder.file(name);
        REQUIRE(qpscope({"export", "-f", "csv", "-o", tables, path}).code != kOutputFailed);
        add_separated(shown, "export", bytes_as_text(tables + "/timeline.csv"));
        show_connections(shown, path);
        std::string differences;
        compared += shown.compare(differences);
        INFO(differences);
        CHECK(differences.empty());
    }
    CHECK(compared > 1000);
}
