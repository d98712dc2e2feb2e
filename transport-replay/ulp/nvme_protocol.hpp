// NVMe's row of the table of protocols: the functions it names.
#pragma once

#include <transport-replay/ulp/protocols.hpp>

namespace qps::transport::nvme {

[[nodiscard]] Likeness likeness(const UlpMessage& message);
[[nodiscard]] bool is_own(const CmAttempt& attempt);
[[nodiscard]] std::string_view operation_name(OperationCode code);
[[nodiscard]] std::string describe(const UlpOperation& operation);
[[nodiscard]] std::string status(const UlpOperation& operation);
void attempt(const CmAttempt& attempt, UlpReport& report);

}  // namespace qps::transport::nvme
