// Words of the command line, right and wrong.
#include <cli/exit_code.hpp>
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>
#include <transport-replay/findings/findings.hpp>

#include <algorithm>
#include <set>

using namespace qps::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Ends with the exit code of wrong use, says why and prints nothing else.
Ending wrong(const std::vector<std::string>& words) {
    Ending ending = qpscope(words);
    INFO(fmt::format("{}", fmt::join(words, " ")));
    CHECK(ending.code == kUsage);
    CHECK(ending.out.empty());
    const auto lines = lines_of(ending.err);
    REQUIRE_FALSE(lines.empty());
    CHECK((lines.front().starts_with("qpscope: ") || lines.back().starts_with("qpscope: ")));
    return ending;
}

}  // namespace

TEST_CASE("the version is a name and a number") {
    for (const char* word : {"--version", "-V"}) {
        const Ending ending = qpscope({word});
        CHECK(ending.code == kDone);
        CHECK_THAT(ending.out, StartsWith("qpscope 0."));
        CHECK(lines_of(ending.out).size() == 1);
    }
}

TEST_CASE("the help tells of every command and every exit code") {
    const Ending ending = qpscope({"--help"});
    CHECK(ending.code == kDone);
    CHECK(ending.err.empty());
    CHECK(all_commands().size() >= 18);  // every other test walks them
    for (const auto& row : qps::cli::kExitCodes)
        CHECK_THAT(ending.out, Contains(fmt::format("  {:<4}{}\n", static_cast<int>(row.code), row.meaning)));
}

TEST_CASE("the help of every command has examples") {
    for (const std::string& command : all_commands()) {
        INFO(command);
        const Ending ending = qpscope({command, "--help"});
        CHECK(ending.code == kDone);
        CHECK_THAT(ending.out, Contains("Examples:") && Contains("qpscope " + command));
    }
}

TEST_CASE("wrong words are wrong use") {
    CHECK_THAT(wrong({"packets", "--bogus", sample("rds")}).err, Contains("unknown option '--bogus'"));
    CHECK_THAT(wrong({"fields", "psn", "bogus"}).err, Contains("unexpected argument 'bogus'"));
    CHECK_THAT(wrong({"packets", "-f", "bogus", sample("rds")}).err, Contains("bogus") && Contains("ndjson"));
    CHECK_THAT(wrong({"packets", "-j", "0", sample("rds")}).err,
               Contains("--jobs: invalid number of threads '0': expected 1 to 1024"));
    CHECK_THAT(wrong({"packets", "-c", "some", sample("rds")}).err, Contains("--count"));
    CHECK_THAT(wrong({"findings", "--markdown", "-f", "json", sample("rds")}).err, Contains("--markdown"));
    CHECK_THAT(wrong({"info", "--link-speed", "fast", sample("rds")}).err, Contains("100G"));
    CHECK_THAT(wrong({"show", "-n", "5-3", sample("rds")}).err, Contains("'5-3'"));
    CHECK_THAT(wrong({"show", "-n", "0", sample("rds")}).err, Contains("'0'"));
    CHECK_THAT(wrong({"show", "-f", "csv", sample("rds")}).err, Contains("qpscope packets"));
    CHECK_THAT(wrong({"peer"}).err, Contains("missing program"));
    CHECK_THAT(wrong({"connections", "--match", "", sample("rds")}).err, Contains("missing log line"));
    (void)wrong({});
    (void)wrong({"info"});
    (void)wrong({"packets", "-i", "lo", sample("rds")});
}

TEST_CASE("the last line of wrong use is what is wrong") {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{},
                                               {"info"},
                                               {"packets", "--bogus", sample("rds")},
                                               {"analyze", "--formt", "json", sample("rds")},
                                               {"stats", sample("rds")},
                                               {"packets", "-i", "lo", sample("rds")},
                                               {"peer"},
                                               {"peer", "-a", "127.0.0.1", "rpnig"}}) {
        INFO(fmt::format("{}", fmt::join(words, " ")));
        const auto lines = lines_of(wrong(words).err);
        CHECK(lines.size() <= 2);
        CHECK_THAT(lines.back(), StartsWith("qpscope: "));
    }
}

TEST_CASE("a slip in a command or an option is answered with what was meant") {
    CHECK_THAT(wrong({"analyze", "--formt", "json", sample("rds")}).err,
               Contains("unknown option '--formt': did you mean --format?"));
    CHECK_THAT(wrong({"analyze", "--formt=json", sample("rds")}).err, Contains("did you mean --format?"));
    CHECK_THAT(wrong({"packets", "--no-such-option", sample("rds")}).err,
               Contains("unknown option '--no-such-option'\n"));
    CHECK_THAT(wrong({"stats", sample("rds")}).err, Contains("no such command or file 'stats': did you mean info?"));
    CHECK_THAT(wrong({"findigs", sample("rds")}).err,
               Contains("no such command or file 'findigs': did you mean findings?"));
    CHECK_THAT(wrong({"qwerty", sample("rds")}).err, Contains("no such command or file 'qwerty'\n"));
    CHECK(qpscope({"no/such.pcap"}).code == kUnreadable);  // that is a file, whatever it is not
    CHECK_THAT(wrong({"peer", "-a", "127.0.0.1", "ib_wirte_bw"}).err,
               Contains("no such program 'ib_wirte_bw': did you mean ib_write_bw?"));
}

TEST_CASE("options of tshark are answered with what they are here") {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"packets", "-T", "fields", sample("rds")},
                                               {"packets", "-t", "ad", sample("rds")},
                                               {"packets", "-V", sample("rds")},
                                               {"packets", "-x", sample("rds")},
                                               {"packets", "-z", "expert", sample("rds")},
                                               {"packets", "-E", "separator=,", sample("rds")},
                                               {"-T", "fields", sample("rds")},
                                               {"-z", "conv,ip", sample("rds")}}) {
        INFO(fmt::format("{}", fmt::join(words, " ")));
        CHECK_THAT(wrong(words).err, Contains("tshark's " + words[words[0].starts_with('-') ? 0 : 1]));
    }
}

TEST_CASE("standard input is read where it is no terminal and nothing is named") {
    const std::vector<std::byte> capture = read_file(sample("rds"));
    const Ending ending = qpscope({"findings", "-f", "json"}, {.input = capture});
    CHECK(ending.code == kDone);
    CHECK(ending.out == qpscope({"findings", "-f", "json", "-"}, {.input = capture}).out);
    CHECK(qpscope({}, {.input = capture}).out == qpscope({"analyze", "-"}, {.input = capture}).out);
    CHECK(qpscope({"-q", "--no-progress"}, {.input = capture}).out ==
          qpscope({"analyze", "-"}, {.input = capture}).out);
    (void)wrong({"findings"});  // /dev/null is no input
}

TEST_CASE("show: a number that is no file is that of a frame") {
    CHECK(qpscope({"show", "3", sample("rds")}).out == qpscope({"show", "-n", "3", sample("rds")}).out);
    CHECK(qpscope({"show", "2-3,5", sample("rds")}).out == qpscope({"show", "-n", "2-3,5", sample("rds")}).out);
    CHECK_THAT(wrong({"show", "0", sample("rds")}).err, Contains("'0'"));
    const Ending missing = qpscope({"show", "no/such.pcap", sample("rds")});
    CHECK(missing.code == kUnreadable);
    CHECK(missing.out.empty());
}

TEST_CASE("ids of checks are folded to upper case") {
    CHECK(qpscope({"check", "--only", "rsp,fmt-08", sample("rds")}).out ==
          qpscope({"check", "--only", "RSP,FMT-08", sample("rds")}).out);
    (void)wrong({"check", "--only", "nonsense", sample("rds")});
}

TEST_CASE("help of a command, asked for in front of it") {
    CHECK(qpscope({"help", "info"}).out == qpscope({"info", "--help"}).out);
    CHECK(qpscope({"help", "peer"}).out == qpscope({"peer", "--help"}).out);
    CHECK(qpscope({"help"}).out == qpscope({"--help"}).out);
}

TEST_CASE("a file alone is short for analyze") {
    CHECK(qpscope({sample("rds")}).out == qpscope({"analyze", sample("rds")}).out);
}

TEST_CASE("a wrong filter is shown with a caret, a reason and what was meant") {
    for (const char* command : {"info", "packets", "show"}) {
        const auto lines = lines_of(wrong({command, "-Y", "infiniband.bth.pns == 3", sample("rds")}).err);
        REQUIRE(lines.size() == 4);
        CHECK(lines[1] == "infiniband.bth.pns == 3");
        CHECK(lines[2] == "^~~~~~~~~~~~~~~~~~");
        CHECK_THAT(lines[3], Contains("did you mean infiniband.bth.psn?"));
    }
    const auto lines = lines_of(wrong({"packets", "-Y", "ip.ttl ==", sample("rds")}).err);
    REQUIRE(lines.size() == 4);
    CHECK(lines[2] == "         ^");
}

TEST_CASE("a wrong filter is found before any input is read") { (void)wrong({"packets", "-Y", "(", "no/such.pcap"}); }

TEST_CASE("a column that is no field is wrong use, with what was meant") {
    CHECK_THAT(wrong({"packets", "-e", "infiniband.bth.pns", sample("rds")}).err,
               Contains("did you mean infiniband.bth.psn?"));
    CHECK_THAT(wrong({"packets", "-e", "nonsense", sample("rds")}).err, Contains("'nonsense'"));
}

TEST_CASE("every field is listed once, with a type and a meaning") {
    const auto lines = lines_of(qpscope({"fields", "-f", "tsv"}).out);
    REQUIRE(lines.size() > 500);
    CHECK(lines[0] == "name\ttype\tlayer\tmeaning\tvalues");
    std::set<std::string> names;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        INFO(lines[i]);
        const std::size_t type = lines[i].find('\t');
        CHECK(names.insert(lines[i].substr(0, type)).second);
        CHECK(lines[i].find('\t', type + 1) > type + 1);
    }
}

TEST_CASE("fields are found by a part of their name or meaning") {
    const auto lines = lines_of(qpscope({"fields", "-f", "csv", "credit_count"}).out);
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[1], StartsWith("infiniband.aeth.syndrome.credit_count,"));
    const auto names = [](const char* pattern) {
        std::string all;
        for (const std::string& line : lines_of(qpscope({"fields", "-f", "tsv", pattern}).out))
            all += line.substr(0, line.find('\t')) + ' ';
        return all;
    };
    CHECK_THAT(names("rkey"), Contains("infiniband.reth.r_key "));
    CHECK_THAT(names("qpn"), Contains("infiniband.bth.destqp "));
    CHECK_THAT(names("roce"), Contains("rdma.encapsulation ") && !Contains("proc"));
    CHECK_THAT(names("syndrome"), Contains("infiniband.aeth.syndrome "));
    CHECK_THAT(names("psn"), Contains("infiniband.bth.psn "));
    const Ending none = qpscope({"fields", "zzzz"});
    CHECK(none.out.empty());
    CHECK_THAT(none.err, Contains("'zzzz'"));
}

TEST_CASE("every name of the list is a filter of its own") {
    std::vector<std::string> filters{"frame.number == 0"};
    for (const std::string& line : lines_of(qpscope({"fields", "-f", "tsv"}).out)) {
        if (line.starts_with("name\t")) continue;
        if (filters.back().size() > 2000) filters.emplace_back("frame.number == 0");
        filters.back() += " or " + line.substr(0, line.find('\t'));
    }
    for (const std::string& text : filters) {
        const Ending ending = qpscope({"packets", "-f", "json", "-Y", text, sample("rds")});
        INFO(ending.err);
        CHECK(ending.code == kDone);
    }
}

TEST_CASE("a finding is explained as a page of a manual, bold where there are colours") {
    constexpr std::size_t kWidest = 100;
    const std::vector<std::string> headings{"Example", "To do", "Looks like it", "Cannot know", "Facts of the example"};
    const auto is_heading = [&](const std::string& line) {
        return std::ranges::find(headings, line) != headings.end();
    };
    for (const auto& row : qps::transport::finding_rows()) {
        INFO(row.id);
        const Ending plain = qpscope({"findings", "--explain", std::string(row.id)});
        REQUIRE(plain.code == kDone);
        const std::vector<std::string> lines = lines_of(plain.out);
        REQUIRE(lines.size() > 6);
        CHECK(lines[0] == row.id);
        CHECK(lines[1].starts_with("  "));
        std::string bold;
        std::size_t sections = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string& line = lines[i];
            CHECK(line.size() <= kWidest);
            if (i == 0 || is_heading(line)) {
                bold += "\033[1m" + line + "\033[0m\n";
                sections += i == 0 ? 0 : 1;
                if (i != 0) CHECK(lines[i - 1].empty());
                CHECK(lines[i + 1].starts_with("  "));
            } else {
                CHECK((line.empty() || line.starts_with("  ")));
                bold += line + "\n";
            }
        }
        CHECK(sections == 3U + (row.alike.empty() ? 0 : 1) + (row.limits.empty() ? 0 : 1));
        CHECK(qpscope({"findings", "--explain", std::string(row.id), "--color", "always"}).out == bold);
    }
}
