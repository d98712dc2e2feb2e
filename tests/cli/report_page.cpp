// `report`: every sample as a page that stands alone, with the findings that `findings` lists.
#include <tests/cli/qpscope.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_file.hpp>

#include <nlohmann/json.hpp>

using namespace qps::test;

namespace {

std::string unescaped(std::string text) {
    for (const auto& [entity, letter] : {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""},
                                         std::pair{"&#39;", "'"}, std::pair{"&amp;", "&"}})
        for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos;)
            text.replace(at++, std::string_view(entity).size(), letter);
    return text;
}

}  // namespace

TEST_CASE("a report of every sample has what findings lists, and is small") {
    for (const std::string& name : all_samples()) {
        INFO(name);
        const Ending page = qpscope({"report", sample(name)});
        const Ending listed = qpscope({"findings", "-f", "json", sample(name)});
        CHECK(page.code == listed.code);
        CHECK(page.out.starts_with("<!doctype html>"));
        CHECK(page.out.ends_with("</html>\n"));
        CHECK(page.out.size() < 2'000'000);
        const std::string text = unescaped(page.out);
        const auto findings = nlohmann::json::parse(listed.out);
        for (const auto& finding : findings.at("findings")) {
            INFO(finding.dump());
            CHECK(text.find(finding.at("summary").get<std::string>()) != std::string::npos);
        }
        CHECK((page.out.find("<p class=\"soft\">None.</p>") != std::string::npos) == findings.at("findings").empty());
    }
}

TEST_CASE("a report shows the packets that prove a finding, pictures, and of a pipe what one reading has") {
    const std::string html = qpscope({"report", sample("loss_write")}).out;
    CHECK(html.find("aria-label=\"packets that prove it\"") != std::string::npos);
    CHECK(html.find("RC_ACKNOWLEDGE qp=54 psn=12164704 nak=PSN_SEQUENCE_ERROR") != std::string::npos);
    CHECK(html.find("aria-label=\"throughput over time\"") != std::string::npos);
    CHECK(html.find("aria-label=\"latency of messages over time\"") != std::string::npos);
    CHECK(html.find("aria-label=\"PSNs over time\"") != std::string::npos);
    CHECK(html.find("qpscope report of capture.pcap<") != std::string::npos);  // without its folder
    CHECK(html.find(QPSCOPE_SOURCE_DIR) == std::string::npos);
    CHECK(html.find("(<code>tc -s qdisc</code>, <code>ethtool -S</code>)") != std::string::npos);
    CHECK(html.find('`') == std::string::npos);
    CHECK(qpscope({"report", "-C", "2", sample("loss_write")}).out.find("go-back-n-loss") == std::string::npos);
    const std::vector<std::byte> capture = read_file(sample("loss_write"));
    const Ending piped = qpscope({"report", "-"}, {.input = capture});
    CHECK(piped.out.find("go-back-n-loss") != std::string::npos);
    CHECK(piped.out.find("aria-label=\"packets that prove it\"") == std::string::npos);
}

TEST_CASE("a report says which capture it is of, and the command without folders") {
    const std::string capture = sample("loss_write");
    const TemporaryFolder folder;
    CHECK(qpscope({"report", "-C", "1", "--output=" + folder.file("page.html"), capture}).code == kDone);
    const std::vector<std::byte> bytes = read_file(folder.file("page.html"));
    const std::string html(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    CHECK(html.find("<dt>files</dt><dd>capture.pcap, 2,345,765 bytes, SHA-256 "
                    "ae19f43dea0908837cb32dc4d3392332ded595f4b6f4ccebc3e22c51efb46aa4</dd>") != std::string::npos);
    CHECK(html.find("<dt>command</dt><dd>qpscope report -C 1 --output=page.html capture.pcap</dd>") !=
          std::string::npos);
    CHECK(html.find("<dt>program</dt><dd>qpscope ") != std::string::npos);
    CHECK(html.find("<dt>made</dt><dd>2") != std::string::npos);
    const std::string piped = qpscope({"report", "-"}, {.input = read_file(capture)}).out;
    CHECK(piped.find("<dt>files</dt><dd>standard input</dd>") != std::string::npos);
}

TEST_CASE("a report of sixteen connections has one panel for what nine of them have alike") {
    const std::string html = qpscope({"report", sample("incast")}).out;
    CHECK(html.find("<h1>9 of 16 connections lost packets</h1>") != std::string::npos);
    std::size_t panels = 0;
    for (std::size_t at = html.find("<details"); at != std::string::npos; at = html.find("<details", at + 1)) ++panels;
    CHECK(panels == 5);
    CHECK(html.find("throughput over time") < html.find("<details"));
}

TEST_CASE("a report that cannot be written, or has no capture, says so") {
    CHECK(qpscope({"report", "-o", "/nonexistent/report.html", sample("loss_write")}).code != kDone);
    CHECK(qpscope({"report", "/nonexistent.pcap"}).code != kDone);
    CHECK(qpscope({"report", "-f", "json", sample("loss_write")}).code == kUsage);
}
