// What the table of protocols needs of SMB Direct beside its machine: how it is recognised, and its words.
#pragma once

#include <transport-replay/ulp/protocols.hpp>

namespace qps::transport {

[[nodiscard]] Likeness smb_likeness(const UlpMessage& message);
[[nodiscard]] std::string_view smb_operation_name(OperationCode code);
[[nodiscard]] std::string smb_description(const UlpOperation& operation);
[[nodiscard]] std::string smb_status(const UlpOperation& operation);
[[nodiscard]] bool smb_everyday(std::uint32_t status);

}  // namespace qps::transport
