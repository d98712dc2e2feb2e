// Names that were renamed: every row of the table has a name of today that exists, and an old one that is gone and
// still understood.
#include <dissect/filter/filter.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/set_frames.hpp>
#include <transport-replay/evidence/slice.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/live/replay/comparison_report.hpp>
#include <transport-replay/model/renamed.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/operations.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

using namespace qps::transport;
using namespace qps::tests;
using qps::dissect::FrameIndex;
using qps::dissect::SetReader;

namespace {

bool is_finding(std::string_view id) {
    return std::ranges::find(finding_rows(), id, &FindingRow::id) != finding_rows().end();
}

template <class Columns> bool has(const Columns& columns, std::string_view name) {
    return std::ranges::any_of(columns, [&](const auto& column) { return column.name == name; });
}

// Whether that table has a column of that name; of `pingpong` its own test says so (tests/cli/renamed.cpp).
bool is_column(std::string_view table, std::string_view name) {
    if (table == "operations") return has(operation_columns(), name);
    if (table == "sums") return has(operation_sum_columns(), name);
    if (table == "cm") return has(cm_columns(), name);
    REQUIRE(table == "replay");
    return has(live::compared_columns(), name);
}

std::vector<const Renamed*> old_names(const std::string& filter) {
    const auto compiled = qps::dissect::Filter::compile(filter, set_names());
    REQUIRE(compiled);
    return old_names_in(*compiled);
}

}  // namespace

TEST_CASE("no row of the renamed names is there twice, and no name of today is an old one") {
    std::set<std::tuple<RenamedKind, std::string_view, std::string_view>> old_names;
    for (const Renamed& row : renamed_names()) {
        INFO(row.old_name);
        CHECK(old_names.insert({row.kind, row.where, row.old_name}).second);
        CHECK(row.old_name != row.new_name);
    }
    for (const Renamed& row : renamed_names()) CHECK_FALSE(old_names.contains({row.kind, row.where, row.new_name}));
}

TEST_CASE("findings are understood by their old ids in filters and where they are named") {
    std::size_t findings = 0;
    for (const Renamed& row : renamed_names()) {
        if (row.kind != RenamedKind::finding) continue;
        INFO(row.old_name);
        ++findings;
        CHECK(is_finding(row.new_name));
        CHECK_FALSE(is_finding(row.old_name));
        CHECK(current_finding(row.old_name) == row.new_name);
        CHECK(current_finding(row.new_name) == row.new_name);
        CHECK(sentence(row) == "'" + std::string(row.old_name) + "' is now '" + std::string(row.new_name) +
                                   "': the old name is accepted until 0.3");

        Timeline timeline;
        for (const std::string_view id : {std::string_view("go-back-n-loss"), row.new_name}) {
            Finding& finding = timeline.findings.emplace_back();
            finding.id = id;
            finding.packets = {FrameIndex{id == row.new_name ? 7U : 3U}};
            finding.events = {{finding.packets.front()}};
        }
        CHECK(findings_named(timeline, row.old_name) == std::vector<std::size_t>{1});
        CHECK(findings_named(timeline, row.new_name) == std::vector<std::size_t>{1});

        for (const std::string comparison : {"rdma.finding == ", "rdma.finding != "}) {
            const std::string filter = comparison + std::string(row.old_name),
                              quoted = comparison + "\"" + std::string(row.old_name) + "\"";
            CHECK(old_names(filter + " or " + quoted) == std::vector<const Renamed*>{&row});
            const CaptureIndex index;
            const SetReader sets = sets_of(index, timeline);
            const auto members = frames_of(comparison + std::string(row.new_name), sets);
            CHECK_FALSE(members.empty());
            CHECK(frames_of(filter, sets) == members);
            CHECK(frames_of(quoted, sets) == members);
        }
        CHECK(old_names("rdma.finding == " + std::string(row.new_name)).empty());
        CHECK(old_names("frame.comment contains \"rdma.finding == " + std::string(row.old_name) + "\"").empty());
    }
    CHECK(findings != 0);
    CHECK(current_finding("no-such") == "no-such");
}

TEST_CASE("options are renamed for the commands that have them, columns where they stand") {
    for (const Renamed& row : renamed_names()) {
        INFO(row.where << " " << row.old_name);
        if (row.kind == RenamedKind::option) {
            CHECK(renamed_option(row.where.substr(0, row.where.find(' ')), row.old_name) == &row);
            CHECK(renamed_option("analyze", row.old_name) == nullptr);
            CHECK(renamed_option("", row.old_name) == nullptr);
        }
        if (row.kind == RenamedKind::column && row.where != "pingpong") {
            CHECK(is_column(row.where, row.new_name));
            CHECK_FALSE(is_column(row.where, row.old_name));
        }
    }
}
