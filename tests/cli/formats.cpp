// What comes out in every format: valid, the same whatever the number of threads, and the same as the library's counts.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>

#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

using namespace qps::test;
using Json = nlohmann::json;

namespace {

// Every field that can be a column, as -e words.
std::vector<std::string> all_columns() {
    std::vector<std::string> words;
    for (const std::string& line : lines_of(qpscope({"fields", "-f", "tsv"}).out)) {
        const std::size_t type = line.find('\t');
        if (!line.starts_with("name\t") && line.substr(type + 1, 8) != "presence")
            words.insert(words.end(), {"-e", line.substr(0, type)});
    }
    return words;
}

// Cells of a CSV document (RFC 4180).
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row{""};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') row.back() += text[++i];
        else if (c == '"') quoted = !quoted;
        else if (!quoted && c == ',') row.emplace_back();
        else if (!quoted && c == '\n') rows.push_back(std::exchange(row, {""}));
        else row.back() += c;
    }
    return rows;
}

std::vector<std::vector<std::string>> read_tsv(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : lines_of(text)) {
        rows.push_back({""});
        for (const char c : line)
            if (c == '\t') rows.back().emplace_back();
            else rows.back().back() += c;
    }
    return rows;
}

}  // namespace

TEST_CASE("info as JSON has what is expected of every sample capture") {
    for (const std::string& name : all_samples()) {
        INFO(name);
        const Ending ending = qpscope({"info", "-f", "json", sample(name)});
        CHECK(ending.code == kDone);
        const Json found = Json::parse(ending.out);
        CHECK(found["schema"] == 2);
        CHECK(found["file"] == sample(name));
        for (const char* key : {"duration_ns", "vcrc", "icrc_not_checkable"}) CHECK(found.contains(key));
        CHECK(!found.contains("problem"));
        std::ifstream file(std::filesystem::path(sample(name)).parent_path() / "expect.json");
        if (!file) continue;
        const Json expected = Json::parse(file);
        for (const auto& [key, value] : expected.items()) {
            INFO(key);
            CHECK(found.value(key, Json()) == value);
        }
    }
}

TEST_CASE("info of several captures is one JSON document, or one a line") {
    const std::vector<std::string> files{sample("rds"), sample("err_mixed"), sample("rds")};
    const Json document = Json::parse(qpscope(std::vector<std::string>{"info", "-f", "json"} + files).out);
    REQUIRE(document["captures"].size() == 3);
    CHECK(document["captures"][0] == document["captures"][2]);
    const auto lines = lines_of(qpscope(std::vector<std::string>{"info", "-f", "ndjson"} + files).out);
    REQUIRE(lines.size() == 3);
    for (std::size_t i = 0; i < lines.size(); ++i) CHECK(Json::parse(lines[i]) == document["captures"][i]);
}

TEST_CASE("every column of every packet is valid JSON") {
    const auto columns = all_columns();
    for (const char* name : {"err_mixed", "iser", "rping_v6", "ucmatose", "nvme_rdma"}) {
        INFO(name);
        const Json document =
            Json::parse(qpscope(std::vector<std::string>{"packets", "-f", "json", sample(name)} + columns).out);
        const auto lines =
            lines_of(qpscope(std::vector<std::string>{"packets", "-f", "ndjson", sample(name)} + columns).out);
        REQUIRE(document["packets"].size() == lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CHECK(document["packets"][i] == Json::parse(lines[i]));
            CHECK(document["packets"][i].size() == columns.size() / 2);
        }
    }
}

TEST_CASE("packets of which none matches are valid JSON") {
    CHECK(Json::parse(qpscope({"packets", "-f", "json", "-Y", "frame.number == 0", sample("rds")}).out)["packets"]
              .empty());
    CHECK(
        Json::parse(qpscope({"show", "-f", "json", "-Y", "frame.number == 0", sample("rds")}).out)["packets"].empty());
    CHECK(qpscope({"packets", "-f", "ndjson", "-Y", "frame.number == 0", sample("rds")}).out.empty());
}

TEST_CASE("packets shown are valid JSON") {
    for (const std::string& name : all_samples()) {
        if (name.starts_with("loss_")) continue;  // nothing new in thousands of packets
        INFO(name);
        const Json document = Json::parse(qpscope({"show", "-f", "json", "-c", "200", sample(name)}).out);
        const auto lines = lines_of(qpscope({"show", "-f", "ndjson", "-c", "200", sample(name)}).out);
        REQUIRE(document["packets"].size() == lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) CHECK(document["packets"][i] == Json::parse(lines[i]));
    }
}

TEST_CASE("fields are valid JSON") {
    const Json document = Json::parse(qpscope({"fields", "-f", "json"}).out);
    CHECK(document["fields"].size() > 500);
    CHECK(document["fields"].size() == lines_of(qpscope({"fields", "-f", "ndjson"}).out).size());
}

TEST_CASE("CSV has the cells of TSV, in quotes where a cell has commas") {
    const std::vector<std::string> columns{"-e", "frame.number", "-e", "eth.addr", "-e", "line", "-e", "tcp.port"};
    const auto csv = qpscope(std::vector<std::string>{"packets", "-f", "csv", sample("err_mixed")} + columns);
    const auto tsv = qpscope(std::vector<std::string>{"packets", "-f", "tsv", sample("err_mixed")} + columns);
    CHECK(csv.out.find(",\"52:54:00:") != std::string::npos);
    CHECK(read_csv(csv.out) == read_tsv(tsv.out));
}

TEST_CASE("every row has a cell for every column") {
    const auto columns = all_columns();
    for (const char* name : {"iser", "nfs_rdma"})
        for (const auto& row :
             read_tsv(qpscope(std::vector<std::string>{"packets", "-f", "tsv", sample(name)} + columns).out))
            REQUIRE(row.size() == columns.size() / 2);
}

TEST_CASE("one thread and two print the same bytes") {
    for (const char* name : {"loss_read", "loss_write", "corrupt_send"})
        for (const char* format : {"table", "tsv", "json", "ndjson"})
            for (const char* command : {"packets", "info"}) {
                const std::vector<std::string> words{command, "-f", format, sample(name), "-j"};
                const Ending one = qpscope(words + std::vector<std::string>{"1"});
                CHECK(one.code == kDone);
                CHECK(one.out == qpscope(words + std::vector<std::string>{"2"}).out);
            }
}

TEST_CASE("the option -c stops after so many packets, in one capture or over several") {
    for (const char* jobs : {"1", "2"}) {
        const std::vector<std::string> words{"packets", "-f", "tsv", "-e", "frame.number", "-j", jobs};
        CHECK(qpscope(words + std::vector<std::string>{"-c", "3", sample("loss_read")}).out ==
              "frame.number\n1\n2\n3\n");
        CHECK(qpscope(words + std::vector<std::string>{"-c", "6", sample("cm_reject_noport"), sample("rds")}).out ==
              "frame.number\n1\n2\n3\n4\n5\n6\n");
        CHECK(lines_of(qpscope(words + std::vector<std::string>{"-c", "1000000", sample("rds")}).out).size() == 44);
    }
    CHECK(Json::parse(qpscope({"packets", "-f", "json", "-c", "2", sample("rds")}).out)["packets"].size() == 2);
}

TEST_CASE("a filter takes the packets that match") {
    const Ending ending = qpscope(
        {"packets", "-f", "tsv", "-e", "rdma.icrc.status", "-Y", "rdma.icrc.status == bad", sample("corrupt_send")});
    CHECK(lines_of(ending.out).size() == 1 + 31);
    CHECK(Json::parse(qpscope({"info", "-f", "json", "-Y", "rdma.icrc.status == bad", sample("corrupt_send")})
                          .out)["packets"] == 31);
}

TEST_CASE("show takes frames by number and range") {
    const auto frames = [](const std::vector<std::string>& words) {
        std::vector<int> numbers;
        const Json document =
            Json::parse(qpscope(std::vector<std::string>{"show", "-f", "json", sample("rds")} + words).out);
        for (const Json& packet : document["packets"]) numbers.push_back(packet["frame"].get<int>());
        return numbers;
    };
    CHECK(frames({"-n", "7"}) == std::vector{7});
    CHECK(frames({"-n", "3-5"}) == std::vector{3, 4, 5});
    CHECK(frames({"-n", "42-"}) == std::vector{42, 43});
    CHECK(frames({"-n", "9,1-2"}) == std::vector{1, 2, 9});
    CHECK(frames({"-n", "1", "-n", "3"}) == std::vector{1, 3});
    CHECK(frames({"-n", "9999"}).empty());
}

TEST_CASE("info counts no more packets than -c allows") {
    for (const char* jobs : {"1", "2"})
        CHECK(Json::parse(qpscope({"info", "-f", "json", "-c", "5", "-j", jobs, sample("loss_read")}).out)["packets"] ==
              5);
}

TEST_CASE("a wrong count or capture filter is wrong use") {
    CHECK(qpscope({"packets", "-c", "-1", sample("rds")}).code == kUsage);
    CHECK(qpscope({"packets", "-c", "99999999999999999999", sample("rds")}).code == kUsage);
    CHECK(qpscope({"packets", "-F", "bogus bogus", sample("rds")}).code == kUsage);
}
