// Losses: how many packets of one way were lost, as every output counts them.
#pragma once

#include <cstdint>

namespace qps::transport {

struct Way;

// Packets that the receiver of a way did not get. One that was lost twice counts twice. What nothing tells of is in
// none of them (Gaps::undecided, NakCause::undecided).
struct Losses {
    std::uint64_t requests_before_tap = 0;  // neither the tap nor the receiver had them
    std::uint64_t requests_behind_tap = 0;  // passed the tap, and a NAK asked for them: one for each NAK, so at least
    std::uint64_t responses_before_tap = 0;
    std::uint64_t by_capture = 0;  // of both: only the capture lacks them
    [[nodiscard]] std::uint64_t before_tap() const { return requests_before_tap + responses_before_tap; }
    [[nodiscard]] std::uint64_t lost() const { return before_tap() + requests_behind_tap; }
};
[[nodiscard]] Losses losses_of(const Way& way);

// Whether the capture lacks more than a small part of its requests, as those of mirrors that sample or are overloaded
// do: that one is not there says nothing of the network then.
[[nodiscard]] bool lacks_a_part(const Way& way);

}  // namespace qps::transport
