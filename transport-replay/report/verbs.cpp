// Messages in words.
#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/model/completion_status.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/verbs.hpp>

#include <array>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

std::string verb_text(const Message& message) {
    constexpr std::array<std::string_view, 12> kNames{"SEND",   "WRITE",      "READ",         "READ response",
                                                      "ACK",    "atomic ACK", "CMP_SWAP",     "FETCH_ADD",
                                                      "RESYNC", "FLUSH",      "ATOMIC_WRITE", "CNP"};
    static_assert(static_cast<std::size_t>(Verb::notify) + 1 == kNames.size());
    if (message.service == Service::uet && is_atomic(message.verb)) return "ATOMIC";  // of many operations
    std::string text(kNames[static_cast<std::size_t>(message.verb)]);
    if (message.has_immediate()) text += "+imm";
    if (message.invalidate) text += "+inv";
    return text;
}

std::string outcome_text(const Message& message) {
    switch (message.outcome) {
        case Outcome::open: return "open";
        case Outcome::completed: return "completed";
        case Outcome::sent: return "sent";
        case Outcome::failed:
            if (message.service == Service::uet)
                return message.nak_code == 0 ? "failed"
                                             : fmt::format("failed: {}", name_in(kSesReturnCodes, message.nak_code));
            return fmt::format("failed: {}", nak_text(message.nak_code));
        case Outcome::gave_up:
            if (status_of(message) == CompletionStatus::unknown) return "failed: retries exceeded";
            return fmt::format("failed: {}retries exceeded (status {})",
                               status_of(message) == CompletionStatus::rnr_retries_exceeded ? "RNR " : "",
                               message.nak_code);
        case Outcome::abandoned: break;
    }
    // With another one that failed; else its connection was taken down while it waited.
    return status_of(message) == CompletionStatus::flushed ? "abandoned" : "unanswered";
}

std::string psn_range(Psn first, Psn last) {
    return first == last ? std::to_string(first.value()) : fmt::format("{}..{}", first.value(), last.value());
}

}  // namespace qps::transport
