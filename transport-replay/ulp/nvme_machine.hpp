// NvmeMachine: one queue of NVMe over RDMA: commands in capsules, data by keys or in the capsule, completions found by
// command ID.
//
// Which queue it is (admin or I/O) decides what opcodes mean; CM or Connect say it, else commands that only one of them
// has. What an attacker could feed: completions of nothing, asynchronous event requests without end; both are bounded.
#pragma once

#include <dissect/ulp/nvme_kinds.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

// OperationCode: in the upper byte whose words the lower one, the opcode or fabrics command type, has.
enum class NvmeSet : std::uint8_t { unknown, admin, io, fabrics };
[[nodiscard]] constexpr OperationCode nvme_code(NvmeSet set, std::uint8_t opcode) {
    return static_cast<OperationCode>(static_cast<unsigned>(set) << 8U | opcode);
}
[[nodiscard]] constexpr NvmeSet nvme_set(OperationCode code) {
    return static_cast<NvmeSet>(std::to_underlying(code) >> 8U);
}
[[nodiscard]] constexpr std::uint8_t nvme_opcode(OperationCode code) {
    return static_cast<std::uint8_t>(std::to_underlying(code));
}

// UlpOperation::subject of NVMe. The first: the namespace in its lower half; in the upper one blocks or ranges less
// one, structure, log page, feature, queue ID. The second: LBA, log page offset, dword 11, value of a property, keep
// alive timeout. Of a property the first is its offset.
[[nodiscard]] constexpr std::uint32_t nvme_namespace_of(const UlpOperation& operation) {
    return static_cast<std::uint32_t>(operation.subject[0]);
}
[[nodiscard]] constexpr std::uint32_t nvme_selector_of(const UlpOperation& operation) {
    return static_cast<std::uint32_t>(operation.subject[0] >> 32U);
}
// What its memory holds.
[[nodiscard]] dissect::NvmeData nvme_data_of(const UlpOperation& operation);

class NvmeMachine {
public:
    static constexpr std::size_t kMaxStrangers =
        1024;  // completions of commands before the capture; queues have as many at most

    void connected(const CmAttempt& attempt, UlpSession& session);
    [[nodiscard]] Understood message(const UlpMessage& message, UlpSession& session);
    [[nodiscard]] std::uint8_t detail() const { return dissect::nvme_detail(queue_); }
    [[nodiscard]] std::uint8_t data_detail(const UlpOperation& operation) const {
        return dissect::nvme_detail(nvme_data_of(operation));
    }

private:
    [[nodiscard]] Understood take_command(const UlpMessage& message, UlpSession& session);
    [[nodiscard]] Understood take_completion(const UlpMessage& message, UlpSession& session);
    [[nodiscard]] Understood take_event(const UlpMessage& message, std::uint16_t cid, UlpSession& session);
    void learn_queue(dissect::Bytes entry);
    void take_connect(const UlpMessage& message, UlpSession& session);
    void finish(const UlpOperation& operation, const UlpMessage& message, UlpSession& session);
    void connect_answered(const UlpOperation& operation, const UlpMessage& message, UlpSession& session);
    void keep_alive_answered(const UlpOperation& operation, const UlpMessage& message, UlpSession& session) const;
    void watch_keep_alive(const UlpMessage& message, bool keep_alive, UlpSession& session);

    dissect::NvmeQueue queue_ = dissect::NvmeQueue::unknown;
    bool from_start_ = false;  // CM told of it, or its Connect was seen: every completion answers something
    bool traffic_keeps_alive_ =
        false;  // commands of any queue do: one queue alone does not tell whether it was too long
    std::uint32_t keep_alive_ms_ = 0;  // 0: none
    std::optional<dissect::Instant> alive_;
    std::uint32_t strangers_ = 0;
    static constexpr std::size_t kMaxEventRequests = 64;  // a controller takes 256 at most, and some 4 in fact
    std::vector<std::uint16_t> event_requests_;           // command IDs
};
static_assert(UlpMachineLike<NvmeMachine>);

}  // namespace qps::transport
