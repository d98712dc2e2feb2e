// Reports for programs and people: escaped, whole, and readable again for a comparison.
#include <tests/support/catch.hpp>
#include <transport-replay/checks/report/counts.hpp>
#include <transport-replay/checks/report/written.hpp>

#include <nlohmann/json.hpp>

using namespace qps::dissect;
using namespace qps::transport::conformance;

namespace {

CheckResult result(std::string_view id, Verdict verdict, std::string reason = {}) {
    CheckResult made;
    made.check = find_check(id);
    made.verdict = verdict;
    made.reason = std::move(reason);
    made.examined = 10;
    if (verdict == Verdict::fail) {
        made.failures = 3;
        made.evidence = {FrameIndex{4}, FrameIndex{7}};
        made.detail = "expected < a \"b\"\ncame     > c & d";
        made.exchange = {{Duration{0}, ExchangeWay::to_device, false, "RC_SEND_ONLY <b>"},
                         {Duration{5000}, ExchangeWay::from_device, true, "RC_ACKNOWLEDGE \"&\""},
                         {Duration{9000}, ExchangeWay::missing, false, "an ACK\x02" + std::string(200, 'x')}};
    }
    return made;
}

Report report_of(std::vector<CheckResult> results) {
    return {"a <b>&\x01.pcap", {{"kernel", "6.1"}}, std::move(results)};
}

Report one_of_each() {
    return report_of({result("FMT-01", Verdict::pass), result("FMT-06", Verdict::fail, "3 of 10 packets <script>"),
                      result("FMT-08", Verdict::deviation, "declared"),
                      result("RSP-05", Verdict::inconclusive, "a gap"),
                      result("REQ-21", Verdict::not_applicable, "no timeouts")});
}

}  // namespace

TEST_CASE("a report in JSON has every check, and is JSON whatever is in it") {
    const auto json = nlohmann::json::parse(json_text(one_of_each()));
    CHECK(json["schema"] == 1);
    CHECK(json["facts"]["kernel"] == "6.1");
    REQUIRE(json["checks"].size() == 5);
    CHECK(json["counts"]["fail"] == 1);
    CHECK(json["counts"]["not applicable"] == 1);
    CHECK(json["checks"][1]["id"] == "FMT-06");
    CHECK(json["checks"][1]["frames"] == nlohmann::json({4, 7}));
    CHECK(json["checks"][1]["severity"] == "low");
    CHECK(json["checks"][4]["from_memory"] == true);
}

TEST_CASE("HTML and XML show text as text") {
    const std::string html = html_text(one_of_each());
    CHECK(html.find("<script>") == std::string::npos);
    CHECK(html.find("&lt;script&gt;") != std::string::npos);
    CHECK(html.find('\x01') == std::string::npos);
    CHECK(html.ends_with("</html>\n"));
    const std::string junit = junit_text(one_of_each());
    CHECK(junit.find("failures=\"1\"") != std::string::npos);
    CHECK(junit.find("message=\"3 of 10 packets &lt;script&gt;; expected: ") != std::string::npos);
    CHECK(junit.find('\x01') == std::string::npos);
}

TEST_CASE("JUnit fails what decides the exit code, with what is expected and the clause; numbers in it are numbers") {
    Report report = one_of_each();
    report.facts = {{"packets", "2,228", "2228"}, {"duration", "2.341 s", "2.341000000"}};
    const CheckRow& low = *report.results[1].check;
    REQUIRE(low.severity == CheckSeverity::low);
    for (const auto least :
         {std::optional<CheckSeverity>{}, std::optional(CheckSeverity::low), std::optional(CheckSeverity::medium)}) {
        const std::string junit = junit_text(report, least);
        const bool fails = least && fails_at(report, *least);
        CHECK((junit.find("<failure") != std::string::npos) == fails);
        CHECK((junit.find("<testsuites") != std::string::npos && junit.find("failures=\"1\"") != std::string::npos) ==
              fails);
        CHECK((junit.find("below --fail-on") != std::string::npos) == !fails);
        CHECK(junit.find(low.expected.substr(0, 10)) != std::string::npos);
        CHECK(junit.find("value=\"2228\"") != std::string::npos);
        CHECK(junit.find("value=\"2.341000000\"") != std::string::npos);
        CHECK(junit.find("2,228") == std::string::npos);
    }
    CHECK(html_text(report).find("2,228") != std::string::npos);
}

TEST_CASE("a failure has its packets as a ladder in HTML") {
    const std::string html = html_text(one_of_each());
    CHECK(html.find(">tester</text>") != std::string::npos);
    CHECK(html.find(">device</text>") != std::string::npos);
    CHECK(html.find("RC_SEND_ONLY &lt;b&gt;") != std::string::npos);
    CHECK(html.find("class=\"arrow wrong\"") != std::string::npos);
    CHECK(html.find("class=\"arrow missing\"") != std::string::npos);
    CHECK(html.find("<b>\"") == std::string::npos);
    CHECK(html.find(std::string(100, 'x')) == std::string::npos);  // shortened
    CHECK(html_text(report_of({result("FMT-01", Verdict::pass)})).find("<svg") == std::string::npos);
}

TEST_CASE("the digest of a report is that of its verdicts") {
    Report report = one_of_each();
    const std::string digest = digest_of(report);
    CHECK(digest.size() == 64);
    report.results[1].reason = "other words";
    report.facts.clear();
    CHECK(digest_of(report) == digest);
    report.results[1].verdict = Verdict::pass;
    CHECK(digest_of(report) != digest);
}

TEST_CASE("severity decides what counts as a failure") {
    const Report report = one_of_each();
    CHECK(fails_at(report, CheckSeverity::low));
    CHECK_FALSE(fails_at(report, CheckSeverity::medium));
    CHECK(count(report).all() == 5);
}

TEST_CASE("two reports compared say what broke, what was mended, and what is the same") {
    const auto before = read_report(json_text(one_of_each()));
    REQUIRE(before.has_value());
    CHECK(before->results.size() == 5);
    CHECK(before->results[1].failures == 3);
    const Report now = report_of({result("FMT-01", Verdict::fail, "all of them"), result("FMT-06", Verdict::pass),
                                  result("FMT-08", Verdict::deviation), result("RSP-06", Verdict::pass),
                                  result("REQ-21", Verdict::inconclusive, "too few")});
    const Comparison comparison = compare(*before, now);
    CHECK(comparison.same == 1);
    REQUIRE(comparison.changes.size() == 5);
    CHECK(comparison.changes[0].check->id == "FMT-01");
    CHECK(comparison.changes[0].kind == ChangeKind::broken);
    CHECK(comparison.changes[1].check->id == "FMT-06");
    CHECK(comparison.changes[1].kind == ChangeKind::mended);
    CHECK(comparison.changes[2].check->id == "RSP-05");
    CHECK_FALSE(comparison.changes[2].after.has_value());
    CHECK(comparison.changes[3].check->id == "RSP-06");
    CHECK_FALSE(comparison.changes[3].before.has_value());
    CHECK(json_text(now, &comparison).find("\"compared\"") != std::string::npos);
    CHECK(html_text(now, &comparison).find("Changed since") != std::string::npos);
}

TEST_CASE("what is no report is refused, wherever it ends") {
    const std::string good = json_text(one_of_each());
    for (std::size_t length = 0; length + 2 < good.size(); ++length)
        CHECK_FALSE(read_report(std::string_view(good).substr(0, length)));
    for (const char* text :
         {"", "{}", "[]", "null", "{\"checks\":1}x", "{\"checks\":[{}]", "{\"checks\":[]}}", "{\"checks\" []}"})
        CHECK_FALSE(read_report(text));
    CHECK(read_report("{\"checks\":[]}").has_value());
    CHECK(
        read_report("{\"checks\":[{\"id\":\"X\"},{\"id\":7,\"verdict\":{}},{\"verdict\":\"pass\"}]}")->results.empty());
    CHECK_FALSE(read_report(std::string(1 << 20, '[')));
    CHECK_FALSE(read_report("{\"a\":" + std::string(1 << 20, '{')));
    CHECK_FALSE(read_report("{\"a\":\"\\"));
    const auto nested = [](std::size_t depth) {
        return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + ",\"checks\":[]}";
    };
    CHECK(read_report(nested(31)).has_value());
    CHECK_FALSE(read_report(nested(32)));
    CHECK_FALSE(read_report(nested(1 << 20)));
    CHECK_FALSE(read_report("{\"checks\":[],\"a\":1e999}"));
    CHECK_FALSE(read_report("{\"checks\":[],\"a\":\"\xff\"}"));
    CHECK_FALSE(read_report("{\"checks\":{\"id\":\"FMT-01\",\"verdict\":\"pass\"}}"));
    CHECK(read_report("{\"other\":[{\"id\":\"FMT-01\",\"verdict\":\"pass\"}],\"checks\":[]}")->results.empty());
    CHECK(read_report("{\"checks\":[{\"id\":\"FMT-01\",\"verdict\":\"pass\",\"a\":{\"verdict\":\"fail\"}}]}")
              ->results[0]
              .verdict == Verdict::pass);
    CHECK_FALSE(read_report("{\"a\":\"\\u12"));
}
