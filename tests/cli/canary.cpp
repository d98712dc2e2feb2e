// Text that acts: a canary of everything that a terminal, a spreadsheet or a reader's eye obeys stands in every text of
// captures and in the names of files, goes through every command and every format, and never comes out as it went in.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <span>

using namespace qps::test;

namespace {

// ESC ]0; BEL (the title of a terminal), CSI in 8 bits, DEL, right-to-left override, line separator, zero width space,
// no UTF-8.
constexpr std::string_view kCanary = "=\x1b]0;\x07\xc2\x9b\x7f\xe2\x80\xae\xe2\x80\xa8\xe2\x80\x8b\xff";
constexpr std::array<std::string_view, 9> kActing{"\x1b",         "\x07",         "\x7f", "\xc2\x9b", "\xe2\x80\xae",
                                                  "\xe2\x80\xa8", "\xe2\x80\x8b", "\xff", "\r"};

constexpr std::string_view kFormulas = "=+-@";  // what begins one in a spreadsheet

// Every text of a file, that is every run of letters and the like, has the canary behind its first bytes, or instead of
// them with what begins a formula.
std::size_t infest(std::vector<std::byte>& file, std::size_t kept, char first) {
    constexpr std::size_t kHeader = 24;  // of a pcap
    const auto is_text = [&](std::size_t i) { return std::isprint(std::to_integer<unsigned char>(file[i])) != 0; };
    std::size_t canaries = 0;
    for (std::size_t i = kHeader; i < file.size();) {
        std::size_t end = i;
        while (end < file.size() && is_text(end)) ++end;
        if (end - i >= kept + kCanary.size()) {
            for (std::size_t k = 0; k < kCanary.size(); ++k) file[i + kept + k] = static_cast<std::byte>(kCanary[k]);
            file[i + kept] = static_cast<std::byte>(first);
            ++canaries;
        }
        i = end + 1;
    }
    return canaries;
}

// The cells of CSV (RFC 4180) or TSV.
std::vector<std::string> cells_of(std::string_view text, bool csv) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (csv && text[i] == '"') {
            if (quoted && text.substr(i + 1, 1) == "\"") cells.back() += text[i++];
            else quoted = !quoted;
        } else if (!quoted && (text[i] == (csv ? ',' : '\t') || text[i] == '\n')) {
            cells.emplace_back();
        } else {
            cells.back() += text[i];
        }
    }
    return cells;
}

bool is_formula(const std::string& cell) {
    if (cell.size() < 2 || kFormulas.find(cell[0]) == std::string_view::npos) return false;
    char* end = nullptr;
    static_cast<void>(std::strtod(cell.c_str(), &end));
    return *end != '\0';
}

void check_quiet(const std::vector<std::string>& words, const std::string& out) {
    for (const std::string_view acting : kActing) {
        if (out.find(acting) == std::string::npos) continue;
        std::string command;
        for (const std::string& word : words) command += word + ' ';
        const std::size_t at = out.find(acting);
        FAIL_CHECK("byte " << static_cast<unsigned>(static_cast<unsigned char>(acting[0])) << " at " << at
                           << " of: " << command << "near " << out.substr(at - std::min<std::size_t>(at, 60), 60));
    }
    for (const bool csv : {true, false}) {
        if (std::ranges::find(words, csv ? "csv" : "tsv") == words.end()) continue;
        const std::vector<std::string> cells = cells_of(out, csv);
        const auto formula = std::ranges::find_if(cells, is_formula);
        CHECK((formula == cells.end() ? "" : *formula) == "");
    }
}

// Every field that is text, by its name.
const std::vector<std::string>& text_fields() {
    static const std::vector<std::string> fields = [] {
        std::vector<std::string> found;
        for (const std::string& line : lines_of(qpscope({"fields", "-f", "tsv"}).out))
            if (const auto cells = cells_of(line, false); cells.size() > 1 && cells[1] == "text")
                found.push_back(cells[0]);
        return found;
    }();
    return fields;
}

// What each command that reads captures needs beside the file; where `written` is one, in a format that is not text.
std::vector<std::string> arguments_of(const std::string& command, const std::string& written) {
    if (command == "follow") return {"1", "--decode"};
    if (command == "packets") return {"-e", "line"};
    if (command == "series") return {"waterfall"};
    if (command == "export") return {"--sqlite", written};
    if (command == "extract") return {"-C", "1", "-o", written};
    if (command == "annotate" || command == "anonymize") return {"-o", written};
    return {};
}

// The files that export writes; whether the canary is written out in one.
bool check_tables(const std::string& tables, const char* format, const std::string& capture) {
    const std::vector<std::string> words{"export", "--icrc", "ignore", "-f", format, "-o", tables, capture};
    check_quiet(words, qpscope(words).err);
    bool shown = false;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tables)) {
        const std::vector<std::byte> bytes = read_file(entry.path());
        const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        check_quiet(words, text);
        shown |= text.find("\\x1b") != std::string::npos;
        ++files;
    }
    CHECK(files >= 6);
    std::filesystem::remove_all(tables);
    return shown;
}

// Texts of a database, in its file as they are.
void check_cells(const std::vector<std::string>& words, const std::string& database) {
    const std::vector<std::byte> bytes = read_file(database);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // Of its own pages single bytes may be anything: what is looked for is what no number of a page has beside letters.
    for (const std::string_view acting : {"\x1b]0;", "\xe2\x80\xae\xe2\x80\xa8", "\x07\xc2\x9b"}) {
        INFO(words.front() << " " << words.back());
        CHECK(text.find(acting) == std::string::npos);
    }
}

std::size_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t length) {
    std::size_t number = 0;
    for (std::size_t i = length; i-- > 0;) number = number << 8 | std::to_integer<std::size_t>(bytes[at + i]);
    return number;
}

// Texts that a pcapng file has beside its packets: comments, names of hosts, interfaces and programs; how many of them
// there are. What is in the packets is theirs.
std::size_t check_said(const std::vector<std::string>& words, const std::string& path) {
    constexpr std::size_t kSection = 0x0a0d0d0a, kInterface = 1, kNames = 4, kStatistics = 5, kPacket = 6;
    const auto padded = [](std::size_t length) { return (length + 3) / 4 * 4; };
    const std::vector<std::byte> file = read_file(path);
    std::size_t texts = 0;
    const auto look = [&](std::span<const std::byte> text) {
        check_quiet(words, std::string(reinterpret_cast<const char*>(text.data()), text.size()));
        ++texts;
    };
    for (std::size_t at = 0; at + 12 <= file.size();) {
        const std::size_t kind = number_at(file, at, 4), length = number_at(file, at + 4, 4);
        REQUIRE((length >= 12 && length % 4 == 0 && at + length <= file.size()));
        const std::span<const std::byte> block = std::span(file).subspan(at, length - 4);
        std::size_t options = block.size();
        if (kind == kSection) options = 24;
        if (kind == kInterface) options = 16;
        if (kind == kStatistics) options = 20;
        if (kind == kPacket) options = 28 + padded(number_at(block, 20, 4));
        if (kind == kNames) {
            for (options = 8; number_at(block, options, 2) != 0;
                 options += 4 + padded(number_at(block, options + 2, 2))) {
                const std::size_t address = number_at(block, options, 2) == 1 ? 4 : 16;
                look(block.subspan(options + 4 + address,
                                   number_at(block, options + 2, 2) - address - 1));  // a zero ends the name
            }
            options += 4;
        }
        while (options + 4 <= block.size()) {
            const std::size_t code = number_at(block, options, 2), size = number_at(block, options + 2, 2);
            const bool text =
                code == 1 || (kind == kSection && code <= 4) || (kind == kInterface && (code == 2 || code == 3));
            if (code == 0) break;
            if (text) look(block.subspan(options + 4, size));
            options += 4 + padded(size);
        }
        at += length;
    }
    return texts;
}

}  // namespace

TEST_CASE("text that acts comes out of no command and no format as it went in") {
    const TemporaryFolder folder;
    constexpr std::array kNotCaptures{"case",    "collect", "doctor", "peer", "pingpong",
                                      "conform", "replay",  "fields", "send"};
    std::size_t canaries = 0;
    std::set<std::string> ran;                // commands that did something
    std::map<std::string, std::size_t> said;  // texts beside packets, by the command that wrote them
    bool shown = false, quoted = false;
    std::size_t number = 0;
    for (const char* name : {"nvme_host_not_allowed", "iser_large", "nfs_v3", "rping_v4", "fabric_sweep", "rds"}) {
        INFO(name);
        if (!sample(name).ends_with(".pcap") && !sample(name).ends_with(".pcapng")) FAIL("its texts are compressed");
        std::vector<std::byte> file = read_file(sample(name));
        constexpr std::size_t kKept = 5;
        std::vector<std::byte> formulas = file;
        canaries += infest(file, kKept, '=');
        const std::string path = folder.write(std::string(name) + std::string(kCanary.substr(1)), file);
        const std::string part = folder.file("part");
        REQUIRE(qpscope({"analyze", "--icrc", "ignore", "--part", "1/1", "-o", part, path}).code != kUsage);
        for (const std::string& command : all_commands()) {
            if (std::ranges::find(kNotCaptures, command) != kNotCaptures.end()) continue;
            for (const char* format : {"table", "json", "ndjson", "csv", "tsv"}) {
                const bool one_format = command == "follow" || command == "report";
                if (one_format && std::string_view(format) != "table") continue;
                std::vector<std::string> words{command};
                const std::string written = folder.file("written");
                for (const std::string& more : arguments_of(command, written)) words.push_back(more);
                const bool writes = std::ranges::find(words, written) != words.end();
                if (writes && std::string_view(format) != "table") continue;
                if (!one_format && !writes && command != "check") words.insert(words.end(), {"-f", format});
                if (command != "info" && command != "merge" && command != "fabric")
                    words.insert(words.end(), {"--icrc", "ignore"});
                words.push_back(command == "merge" ? part : path);
                const Ending ending = qpscope(words);
                check_quiet(words, ending.out);
                check_quiet(words, ending.err);
                if (ending.code != kUsage) ran.insert(command);
                shown |= ending.out.find("\\x1b") != std::string::npos;
                if (command == "export") check_cells(words, written);
                if (ending.code != kUsage && (command == "extract" || command == "annotate" || command == "anonymize"))
                    said[command] += check_said(words, written);
                std::filesystem::remove(written);
            }
        }
        for (const char* format : {"json", "ndjson", "csv", "tsv"})
            shown |= check_tables(folder.path() + "/tables", format, path);
        infest(formulas, 0, kFormulas[number++ % kFormulas.size()]);
        const std::string begins = folder.write(std::string("begins_") + name, formulas);
        for (const char* format : {"csv", "tsv"}) check_tables(folder.path() + "/tables", format, begins);
        for (const std::string& command : all_commands()) {
            if (std::ranges::find(kNotCaptures, command) != kNotCaptures.end() || command == "follow") continue;
            for (const char* format : {"csv", "tsv"}) {
                std::vector<std::string> words{command};
                if (command == "series") words.push_back("waterfall");
                if (command == "packets")
                    for (const std::string& field : text_fields()) words.insert(words.end(), {"-e", field});
                words.insert(words.end(), {"-f", format, begins});
                const Ending ending = qpscope(words);
                check_quiet(words, ending.out);
                quoted |= ending.out.find("'" + std::string(1, kFormulas[(number - 1) % kFormulas.size()]) + "\\x1b") !=
                              std::string::npos ||
                          ending.out.find("'" + std::string(1, kFormulas[(number - 1) % kFormulas.size()]) +
                                          "\\\\x1b") != std::string::npos;
            }
        }
        for (const std::vector<std::string>& words : {std::vector<std::string>{"findings", "--markdown", path},
                                                      {"fabric", "--dot", path},
                                                      {"check", "-f", "json", path},
                                                      {"check", "-f", "junit", path},
                                                      {"check", "-f", "html", path}}) {
            const Ending ending = qpscope(words);
            check_quiet(words, ending.out);
            check_quiet(words, ending.err);
        }
    }
    CHECK(canaries > 0);
    for (const std::string& command : all_commands())
        if (std::ranges::find(kNotCaptures, command) == kNotCaptures.end())
            CHECK((ran.contains(command) ? "" : command) == "");
    CHECK(said["annotate"] != 0);  // comments; the others add none to a capture that has none
    CHECK(quoted);                 // there was a cell that would have been a formula
    CHECK(shown);                  // it was there, written out
}

TEST_CASE("what a log or a script says acts as little") {
    const TemporaryFolder folder;
    const std::string canary(kCanary);
    const std::string log =
        "node" + canary + ":123:456 [0] NCCL INFO NCCL version 2.18" + canary + "\nnode" + canary +
        ":123:456 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0" + canary + "\nnode" + canary +
        ":123:456 [0] NCCL WARN NET/IB : Got completion from peer 10.77.0.12<47131>" + canary + " with status=12\n";
    const std::string titled = "check CM-04\ntitle \"a REQ" + canary + "\"\n> rc SEND_ONLY\n";
    const std::string broken = "title \"a" + canary + "\n" + canary + " 1\n";
    const std::string written = folder.write("nccl.log", std::as_bytes(std::span(log)));
    const std::string script = folder.write("x.script", std::as_bytes(std::span(titled)));
    const std::string bad = folder.write("y.script", std::as_bytes(std::span(broken)));
    std::vector<std::vector<std::string>> all{{"conform", "--list", "--script", script},
                                              {"conform", "--list", "--script", bad}};
    for (const char* format : {"table", "json", "ndjson", "csv", "tsv"}) {
        all.push_back({"analyze", "-f", format, "--nccl-log", written, sample("write_bidir_cm")});
        all.push_back({"connections", "-f", format, "--match",
                       "mlx5_0" + canary + ": QP 17 failed, 10.77.0.11 status 12" + canary, sample("multi_qp")});
    }
    for (const std::vector<std::string>& words : all) {
        const Ending ending = qpscope(words);
        check_quiet(words, ending.out);
        check_quiet(words, ending.err);
    }
}

TEST_CASE("names of hosts act as little in a capture with comments") {
    const TemporaryFolder folder;
    const std::string names = "10.77.0.11 storage" + std::string(kCanary) + "\n10.77.0.12 client\n";
    const std::string hosts = folder.write("hosts", std::as_bytes(std::span(names)));
    const std::vector<std::string> words{"annotate",        "--hosts", hosts, "-o", folder.file("named.pcapng"),
                                         sample("multi_qp")};
    const Ending ending = qpscope(words);
    check_quiet(words, ending.err);
    REQUIRE(ending.code == 0);
    CHECK(check_said(words, folder.file("named.pcapng")) > 1);
}

TEST_CASE("names of files and words of the user act as little") {
    const TemporaryFolder folder;
    const std::string gone = folder.file(kCanary);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"info", gone},
                                                  {"findings", gone},
                                                  {"packets", "-Y", std::string(kCanary), sample("rds")},
                                                  {"packets", "-e", std::string(kCanary), sample("rds")},
                                                  {"analyze", "--nccl-log", gone, sample("rds")},
                                                  {"check", "--profile", gone, sample("rds")},
                                                  {"conform", "--list", "--script", gone},
                                                  {"show", "-n", std::string(kCanary), sample("rds")},
                                                  {"packets", "-w", gone + "/x.pcap", sample("rds")},
                                                  {std::string(kCanary)}}) {
        const Ending ending = qpscope(words);
        CHECK(ending.code != 0);
        CHECK_FALSE(ending.err.empty());
        check_quiet(words, ending.err);
        check_quiet(words, ending.out);
    }
}
