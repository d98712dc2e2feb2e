// What the table of protocols needs of SMB Direct beside its machine: how it is recognised, and its words.
#pragma once

#include <transport-replay/upper/protocols.hpp>

namespace qps::transport {

[[nodiscard]] Likeness smb_likeness(const UpperMessage& message);
[[nodiscard]] std::string_view smb_operation_name(OperationCode code);
[[nodiscard]] std::string smb_description(const UpperOperation& operation);
[[nodiscard]] std::string smb_status(const UpperOperation& operation);

}  // namespace qps::transport
