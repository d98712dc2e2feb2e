// Memory of upper protocols: what READs moved is put together from their responses; which operation a transfer belongs
// to.
#include <tests/support/catch.hpp>
#include <transport-replay/ulp/open_operations.hpp>
#include <transport-replay/ulp/read_watch.hpp>

#include <array>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

// A response of four bytes that say which it is.
struct ReadResponse {
    std::array<std::byte, 4> bytes{};
    Observation observation;
    explicit ReadResponse(std::uint32_t psn) {
        bytes.fill(static_cast<std::byte>(psn));
        observation.psn = Psn(psn);
        observation.payload = bytes;
    }
};

constexpr std::size_t kPlenty = std::size_t{1} << 30;
UlpShares plenty() { return {ByteShare(kPlenty), ByteShare(kPlenty)}; }

std::uint8_t answer(ReadWatch& reads, std::uint32_t psn) {
    static ByteShare share(kPlenty);
    return reads.answered(ReadResponse(psn).observation, share);
}

}  // namespace

TEST_CASE("responses are the memory of the READ whose PSN they follow") {
    ReadWatch reads;
    reads.asked(Psn(0xfffffe), true, 5);
    reads.asked(Psn(1), true, 6);
    CHECK(answer(reads, 0xfffffe) == 5);
    CHECK(answer(reads, 0xffffff) == 0);
    CHECK(answer(reads, 0) == 0);
    CHECK(answer(reads, 1) == 6);
    CHECK(reads.take(Psn(0xfffffe)).size() == 12);
    const auto second = reads.take(Psn(1));
    REQUIRE(second.size() == 4);
    CHECK(second.bytes()[0] == std::byte{1});
    CHECK(reads.take(Psn(1)).empty());
    CHECK(answer(reads, 2) == 0);
}

TEST_CASE("memory with a hole is no memory, and what is asked again begins anew") {
    ReadWatch reads;
    reads.asked(Psn(10), true, 1);
    static_cast<void>(answer(reads, 10));
    static_cast<void>(answer(reads, 12));
    CHECK(reads.take(Psn(10)).empty());

    reads.asked(Psn(20), true, 1);
    static_cast<void>(answer(reads, 20));
    reads.asked(Psn(20), true, 1);
    CHECK(answer(reads, 20) == 1);
    static_cast<void>(answer(reads, 21));
    CHECK(reads.take(Psn(20)).size() == 8);
}

TEST_CASE("READs that nobody answers have a bound") {
    ReadWatch reads;
    for (std::uint32_t i = 0; i < 100'000; ++i) reads.asked(Psn(i), true, 1);
    CHECK(answer(reads, 0) == 0);
    CHECK(answer(reads, 99'999) == 1);
    CHECK(answer(reads, 100'000 - ReadWatch::kMaxReads) == 1);
}

TEST_CASE("memory belongs to the operation that named it until that ends, also where others named the same") {
    UlpConversation conversation;
    UlpReport report;
    const OperationSink sink;
    OpenOperations operations;
    UlpShares shares = plenty();
    const OpenOperations::Ended ended{conversation, report, sink, shares};
    const UlpMessage message;
    const RemoteAccess place{0x1000, Rkey{7}, 4096};
    const RemoteAccess behind{0x2000, Rkey{7}, 4096};
    for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        UlpOperation operation;
        operation.tag = tag;
        operations.begin(operation, message, ended);
        operations.expect(End::a, tag, place, shares);
        if (tag == 2) operations.expect(End::a, tag, behind, shares, true);
    }
    CHECK(operations.begins_memory(End::a, {0x1000, Rkey{7}, 1}));
    CHECK_FALSE(operations.begins_memory(End::a, {0x1001, Rkey{7}, 1}));
    REQUIRE(operations.owner_of(End::a, {0x1fff, Rkey{7}, 1}) != nullptr);
    CHECK(operations.owner_of(End::a, {0x1fff, Rkey{7}, 1})->tag == 3);
    CHECK(operations.owner_of(End::b, place) == nullptr);
    CHECK(operations.wants(End::a, behind));
    CHECK(operations.end(End::a, 3, OperationOutcome::done, 0, message, ended));
    REQUIRE(operations.owner_of(End::a, place) != nullptr);
    CHECK(operations.owner_of(End::a, place)->tag == 2);
    CHECK(operations.end(End::a, 2, OperationOutcome::done, 0, message, ended));
    CHECK(operations.owner_of(End::a, behind) == nullptr);
    REQUIRE(operations.owner_of(End::a, place) != nullptr);
    CHECK(operations.owner_of(End::a, place)->tag == 1);
    CHECK(operations.end(End::a, 1, OperationOutcome::done, 0, message, ended));
    CHECK(operations.owner_of(End::a, place) == nullptr);
    CHECK(operations.open() == 0);
}

TEST_CASE("a refused access lies within what was offered, outside of it, or has another key") {
    using Verdict = RefusedAccess::Verdict;
    UlpConversation conversation;
    UlpReport report;
    const OperationSink sink;
    OpenOperations operations;
    UlpShares shares = plenty();
    const OpenOperations::Ended ended{conversation, report, sink, shares};
    const UlpMessage message;
    CHECK_FALSE(operations.compare(End::a, {0x1000, Rkey{7}, 1}));
    UlpOperation operation;
    operation.tag = 1;
    operations.begin(operation, message, ended);
    operations.expect(End::a, 1, {0x1000, Rkey{7}, 4096}, shares);
    operations.expect(End::a, 1, {0x2000, Rkey{7}, 4096}, shares);
    operations.expect(End::a, 1, {0x8000, Rkey{7}, 4096}, shares);
    operations.expect(End::a, 1, {0x1000, Rkey{9}, 64}, shares);
    const auto verdict = [&](RemoteAccess access) { return operations.compare(End::a, access)->verdict; };
    CHECK(verdict({0x1000, Rkey{7}, 4096}) == Verdict::inside);
    CHECK(verdict({0x1800, Rkey{7}, 4096}) == Verdict::inside);  // across two ranges that touch
    CHECK(verdict({0x1800, Rkey{7}, 8192}) == Verdict::outside);
    CHECK(verdict({0x0fff, Rkey{7}, 2}) == Verdict::outside);
    CHECK(verdict({0x3000, Rkey{7}, 1}) == Verdict::outside);
    CHECK(verdict({UINT64_MAX, Rkey{7}, UINT32_MAX}) == Verdict::outside);
    CHECK(verdict({0x1000, Rkey{8}, 1}) == Verdict::other_key);
    CHECK(operations.compare(End::a, {0x2800, Rkey{7}, 8192})->offer == RemoteAccess{0x2000, Rkey{7}, 4096});
    CHECK(operations.compare(End::a, {0x1000, Rkey{8}, 1})->offers == 4);
    CHECK_FALSE(operations.compare(End::b, {0x1000, Rkey{7}, 1}));
    CHECK(operations.end(End::a, 1, OperationOutcome::done, 0, message, ended));
    CHECK_FALSE(operations.compare(End::a, {0x1000, Rkey{7}, 1}));
}
