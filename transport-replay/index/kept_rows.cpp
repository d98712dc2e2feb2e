#include <transport-replay/index/kept_rows.hpp>
#include <transport-replay/model/memory_beside.hpp>

namespace qps::transport {

KeptRows::KeptRows(const MemoryBudget& memory) : most_(bytes_beside(memory, Beside::rows)) {}

void KeptRows::packet(const Observation& observation, const PacketRecord& record) {
    const std::uint64_t frame = std::to_underlying(observation.frame);
    if (left_out_ != 0 || frame > (most_ - std::min(most_, index_->messages.bytes())) / sizeof(PacketRow)) {
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
