// RpcMachine: follows RPC over RDMA: calls and their answers by XID, the memory that chunks name, NFS in them.
//
// Either side calls: the passive one for callbacks of NFSv4. A call that is too long for a message is READ by the other side, an
// answer that is too long is WRITten; both are read from the bytes that went that way. What an attacker could feed: calls with any
// chunks; the bounds are those of OpenOperations.
#pragma once

#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_message.hpp>
#include <transport-replay/ulp/talk.hpp>

namespace qps::transport {

class RpcMachine {
public:
    void connected(const CmAttempt& attempt, Talk& talk);
    [[nodiscard]] Understood message(const UlpMessage& message, Talk& talk);
    // What memory of an operation holds: only where it is not a READ's or WRITE's data it is RPC.
    [[nodiscard]] std::uint8_t data_detail(const UlpOperation& operation) const;

private:
    [[nodiscard]] Understood call(const UlpMessage& message, const dissect::RpcRdmaHead& head, std::size_t rpc, Talk& talk);
    [[nodiscard]] Understood long_call(const UlpMessage& message, const dissect::RpcRdmaHead& head, std::uint64_t length, Talk& talk);
    [[nodiscard]] Understood answer(const UlpMessage& message, const dissect::RpcRdmaHead& head, std::size_t rpc, Talk& talk);
    [[nodiscard]] Understood long_answer(const UlpMessage& message, const dissect::RpcRdmaHead& head, Talk& talk);
    [[nodiscard]] Understood error(const UlpMessage& message, const dissect::RpcRdmaHead& head, Talk& talk);
    void granted(const UlpMessage& message, std::uint32_t credits, Talk& talk);
    void ask(UlpOperation operation, const UlpMessage& message, const dissect::RpcRdmaHead& head, Talk& talk);
    void learn(dissect::Bytes rpc, const dissect::RpcHead& head, Talk& talk);

    std::uint32_t credits_ = 0;  // granted last by the passive side; 0: not known
    bool told_credits_ = false;
    bool knows_version_ = false;
    bool knows_machine_ = false;
};

}  // namespace qps::transport
