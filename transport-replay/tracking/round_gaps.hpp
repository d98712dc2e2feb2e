// RoundGaps: the PSNs that a requester passed over while it sent again.
//
// A go-back-N requester sends every PSN from the one that was asked for to its newest (9.7.5.1.2), so one that does not
// pass between its neighbours was lost once more before the tap. Who repeats selectively jumps as well: to PSNs that a
// NAK named, and to new ones. So a jump to what a NAK named proves nothing, and one to new PSNs only where the
// requester is known to go back: it sent a PSN again that no NAK had named.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/tracking/request_stream.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

class RoundGaps {
public:
    // What a request is to those before it.
    enum class Kind : std::uint8_t {
        newest,
        again,
        perhaps_again,  // it fills a gap, and nothing but what it follows tells whether it was sent again
        overtaken,
    };
    struct Sent {
        dissect::Psn psn;
        dissect::Psn behind;  // it
        dissect::Psn due;     // behind the request before it
        dissect::Psn newest;  // behind the newest PSN before it
        dissect::Instant time{};
        Kind kind{};
        bool named = false;  // a NAK named its PSN
        bool read =
            false;  // it takes as many PSNs as its responses have packets (9.7.3.1), which they may not have told
    };
    void sent(const Sent& request, const RequestStream& stream);
    // A request with a wrong ICRC, which no one takes: it is not passed over.
    void corrupted(dissect::Psn psn) { corrupt_ = psn; }
    // A NAK: its requester begins anew, and what passes next of a jump before it was sent again, and not late.
    void asked() {
        last_end_ = last_first_;
        goes_back_ = false;
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    // Behind the last request that was sent again; nothing where it is a READ, whose end its responses may move.
    [[nodiscard]] std::optional<dissect::Psn> behind_again() const {
        return behind_read_ ? std::nullopt : behind_again_;
    }

private:
    static constexpr std::int32_t kMostJump = 1 << 14;  // more than any window has: another stream, or a hostile one
    [[nodiscard]] bool was_passed_over(const Sent& request) const;

    std::uint64_t count_ = 0;
    std::optional<dissect::Psn> behind_again_;
    std::optional<dissect::Psn> interrupted_;  // how far it had come when a NAK made it send a single PSN in between
    std::optional<dissect::Psn> corrupt_;      // the last one that was sent with a wrong ICRC
    bool behind_read_ = false;
    bool goes_back_ = false;   // shown since it began to send again
    dissect::Psn last_first_;  // of the last jump
    dissect::Psn last_end_;
    dissect::Instant last_time_{};
};

}  // namespace qps::transport
