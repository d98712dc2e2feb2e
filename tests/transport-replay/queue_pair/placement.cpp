// Where payload goes: segments of both ends, FLUSH and ATOMIC WRITE, windows, receives that do not fit.
#include <tests/support/catch.hpp>
#include <tests/support/peers.hpp>

using namespace qps::tests;
using namespace qps::transport;
using qps::dissect::Bytes;
using qps::dissect::MutableBytes;
using qps::dissect::Psn;
using qps::dissect::Rkey;
using Lines = std::vector<std::string>;

namespace {

// Pieces of those lengths, one behind the other.
Segments cut(std::vector<std::byte>& bytes, std::initializer_list<std::size_t> lengths) {
    Segments segments;
    std::size_t offset = 0;
    for (std::size_t length : lengths) {
        segments.push_back(MutableBytes(bytes).subspan(offset, length));
        offset += length;
    }
    return segments;
}

bool flush(Peers& peers, const Flush& what, std::uint32_t bytes, Rkey key = kKey, std::uint64_t address = kMemoryBase) {
    return peers.requester.post({.kind = WorkKind::flush, .remote = {address, key, bytes}, .flush = what});
}
bool atomic_write(Peers& peers, std::uint64_t offset) {
    return peers.post({.kind = WorkKind::atomic_write, .remote = {kMemoryBase + offset, kKey, 8}}, some_bytes(8));
}

}  // namespace

TEST_CASE("placement: segments of both ends, cut where no packet ends") {
    Peers peers = connected_pair(0);
    std::vector<std::byte> sent = some_bytes(1000);
    std::vector<std::byte> received(1000), read(1000);
    REQUIRE(peers.receives.post({.id = 7, .segments = cut(received, {1, 255, 3, 0, 741})}));
    REQUIRE(peers.requester.post({.kind = WorkKind::send, .segments = cut(sent, {100, 156, 1, 700, 43})}));
    REQUIRE(peers.requester.post(
        {.kind = WorkKind::write, .segments = cut(sent, {999, 1}), .remote = {kMemoryBase + 5, kKey, 0}}));
    REQUIRE(peers.requester.post(
        {.kind = WorkKind::read, .segments = cut(read, {300, 300, 400}), .remote = {kMemoryBase + 5, kKey, 0}}));
    static_cast<void>(peers.converse());
    CHECK(statuses(peers.requester) == std::vector{kSuccess, kSuccess, kSuccess});
    CHECK(received == sent);
    CHECK(std::ranges::equal(Bytes(peers.region).subspan(5, 1000), sent));
    CHECK(read == sent);
    CHECK(peers.received.at(0).id == 7);
    CHECK(peers.received.at(0).length == 1000);
}

TEST_CASE("placement: a payload in one segment is sent from where it lies, and a READ from the region") {
    Peers peers = connected_pair();
    std::vector<std::byte> sent = some_bytes(512);
    REQUIRE(peers.requester.post({.segments = {sent}}));
    CHECK(peers.requester.poll(peers.now)->payload.data() == sent.data());
    CHECK(peers.requester.poll(peers.now)->payload.data() == sent.data() + 256);
    Peers reader = connected_pair();
    REQUIRE(reader.read(300, 64));
    for (const auto& packet : reader.requests()) static_cast<void>(reader.arrives(packet));
    CHECK(reader.responder.poll(reader.memory)->payload.data() == reader.region.data() + 64);
}

TEST_CASE("placement: inlined bytes are the request's own") {
    Peers peers = connected_pair();
    {
        const std::vector<std::byte> bytes = some_bytes(300);
        WorkRequest work{.kind = WorkKind::send};
        work.inlined.assign(bytes.begin(), bytes.end());
        REQUIRE(peers.requester.post(std::move(work)));
    }
    static_cast<void>(peers.converse());
    REQUIRE(peers.received.size() == 1);
    CHECK(peers.bytes_of(peers.received[0]) == some_bytes(300));
    WorkRequest much{.kind = WorkKind::send};
    much.inlined.resize(kMaxInline + 1);
    CHECK_FALSE(peers.requester.post(much));
    WorkRequest read{.kind = WorkKind::read};
    read.inlined.resize(8);
    CHECK_FALSE(peers.requester.post(read));
    WorkRequest pieces{.kind = WorkKind::send};
    pieces.segments.resize(kMaxSegments + 1);
    CHECK_FALSE(peers.requester.post(pieces));
}

TEST_CASE("placement: a READ or ATOMIC without segments drops what it brings") {
    Peers peers = connected_pair();
    REQUIRE(peers.requester.post({.kind = WorkKind::read, .remote = {kMemoryBase, kKey, 600}}));
    REQUIRE(peers.requester.post({.kind = WorkKind::fetch_add, .remote = {kMemoryBase, kKey, 8}, .atomic = {5, 0}}));
    static_cast<void>(peers.converse());
    const auto done = peers.requester.take_completions();
    REQUIRE(done.size() == 2);
    CHECK(done[0].bytes == 600);
    CHECK(done[1].bytes == 8);
    CHECK(peers.cell(peers.region) == 5);
}

TEST_CASE("placement: atomics act in the byte order of the hosts") {
    Peers peers = connected_pair();
    const std::uint64_t before = 0x0102030405060708;
    std::memcpy(peers.region.data() + 8, &before, sizeof(before));
    REQUIRE(peers.fetch_add(1, 8));
    std::vector<std::byte> found(8);
    REQUIRE(peers.requester.post({.kind = WorkKind::compare_swap,
                                  .segments = {found},
                                  .remote = {kMemoryBase + 8, kKey, 8},
                                  .atomic = {42, before + 1}}));
    const auto packets = peers.requests();
    CHECK(packets.at(1).atomic->compare == before + 1);
    for (const auto& packet : packets) static_cast<void>(peers.arrives(packet));
    peers.answer(peers.responses());
    CHECK(peers.cell(peers.local[0]) == before);
    CHECK(peers.cell(found) == before + 1);
    CHECK(peers.cell(peers.region, 8) == 42);
}

TEST_CASE("placement: FLUSH and ATOMIC WRITE are answered by a READ response without payload") {
    Peers peers = connected_pair();
    REQUIRE(peers.write(16));
    REQUIRE(flush(peers, {.placement = kPersistence}, 16));
    REQUIRE(atomic_write(peers, 64));
    REQUIRE(flush(peers,
                  {.placement = kGlobalVisibility | kPersistence, .selectivity = FlushSelectivity::memory_region}, 0,
                  kKey, 1));
    CHECK(peers.converse() == Lines{"> RDMA_WRITE_ONLY 100!", "> FLUSH 101!", "> ATOMIC_WRITE 102!", "> FLUSH 103!",
                                    "< ACKNOWLEDGE 100 ACK msn 1", "< RDMA_READ_RESPONSE_ONLY 101 ACK msn 2",
                                    "< RDMA_READ_RESPONSE_ONLY 102 ACK msn 3",
                                    "< RDMA_READ_RESPONSE_ONLY 103 ACK msn 4"});
    CHECK(statuses(peers.requester) == std::vector{kSuccess, kSuccess, kSuccess, kSuccess});
    CHECK(std::ranges::equal(Bytes(peers.region).subspan(64, 8), some_bytes(8)));
    const auto& range = peers.actions.at(1).flushed;
    REQUIRE(range);
    CHECK(range->bytes.data() == peers.region.data());
    CHECK(range->bytes.size() == 16);
    const auto& all = peers.actions.at(3).flushed;
    REQUIRE(all);
    CHECK(all->bytes.size() == kMemoryBytes);
}

TEST_CASE("placement: a FLUSH or ATOMIC WRITE that is asked again is confirmed again, and not executed") {
    Peers peers = connected_pair();
    REQUIRE(flush(peers, {}, 16));
    REQUIRE(atomic_write(peers, 0));
    const auto packets = peers.requests();
    for (const auto& packet : packets) CHECK(peers.arrives(packet) == ResponderVerdict::accept);
    static_cast<void>(peers.responses());
    std::ranges::fill(peers.region, std::byte{0xee});
    for (const auto& packet : packets) CHECK(peers.arrives(packet) == ResponderVerdict::duplicate);
    CHECK_FALSE(peers.actions.back().flushed);
    CHECK(peers.region[0] == std::byte{0xee});
    CHECK(lines(peers.responses()) ==
          Lines{"RDMA_READ_RESPONSE_ONLY 100 ACK msn 2", "RDMA_READ_RESPONSE_ONLY 101 ACK msn 2"});
    auto other = packets[0];
    other.access->length = 17;
    CHECK(peers.arrives(other) == ResponderVerdict::duplicate_dropped);
    other = packets[1];
    const std::vector<std::byte> bytes(8);
    other.payload = bytes;
    CHECK(peers.arrives(other) == ResponderVerdict::duplicate_dropped);
    other = packets[0];
    other.psn = Psn{101};
    CHECK(peers.arrives(other) == ResponderVerdict::duplicate_dropped);
}

TEST_CASE("placement: FLUSH and ATOMIC WRITE that may not be") {
    struct Row {
        Flush flush;
        std::uint32_t bytes;
        Rkey key;
        std::uint64_t address;
        ResponderVerdict verdict;
    };
    const auto range = FlushSelectivity::memory_range;
    for (const Row& row : {
             Row{{}, 0, Rkey{1}, kMemoryBase, ResponderVerdict::remote_access_error},  // the key of nothing is looked
                                                                                       // at
             Row{{}, 0, kKey, kMemoryBase - 1, ResponderVerdict::remote_access_error},
             Row{{}, 0x10001, kKey, kMemoryBase, ResponderVerdict::remote_access_error},
             Row{{.placement = 0}, 8, kKey, kMemoryBase, ResponderVerdict::invalid_request},
             Row{{.placement = 4}, 8, kKey, kMemoryBase, ResponderVerdict::invalid_request},
             Row{{.selectivity = static_cast<FlushSelectivity>(2)},
                 8,
                 kKey,
                 kMemoryBase,
                 ResponderVerdict::invalid_request},
             Row{{.selectivity = FlushSelectivity::memory_region},
                 8,
                 Rkey{1},
                 kMemoryBase,
                 ResponderVerdict::remote_access_error},
             Row{{kPersistence, range}, 8, kWindow, kMemoryBase, ResponderVerdict::remote_access_error},  // a right it
                                                                                                          // lacks
             Row{{kGlobalVisibility, range}, 8, kWindow, kMemoryBase, ResponderVerdict::accept},
         }) {
        Peers peers = connected_pair();
        REQUIRE(peers.memory.bind(
            {.key = kWindow, .region = kKey, .base = kMemoryBase, .length = 8, .rights = {.flush_global = true}}));
        REQUIRE(flush(peers, row.flush, row.bytes, row.key, row.address));
        for (const auto& packet : peers.requests()) CHECK(peers.arrives(packet) == row.verdict);
        CHECK(peers.actions.back().flushed.has_value() == (row.verdict == ResponderVerdict::accept));
    }
    Peers peers = connected_pair();
    REQUIRE(atomic_write(peers, 4));
    CHECK(peers.arrives(peers.requests().at(0)) == ResponderVerdict::invalid_request);
    CHECK_FALSE(peers.post({.kind = WorkKind::atomic_write, .remote = {kMemoryBase, kKey, 7}}, some_bytes(7)));
    ResponderSettings answers = peers.answers;
    answers.allowed.flush_persistent = false;
    peers = connected_pair(peers.asks, answers);
    REQUIRE(flush(peers, {.placement = kPersistence}, 8));
    CHECK(peers.arrives(peers.requests().at(0)) == ResponderVerdict::invalid_request);
}

TEST_CASE("placement: FLUSH and ATOMIC WRITE are as many at a time as READs") {
    RequesterSettings asks = connected_pair(0).asks;
    ResponderSettings answers = connected_pair(0).answers;
    asks.initiator_depth = answers.resources = 2;
    Peers peers = connected_pair(asks, answers);
    REQUIRE(flush(peers, {}, 8));
    REQUIRE(atomic_write(peers, 0));
    REQUIRE(peers.read(8));
    REQUIRE(peers.send(8));
    const auto packets = peers.requests();
    CHECK(lines(packets) == Lines{"FLUSH 100!", "ATOMIC_WRITE 101!"});
    for (const auto& packet : packets) CHECK(peers.arrives(packet) == ResponderVerdict::accept);
    auto more = packets[0];
    more.psn = Psn{102};
    CHECK(peers.arrives(more) == ResponderVerdict::invalid_request);
}

TEST_CASE("placement: a window is reached by its own queue pair alone") {
    ResponderSettings answers = connected_pair(0).answers;
    answers.local = kResponderQp;
    for (const bool mine : {true, false}) {
        Peers peers = connected_pair(connected_pair(0).asks, answers);
        REQUIRE(peers.memory.bind({.key = kWindow,
                                   .region = kKey,
                                   .base = kMemoryBase + 8,
                                   .length = 8,
                                   .rights = {.write = true},
                                   .of = mine ? kResponderQp : kRequesterQp}));
        REQUIRE(peers.post({.kind = WorkKind::write, .remote = {kMemoryBase + 8, kWindow, 8}}, some_bytes(8)));
        REQUIRE(peers.post({.kind = WorkKind::send_with_invalidate, .invalidate = kWindow}, some_bytes(1)));
        REQUIRE(peers.post({.kind = WorkKind::write, .remote = {kMemoryBase + 8, kWindow, 8}}, some_bytes(8)));
        static_cast<void>(peers.converse());
        const auto refused = CompletionStatus::remote_access_error;
        const auto flushed = CompletionStatus::flushed;
        CHECK(statuses(peers.requester) ==
              (mine ? std::vector{kSuccess, kSuccess, refused} : std::vector{refused, flushed, flushed}));
    }
}

TEST_CASE("placement: a SEND that is longer than its receive fails both ends") {
    for (const std::uint32_t bytes : {101U, 257U, 600U}) {
        Peers peers = connected_pair(0);
        peers.post_receives(2, bytes - 1);
        REQUIRE(peers.send(bytes));
        static_cast<void>(peers.converse());
        CHECK(statuses(peers.requester) == std::vector{CompletionStatus::remote_invalid_request});
        CHECK(peers.received.empty());
        CHECK(peers.actions.back().consumed_with_error == 0);
        CHECK(peers.receives.size() == 1);
        CHECK_FALSE(peers.responder.release_receive());
    }
    Peers peers = connected_pair(0);
    peers.post_receives(1, 100);
    REQUIRE(peers.send(100));
    static_cast<void>(peers.converse());
    CHECK(statuses(peers.requester) == std::vector{kSuccess});
}

TEST_CASE("placement: a receive that cannot be used is a remote operational error") {
    Peers peers = connected_pair(0);
    REQUIRE(peers.receives.post({.id = 5, .usable = false}));
    REQUIRE(peers.send(8));
    CHECK(peers.converse() == Lines{"> SEND_ONLY 100!", "< ACKNOWLEDGE 100 NAK 3 msn 0"});
    CHECK(statuses(peers.requester) == std::vector{CompletionStatus::remote_operational_error});
    CHECK(peers.actions.back().consumed_with_error == 5);
}

TEST_CASE("placement: a message that is broken off leaves its receive to the end of the queue pair") {
    Peers peers = connected_pair(3);
    REQUIRE(peers.send(600));
    const auto packets = peers.requests();
    CHECK(peers.arrives(packets[0]) == ResponderVerdict::accept);
    const auto left = peers.responder.release_receive();
    REQUIRE(left);
    CHECK(left->id == 0);
    CHECK_FALSE(peers.responder.release_receive());
}

TEST_CASE("placement: WRITE with immediate takes a receive at its end, and writes nothing there") {
    Peers peers = connected_pair(1);
    REQUIRE(
        peers.post({.kind = WorkKind::write_with_immediate, .remote = {kMemoryBase, kKey, 600}, .immediate = 0xabcd},
                   some_bytes(600)));
    const auto packets = peers.requests();
    CHECK(peers.arrives(packets[0]) == ResponderVerdict::accept);
    CHECK(peers.receives.size() == 1);
    for (std::size_t i = 1; i < packets.size(); ++i) CHECK(peers.arrives(packets[i]) == ResponderVerdict::accept);
    CHECK(peers.receives.size() == 0);
    REQUIRE(peers.received.size() == 1);
    CHECK(peers.received[0].immediate == 0xabcd);
    CHECK(peers.received[0].length == 600);
    CHECK(peers.buffers[0][1] == std::byte{});
}
