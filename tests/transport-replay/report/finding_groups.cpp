// Which findings are told together.
#include <tests/support/catch.hpp>
#include <transport-replay/report/finding_groups.hpp>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

Finding found(std::string_view id, std::optional<unsigned> connection, std::vector<std::uint64_t> frames,
              std::uint64_t count = 1) {
    Finding made;
    made.id = id;
    made.severity = Severity::warning;
    if (connection) made.connection = ConnectionId{*connection};
    for (const std::uint64_t frame : frames) made.packets.push_back(FrameIndex{frame});
    made.count = count;
    return made;
}

// "a a b; c": the ids of each panel's groups, once for each finding.
std::string told(const std::vector<Finding>& findings) {
    std::vector<const Finding*> all;
    for (const Finding& each : findings) all.push_back(&each);
    std::string text;
    const auto add = [&](const FindingGroup& group) {
        for (const Finding* each : group.findings) text += std::string(each->id) + ' ';
    };
    for (const FindingPanel& panel : finding_panels(all)) {
        add(panel.head);
        for (const FindingGroup& group : panel.also) {
            text += "+ ";
            add(group);
        }
        text += "; ";
    }
    return text;
}

}  // namespace

TEST_CASE("findings are one group if only names and amounts of their advice differ, the most frequent first") {
    std::vector<Finding> findings{found("loss", 1, {1}), found("loss", 2, {2}, 9), found("loss", 3, {3})};
    findings[0].advice = "Look at 10.0.0.1";
    findings[1].advice = "Look at 10.0.0.2";
    findings[2].advice = "Replace 10.0.0.3";
    std::vector<const Finding*> all{&findings[0], &findings[1], &findings[2]};
    const auto panels = finding_panels(all);
    REQUIRE(panels.size() == 2);
    CHECK(panels[0].head.findings == std::vector<const Finding*>{&findings[1], &findings[0]});
    CHECK(panels[0].head.count == 10);
    CHECK(advice_of(panels[0].head) == "Look at 10.0.0.2 (likewise for 10.0.0.1)");
    CHECK(advice_of(panels[1].head) == "Replace 10.0.0.3");
    findings[0].party = Party::fabric;
    findings[1].severity = Severity::note;
    CHECK(finding_panels(all).size() == 3);
    CHECK(finding_panels({}).empty());
}

TEST_CASE("a group joins the panel with whose packets all of its findings overlap, on the same connections") {
    CHECK(told({found("loss", 1, {1, 2}), found("loss", 2, {5, 6}), found("wait", 1, {2, 3}), found("wait", 2, {6})}) ==
          "loss loss + wait wait ; ");
    CHECK(told({found("loss", 1, {1, 2}), found("wait", 1, {2, 3}), found("more", 1, {3})}) ==
          "loss + wait + more ; ");  // by what has joined
    CHECK(told({found("loss", 1, {1, 2}), found("wait", 1, {3})}) == "loss ; wait ; ");
    CHECK(told({found("loss", 1, {1, 2}), found("wait", 2, {2})}) == "loss ; wait ; ");
    CHECK(told({found("loss", 1, {1, 2}), found("wait", 1, {2}), found("wait", 2, {8})}) == "loss ; wait wait ; ");
    CHECK(told({found("loss", {}, {1, 2}), found("wait", {}, {1, 2})}) == "loss ; wait ; ");
    CHECK(told({found("loss", 1, {}), found("wait", 1, {})}) == "loss ; wait ; ");
    // Of several panels one that all of them share.
    CHECK(told({found("a", 1, {1}), found("b", 1, {2}), found("b", 2, {4}), found("c", 1, {1, 2}),
                found("c", 2, {4})}) == "a ; b b + c c ; ");
}
