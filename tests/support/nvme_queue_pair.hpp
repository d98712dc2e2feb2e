// One queue of NVMe over RDMA whose messages and transfers are delivered by hand to the tracker of upper protocols.
#pragma once

#include <tests/support/durations.hpp>
#include <tests/support/nvme_capsules.hpp>
#include <transport-replay/ulp/nvme_machine.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

namespace qps::tests {

inline constexpr transport::ConnectionId kQueue{1};
inline constexpr transport::End kHost = transport::End::b;  // the tracker supposes a

// One connection whose messages are delivered by hand, a microsecond each.
struct NvmeQueuePair {
    using End = transport::End;
    transport::Tracker tracker{false};
    transport::UlpTracker ulp{transport::UlpHints{}};
    std::vector<transport::UlpOperation> ended;
    transport::OperationSink sink = [this](const transport::UlpOperation& operation) { ended.push_back(operation); };
    std::int64_t clock = 0;
    std::uint64_t frame = 0;

    void deliver(const Capsule& bytes, End from) {
        clock += kMicrosecond;
        ++frame;
        transport::UlpMessage message;
        message.connection = kQueue;
        message.from = from;
        message.bytes = bytes;
        message.length = bytes.size();
        message.begun = message.time = dissect::Instant{clock};
        message.first_frame = message.last_frame = dissect::FrameIndex{frame};
        ulp.deliver(message, tracker, sink);
    }
    void host(const Capsule& bytes) { deliver(bytes, kHost); }
    void controller(const Capsule& bytes) { deliver(bytes, transport::other(kHost)); }
    // The controller moves memory of the host; it takes `us`.
    void moved(bool read, NvmeKey key, const Capsule& data, std::int64_t us = 1) {
        transport::Transfer transfer;
        transfer.connection = kQueue;
        transfer.requester = transport::other(kHost);
        transfer.read = read;
        transfer.access = {key.address, dissect::Rkey{key.key}, static_cast<std::uint32_t>(data.size())};
        transfer.bytes = data.size();
        transfer.begun = dissect::Instant{clock += kMicrosecond};
        transfer.time = dissect::Instant{clock += us * kMicrosecond};
        transfer.first_frame = transfer.last_frame = dissect::FrameIndex{++frame};
        transfer.payload = data;
        ulp.transferred(transfer);
    }
    void connect(std::uint16_t queue, std::uint32_t keep_alive_ms = 0) {
        host(nvme_connect(0, queue, keep_alive_ms));
        moved(true, {}, nvme_connect_data("nqn.host", "nqn.subsystem"));
        controller(nvme_response(0, 0, 5));
    }
    transport::UlpReport finish(const transport::CmReport& cm = {}) { return ulp.finish(cm, sink); }
};

[[nodiscard]] inline const transport::OperationSum* sum_of(const transport::UlpReport& report, transport::NvmeSet set,
                                                           std::uint8_t opcode) {
    const auto found =
        std::ranges::find(report.sums, transport::nvme_code(set, opcode), &transport::OperationSum::code);
    return found == report.sums.end() ? nullptr : &*found;
}

}  // namespace qps::tests
