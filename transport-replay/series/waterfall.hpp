// Waterfall: where the time of messages went: of some of them, each as a row, its request on the wire, the waits before
// it was sent again, what was sent again, the responder, and the response.
//
// All messages are kept as their times, in the order in which they began, so that the rows of any part of the time are
// found at once; the packets of a message are looked at only for a row that is wanted. What an attacker could feed: a
// message that lasts as long as the capture: kMostLooked packets behind its first are looked at. Answers before their
// requests, by a clock that runs backwards: no part is shorter than nothing.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace qps::transport::series {

enum class MessagePart : std::uint8_t {
    request,         // its first sending, from the first packet to the last
    wait,            // from its last request packet or response until its requester sent again
    retransmission,  // request packets that had been on the wire before
    responder,       // from the last request packet to what answered first
    response,        // of READs and ATOMICs, from the first response to the last
};
inline constexpr std::array<std::string_view, 5> kMessagePartNames{"request", "wait", "retransmission", "responder",
                                                                   "response"};

struct PartSpan {
    MessagePart part{};
    dissect::Instant from{};
    dissect::Instant to{};
    dissect::FrameIndex frame{};  // that it begins with, of `responder` the answer
    [[nodiscard]] bool operator==(const PartSpan&) const = default;
};

struct WaterfallRow {
    std::uint64_t message = 0;  // its place among the messages of the index
    Range time;                 // of all its packets that were looked at
    std::vector<PartSpan> parts;
    bool cut = false;  // not all packets to its end were looked at
};

enum class WaterfallOrder : std::uint8_t { time, latency };  // as they began; those that took longest first

class Waterfall {
public:
    struct Extent {
        dissect::Instant from{};
        dissect::Instant to{};
        std::uint64_t message = 0;
    };
    struct Chosen {
        std::vector<Extent> extents;
        std::uint64_t all = 0;  // of that part of the time
    };
    static constexpr std::size_t kMostLooked = std::size_t{1} << 16;  // packets of any connection, for one row

    explicit Waterfall(std::vector<Extent> extents);

    [[nodiscard]] bool empty() const { return extents_.empty(); }
    // Those that were on their way in a part of the time, `most` at most.
    [[nodiscard]] Chosen choose(const Range& part, WaterfallOrder order, std::size_t most) const;
    [[nodiscard]] WaterfallRow row(const CaptureIndex& index, const Extent& extent) const;

private:
    std::vector<Extent> extents_;          // by their beginnings
    std::vector<dissect::Instant> until_;  // the latest end of those up to each
};

// The messages of a scope. Nothing where it was stopped.
[[nodiscard]] std::optional<Waterfall> waterfall(const CaptureIndex& index, const Scope& scope, const Stop& stop = {});

}  // namespace qps::transport::series
