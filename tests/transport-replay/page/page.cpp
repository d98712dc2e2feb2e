// Reports as one HTML file: whole and well-formed whatever is in them, bounded, with the numbers of the timeline, and
// readable.
#include <tests/support/catch.hpp>
#include <tests/support/observations.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/message.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/page.hpp>
#include <transport-replay/page/panels.hpp>
#include <transport-replay/page/picture.hpp>
#include <transport-replay/page/style.hpp>
#include <transport-replay/report/page_style.hpp>

#include <array>
#include <cmath>
#include <map>
#include <regex>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::tests;

namespace {

std::string page_of(const page::Collector& collected, std::vector<std::string> files = {"trace.pcap"}) {
    std::string out;
    page::Origin origin{{}, "1.0", "qpscope report '<x>'", Instant{kSecond}};
    for (std::string& name : files) origin.files.push_back({std::move(name), 1234, "0a<b>"});
    page::write_page(collected, origin, [&](std::string_view piece) { out += piece; });
    return out;
}

// The tags that are open at the end, or the first that closes another one: empty where all is well.
std::string unbalanced(const std::string& html) {
    std::vector<std::string> open;
    for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
        const std::size_t end = html.find('>', at);
        if (end == std::string::npos) return html.substr(at, 20);
        const std::string tag = html.substr(at + 1, end - at - 1);
        const bool closes = tag.starts_with('/');
        const std::string name =
            tag.substr(closes ? 1 : 0, tag.find_first_of(" \n", closes ? 1 : 0) - (closes ? 1 : 0));
        at = end;
        if (name == "meta" || name == "!doctype" || tag.ends_with('/')) continue;
        if (!closes) open.push_back(name);
        else if (open.empty() || open.back() != name) return name;
        else open.pop_back();
        if (name == "script" && !closes) at = html.find("</script", at);
    }
    return open.empty() ? std::string() : open.back();
}

std::size_t occurrences(std::string_view text, std::string_view of) {
    std::size_t count = 0;
    for (std::size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + of.size())) ++count;
    return count;
}

Finding finding(std::string summary, ConnectionId connection = ConnectionId{1}) {
    Finding made;
    made.id = "go-back-n-loss";
    made.severity = Severity::warning;
    made.connection = connection;
    made.summary = std::move(summary);
    made.packets = {FrameIndex{1}, FrameIndex{2}};
    return made;
}

Timeline timeline_of(unsigned connections) {
    Timeline timeline;
    timeline.packets = 400;
    timeline.first = Instant{0};
    timeline.last = Instant{kSecond};
    for (unsigned i = 0; i < connections; ++i) {
        Connection& connection = add_connection(timeline, 2 * i + 1, 2 * i + 2);
        connection.ways[0].incidents.made().retransmitted = i;
    }
    return timeline;
}

// The colours of a palette by name: of the first `:root` behind a mark.
std::map<std::string, std::string> palette(std::string_view style, std::string_view behind) {
    const std::size_t from = style.find(":root", behind.empty() ? 0 : style.find(behind));
    const std::string text(style.substr(from, style.find('}', from) - from));
    static const std::regex colour("--([a-z]+): (#[0-9a-f]{6})");
    std::map<std::string, std::string> colours;
    for (std::sregex_iterator at(text.begin(), text.end(), colour), end; at != end; ++at) colours[(*at)[1]] = (*at)[2];
    return colours;
}

// WCAG 2.1, relative luminance and contrast ratio.
double luminance(const std::string& colour) {
    constexpr std::array kWeights{0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (std::size_t i = 0; i < kWeights.size(); ++i) {
        const double part = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
        sum += kWeights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}
double contrast(const std::string& a, const std::string& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST_CASE("a page has the findings, worst first, and shows text as text") {
    Timeline timeline = timeline_of(2);
    timeline.findings = {finding("lost <script>alert(1)</script> & \"3\" packets"), finding("second", ConnectionId{2})};
    timeline.findings[0].advice = "Look at <b>it</b>";
    page::Collector collected(timeline);
    CHECK(collected.wants_text(FrameIndex{2}));
    CHECK_FALSE(collected.wants_text(FrameIndex{3}));
    collected.take_text(FrameIndex{1}, {.source = "10.0.0.1", .destination = "10.0.0.2", .line = "SEND <img src=x>"});
    collected.take_text(FrameIndex{2}, {.source = "10.0.0.2", .destination = "10.0.0.1", .line = "\x1b]0;ACK"});
    const std::string html = page_of(collected, {"<svg onload=x>.pcap", "b.pcap"});
    CHECK(unbalanced(html) == "");
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK(html.find("lost &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;3&quot; packets") != std::string::npos);
    CHECK(html.find("SEND &lt;img src=x&gt;") != std::string::npos);
    CHECK(html.find("Look at &lt;b&gt;it&lt;/b&gt;") != std::string::npos);
    CHECK(html.find("&lt;svg onload=x&gt;.pcap and 1 more") != std::string::npos);
    CHECK(html.find('\x1b') == std::string::npos);
    CHECK(html.find("second") > html.find("lost &lt;"));
    CHECK(html.ends_with("</html>\n"));
    // Nothing is fetched.
    CHECK_FALSE(std::regex_search(html, std::regex("(src|href)=\"|url\\(|@import|https?:")));
}

TEST_CASE("the headline of a page is the worst finding without particulars") {
    Timeline timeline = timeline_of(1);
    for (const auto& [summary, line] :
         {std::pair{"a sent 3 packets (12 KiB (1 of them new)) to b in 2 episodes; why is undecided",
                    "a sent 3 packets to b in 2 episodes"},
          std::pair{"a gave up", "a gave up"}, std::pair{"odd) and (open", "odd and"}, std::pair{"", ""}}) {
        timeline.findings = {finding(summary)};
        CHECK(page_of(page::Collector(timeline)).find(std::string("<h1>") + line + "</h1>") != std::string::npos);
    }
}

TEST_CASE("what many connections have alike is one panel with a list and one ladder, and the headline counts them") {
    Timeline timeline = timeline_of(20);
    for (unsigned i = 0; i < 16; ++i) {
        timeline.findings.push_back(finding("10.0.0." + std::to_string(i) + " lost it", ConnectionId{i + 1}));
        timeline.findings.back().advice = "Look at 10.0.0." + std::to_string(i) + " first";
        timeline.findings.back().packets = {FrameIndex{2 * i + 1}, FrameIndex{2 * i + 2}};
    }
    page::Collector collected(timeline);
    CHECK(collected.wants_text(FrameIndex{1}));
    CHECK_FALSE(collected.wants_text(FrameIndex{3}));  // of another connection
    for (unsigned frame = 1; frame <= 32; ++frame)
        collected.take_text(FrameIndex{frame}, {.source = "a", .destination = "b", .line = "x"});
    const std::string html = page_of(collected);
    CHECK(unbalanced(html) == "");
    CHECK(html.find("<h1>16 of 20 connections lost packets</h1>") != std::string::npos);
    CHECK(occurrences(html, "<details") == 1);
    CHECK(occurrences(html, "<figure class=\"ladder\"") == 1);
    CHECK(occurrences(html, "class=\"advice\"") == 1);
    for (unsigned i = 0; i < 16; ++i) CHECK(html.find("10.0.0." + std::to_string(i) + " lost it") != std::string::npos);
    CHECK(page_of(page::Collector(timeline, {ConnectionId{1}, ConnectionId{2}, ConnectionId{20}}))
              .find("<h1>2 of 3 connections lost packets</h1>") != std::string::npos);
    for (Finding& each : timeline.findings) each.connection.reset();
    CHECK(page_of(page::Collector(timeline)).find("requested them with a sequence NAK (16 findings)</h1>") !=
          std::string::npos);
}

TEST_CASE("findings about the same packets of a connection share a panel and its ladder") {
    Timeline timeline = timeline_of(2);
    timeline.findings = {finding("the loss"), finding("the wait"), finding("of others", ConnectionId{2})};
    timeline.findings[1].id = "ack-timeout";
    timeline.findings[1].packets = {FrameIndex{2}, FrameIndex{9}};
    timeline.findings[2].id = "rnr-stall";
    page::Collector collected(timeline);
    CHECK(collected.wants_text(FrameIndex{9}));
    for (const unsigned frame : {1U, 2U, 9U})
        collected.take_text(FrameIndex{frame}, {.source = "a", .destination = "b", .line = "x"});
    const std::string html = page_of(collected);
    CHECK(unbalanced(html) == "");
    CHECK(occurrences(html, "<details") == 2);
    CHECK(occurrences(html, "class=\"also\"") == 1);
    CHECK(occurrences(html, "<figure class=\"ladder\"") == 2);
    CHECK(html.find("the loss") < html.find("the wait"));
    CHECK(html.find("the wait") < html.find("of others"));
}

TEST_CASE("a page says when a finding began, by the clock and by seconds") {
    Timeline timeline = timeline_of(1);
    timeline.findings = {finding("the loss")};
    page::Collector collected(timeline);
    Observation observation;
    observation.frame = FrameIndex{1};
    observation.time = Instant{kSecond / 4};
    collected.take(observation.frame, PacketRow(0, 0, observation, {}));
    collected.take_text(FrameIndex{1}, {.source = "a", .destination = "b", .line = "x"});
    const std::string html = page_of(collected);
    CHECK(html.find("<dt>first</dt><dd>1970-01-01 00:00:00.250000000 UTC (0.250000 s)</dd>") != std::string::npos);
    CHECK(html.find(">00:00:00.250000<") != std::string::npos);  // in the ladder
    CHECK(html.find(">00:00:01.000000<") != std::string::npos);  // at the end of the axis
}

TEST_CASE("a page says what it was made of, and how") {
    Timeline timeline = timeline_of(1);
    const std::string html = page_of(page::Collector(timeline), {"a<b>.pcap", "b.pcap"});
    CHECK(html.find("<dt>program</dt><dd>qpscope 1.0</dd>") != std::string::npos);
    CHECK(html.find("<dt>command</dt><dd>qpscope report &#39;&lt;x&gt;&#39;</dd>") != std::string::npos);
    CHECK(html.find("<dt>made</dt><dd>1970-01-01 00:00:01.000000000 UTC</dd>") != std::string::npos);
    CHECK(html.find("<dt>files</dt><dd>a&lt;b&gt;.pcap, 1,234 bytes, SHA-256 0a&lt;b&gt;</dd>") != std::string::npos);
    CHECK(html.find("<dt>defects</dt><dd>none known</dd>") != std::string::npos);
    const std::string many = page_of(page::Collector(timeline), std::vector<std::string>(5000, std::string(300, '&')));
    CHECK(many.find("and 4,900 more") != std::string::npos);
    CHECK(many.size() < 300'000);
}

TEST_CASE("a page of some connections has no others") {
    Timeline timeline = timeline_of(3);
    timeline.findings = {finding("of the first"), finding("of the third", ConnectionId{3})};
    const std::string html = page_of(page::Collector(timeline, {ConnectionId{3}}));
    CHECK(html.find("of the third") != std::string::npos);
    CHECK(html.find("of the first") == std::string::npos);
    CHECK(html.find("10.0.0.5:3") != std::string::npos);
    CHECK(html.find("10.0.0.1:1") == std::string::npos);
}

TEST_CASE("nothing found is said so, and what could not be judged as well") {
    Timeline timeline = timeline_of(1);
    CHECK(page_of(page::Collector(timeline)).find("<h1>No problems found</h1>") != std::string::npos);
    timeline.left_out.packets_of_connections = 7;
    const std::string html = page_of(page::Collector(timeline));
    CHECK(html.find("<h1>No problems found; not everything could be judged</h1>") != std::string::npos);
    CHECK(html.find("<dt>not judged</dt><dd>7 packets") != std::string::npos);
}

TEST_CASE("a page is bounded, and says what is past its bounds") {
    Timeline timeline = timeline_of(3000);
    const std::string summary(600, '&');
    for (unsigned i = 0; i < 1000; ++i) timeline.findings.push_back(finding(summary, ConnectionId{i + 1}));
    for (Finding& each : timeline.findings)
        for (unsigned frame = 1; frame < 200; ++frame) each.packets.push_back(FrameIndex{frame});
    page::Collector collected(timeline);
    // Every cell of every picture is there.
    for (unsigned i = 0; i < 4000; ++i) {
        Message message;
        message.outcome = Outcome::completed;
        message.starts = true;
        message.answer_time = Instant{kSecond / 4000 * i};
        message.first_time = Instant{kSecond / 4000 * i - 1000 * (i % 7)};
        collected.take(ConnectionId{1}, message);
    }
    for (unsigned frame = 1; frame < 200; ++frame) {
        collected.take_text(
            FrameIndex{frame},
            {.source = std::string(100, '<'), .destination = std::string(100, '>'), .line = std::string(2000, '&')});
    }
    const std::string html = page_of(collected);
    CHECK(unbalanced(html) == "");
    CHECK(html.size() < 2'000'000);
    CHECK(html.find("and 800 more: see qpscope findings") != std::string::npos);
    CHECK(html.find("and 2,600 more: see qpscope connections") != std::string::npos);
}

TEST_CASE("the worst grid of PSNs is bounded too") {
    page::PsnGrid grid;
    grid.range = page::kPsnRows;
    grid.cells.resize(page::kColumns * page::kPsnRows);
    for (std::size_t i = 0; i < grid.cells.size(); ++i)
        grid.cells[i] = (i / page::kColumns) % 2 == 0 ? 7 : 0;  // nothing lies on another
    grid.acknowledged.assign(page::kColumns, -1);
    for (std::size_t i = 0; i < page::kColumns; ++i) grid.acknowledged[i] = static_cast<std::int64_t>(i / 5);
    const std::string picture = page::psns(grid, {Instant{0}, Duration{kSecond}});
    CHECK(picture.size() * page::kMostPsnPictures < 1'700'000);
    CHECK(unbalanced(picture) == "");
}

TEST_CASE("latency: columns have the percentiles of their messages") {
    page::LatencyColumn column;
    CHECK(column.percentile(50) == 0);
    for (const std::int64_t took : {10, 11, 12, 13}) {
        ++column.count;
        ++column.bins[series::latency_bin(took)];
        column.most = took;
    }
    CHECK(column.percentile(50) == 11);
    CHECK(column.percentile(99) == 13);
    CHECK(page::latency(std::vector<page::LatencyColumn>(page::kColumns), {Instant{0}, Duration{kSecond}}).empty());
    std::vector<page::LatencyColumn> columns(page::kColumns);
    columns[3] = column;
    CHECK(page::latency(columns, {Instant{0}, Duration{kSecond}}).find("M12 ") != std::string::npos);
}

TEST_CASE("text of a page stands out from its ground in each palette") {
    constexpr double kReadable = 4.5;  // WCAG 2.1, 1.4.3
    for (const std::string_view behind :
         {std::string_view(), std::string_view("prefers-color-scheme: dark"), std::string_view("@media print")}) {
        INFO(behind);
        // What print does not set again it has of a theme; of those none is text.
        const bool print = behind.starts_with("@media");
        auto colours = palette(print ? page::kPictureStyle : kPageStyle, behind);
        for (const auto& [name, colour] : palette(page::kPictureStyle, behind)) colours[name] = colour;
        REQUIRE(colours.size() >= 12);
        for (const auto& [name, colour] : colours) {
            if (name == "ground" || name == "raised" || name == "line") continue;
            INFO(name << ' ' << colour);
            CHECK(contrast(colour, colours["ground"]) >= kReadable);
            CHECK(contrast(colour, colours["raised"]) >= kReadable);
        }
    }
}
