// The columns of iSER's row in the table of protocols: how it is recognised, and its words.
#pragma once

#include <transport-replay/ulp/protocols.hpp>

namespace qps::transport::iser_protocol {

[[nodiscard]] Likeness likeness(const UlpMessage& message);
[[nodiscard]] bool private_data(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
[[nodiscard]] std::string status(const UlpOperation& operation);

}  // namespace qps::transport::iser_protocol
