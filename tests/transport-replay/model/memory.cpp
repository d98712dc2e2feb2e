// The parts of the memory budget: shares of bytes, what is charged to them, and what is known of connections by their
// number.
#include <tests/support/catch.hpp>
#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/connection_map.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <array>

using namespace qps::transport;

TEST_CASE("a share gives out no more than it has, and has again what goes") {
    const ByteShare share(100);
    Charge one;
    CHECK(one.hold(share, 60));
    {
        Charge two;
        CHECK_FALSE(two.hold(share, 41));
        CHECK(two.hold(share, 40));
        CHECK(share.used() == 100);
        CHECK_FALSE(one.hold(share, 61));
        CHECK(one.bytes() == 60);
    }
    CHECK(share.used() == 60);
    CHECK(one.hold(share, 10));
    CHECK(share.used() == 10);
    one.release();
    CHECK(share.used() == 0);
}

TEST_CASE("copies of what is held are held too, and moves are not") {
    ByteShare share(100);
    constexpr std::array<std::byte, 30> kBytes{};
    HeldBytes held;
    CHECK(held.append(share, kBytes));
    {
        HeldBytes copy = held;
        CHECK(share.used() == 60);
        const HeldBytes moved = std::move(copy);
        CHECK(share.used() == 60);
        CHECK(moved.size() == 30);
        held = moved;
        CHECK(share.used() == 60);
    }
    CHECK(share.used() == 30);
    CHECK(held.append(share, kBytes));
    CHECK(held.append(share, kBytes));
    CHECK_FALSE(held.append(share, kBytes));  // all or nothing
    CHECK(held.size() == 90);
    CHECK(share.refused() == 1);
    held.clear();
    CHECK(share.used() == 0);
}

TEST_CASE("what is held outlives the share it is of") {
    HeldBytes held;
    {
        ByteShare share(100);
        constexpr std::array<std::byte, 30> kBytes{};
        CHECK(held.append(share, kBytes));
    }
    CHECK(held.size() == 30);
    held.clear();
}

TEST_CASE("connections are known by their number until they are forgotten") {
    constexpr int kNone = -1;
    ConnectionMap<int> map;
    CHECK(map.get(ConnectionId{UINT32_MAX}, kNone) == kNone);
    map.at(ConnectionId{1}, kNone) = 7;
    map.at(ConnectionId{100'000}, kNone) = 8;
    CHECK(map.get(ConnectionId{1}, kNone) == 7);
    CHECK(map.get(ConnectionId{2}, kNone) == kNone);
    CHECK(map.get(ConnectionId{100'000}, kNone) == 8);
    for (std::uint32_t i = 1; i < 100'000; ++i) map.forget(ConnectionId{i}, kNone);
    CHECK(map.get(ConnectionId{1}, kNone) == kNone);
    CHECK(map.get(ConnectionId{100'000}, kNone) == 8);
}

TEST_CASE("every share of the least budget keeps something, and none more than its part") {
    for (const std::uint64_t bytes : {MemoryBudget::kLeast, MemoryBudget::kUsual, std::uint64_t{1} << 40}) {
        const MemoryBudget budget(bytes);
        std::uint64_t sum = 0;
        for (const ShareRow& row : kShares) {
            INFO(row.name);
            const std::uint64_t cost = row.item == 1 ? budget.bytes(row.share) : budget.items(row.share) * row.item;
            CHECK(cost >= std::uint64_t{1} << 20);
            CHECK(cost <= budget.bytes(row.share));
            sum += cost;
        }
        CHECK(sum <= bytes);
    }
    CHECK(MemoryBudget::of_machine().bytes() >= MemoryBudget::kLeast);
    CHECK(MemoryBudget(1).items(Share::connections) == 1);  // never none
}
