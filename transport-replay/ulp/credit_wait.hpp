// CreditWait: whether a requester waited for credits. That it used the last one proves nothing: it may have had nothing
// more to ask. It waited where its next request came right behind the message that gave it a credit again.
#pragma once

#include <dissect/base/types.hpp>

#include <optional>
#include <string_view>

namespace qps::transport {

class CreditWait {
public:
    void used_last() {
        none_left_ = true;
        granted_.reset();
    }
    void granted(dissect::Instant time) {
        if (none_left_ && !granted_) granted_ = time;
    }
    // A request is sent, before it costs a credit.
    [[nodiscard]] bool waited(dissect::Instant time) {
        constexpr dissect::Duration kSoon{1'000'000};
        const bool soon = none_left_ && granted_ && time - *granted_ <= kSoon;
        none_left_ = false;
        return soon;
    }

private:
    bool none_left_ = false;
    std::optional<dissect::Instant> granted_;
};

// UlpEvent::words of credits_exhausted.
inline constexpr std::string_view kWaitedForCredits = "a request followed only when a credit was granted again";
inline constexpr std::string_view kMoreThanGranted = "more requests are outstanding than credits were granted";
inline constexpr std::string_view kNoCredits = "no credits are granted";

}  // namespace qps::transport
