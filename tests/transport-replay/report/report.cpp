// What reports are made of: numbers as people read them, tables of columns, nested documents.
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/document.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/messages.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

using namespace qps::transport;
using namespace qps::tests;
using qps::dissect::Duration;
using qps::dissect::Service;

namespace {

// Names are unique, so are headings; a column has one of them at least, and a value.
template <class Row> void check_columns(std::span<const TableColumn<Row>> columns) {
    REQUIRE(!columns.empty());
    std::set<std::string_view> names;
    std::set<std::string_view> headings;
    for (const auto& column : columns) {
        INFO(column.name << " " << column.heading);
        CHECK(!(column.name.empty() && column.heading.empty()));
        CHECK((column.name.empty() || names.insert(column.name).second));
        CHECK((column.heading.empty() || headings.insert(column.heading).second));
        CHECK(column.value != nullptr);
        CHECK((column.shown == nullptr || !column.heading.empty()));
    }
}

template <class Row>
const TableColumn<Row>& headed(std::span<const TableColumn<Row>> columns, std::string_view heading) {
    const auto column = std::ranges::find(columns, heading, &TableColumn<Row>::heading);
    REQUIRE(column != columns.end());
    return *column;
}

std::string report(const Timeline& timeline, OutputFormat format, const std::vector<ConnectionId>& connections = {}) {
    const std::vector<std::string> inputs{"a.pcap", "b.pcap"};
    std::string out;
    write_report(timeline, format, inputs, connections, [&](std::string_view piece) { out += piece; });
    return out;
}

}  // namespace

TEST_CASE("numbers for people") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
    CHECK(counted(1, "packet") == "1 packet");
    CHECK(counted(2000, "packet") == "2,000 packets");
    CHECK(seconds_text(Duration{1'204'999}) == "0.001204");
    CHECK(seconds_text(Duration{std::numeric_limits<std::int64_t>::min()}) == "-9223372036.854775");
    CHECK(bytes_text(1023) == "1,023 bytes");
    CHECK(bytes_text(1024) == "1 KiB");
    CHECK(bytes_text(std::uint64_t{3} << 19U) == "1.5 MiB");
    CHECK(rate_text(12.5e9) == "12.5 Gbit/s");
    CHECK(per_second(5, Duration{}) == 0);
    CHECK(service_name(Service::ud) == "UD");
    CHECK(nak_text(0) == "PSN sequence error");
    CHECK(nak_text(4) == "invalid RD request");
    CHECK(nak_text(2) == "remote access error");
    CHECK(nak_text(9) == "reserved code 9");
}

TEST_CASE("tables are well formed") {
    check_columns(connection_columns());
    check_columns(message_columns());
    check_columns(finding_columns());
    check_columns(cm_columns());
}

TEST_CASE("a column that shows words is sorted by its number") {
    Timeline timeline = healthy();
    timeline.connections[0].ways[0].bytes = 2048;
    timeline.connections[0].ways[1].bytes = 1024;
    const ConnectionRow row{timeline.connections[0]};
    const auto& bytes = headed(connection_columns(), "bytes");
    CHECK(shown_text(bytes, row) == "3 KiB");
    CHECK(bytes.value(row) == number(3072U));
    const auto& resent = headed(connection_columns(), "retrans");
    CHECK(shown_text(resent, row).empty());
    CHECK(resent.value(row) == number(0U));
    const Finding note;
    Finding error;
    error.severity = Severity::error;
    const auto& severity = headed(finding_columns(), "severity");
    CHECK(severity.value(note) < severity.value(error));
    CHECK(shown_text(severity, error) == "error");
}

TEST_CASE("the state and the tone of a connection are those of its findings") {
    Timeline timeline = healthy();
    Connection& connection = timeline.connections[0];
    CHECK(state_of({connection}) == "open");
    CHECK(tone_of(ConnectionRow{connection}) == Tone::plain);
    connection.ways[1].incidents.made().rnr_naks = 1;
    CHECK(tone_of(ConnectionRow{connection}) == Tone::warning);
    Finding& finding = timeline.findings.emplace_back();
    finding.id = "rnr-retries-exceeded";
    finding.severity = Severity::error;
    finding.connection = connection.uid;
    const ConnectionRow row{connection, given_up(timeline).contains(connection.uid)};
    CHECK(state_of(row) == "gave up");
    CHECK(tone_of(row) == Tone::error);
}

TEST_CASE("a report has the connections that are wanted, in every format") {
    Timeline timeline = healthy();
    add_connection(timeline, 3, 4);
    const auto all = nlohmann::json::parse(report(timeline, OutputFormat::json));
    CHECK(all["capture"]["files"] == nlohmann::json({"a.pcap", "b.pcap"}));
    CHECK(all["connections"].size() == 2);
    const auto one = nlohmann::json::parse(report(timeline, OutputFormat::json, {ConnectionId{2}}));
    REQUIRE(one["connections"].size() == 1);
    CHECK(one["connections"][0]["uid"] == 2);
    const std::string rows = report(timeline, OutputFormat::csv, {ConnectionId{2}});
    CHECK(rows.starts_with("key,value\n"));
    CHECK(rows.find("\nconnections.0.uid,2\n") != std::string::npos);
    CHECK(rows.find("\nconnections.1.uid,") == std::string::npos);
}

TEST_CASE("a document escapes what it is told") {
    std::string json;
    Document document(OutputFormat::ndjson, json);
    document.open();
    document.add("text", std::string("a\"\n\xff"));
    document.add("nothing", std::optional<std::uint32_t>{});
    document.close();
    CHECK(nlohmann::json::parse(json)["text"] == "a\"\n\xef\xbf\xbd");
    CHECK(nlohmann::json::parse(json)["nothing"].is_null());
    std::string tsv;
    Document rows(OutputFormat::tsv, tsv);
    rows.open();
    rows.add("text", std::string("a\tb\nc\\"));
    rows.add("nothing", std::optional<std::uint32_t>{});
    rows.close();
    CHECK(tsv == "text\ta\\tb\\nc\\\\\n");
}

TEST_CASE("cells act neither on a terminal nor in a spreadsheet, and numbers stay numbers") {
    const auto cell = [](OutputFormat format, std::string_view text) {
        std::string out;
        append_cell(out, format, text);
        return out;
    };
    for (const OutputFormat format : {OutputFormat::csv, OutputFormat::tsv}) {
        for (const char* same : {"", "plain", "-5", "+1.5", "-", "a=b", "1e3"}) CHECK(cell(format, same) == same);
        CHECK(cell(format, "=1+1") == "'=1+1");
        CHECK(cell(format, "-1+1") == "'-1+1");
        CHECK(cell(format, "@SUM(A1)") == "'@SUM(A1)");
        CHECK(cell(format, " =1+1") == "' =1+1");
        CHECK(cell(format, " -5") == " -5");
        CHECK(cell(format, "\x1b[31m\x07\x7f") == "\\x1b[31m\\x07\\x7f");
        CHECK(cell(format, "\xe2\x80\xae") == "\\xe2\\x80\\xae");
    }
    CHECK(cell(OutputFormat::csv, "a\nb") == "\"a\nb\"");
    CHECK(cell(OutputFormat::csv, "\t=1+1") == "\"'\t=1+1\"");
    CHECK(cell(OutputFormat::csv, "a\rb") == "a\\x0db");
    CHECK(cell(OutputFormat::tsv, "a\tb\\\r") == "a\\tb\\\\\\r");
}
