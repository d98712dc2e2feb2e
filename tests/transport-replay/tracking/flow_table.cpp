// The table of flows: finds what was put in, whatever the hashes; refuses chains without end.
#include <tests/support/catch.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/tracking/flow_table.hpp>

#include <random>
#include <vector>

using namespace qps::transport;

namespace {

struct Filled {
    FlowTable table;
    std::vector<std::uint64_t> hashes;  // the keys are the numbers of the entries

    bool put(std::uint64_t hash) {
        if (!table.insert(hash, static_cast<FlowTable::Index>(hashes.size()))) return false;
        hashes.push_back(hash);
        return true;
    }
    void check() const {
        for (FlowTable::Index i = 0; i < hashes.size(); ++i)
            if (table.find(hashes[i], [&](FlowTable::Index index) { return index == i; }) != i)
                FAIL("entry " << i << " is gone");
    }
};

}  // namespace

TEST_CASE("what went into the table of flows is found") {
    Filled filled;
    for (std::uint64_t i = 0; i < 5000; ++i) REQUIRE(filled.put(mix(i)));
    filled.check();
    CHECK_FALSE(filled.table.find(mix(5000), [](FlowTable::Index) { return true; }).has_value());
}

TEST_CASE("keys with one hash are told apart, up to a bound") {
    Filled filled;
    while (filled.put(7))
        if (filled.hashes.size() > FlowTable::kLongestProbe) break;
    CHECK(filled.hashes.size() == FlowTable::kLongestProbe);
    filled.check();
}

TEST_CASE("chains at the end of the table stay whole while it grows") {
    Filled filled;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::uint64_t place = i % 3 == 0 ? 0xffffffff : 0xfffffff0 + i % 16;  // the last places of every size
        static_cast<void>(filled.put(i % 7 == 0 ? mix(i) : place));
        if (i % 64 == 0) filled.check();
    }
    filled.check();
}

TEST_CASE("what was erased is gone, and what stood behind it in its chain is not") {
    Filled filled;
    std::vector<bool> there;
    std::mt19937 random(11);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        // Few places, so that chains are long, go around the end of the table and are cut everywhere.
        if (filled.put(random() % 4 == 0 ? 0xfffffff0 + random() % 32 : mix(random()))) there.push_back(true);
        if (i % 3 == 0) continue;
        const auto gone = static_cast<FlowTable::Index>(random() % there.size());
        if (there[gone]) filled.table.erase(filled.hashes[gone], gone);
        there[gone] = false;
    }
    for (FlowTable::Index i = 0; i < there.size(); ++i) {
        const auto found = filled.table.find(filled.hashes[i], [&](FlowTable::Index index) { return index == i; });
        if (found.has_value() != there[i]) FAIL("entry " << i << (there[i] ? " is gone" : " is still there"));
    }
}
