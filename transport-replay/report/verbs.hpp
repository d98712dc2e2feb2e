// Messages in words.
#pragma once

#include <transport-replay/model/message.hpp>

#include <string>

namespace qps::transport {

// "WRITE", "SEND", "CMP_SWAP"; with "+imm" or "+inv" where it has them.
[[nodiscard]] std::string verb_text(const Message& message);
// "completed", "failed: remote access error".
[[nodiscard]] std::string outcome_text(const Message& message);
// "17", "17..24".
[[nodiscard]] std::string psn_range(dissect::Psn first, dissect::Psn last);

}  // namespace qps::transport
