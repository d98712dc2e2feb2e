// What the table of protocols needs of RPC over RDMA beside its machine: how it is recognised, and its words.
#pragma once

#include <transport-replay/upper/protocols.hpp>

namespace qps::transport {

[[nodiscard]] Likeness rpc_likeness(const UpperMessage& message);
[[nodiscard]] bool is_rpc_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view rpc_operation_name(OperationCode code);
[[nodiscard]] std::string rpc_description(const UpperOperation& operation);
[[nodiscard]] std::string rpc_status(const UpperOperation& operation);

}  // namespace qps::transport
