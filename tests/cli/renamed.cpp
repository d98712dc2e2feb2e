// Names that were renamed, by the program: old ones are accepted with a line on standard error, none is printed any
// more, and the document lists them all.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/model/renamed.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace qps::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
using qps::transport::Renamed;
using qps::transport::renamed_names;
using qps::transport::RenamedKind;

namespace {

const std::filesystem::path kSource = QPSCOPE_SOURCE_DIR;

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_of(const Renamed& row) { return fmt::format("qpscope: {}\n", sentence(row)); }

// The commands whose JSON has what samples show, and the samples.
struct Document {
    std::string name;
    std::vector<std::string> samples;
};
const std::vector<Document> kDocuments{
    {"analyze",
     {"loss_write", "nvme_keep_alive", "nvme_status", "congestion", "corrupt_send", "ultra_ethernet_paths",
      "srp_login_rejected"}},
    {"cm", {"cm_reject_noport", "opcodes_roce"}},
    {"fabric", {"fabric_sweep"}},
};
// What writes the documents, for members that no sample has.
const std::map<std::string, std::vector<std::string>> kWriters{
    {"analyze",
     {"transport-replay/report/json.cpp", "transport-replay/report/json_collectives.cpp",
      "transport-replay/report/json_ulp.cpp"}},
    {"cm", {"transport-replay/report/json_cm.cpp"}},
    {"pingpong", {"cli/live/pingpong_report.cpp"}},
    {"peer", {"cli/live/peer.cpp"}},
    {"replay", {"cli/live/replay.cpp", "transport-replay/live/replay/comparison_report.cpp"}},
};

// The objects at a path of names with dots: of lists every element, of "recoveries" of a direction every kind.
void collect(const Json& json, std::string_view path, std::vector<const Json*>& found) {
    if (json.is_array()) {
        for (const Json& element : json) collect(element, path, found);
    } else if (path.empty()) {
        if (json.is_object()) found.push_back(&json);
        for (const Json& member : json)
            if (json.is_object() && member.is_object()) found.push_back(&member);
    } else if (json.is_object()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const auto member = json.find(std::string(path.substr(0, dot)));
        if (member != json.end()) collect(*member, path.substr(std::min(dot + 1, path.size())), found);
    }
}

}  // namespace

TEST_CASE("filters and --finding take the old ids of findings, and say what they are called now") {
    const std::string listed = qpscope({"findings", "--list", "-f", "json"}).out;
    for (const Renamed& row : renamed_names()) {
        if (row.kind != RenamedKind::finding) continue;
        INFO(row.old_name);
        CHECK_THAT(listed,
                   Contains(fmt::format("\"{}\"", row.new_name)) && !Contains(fmt::format("\"{}\"", row.old_name)));
        const std::string filter = fmt::format("rdma.finding == \"{}\"", row.old_name);
        const Ending ending = qpscope({"packets", "-Y", filter, sample("cut_128")});
        CHECK(ending.code == kDone);
        CHECK(ending.err == line_of(row));
        CHECK(ending.out ==
              qpscope({"packets", "-Y", fmt::format("rdma.finding == {}", row.new_name), sample("cut_128")}).out);
        CHECK(qpscope({"packets", "-q", "-Y", filter, sample("cut_128")}).err.empty());
        const TemporaryFolder folder;
        const Ending extracted = qpscope({"extract", "-C", "1", "--finding", std::string(row.old_name), "-o",
                                          folder.file("out.pcapng"), sample("cut_128")});
        CHECK_THAT(extracted.err, Contains(line_of(row)));
        CHECK(extracted.code == (row.old_name == "capture-cut" ? kDone : kUsage));
    }
}

TEST_CASE("old options are taken, and help has the new ones alone") {
    for (const Renamed& row : renamed_names()) {
        if (row.kind != RenamedKind::option) continue;
        for (const std::string command : {"conform", "replay"}) {
            if (!row.where.contains(command)) continue;
            INFO(command << " " << row.old_name);
            const std::string old_name(row.old_name);
            for (const auto& words : {std::vector<std::string>{command, old_name, "1s"},
                                      std::vector<std::string>{command, old_name + "=1s"}}) {
                CHECK_THAT(qpscope(words).err, Contains(line_of(row)) && !Contains("unknown option"));
                CHECK_THAT(qpscope(words + std::vector<std::string>{"-q"}).err, !Contains(line_of(row)));
            }
            CHECK_THAT(qpscope({command, "--help"}).out,
                       Contains(std::string(row.new_name) + " ") && !Contains(old_name + " "));
        }
        CHECK_THAT(qpscope({"analyze", std::string(row.old_name), "1s", sample("cut_128")}).err,
                   Contains("unknown option"));
    }
    const Ending listed = qpscope({"conform", "--list", "--patience", "1s"});
    CHECK(listed.code == kDone);
}

TEST_CASE("JSON has the new names where the old ones were") {
    std::map<std::string, std::vector<Json>> documents;
    for (const Document& document : kDocuments)
        for (const std::string& name : document.samples) {
            INFO(document.name << " " << name);
            const Ending ending = qpscope({document.name, "-q", "-f", "json", sample(name)});
            REQUIRE_FALSE(ending.out.empty());
            documents[document.name].push_back(Json::parse(ending.out));
            CHECK(documents[document.name].back()["schema"] == 2);
        }
    std::size_t seen_rows = 0;
    for (const Renamed& row : renamed_names()) {
        if (row.kind != RenamedKind::json && row.where != "pingpong" && row.where != "replay") continue;
        INFO(row.where << " " << row.old_name);
        const std::size_t blank = std::min(row.where.find(' '), row.where.size());
        const std::string name(row.where.substr(0, blank));
        std::vector<const Json*> found;
        for (const Json& document : documents[name])
            collect(document, row.where.substr(std::min(blank + 1, row.where.size())), found);
        bool seen = false;
        for (const Json* object : found) {
            CHECK_FALSE(object->contains(std::string(row.old_name)));
            seen = seen || object->contains(std::string(row.new_name));
        }
        seen_rows += seen ? 1 : 0;
        if (seen) continue;
        REQUIRE(kWriters.contains(name));
        bool written = false;
        for (const std::string& writer : kWriters.at(name)) {
            const std::string text = contents_of(kSource / writer);
            CHECK_FALSE(text.contains(fmt::format("\"{}\"", row.old_name)));
            written = written || text.contains(fmt::format("\"{}\"", row.new_name));
        }
        CHECK(written);
    }
    CHECK(seen_rows > 45);
}

TEST_CASE("docs/schema lists what was renamed, row by row") {
    const std::string page = contents_of(kSource / "docs/schema/README.md");
    const std::string section = page.substr(page.find(fmt::format("## Renamed in {}\n", qps::transport::kRenamedIn)));
    std::vector<std::string> rows;
    for (const std::string& line : lines_of(section))
        if (line.starts_with("| ") && line.contains('`')) rows.push_back(line);
    std::vector<std::string> expected;
    for (const Renamed& row : renamed_names()) {
        const std::size_t blank = std::min(row.where.find(' '), row.where.size());
        const std::string_view path = row.where.substr(std::min(blank + 1, row.where.size()));
        const std::string names = fmt::format("| `{}` | `{}` |", row.old_name, row.new_name);
        if (row.kind == RenamedKind::finding) expected.push_back(names);
        else if (row.kind == RenamedKind::option || row.kind == RenamedKind::column)
            expected.push_back(fmt::format("| {} {}", row.where, names));
        else
            expected.push_back(fmt::format("| {} |{} {}", row.where.substr(0, blank),
                                           path.empty() ? "" : fmt::format(" `{}`", path), names));
    }
    CHECK(rows == expected);
}
