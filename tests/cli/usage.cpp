// Words of the command line, right and wrong.
#include <cli/exit_code.hpp>
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>

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
    CHECK_THAT(ending.err, StartsWith("qpscope: "));
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
    CHECK_THAT(wrong({"packets", "-j", "0", sample("rds")}).err, Contains("--jobs: invalid number of threads '0': expected 1 to 1024"));
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

TEST_CASE("a file alone is short for analyze") { CHECK(qpscope({sample("rds")}).out == qpscope({"analyze", sample("rds")}).out); }

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
    CHECK_THAT(wrong({"packets", "-e", "infiniband.bth.pns", sample("rds")}).err, Contains("did you mean infiniband.bth.psn?"));
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
