// NVMe's row of the table of protocols: the functions it names.
#pragma once

#include <transport-replay/upper/protocols.hpp>

namespace qps::transport::nvme {

[[nodiscard]] Likeness likeness(const UpperMessage& message);
[[nodiscard]] bool is_own(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UpperOperation& operation);
[[nodiscard]] std::string status(const UpperOperation& operation);
void attempt(const CmAttempt& attempt, UpperReport& report);

}  // namespace qps::transport::nvme
