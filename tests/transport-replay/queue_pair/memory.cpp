// Regions and windows by key: what is granted, what is not, and what ends it.
#include <tests/support/catch.hpp>
#include <transport-replay/queue_pair/receive_queue.hpp>

#include <array>
#include <limits>

using namespace qps::transport;
using qps::dissect::Bytes;
using qps::dissect::MutableBytes;
using qps::dissect::Qpn;
using qps::dissect::Rkey;

namespace {

constexpr Rkey kRegion{1}, kBound{2}, kOther{3};
constexpr Qpn kMine{0x11}, kTheirs{0x12};
constexpr std::uint64_t kBase = 0xffff'ffff'ffff'f000;  // its end is the end of all addresses
constexpr AccessRights kAll{.local_write = true, .read = true, .write = true, .atomic = true, .bind = true};

struct OneRegion {
    std::array<std::byte, 0x1000> bytes{};
    Memory memory;
    explicit OneRegion(AccessRights rights = kAll) {
        REQUIRE(memory.add({.key = kRegion, .base = kBase, .rights = rights, .bytes = bytes}));
    }
    bool reads(std::uint64_t address, std::uint32_t length, Rkey key = kRegion, Qpn by = kMine) {
        return memory.reach({address, key, length}, {.read = true}, by).has_value();
    }
};

}  // namespace

TEST_CASE("memory: a range is reached inside of its region and nowhere else") {
    OneRegion one;
    CHECK(one.reads(kBase, 0x1000));
    CHECK(one.reads(kBase + 0xfff, 1));
    CHECK_FALSE(one.reads(kBase + 0xfff, 2));  // the sum of address and length is zero
    CHECK_FALSE(one.reads(kBase - 1, 1));
    CHECK_FALSE(one.reads(0, 1));
    CHECK_FALSE(one.reads(kBase, std::numeric_limits<std::uint32_t>::max()));
    CHECK_FALSE(one.reads(kBase, 1, kOther));
    const auto place = one.memory.reach({kBase + 8, kRegion, 4}, {.write = true}, kMine);
    REQUIRE(place);
    CHECK(place->data() == one.bytes.data() + 8);
    CHECK(place->size() == 4);
}

TEST_CASE("memory: every right is looked at") {
    for (const AccessRights& right :
         {AccessRights{.read = true}, AccessRights{.write = true}, AccessRights{.atomic = true},
          AccessRights{.flush_global = true}, AccessRights{.flush_persistent = true}}) {
        OneRegion granted(right);
        CHECK(granted.memory.reach({kBase, kRegion, 8}, right, kMine));
        OneRegion refused({.local_write = true});
        CHECK_FALSE(refused.memory.reach({kBase, kRegion, 8}, right, kMine));
    }
    OneRegion constant({.read = true});
    CHECK(constant.memory.local(kRegion, kBase, 8, false));
    CHECK_FALSE(constant.memory.local(kRegion, kBase, 8, true));
    CHECK_FALSE(constant.memory.local(kRegion, kBase, 0x1001, false));
}

TEST_CASE("memory: a key is given once, and is free again when its region is gone") {
    OneRegion one;
    CHECK_FALSE(one.memory.add({.key = kRegion, .bytes = one.bytes}));
    CHECK(one.memory.remove(kRegion));
    CHECK_FALSE(one.memory.remove(kRegion));
    CHECK_FALSE(one.reads(kBase, 1));
    CHECK(one.memory.add({.key = kRegion, .bytes = one.bytes}));
}

TEST_CASE("memory: there are only so many keys") {
    Memory memory;
    for (std::uint32_t i = 0; i < kMaxRegions; ++i) REQUIRE(memory.add({.key = static_cast<Rkey>(i)}));
    CHECK_FALSE(memory.add({.key = static_cast<Rkey>(kMaxRegions)}));
    CHECK(memory.size() == kMaxRegions);
}

TEST_CASE("memory: a window grants what it was bound with, where it was bound") {
    OneRegion one;
    REQUIRE(one.memory.bind(
        {.key = kBound, .region = kRegion, .base = kBase + 256, .length = 256, .rights = {.read = true}}));
    CHECK(one.reads(kBase + 256, 256, kBound));
    CHECK_FALSE(one.reads(kBase + 255, 1, kBound));
    CHECK_FALSE(one.reads(kBase + 256, 257, kBound));
    CHECK_FALSE(one.memory.reach({kBase + 256, kBound, 8}, {.write = true}, kMine));
    CHECK_FALSE(one.memory.local(kBound, kBase + 256, 8, false));  // no local key
    CHECK_FALSE(one.memory.remove(kRegion));                       // it has a window
    CHECK(one.memory.remove(kBound));
    CHECK(one.memory.remove(kRegion));
}

TEST_CASE("memory: a window of type 2 is one queue pair's, and that one may end it") {
    OneRegion one;
    const MemoryWindow window{
        .key = kBound, .region = kRegion, .base = kBase, .length = 8, .rights = {.read = true}, .of = kMine};
    REQUIRE(one.memory.bind(window));
    CHECK(one.reads(kBase, 8, kBound, kMine));
    CHECK_FALSE(one.reads(kBase, 8, kBound, kTheirs));
    CHECK_FALSE(one.memory.invalidate(kRegion, kMine));
    CHECK_FALSE(one.memory.invalidate(kBound, kTheirs));
    CHECK(one.memory.invalidate(kBound, kMine));
    CHECK_FALSE(one.reads(kBase, 8, kBound, kMine));
    CHECK_FALSE(one.memory.invalidate(kBound, kMine));
    CHECK(one.memory.bind(window));
}

TEST_CASE("memory: windows that cannot be bound") {
    const MemoryWindow right{.key = kBound, .region = kRegion, .base = kBase, .length = 8, .rights = {.write = true}};
    struct Row {
        AccessRights region;
        MemoryWindow window;
    };
    MemoryWindow beyond = right;
    beyond.length = 0x1001;
    MemoryWindow before = right;
    before.base = kBase - 1;
    MemoryWindow taken = right;
    taken.key = kRegion;
    MemoryWindow nowhere = right;
    nowhere.region = kOther;
    MemoryWindow nested = right;
    nested.rights.bind = true;
    for (const Row& row :
         {Row{{.local_write = true, .write = true}, right}, Row{{.write = true, .bind = true}, right},
          Row{kAll, beyond}, Row{kAll, before}, Row{kAll, taken}, Row{kAll, nowhere}, Row{kAll, nested}}) {
        OneRegion one(row.region);
        CHECK_FALSE(one.memory.bind(row.window));
        CHECK(one.memory.size() == 1);
    }
    OneRegion one;
    REQUIRE(one.memory.bind(right));
    CHECK_FALSE(one.memory.invalidate(kBound, kMine));  // type 1 ends only by being unbound
    MemoryWindow second = right;
    second.key = kOther;
    second.region = kBound;
    CHECK_FALSE(one.memory.bind(second));  // of a window
}

TEST_CASE("memory: a region may be invalidated only where that was meant") {
    OneRegion one;
    CHECK(one.memory.invalidate(kRegion, kMine));
    CHECK_FALSE(one.reads(kBase, 1));
    CHECK_FALSE(one.memory.invalidate(kRegion, kMine));
    std::array<std::byte, 8> bytes{};
    REQUIRE(one.memory.add({.key = kOther, .bytes = bytes, .invalidatable = false}));
    CHECK_FALSE(one.memory.invalidate(kOther, kMine));
}

TEST_CASE("segments: bytes are scattered and gathered across them") {
    std::array<std::byte, 3> a{};
    std::array<std::byte, 5> b{};
    Segments segments{a, MutableBytes{}, b};
    CHECK(length_of(segments) == 8);
    std::array<std::byte, 8> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i + 1);
    scatter(segments, 0, Bytes(all).first(2));
    scatter(segments, 2, Bytes(all).subspan(2));
    CHECK(a[2] == std::byte{3});
    CHECK(b[4] == std::byte{8});
    std::array<std::byte, 8> room{};
    const Bytes across = gather(segments, 1, 6, room);
    CHECK(std::ranges::equal(across, Bytes(all).subspan(1, 6)));
    CHECK(across.data() == room.data());
    CHECK(gather(segments, 3, 5, {}).data() == b.data());  // in one segment: no copy
    CHECK(gather(segments, 1, 6, MutableBytes(room).first(4)).size() == 4);
    CHECK(gather(segments, 8, 4, room).empty());
    scatter(segments, 6, all);  // what does not fit is left out
    CHECK(b[3] == std::byte{1});
    CHECK(b[4] == std::byte{2});
}

TEST_CASE("receive queue: first in, first out, and no more than its depth") {
    ReceiveQueue queue(20);
    for (std::uint64_t round = 0; round < 5; ++round) {
        for (std::uint64_t id = 0; id < 20; ++id) CHECK(queue.post({.id = id}));
        CHECK_FALSE(queue.post({.id = 20}));
        for (std::uint64_t id = 0; id < 20; ++id) CHECK(queue.take()->id == id);
        CHECK_FALSE(queue.take());
        CHECK(queue.next() == nullptr);
    }
    PostedReceive many;
    many.segments.resize(kMaxSegments + 1);
    CHECK_FALSE(queue.post(many));
    CHECK(ReceiveQueue(std::size_t{1} << 40).depth() == kMaxReceives);
}
