// `export`: tables are what the commands list, the schema is what the documents say, and every query of the guide runs.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>
#include <sqlite3.h>

using namespace qps::test;
using Words = std::vector<std::string>;

namespace {

const std::filesystem::path kSource = QPSCOPE_SOURCE_DIR;

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own, gone at the end.
struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("qpscope-export-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string at(const std::string& name) const { return (path / name).string(); }
};

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};

// Rows as SQLite's own text of them.
std::vector<std::vector<std::string>> rows_of(const std::string& path, const std::string& query) {
    sqlite3* opened = nullptr;
    REQUIRE(sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    const std::unique_ptr<sqlite3, CloseDatabase> database(opened);
    std::vector<std::vector<std::string>> rows;
    const auto take = [](void* into, int count, char** values, char**) {
        auto& row = static_cast<std::vector<std::vector<std::string>>*>(into)->emplace_back();
        for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "" : values[i]);
        return 0;
    };
    char* said = nullptr;
    const int code = sqlite3_exec(opened, query.c_str(), take, &rows, &said);
    INFO(query << (said == nullptr ? "" : said));
    CHECK(code == SQLITE_OK);
    sqlite3_free(said);
    return rows;
}

std::uint64_t count_of(const std::string& path, const std::string& table) {
    return std::stoull(rows_of(path, "SELECT count(*) FROM " + table).at(0).at(0));
}

void export_to(const std::string& path, const Words& more) {
    const Ending ending = qpscope(Words{"export", "-q", "--sqlite", path} + more);
    INFO(ending.err);
    REQUIRE((ending.code == kDone || ending.code == kDamaged));
    CHECK(ending.out.empty());
}

// The lines of a table that a command prints as CSV, but for its heading.
std::size_t lines_printed(const Words& words) {
    const Ending ending = qpscope(words);
    const std::size_t lines = lines_of(ending.out).size();
    return lines == 0 ? 0 : lines - 1;
}

std::vector<std::string> queries() {
    std::vector<std::string> found;
    std::istringstream page(contents_of(kSource / "docs/guide/queries.md"));
    std::string line;
    bool inside = false;
    while (std::getline(page, line)) {
        if (line == "```sql") {
            inside = true;
            found.emplace_back();
        } else if (line == "```") {
            inside = false;
        } else if (inside) {
            found.back() += line + "\n";
        }
    }
    return found;
}

// What was lost, what asked for it and what was sent again: in the database as `connections`, its hosts and findings
// say.
void check_losses(const std::string& path, const std::string& file) {
    const std::vector<std::string> columns{"uid",      "packets",         "retransmitted_packets", "sequence_naks",
                                           "timeouts", "lost_by_network", "lost_behind_tap",       "lost_by_tap"};
    std::string query = "SELECT ";
    for (const std::string& column : columns) query += (column == columns.front() ? "" : ", ") + column;
    const auto exported = rows_of(path, query + " FROM connections ORDER BY uid");
    const auto listed = lines_of(qpscope({"connections", "-q", "-f", "ndjson", file}).out);
    REQUIRE(exported.size() == listed.size());
    std::uint64_t lost = 0;
    for (std::size_t row = 0; row < listed.size(); ++row) {
        const nlohmann::json connection = nlohmann::json::parse(listed[row]);
        CHECK(connection["uid"] == row + 1);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            INFO(columns[i]);
            CHECK(exported[row][i] == connection[columns[i]].dump());
        }
        lost += connection["lost_by_network"].get<std::uint64_t>() + connection["lost_behind_tap"].get<std::uint64_t>();
    }
    std::uint64_t lost_of_hosts = 0;
    for (const std::string& line : lines_of(qpscope({"connections", "--by-host", "-q", "-f", "ndjson", file}).out))
        lost_of_hosts += nlohmann::json::parse(line)["lost_packets"].get<std::uint64_t>();
    CHECK(lost_of_hosts == lost);
    const auto findings = lines_of(qpscope({"findings", "-q", "-f", "ndjson", file}).out);
    const auto facts = rows_of(path, "SELECT finding, number FROM finding_facts WHERE fact = 'lost' ORDER BY finding");
    std::size_t with_losses = 0;
    for (std::size_t finding = 0; finding < findings.size(); ++finding) {
        const nlohmann::json all = nlohmann::json::parse(findings[finding])["facts"];
        if (!all.is_object() || !all.contains("lost")) continue;
        REQUIRE(with_losses < facts.size());
        CHECK(facts[with_losses++][1] == all["lost"].dump());
    }
    CHECK(with_losses == facts.size());
}

}  // namespace

TEST_CASE("the tables of an export are what the commands list") {
    const Folder folder;
    for (const std::string_view name : {"loss_write", "nvme_rdma", "rping_v4"}) {
        INFO(name);
        const std::string file = sample(name), path = folder.at("tables.db");
        export_to(path, {"--packets", file});
        CHECK(count_of(path, "connections") == lines_printed({"connections", "-q", "-f", "csv", file}));
        CHECK(count_of(path, "messages") == lines_printed({"messages", "-q", "-f", "csv", file}));
        CHECK(count_of(path, "operations") == lines_printed({"operations", "--list", "-q", "-f", "csv", file}));
        CHECK(count_of(path, "findings") == lines_printed({"findings", "-q", "-f", "csv", file}));
        CHECK(count_of(path, "timeline") == lines_printed({"timeline", "--interval", "1ms", "-q", "-f", "csv", file}));
        CHECK(count_of(path, "packets") == lines_printed({"packets", "-q", "-f", "csv", file}));
        CHECK(rows_of(path, "PRAGMA foreign_key_check").empty());
        CHECK(rows_of(path, "PRAGMA integrity_check").at(0).at(0) == "ok");
        CHECK(rows_of(path, "SELECT sum(packets) FROM timeline") == rows_of(path, "SELECT count(*) FROM packets"));
        CHECK(
            rows_of(path,
                    "SELECT count(*) FROM finding_packets LEFT JOIN packets USING (frame) WHERE packets.frame IS NULL")
                .at(0)
                .at(0) == "0");
        CHECK_FALSE(std::filesystem::exists(path + ".part"));
    }
}

TEST_CASE("every sample can be exported, and no reference leads nowhere") {
    const Folder folder;
    for (const std::string& name : all_samples()) {
        INFO(name);
        const std::string path = folder.at("sample.db");
        export_to(path, {sample(name)});
        CHECK(rows_of(path, "PRAGMA foreign_key_check").empty());
        check_losses(path, sample(name));
    }
}

TEST_CASE("files of an export have the columns and rows of the database") {
    const Folder folder;
    const std::string file = sample("loss_write"), database = folder.at("one.db"), tables = folder.at("tables");
    export_to(database, {file});
    REQUIRE(qpscope({"export", "-q", "-f", "csv", "-o", tables, file}).code == kDone);
    REQUIRE(qpscope({"export", "-q", "-f", "ndjson", "-o", tables, file}).code == kDone);
    for (const std::string table :
         {"connections", "messages", "operations", "findings", "finding_packets", "timeline", "packets"}) {
        INFO(table);
        std::string heading;
        for (const auto& column : rows_of(database, "SELECT name FROM pragma_table_info('" + table + "')"))
            heading += (heading.empty() ? "" : ",") + column.at(0);
        const auto csv = lines_of(contents_of(tables + "/" + table + ".csv"));
        REQUIRE_FALSE(csv.empty());
        CHECK(csv.front() == heading);
        CHECK(csv.size() - 1 == count_of(database, table));
        for (const std::string& line : lines_of(contents_of(tables + "/" + table + ".ndjson")))
            CHECK(nlohmann::json::parse(line).size() > 1);
    }
}

TEST_CASE("an export has every column that the commands have") {
    const Folder folder;
    const std::string file = sample("nvme_rdma"), path = folder.at("columns.db");
    export_to(path, {file});
    const std::vector<std::pair<std::string, Words>> kTables{{"connections", {"connections"}},
                                                             {"messages", {"messages"}},
                                                             {"operations", {"operations", "--list"}},
                                                             {"findings", {"findings"}},
                                                             {"timeline", {"timeline"}}};
    for (const auto& [table, command] : kTables) {
        std::set<std::string> exported;
        for (const auto& column : rows_of(path, "SELECT name FROM pragma_table_info('" + table + "')"))
            exported.insert(column.at(0));
        std::istringstream heading(lines_of(qpscope(command + Words{"-q", "-f", "csv", file}).out).at(0));
        std::string name;
        while (std::getline(heading, name, ',')) {
            INFO(table << "." << name);
            CHECK((exported.contains(name) || name == "match"));  // why a line of a log may be about it
        }
    }
}

TEST_CASE("docs/schema.md is what export --schema prints") {
    CHECK(qpscope({"export", "--schema"}).out == contents_of(kSource / "docs/schema.md"));
}

TEST_CASE("every query of the guide has an answer on some sample") {
    const Folder folder;
    std::vector<std::string> databases;
    for (const std::string_view name : {"loss_write", "nvme_io", "nvme_rdma"}) {
        databases.push_back(folder.at(std::string(name) + ".db"));
        export_to(databases.back(), {"--packets", sample(name)});
    }
    REQUIRE(queries().size() >= 7);
    for (const std::string& query : queries()) {
        INFO(query);
        std::size_t rows = 0;
        for (const std::string& database : databases) rows += rows_of(database, query).size();
        CHECK(rows > 0);
    }
}

TEST_CASE("an export that cannot be written leaves what was there") {
    const Folder folder;
    const std::string path = folder.at("kept.db"), file = sample("rping_v4");
    export_to(path, {file});
    const std::string before = contents_of(path);
    CHECK(qpscope({"export", "-q", "--sqlite", path, folder.at("missing.pcap")}).code == kUnreadable);
    CHECK(contents_of(path) == before);
    CHECK_FALSE(std::filesystem::exists(path + ".part"));
    CHECK(qpscope({"export", "-q", "--sqlite", folder.at("none/out.db"), file}).code == kOutputFailed);
    CHECK(qpscope({"export", "-q", file}).code == kUsage);
    CHECK(qpscope({"export", "-q", "--sqlite", file, file}).code == kUsage);
    CHECK(contents_of(file).size() > 24);
}
