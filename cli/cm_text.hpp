// Connection attempts on a terminal: a heading, what was agreed, and the ladder of messages.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>

#include <string>

namespace qps::cli {

// `start`: of the capture; times are relative to it, and in the ladder to the first message.
void append_attempt(std::string& out, const transport::CmAttempt& attempt, dissect::Instant start, bool color);
void append_joins(std::string& out, const transport::CmReport& report, dissect::Instant start);

}  // namespace qps::cli
