// What is kept of payload, and what goes where too much of it waits.
#include <tests/support/catch.hpp>
#include <transport-replay/tracking/payload_store.hpp>

using namespace qps::dissect;
using namespace qps::transport;

namespace {

constexpr Opcode kSendMiddle{0x01};

void keep(PayloadStore& store, std::uint64_t frame, std::uint32_t psn, const std::vector<std::byte>& payload,
          const PacketRecord& record = {}) {
    Observation observation;
    observation.kind = ObservationKind::transport;
    observation.frame = FrameIndex{frame};
    observation.opcode = kSendMiddle;
    observation.psn = Psn(psn);
    observation.payload = payload;
    observation.payload_length = static_cast<std::uint32_t>(payload.size());
    store.keep(observation, record);
}

Message send(std::uint64_t first_frame, std::uint32_t first, std::uint32_t last) {
    Message message;
    message.verb = Verb::send;
    message.first = Psn(first);
    message.last = Psn(last);
    message.first_frame = FrameIndex{first_frame};
    return message;
}

std::vector<std::byte> bytes(std::size_t count, int value) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

}  // namespace

TEST_CASE("payload comes in the order of the PSNs, over their end too") {
    PayloadStore store;
    keep(store, 1, 0xffffff, bytes(2, 1));
    keep(store, 2, 1, bytes(2, 3));
    keep(store, 3, 0, bytes(2, 2));
    const MessagePayload payload = store.take(End::a, send(1, 0xffffff, 1));
    CHECK((payload.bytes ==
           std::vector{std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}, std::byte{3}, std::byte{3}}));
    CHECK(payload.missing_packets == 0);
    CHECK(store.take(End::a, send(1, 0xffffff, 1)).bytes.empty());
}

TEST_CASE("payload of an older round, of the other end, corrupt or a copy is not taken") {
    PayloadStore store;
    PacketRecord other_end;
    other_end.from = End::b;
    PacketRecord corrupt;
    corrupt.corrupt = true;
    PacketRecord copy;
    copy.mirror_copy = true;
    keep(store, 1, 7, bytes(4, 1));
    keep(store, 2, 8, bytes(4, 2), other_end);
    keep(store, 3, 9, bytes(4, 3), corrupt);
    keep(store, 4, 10, bytes(4, 4), copy);
    keep(store, 5, 11, bytes(4, 5));
    const MessagePayload payload = store.take(End::a, send(5, 7, 11));
    CHECK((payload.bytes == bytes(4, 5)));
    REQUIRE(payload.pieces.size() == 1);
    CHECK(payload.pieces[0].packet == 4);
    CHECK(payload.pieces[0].begin == 0);
    CHECK(payload.pieces[0].length == 4);
    CHECK(payload.missing_packets == 4);
    CHECK(payload.first_missing == Psn(7));
}

TEST_CASE("a message that claims millions of packets costs no more than what was kept") {
    PayloadStore store;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        keep(store, i + 1, i * 100, bytes(1, 1));
        const MessagePayload payload = store.take(End::a, send(1, i * 100, i * 100 + 0x7fffff - 1));
        CHECK(payload.bytes.size() == 1);
        CHECK(payload.missing_packets == 0x7fffff - 1);
    }
}

TEST_CASE("where too much payload waits the older half goes") {
    PayloadStore store;
    constexpr std::size_t kPiece = 1U << 20;
    constexpr std::size_t kPieces = PayloadStore::kMost / kPiece + 10;
    for (std::uint32_t i = 0; i < kPieces; ++i) keep(store, i + 1, i, bytes(kPiece, 1));
    CHECK(store.let_go() > PayloadStore::kMost / 3);
    CHECK(store.let_go() < PayloadStore::kMost * 2 / 3);
    CHECK(store.take(End::a, send(1, 0, 0)).bytes.empty());
    CHECK(store.take(End::a, send(1, kPieces - 1, kPieces - 1)).bytes.size() == kPiece);
}
