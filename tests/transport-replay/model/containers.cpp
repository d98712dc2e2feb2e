// Where values of many connections are kept: pages that stay where they are, and what few of them have.
#include <tests/support/catch.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/paged.hpp>
#include <transport-replay/model/seldom.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace qps::transport;

TEST_CASE("values in pages stay where they are, in order, and are copied whole") {
    Paged<std::string, 4> values;
    CHECK(values.empty());
    const std::string* first = &values.emplace_back("0");
    for (int i = 1; i < 11; ++i) values.emplace_back(std::to_string(i));
    CHECK(values.size() == 11);
    CHECK(&values[0] == first);
    Paged<std::string, 4> copy = values;
    const Paged<std::string, 4> moved = std::move(values);
    CHECK(&moved[0] == first);
    CHECK(values.empty());
    values = moved;
    CHECK(values.size() == 11);
    CHECK(&values[0] != first);
    copy[3] = "changed";
    const std::string* fourth = &copy[3];
    copy.emplace_back("11");  // into the room of a page that was copied
    CHECK(&copy[3] == fourth);
    for (std::size_t i = 0; i < 11; ++i) {
        CHECK(moved[i] == std::to_string(i));
        CHECK(values[i] == std::to_string(i));
        CHECK(copy[i] == (i == 3 ? "changed" : std::to_string(i)));
    }
}

TEST_CASE("values in pages are consumed in order, and more may come after") {
    Paged<std::uint32_t, 4> values;
    for (std::uint32_t i = 0; i < 9; ++i) values.emplace_back(i);
    std::vector<std::uint32_t> visited;
    values.for_each([&](std::uint32_t& value) { value += 1; });
    values.consume([&](std::uint32_t value) { visited.push_back(value); });
    CHECK(visited == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(values.empty());
    values.emplace_back(7U);
    CHECK(values.size() == 1);
    CHECK(values[0] == 7);
}

TEST_CASE("values in many pages are found, copied and consumed, those that stand together too") {
    using Many = Paged<std::uint64_t, 1024>;  // 16 pages alone, 256 together
    constexpr std::uint64_t kValues = 1024 * (16 + 256 + 3) + 5;
    Many values;
    for (std::uint64_t i = 0; i < kValues; ++i) values.emplace_back(i);
    const std::uint64_t* const last = &values[kValues - 1];
    Many copy = values;
    CHECK(copy[kValues - 1] == kValues - 1);
    CHECK(&copy[kValues - 1] != last);
    const Many moved = std::move(values);
    CHECK(&moved[kValues - 1] == last);
    bool in_order = true;
    std::uint64_t visited = 0;
    moved.for_each([&](std::uint64_t value) { in_order &= value == visited++; });
    CHECK(visited == kValues);
    copy.consume([&](std::uint64_t value) { in_order &= value == visited++ - kValues; });
    CHECK(visited == 2 * kValues);
    CHECK(in_order);
    CHECK(copy.empty());
    copy.emplace_back(7U);
    CHECK(copy[0] == 7);
}

TEST_CASE("what few have takes a pointer until it is changed, and copies share nothing") {
    struct Rare {
        std::vector<int> values;
        std::uint64_t count = 3;
    };
    static_assert(sizeof(Seldom<Rare>) == sizeof(void*));
    Seldom<Rare> one;
    CHECK_FALSE(one.there());
    CHECK(one->count == 3);
    CHECK(one->values.empty());
    Seldom<Rare> without = one;
    one.made().values.push_back(1);
    CHECK(one.there());
    CHECK_FALSE(without.there());
    Seldom<Rare> copy = one;
    copy.made().values.push_back(2);
    CHECK(one->values == std::vector{1});
    CHECK(copy->values == std::vector{1, 2});
    without = copy;
    one = std::move(copy);
    CHECK(one->values == std::vector{1, 2});
    one = Seldom<Rare>{};
    CHECK_FALSE(one.there());
    CHECK((*without).values.size() == 2);
}

TEST_CASE("few values: one takes sixteen bytes, the first of several are counted by value, the others together") {
    using Few = FewValues<std::uint8_t, 3>;
    static_assert(sizeof(Few) == 16);
    Few values;
    CHECK(values.size() == 0);
    CHECK(values.one());
    values.add(7, 0);
    CHECK(values.size() == 0);
    values.add(7, 5);
    values.add(7);
    CHECK(values.one());
    REQUIRE(values.size() == 1);
    CHECK(values[0].packets == 6);
    const Few before = values;
    for (const std::uint8_t value : std::array<std::uint8_t, 6>{8, 9, 8, 10, 11, 7}) values.add(value);
    CHECK(before.one());
    CHECK_FALSE(values.one());
    REQUIRE(values.size() == 3);
    CHECK(values[0].packets == 7);
    CHECK(values[1].value == 8);
    CHECK(values[1].packets == 2);
    CHECK(values[2].value == 9);
    CHECK(values.other_packets() == 2);
    values.add(9, UINT32_MAX);
    values.add(12, UINT32_MAX);
    CHECK(values[2].packets == UINT32_MAX);
    CHECK(values.other_packets() == UINT32_MAX);
}
