#include <transport-replay/index/kept_rows.hpp>
#include <transport-replay/model/memory_beside.hpp>

#include <bit>

namespace qps::transport {

namespace {

// Bytes of the blocks that so many rows need: they are allocated whole, each twice as long as the one before.
template <class Row> constexpr std::uint64_t allocated(std::uint64_t rows) {
    constexpr std::uint64_t kFirst = GrowingStore<Row>::kRun;
    return (2 * std::bit_floor(rows - 1 + kFirst) - kFirst) * sizeof(Row);
}
static_assert(allocated<PacketRow>(1) == GrowingStore<PacketRow>::kRun * sizeof(PacketRow));
static_assert(allocated<PacketRow>(GrowingStore<PacketRow>::kRun + 1) ==
              3 * GrowingStore<PacketRow>::kRun * sizeof(PacketRow));

constexpr std::uint64_t kAllocatorParts = 16;  // of the share, one of which is for what allocators take themselves

}  // namespace

KeptRows::KeptRows(const MemoryBudget& memory)
    : most_(bytes_beside(memory, Beside::rows) / kAllocatorParts * (kAllocatorParts - 1)) {}

void KeptRows::packet(const Observation& observation, const PacketRecord& record) {
    const std::uint64_t frame = std::to_underlying(observation.frame);
    if (left_out_ != 0 || frame > GrowingStore<PacketRow>::kMaxRows ||
        allocated<PacketRow>(frame) + allocated<MessageRow>(index_->messages.size() + 1) > most_) {
        ++left_out_;
        return;
    }
    if (!start_ && observation.has_time) start_ = observation.time;
    while (index_->packets.size() + 1 < frame) index_->packets.append(PacketRow(0, 0, Observation{}, PacketRecord{}));
    index_->packets.append(PacketRow(0, 0, observation, record));
}

void KeptRows::message(ConnectionId connection, End requester, const Message& message) {
    if (left_out_ == 0) index_->messages.append(MessageRow(connection, requester, message));
}

void KeptRows::again() {
    index_ = std::make_unique<CaptureIndex>();
    start_.reset();
    left_out_ = 0;
}

void KeptRows::end(const FinalNumbers& numbers) { index_->settle(numbers); }

}  // namespace qps::transport
