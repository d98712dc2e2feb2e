#include <tests/conformance/mutant_table.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/scripts.hpp>
#include <transport-replay/checks/catalogue.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::tests {

void add_mutant(Killed& row, std::string_view what, bool killed) {
    row.ways += (row.ways.empty() ? "" : "; ") + std::string(what);
    ++row.made;
    if (killed) ++row.killed;
}

void check_manual(std::string_view head, const std::map<std::string, Killed>& killed) {
    const auto manual = script_text(std::string(QPSCOPE_SOURCE_DIR) + "/docs/mutants.md");
    REQUIRE(manual);
    const std::string whole_head = std::string(head) + "\n|---|---|---|\n";
    const std::size_t begin = manual->find(whole_head);
    REQUIRE(begin != std::string::npos);
    std::string text = manual->substr(0, begin) + whole_head;
    for (const auto& check : transport::conformance::checks())
        if (const auto row = killed.find(std::string(check.id)); row != killed.end())
            text += fmt::format("| {} | {} of {} | {} |\n", check.id, row->second.killed, row->second.made,
                                row->second.ways);
    check_golden("../docs/mutants.md",
                 text + manual->substr(std::min(manual->find("\n\n", begin), manual->size() - 1) + 1));
}

}  // namespace qps::tests
