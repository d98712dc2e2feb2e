// RpcMachine: follows RPC over RDMA: calls and their answers by XID, the memory that chunks name, NFS in them.
//
// Either side calls: the passive one for callbacks of NFSv4. A call that is too long for a message is READ by the other
// side, an answer that is too long is WRITten; both are read from the bytes that went that way. What an attacker could
// feed: calls with any chunks; the bounds are those of OpenOperations.
#pragma once

#include <dissect/ulp/nfs.hpp>
#include <dissect/ulp/rpc_message.hpp>
#include <transport-replay/ulp/credit_wait.hpp>
#include <transport-replay/ulp/ulp_session.hpp>

namespace qps::transport {

class RpcMachine {
public:
    void connected(const CmAttempt& attempt, UlpSession& session);
    [[nodiscard]] Understood message(const UlpMessage& message, UlpSession& session);
    // What memory of an operation holds: only where it is not a READ's or WRITE's data it is RPC.
    [[nodiscard]] std::uint8_t data_detail(const UlpOperation& operation) const;

private:
    [[nodiscard]] Understood follow(const UlpMessage& message, UlpSession& session);
    [[nodiscard]] Understood call(const UlpMessage& message, const dissect::RpcRdmaHead& head, std::size_t rpc,
                                  UlpSession& session);
    [[nodiscard]] Understood long_call(const UlpMessage& message, const dissect::RpcRdmaHead& head,
                                       std::uint64_t length, UlpSession& session);
    [[nodiscard]] Understood answer(const UlpMessage& message, const dissect::RpcRdmaHead& head, std::size_t rpc,
                                    UlpSession& session);
    [[nodiscard]] Understood long_answer(const UlpMessage& message, const dissect::RpcRdmaHead& head,
                                         UlpSession& session);
    [[nodiscard]] Understood error(const UlpMessage& message, const dissect::RpcRdmaHead& head, UlpSession& session);
    void granted(const UlpMessage& message, std::uint32_t credits, UlpSession& session);
    void spend(const UlpMessage& message, UlpSession& session);
    void ask(UlpOperation operation, const UlpMessage& message, const dissect::RpcRdmaHead& head, UlpSession& session);
    void learn(dissect::Bytes rpc, const dissect::RpcHead& head, UlpSession& session);

    std::uint32_t credits_ = 0;  // granted last by the passive side; 0: not known
    std::uint32_t most_granted_ = 0;
    CreditWait wait_;
    bool said_waited_ = false;
    bool said_exceeded_ = false;
    bool said_none_ = false;
    bool knows_version_ = false;
    bool knows_machine_ = false;
    bool named_ = false;    // by its port or its private data
    bool is_sure_ = false;  // that this is RPC over RDMA: both headers of a message agreed, or one that could be it
                            // where it was named
};

}  // namespace qps::transport
