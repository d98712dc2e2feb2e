// What connections carried: `operations`, `--decode-as`, and the places of other commands that speak of it.
#include <dissect/ulp/ulp.hpp>
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <nlohmann/json.hpp>

using namespace qps::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

Json connections(const Words& more) {
    Words words{"connections", "-q", "-f", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ending ending = qpscope(words);
    REQUIRE(ending.code == kDone);
    return Json::parse(ending.out)["connections"];
}

std::string error_of(const Words& words) {
    const Ending ending = qpscope(words);
    CHECK(ending.code == kUsage);
    CHECK(ending.out.empty());
    return ending.err;
}

}  // namespace

TEST_CASE("a wrong --decode-as says what it should have been") {
    const std::string file = sample("rping_v4");
    const std::string unknown = error_of({"messages", "--decode-as", "1=nvm", file});
    for (const auto& row : qps::dissect::ulp_rows()) CHECK_THAT(unknown, Contains(std::string(row.word)));
    CHECK_THAT(error_of({"messages", "--decode-as", "nvme", file}), Contains("such as 3=nvme"));
    CHECK_THAT(error_of({"messages", "--decode-as", "=nvme", file}), Contains("such as 3=nvme"));
    CHECK_THAT(error_of({"messages", "--decode-as", "1=", file}), Contains("expected one of none, nvme"));
    CHECK_THAT(error_of({"messages", "--decode-as", "1=nvme,1=iser", file}), Contains("conflicting --decode-as"));
    CHECK_THAT(error_of({"operations", "--protocol", "scsi", file}), Contains("expected one of none, nvme"));
    CHECK_THAT(error_of({"operations", "--slower-than", "long", file}), Contains("invalid time 'long'"));
    CHECK_THAT(error_of({"follow", "1", "--raw", "--decode", file}), Contains("exclude each other"));
}

TEST_CASE("the user's word stands in every command that reconstructs") {
    const std::string file = sample("rping_v4");
    const Json said = connections({"--decode-as", "1=srp", file});
    REQUIRE(said.size() == 1);
    CHECK(said[0]["protocol"] == "srp");
    CHECK(said[0]["protocol_basis"] == "user");
    CHECK(said[0]["protocol_certainty_percent"] == 100);
    CHECK(connections({file})[0]["protocol"].is_null());
    CHECK(connections({"--decode-as", "1=none", file})[0]["protocol"].is_null());
    const Words every[] = {{"analyze"},  {"check", "--fail-on", "never"},
                           {"messages"}, {"operations"},
                           {"findings"}, {"cm"},
                           {"timeline"}, {"packets"},
                           {"show"}};
    for (const Words& command : every) {
        Words words = command;
        words.insert(words.end(), {"-q", "--decode-as", "1=srp", "--decode-as", "7=nvme", file});
        INFO(command.front());
        CHECK(qpscope(words).code == kDone);
    }
    const Ending summary = qpscope({"analyze", "--decode-as", "1=srp", file});
    CHECK_THAT(summary.out, Contains("upper-layer protocols") && Contains("SRP, 1 connection: #1"));
}

TEST_CASE("plain data has no operations, and nothing is said to be carried") {
    for (const char* name : {"rping_v4", "loss_write", "send_8k", "ucmatose"}) {
        INFO(name);
        const Ending none = qpscope({"operations", sample(name)});
        CHECK(none.code == kDone);
        CHECK_THAT(none.err, Contains("no operations"));
        CHECK(qpscope({"operations", "--list", "-f", "json", sample(name)}).out ==
              "{\"schema\":2,\"operations\":[\n]}\n");
        CHECK_THAT(qpscope({"analyze", sample(name)}).out, !Contains("upper-layer protocols"));
    }
}
