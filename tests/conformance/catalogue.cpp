// The catalogue of checks: complete, each row once, nothing empty.
#include <tests/support/catch.hpp>
#include <transport-replay/checks/catalogue.hpp>

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

using namespace qps::transport::conformance;

TEST_CASE("the catalogue has every check of every family, numbered without holes") {
    constexpr std::array<std::size_t, kFamilies.size()> kCounts{3, 26, 56, 35, 28, 10, 7, 28, 15, 27, 86};
    std::array<std::size_t, kFamilies.size()> found{};
    std::size_t last_family = 0;
    for (const CheckRow& row : checks()) {
        const auto family = static_cast<std::size_t>(row.family);
        CHECK(family >= last_family);
        last_family = family;
        ++found[family];
        CHECK(row.id == fmt::format("{}-{:02}", kFamilies[family].prefix, found[family]));
        CHECK(find_check(row.id) == &row);
        CHECK(&checks()[place(row)] == &row);
    }
    CHECK(found == kCounts);
    CHECK(checks().size() == kCheckCount);
}

TEST_CASE("no check is without stimulus, expectation, basis and marks") {
    std::set<std::string_view> texts;
    for (const CheckRow& row : checks()) {
        INFO(row.id);
        CHECK_FALSE(row.stimulus.empty());
        CHECK_FALSE(row.expected.empty());
        CHECK_FALSE(row.basis.empty());
        CHECK_FALSE(words(row.marks).empty());
        CHECK((row.passive() || row.active()));
        CHECK(texts.insert(row.stimulus).second);
        CHECK(std::ranges::all_of(row.expected, [](char letter) { return letter >= ' ' && letter <= '~'; }));
        if (row.dangerous) CHECK(row.active());
    }
}

TEST_CASE("a check is found by its name in either case, and nothing else is") {
    CHECK(find_check("rsp-05") == find_check("RSP-05"));
    CHECK(find_check("RSP-5") == nullptr);
    CHECK(find_check("RSP-57") == nullptr);
    CHECK(find_check("") == nullptr);
    CHECK(find_check("RSP-05 ") == nullptr);
}

TEST_CASE("a basis of memory alone says so") {
    CHECK(find_check("REQ-21")->marks.only_memory());
    CHECK_FALSE(find_check("REQ-04")->marks.only_memory());
    CHECK(words(find_check("REQ-04")->marks) == "source, memory");
}
