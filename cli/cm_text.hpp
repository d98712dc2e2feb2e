// Connection attempts as people read them: a heading, what was agreed, and the ladder of messages.
#pragma once

#include <transport-replay/cm_ladder.hpp>

#include <string>

namespace qps::cli {

// `start`: of the capture; times are relative to it, and in the ladder to the first message.
void append_attempt(std::string& out, const transport::CmAttempt& attempt, dissect::Instant start, bool color);
void append_joins(std::string& out, const transport::CmReport& report, dissect::Instant start);

// "RDMA TCP port 7174", "service 0x0000000000000001".
[[nodiscard]] std::string service_text(const transport::CmAttempt& attempt);
// "Invalid service ID", "reason 99".
[[nodiscard]] std::string reject_text(std::uint16_t reason);

}  // namespace qps::cli
