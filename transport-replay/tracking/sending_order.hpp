// SendingOrder: in which order the requests of one flow were sent, by their IPv4 identification where it counts up.
//
// New PSNs are sent in their order. Where the identification goes up from each new PSN to the next by a little, time
// after time, the sender has a counter, and an identification that lies between those of two new PSNs was given between
// them, whenever it passes the tap. Many stacks send a constant 0, or have no IPv4: then nothing is told.
//
// Without it, only what nobody can have asked for tells: a requester goes back once for each NAK, or after silence. A
// packet of a PSN behind the last one, without either, was overtaken or doubled on its way.
//
// What an attacker could feed: any identifications. The state is of fixed size.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <cstdint>

namespace qps::transport {

// What passed a gap: identifications of the last new PSN before the gap and of the first behind it, and when that one
// passed.
struct GapSides {
    std::uint16_t before = 0;
    std::uint16_t after = 0;
    dissect::Instant time{};
};

class SendingOrder {
public:
    // From one new PSN to the next: other flows of the host may share its counter.
    static constexpr std::uint16_t kMostStep = 1024;
    // In a row. Identifications drawn by chance make so many in one of 2^18 cases.
    static constexpr std::uint8_t kProof = 3;

    // A request with a new PSN, the highest so far. Returns what it passed, should PSNs before it be missing.
    GapSides advance(std::uint16_t id, dissect::Instant time) {
        const GapSides sides{highest_, id, time};
        const bool up = is_step(static_cast<std::uint16_t>(id - highest_));
        steps_ = !up ? std::uint8_t{0} : steps_ < kProof ? static_cast<std::uint8_t>(steps_ + 1) : steps_;
        highest_ = id;
        if (!up || is_before(newest_, id)) {
            newest_ = id;
            newest_time_ = time;
        }
        return sides;
    }
    // Any other request. Whether one that was sent later had passed before it.
    bool is_overtaken(std::uint16_t id, dissect::Instant time) {
        if (!counts()) return false;
        const auto behind = static_cast<std::uint16_t>(newest_ - id);
        if (behind != 0 && behind <= kMostStep && time - newest_time_ <= kLatestOvertaken) return true;
        newest_ = id;
        newest_time_ = time;
        return false;
    }

    // An answer that may make the requester go back, once, to that PSN.
    void may_go_back(dissect::Psn psn) {
        if (!may_go_back_ || psn.before(back_to_)) back_to_ = psn;
        may_go_back_ = true;
    }
    // A request, that asks for all before `behind`. Notes one that nothing made the requester send again.
    void follow(dissect::Psn psn, dissect::Psn behind, dissect::Instant time, dissect::Duration least_timeout) {
        if (psn.before(last_behind_) && last_time_ != dissect::Instant{}) {
            const bool was_asked = may_go_back_ && !psn.before(back_to_);
            if (was_asked) may_go_back_ = false;
            else if (time - last_time_ < least_timeout) strays_ = true;
        }
        last_behind_ = behind;
        last_time_ = time;
    }
    void doubt() { strays_ = true; }
    [[nodiscard]] bool strays() const { return strays_; }

    [[nodiscard]] bool counts() const { return steps_ == kProof; }
    // The first sending of a PSN of the gap.
    [[nodiscard]] bool is_original(const GapSides& gap, std::uint16_t id, dissect::Instant time) const {
        return counts() && is_between(gap, id, time);
    }
    // Likewise, by what may be chance.
    [[nodiscard]] static bool is_between(const GapSides& gap, std::uint16_t id, dissect::Instant time) {
        if (time - gap.time > kLatestOvertaken) return false;
        const auto wide = static_cast<std::uint16_t>(gap.after - gap.before),
                   deep = static_cast<std::uint16_t>(id - gap.before);
        return is_step(wide) && deep != 0 && deep < wide;
    }
    // Sent after the gap was passed: a retransmission.
    [[nodiscard]] bool is_after(const GapSides& gap, std::uint16_t id) const {
        return counts() && is_step(static_cast<std::uint16_t>(gap.after - gap.before)) && is_before(gap.after, id);
    }

private:
    static constexpr bool is_step(std::uint16_t step) { return step != 0 && step <= kMostStep; }
    static constexpr bool is_before(std::uint16_t one, std::uint16_t other) {
        return static_cast<std::int16_t>(one - other) < 0;
    }
    std::uint16_t highest_ = 0;  // of the newest PSN
    std::uint16_t newest_ = 0;   // of all requests
    std::uint8_t steps_ = 0;     // of new PSNs that went up
    bool may_go_back_ = false;
    bool strays_ = false;
    dissect::Instant newest_time_{};
    dissect::Instant last_time_{};
    dissect::Psn last_behind_;
    dissect::Psn back_to_;
};

}  // namespace qps::transport
