// What the table of protocols needs of RPC over RDMA beside its machine: how it is recognised, and its words.
#pragma once

#include <transport-replay/ulp/protocols.hpp>

namespace qps::transport {

[[nodiscard]] Likeness rpc_likeness(const UlpMessage& message);
[[nodiscard]] bool is_rpc_private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view rpc_operation_name(OperationCode code);
[[nodiscard]] std::string rpc_description(const UlpOperation& operation);
[[nodiscard]] std::string rpc_status(const UlpOperation& operation);
[[nodiscard]] bool rpc_everyday(std::uint32_t status);

}  // namespace qps::transport
