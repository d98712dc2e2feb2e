// The manual of scripts: every example on it is played and passes, and it knows every word that a line may begin with.
#include <tests/support/catch.hpp>
#include <tests/support/scripts.hpp>
#include <tests/support/stage_world.hpp>

#include <fmt/format.h>

using namespace qps;
using namespace qps::tests;

namespace {

// Blocks of lines that are indented by four.
std::vector<std::string> examples(const std::string& manual) {
    std::vector<std::string> found;
    std::istringstream lines(manual);
    std::string block;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("    ")) block += line.substr(4) + "\n";
        else if (line.empty() && !block.empty()) block += "\n";
        else if (!block.empty()) found.push_back(std::exchange(block, {}));
    }
    if (!block.empty()) found.push_back(block);
    return found;
}

}  // namespace

TEST_CASE("every example of the manual of scripts passes against our own endpoint") {
    const auto manual = script_text(std::string(QPSCOPE_SOURCE_DIR) + "/docs/scripts.md");
    REQUIRE(manual);
    const auto all = examples(*manual);
    CHECK(all.size() >= 7);
    for (const std::string& text : all) {
        StageWorld world;
        const auto script = script_of("scripts.md", text);
        const auto outcome = world.run(script);
        INFO(text << outcome.reason << '\n' << outcome.detail);
        CHECK(outcome.verdict == transport::conformance::Verdict::pass);
    }
}

TEST_CASE("the manual of scripts names every word that begins a line, and every variable that is given") {
    const auto manual = script_text(std::string(QPSCOPE_SOURCE_DIR) + "/docs/scripts.md");
    REQUIRE(manual);
    for (const auto& keyword : transport::conformance::script::keywords()) {
        INFO(keyword.word);
        CHECK(manual->find("`" + std::string(keyword.word)) != std::string::npos);
    }
    for (const auto& given : transport::conformance::script::given_names()) {
        INFO(given.name);
        CHECK(manual->find("$" + std::string(given.name)) != std::string::npos);
    }
}
