// CompletionStatus: what the completion of a message tells its requester that did not succeed, numbered as
// ibv_wc_status is (IBA 11.6.2).
#pragma once

#include <transport-replay/model/message.hpp>

#include <utility>

namespace qps::transport {

enum class CompletionStatus : std::uint8_t {
    unknown = 0,
    flushed = 5,
    remote_invalid_request = 9,
    remote_access = 10,
    remote_operation = 11,
    retries_exceeded = 12,
    rnr_retries_exceeded = 13,
};

// A NAK names the status by its code (9.7.5.1.3). What nobody answered has none: there Message::nak_code is the status
// itself, which set_status() has put there.
[[nodiscard]] constexpr CompletionStatus status_of(const Message& message) {
    constexpr std::uint8_t kInvalidRequest = 1, kRemoteAccess = 2, kOperational = 3;
    if (message.outcome == Outcome::gave_up || message.outcome == Outcome::abandoned)
        return CompletionStatus{message.nak_code};
    if (message.outcome != Outcome::failed || message.service == dissect::Service::uet) return {};
    switch (message.nak_code) {
        case kInvalidRequest: return CompletionStatus::remote_invalid_request;
        case kRemoteAccess: return CompletionStatus::remote_access;
        case kOperational: return CompletionStatus::remote_operation;
        default: return {};
    }
}

// Of a message that its requester gave up for, or with another one.
constexpr void set_status(Message& message, CompletionStatus status) { message.nak_code = std::to_underlying(status); }

}  // namespace qps::transport
