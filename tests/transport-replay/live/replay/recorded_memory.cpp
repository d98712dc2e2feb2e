// Places where memory is told of, memory that must have been there, and bytes compared: by conversations made by hand,
// hostile ones too.
#include <tests/support/catch.hpp>
#include <transport-replay/live/replay/answer_comparison.hpp>

#include <cstring>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;

namespace {

constexpr Rkey kTheKey{0x00ab12cd};
constexpr std::uint64_t kTheAddress = 0x7f00'1234'5000;

RecordedMessage message(End from, Verb verb, std::uint64_t frame, std::size_t bytes) {
    RecordedMessage recorded;
    recorded.from = from;
    recorded.message.verb = verb;
    recorded.message.starts = recorded.message.ends = true;
    recorded.message.outcome = Outcome::completed;
    recorded.message.first_frame = recorded.message.last_frame = FrameIndex{frame};
    recorded.message.answer_frame = FrameIndex{frame + 1};
    recorded.payload.bytes.resize(bytes);
    return recorded;
}

RecordedMessage access(Verb verb, std::uint64_t frame, std::uint64_t address, std::uint32_t length, std::size_t bytes,
                       Rkey key = kTheKey) {
    RecordedMessage recorded = message(End::b, verb, frame, bytes);
    recorded.message.access = RemoteAccess{address, key, length};
    return recorded;
}

template <class T> void put(std::vector<std::byte>& bytes, std::size_t offset, T value, bool big_endian) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes.at(offset + i) = static_cast<std::byte>(value >> 8 * (big_endian ? sizeof(T) - 1 - i : i) & 0xff);
}

// a tells of memory in a SEND, b WRITEs there.
RecordedConversation advertising(bool big_endian, std::size_t key_offset, std::size_t address_offset) {
    RecordedConversation c;
    c.messages.push_back(message(End::a, Verb::send, 1, 100));
    put(c.messages[0].payload.bytes, key_offset, std::to_underlying(kTheKey), big_endian);
    put(c.messages[0].payload.bytes, address_offset, kTheAddress, big_endian);
    c.messages.push_back(access(Verb::write, 10, kTheAddress + 0x100, 16, 16));
    return c;
}

}  // namespace

TEST_CASE("a key is found in either byte order, with the address beside it") {
    for (const bool big_endian : {true, false}) {
        const RecordedConversation c = advertising(big_endian, 50, 38);
        const AdvertisedMemory advertised(c, End::a);
        const auto found = advertised.find(kTheKey, kTheAddress + 0x100, FrameIndex{10});
        REQUIRE(found.has_value());
        CHECK(*found == Advertisement{0, 50, 38, big_endian, kTheKey, kTheAddress});
        CHECK_FALSE(advertised.find(kTheKey, kTheAddress, FrameIndex{1}).has_value());  // not before it was told
        CHECK_FALSE(advertised.find(Rkey{5}, kTheAddress, FrameIndex{10}).has_value());
        // What it is in another message, and put into one of ours.
        std::vector<std::byte> live(100);
        write_place(live, *found, {Rkey{0x77}, 0x5000});
        const auto read = read_place(live, *found);
        REQUIRE(read.has_value());
        CHECK(read->key == Rkey{0x77});
        CHECK(read->address == 0x5000);
        CHECK_FALSE(read_place(Bytes(live).first(53), *found).has_value());
        std::vector<std::byte> brief(40);
        write_place(brief, *found, {Rkey{0x77}, 0x5000});
        CHECK(brief == std::vector<std::byte>(40));
    }
}

TEST_CASE("an address too far from its key, or in another byte order, is not taken for its") {
    const auto found =
        AdvertisedMemory(advertising(true, 90, 2), End::a).find(kTheKey, kTheAddress + 0x100, FrameIndex{10});
    REQUIRE(found.has_value());
    CHECK_FALSE(found->address_offset.has_value());
    RecordedConversation mixed = advertising(true, 50, 38);
    put(mixed.messages[0].payload.bytes, 38, kTheAddress, false);
    const auto alone = AdvertisedMemory(mixed, End::a).find(kTheKey, kTheAddress + 0x100, FrameIndex{10});
    REQUIRE(alone.has_value());
    CHECK_FALSE(alone->address_offset.has_value());
}

TEST_CASE("a round address, which reads alike in both byte orders, is taken where it is whole words from its key") {
    constexpr std::uint64_t kRound = 0x10'0000'0000;
    RecordedConversation c;
    c.messages.push_back(message(End::a, Verb::send, 1, 32));
    put(c.messages[0].payload.bytes, 8, kRound, true);  // little-endian, it begins a byte before
    put(c.messages[0].payload.bytes, 16, std::uint32_t{0x300}, true);
    c.messages.push_back(access(Verb::write, 10, kRound, 16, 16, Rkey{0x300}));
    const auto found = AdvertisedMemory(c, End::a).find(Rkey{0x300}, kRound, FrameIndex{10});
    REQUIRE(found.has_value());
    CHECK(*found == Advertisement{0, 16, 8, true, Rkey{0x300}, kRound});
    // What is told and not used before the recording ends is known by its key, and an address near those that were.
    c.messages.push_back(message(End::a, Verb::send, 20, 32));
    put(c.messages[2].payload.bytes, 0, kRound + 0x1'0000, true);
    put(c.messages[2].payload.bytes, 8, std::uint32_t{0x300}, true);
    const std::vector<Advertisement> mentions = AdvertisedMemory(c, End::a).mentions();
    CHECK(std::ranges::count(mentions, Advertisement{2, 8, 0, true, Rkey{0x300}, kRound + 0x1'0000}) == 1);
}

TEST_CASE("a WRITE tells of memory where it has immediate data, is short, and the address is beside the key") {
    const auto found = [](RecordedConversation c) {
        RecordedMessage& teller = c.messages[0];
        teller.message.verb = Verb::write;
        teller.message.access = RemoteAccess{0x1000, Rkey{9}, static_cast<std::uint32_t>(teller.payload.bytes.size())};
        return AdvertisedMemory(c, End::a).find(kTheKey, kTheAddress + 0x100, FrameIndex{10}).has_value();
    };
    RecordedConversation c = advertising(true, 50, 38);
    CHECK_FALSE(found(c));
    c.messages[0].message.immediate = 5;
    CHECK(found(c));
    c.messages[0].payload.bytes.resize(kTellingWrite + 1);
    CHECK_FALSE(found(c));
    c = advertising(true, 90, 2);  // too far: the key alone
    c.messages[0].message.immediate = 5;
    CHECK_FALSE(found(c));
}

TEST_CASE(
    "memory: what was read was there, what was written is there afterwards, what changed in between was changed") {
    RecordedConversation c;
    c.messages.push_back(access(Verb::read_request, 1, kTheAddress, 8, 8));
    c.messages[0].payload.bytes.assign(8, std::byte{1});
    c.messages.push_back(access(Verb::write, 5, kTheAddress + 4, 8, 8));
    c.messages[1].payload.bytes.assign(8, std::byte{2});
    c.messages.push_back(access(Verb::read_request, 9, kTheAddress, 12, 12));
    c.messages[2].payload.bytes.assign(12, std::byte{2});  // the first four were 1
    const auto memory = recorded_memory(c, End::a);
    REQUIRE(memory.has_value());
    REQUIRE(memory->blocks.size() == 1);
    CHECK(memory->blocks[0].address == kTheAddress);
    CHECK(memory->blocks[0].initial.size() == 12);
    CHECK(memory->blocks[0].initial[7] == std::byte{1});
    REQUIRE(memory->touches.size() == 1);
    CHECK(memory->touches[0].range == ByteRange{4, 8});
    CHECK_FALSE(memory->touches[0].changed.has_value());
    REQUIRE(memory->fills.size() == 1);
    CHECK(memory->fills[0].offset == 0);
    CHECK(memory->fills[0].bytes == std::vector<std::byte>(4, std::byte{2}));
    CHECK(memory->fills[0].after == FrameIndex{2});
    CHECK(memory->fills[0].before == FrameIndex{9});
}

TEST_CASE("memory of one process has one place, whatever keys show it, zero-based regions have a place each") {
    RecordedConversation c;
    c.messages.push_back(access(Verb::write, 1, kTheAddress, 64, 64, Rkey{1}));
    c.messages.push_back(access(Verb::write, 3, kTheAddress + 32, 64, 64, Rkey{2}));
    c.messages.push_back(access(Verb::write, 5, 0, 64, 64, Rkey{3}));
    c.messages.push_back(access(Verb::write, 7, 0, 64, 64, Rkey{4}));
    const auto memory = recorded_memory(c, End::a);
    REQUIRE(memory.has_value());
    CHECK(memory->blocks.size() == 3);
    CHECK(memory->regions.size() == 4);
    CHECK(memory->find(Rkey{1}, kTheAddress)->block == memory->find(Rkey{2}, kTheAddress + 40)->block);
    CHECK(memory->find(Rkey{3}, 0)->block != memory->find(Rkey{4}, 0)->block);
    CHECK(memory->touches[0].changed == FrameIndex{3});
    CHECK(memory->find(Rkey{1}, kTheAddress + 64) == nullptr);
}

TEST_CASE("memory that nobody can have is refused with a sentence") {
    RecordedConversation wide;
    wide.messages.push_back(access(Verb::read_request, 1, kTheAddress, 1U << 30, 0));
    const auto memory = recorded_memory(wide, End::a);
    REQUIRE_FALSE(memory.has_value());
    CHECK(
        memory.error() ==
        "the recorded memory and what is put there need more than 896 MiB, their part of the memory: --memory grants more");
    RecordedConversation around;  // leaves the address space: nothing can have reached it
    around.messages.push_back(access(Verb::write, 1, ~std::uint64_t{0} - 8, 64, 64));
    REQUIRE(recorded_memory(around, End::a).has_value());
    CHECK(recorded_memory(around, End::a)->regions.empty());
    RecordedConversation scattered;  // a key for all memory
    for (std::uint64_t i = 0; i < 1000; ++i)
        scattered.messages.push_back(access(Verb::write, 2 * i + 1, kTheAddress + (i << 30), 8, 8));
    CHECK_FALSE(recorded_memory(scattered, End::a).has_value());
    RecordedConversation keys;
    for (std::uint32_t i = 0; i < kMaxRecordedRegions + 1; ++i)
        keys.messages.push_back(access(Verb::write, 2 * i + 1, kTheAddress + 8 * i, 8, 8, Rkey{i + 1}));
    REQUIRE_FALSE(recorded_memory(keys, End::a).has_value());
    CHECK(recorded_memory(keys, End::a).error() == "the recorded memory has more than 16,384 regions");
}

TEST_CASE("bytes are compared but for what is left out") {
    std::vector<std::byte> recorded(64);
    std::vector<std::byte> live(64);
    CHECK_FALSE(compare_bytes(recorded, live, {}).has_value());
    live[5] = live[20] = live[21] = live[63] = std::byte{9};
    const auto all = compare_bytes(recorded, live, {});
    REQUIRE(all.has_value());
    CHECK(*all == Difference{DifferenceKind::data, 0, 9, 5, 4});
    CHECK(sentence(*all) == "4 bytes differ, from byte 5: recorded 0x00, live 0x09");
    const std::vector<ByteRange> some{{20, 4}, {0, 6}, {2, 1}};
    CHECK(compare_bytes(recorded, live, some)->offset == 63);
    CHECK(compare_bytes(recorded, live, some)->bytes == 1);
    const std::vector<ByteRange> everything{{0, 64}};
    CHECK_FALSE(compare_bytes(recorded, live, everything).has_value());
    CHECK(compare_bytes(Bytes(recorded).first(6), live, {})->bytes == 1);  // as far as both go
}

TEST_CASE("endings: by NAK code, and where nobody was ready, what is not known is no difference") {
    RecordedMessage recorded = message(End::a, Verb::send, 1, 4);
    CHECK(recorded_ending(recorded) == Ending::completed);
    recorded.message.outcome = Outcome::failed;
    recorded.message.nak_code = 2;
    CHECK(recorded_ending(recorded) == Ending::remote_access);
    recorded.message.nak_code = 31;
    CHECK(recorded_ending(recorded) == Ending::other);
    recorded.message.outcome = Outcome::open;
    CHECK(recorded_ending(recorded) == Ending::unknown);
    ComparedMessage live;
    live.ending = Ending::completed;
    compare_answer(recorded, live);
    CHECK(live.differences.empty());
    recorded.rnr_naks = 7;
    CHECK(recorded_ending(recorded) == Ending::rnr_exceeded);
    compare_answer(recorded, live);
    REQUIRE(live.differences.size() == 1);
    CHECK(sentence(live.differences[0]) == "recorded not ready, live completed");
}

TEST_CASE("a message whose beginning was not recorded is compared by what is known of it") {
    RecordedMessage recorded = message(End::b, Verb::write, 1, 0);
    recorded.message.immediate = 5;
    recorded.message.starts = false;
    CHECK_FALSE(recorded.is_playable());
    ComparedMessage live;
    compare_arrival(
        recorded,
        {.opcode = verbs::WcOpcode::recv_rdma_with_imm, .flags = {.with_imm = true}, .byte_len = 77, .imm_data = 5}, {},
        {}, {}, live);
    CHECK(live.differences.empty());
}
