// KeptRows: the rows of packets and messages of a capture while it is analysed once, for who wants series of it and no
// packet again: nothing is read twice, so that it may come from a pipe.
//
// What an attacker could feed: captures without end: past its share of the memory (Beside::rows) packets are counted
// and left out, from there to the end.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/memory_budget.hpp>

#include <memory>

namespace qps::transport {

class KeptRows {
public:
    explicit KeptRows(const MemoryBudget& memory);

    // In the order of the capture; frames that no call names have their place, too, without a time.
    void packet(const Observation& observation, const PacketRecord& record);
    void message(ConnectionId connection, End requester, const Message& message);
    void again();  // all of it is told once more
    void end(const FinalNumbers& numbers);

    [[nodiscard]] const CaptureIndex& index() const { return *index_; }
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }  // packets
    // Of the first packet that has a time.
    [[nodiscard]] std::optional<dissect::Instant> start() const { return start_; }

private:
    std::uint64_t most_;  // bytes
    std::unique_ptr<CaptureIndex> index_ = std::make_unique<CaptureIndex>();
    std::optional<dissect::Instant> start_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
