// PsnSeries: what a PSN over time picture of one requester shows, in the manner of tcptrace: its requests, what was
// acknowledged of them, what was refused, sent again or missing, and how long it waited.
//
// PSNs count on past their 24 bits: each is taken to lie as near as can be to the one before. Packets that the
// reconstruction does not follow (ICRC wrong, copies of a mirror) are left out. What an attacker could feed: PSNs that
// jump; a jump is drawn, nothing more.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <array>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

enum class PsnMark : std::uint8_t {
    request,         // on the wire for the first time
    retransmission,  // or doubled by the network
    acknowledged,    // the greatest PSN that was, wherever it grows: a staircase
    response,        // READ and ATOMIC responses
    sequence_nak,
    rnr_nak,
    fatal_nak,
    gap,  // PSNs before this request are missing
};
inline constexpr std::array<std::string_view, 8> kPsnMarkNames{
    "request", "retransmission", "acknowledged", "response", "sequence_nak", "rnr_nak", "fatal_nak", "gap"};

struct PsnPoint {
    dissect::Instant time{};
    std::int64_t y = 0;  // PSN, counted on; modulo 2^24 it is the one in the packet
    dissect::FrameIndex frame{};
    std::uint32_t psns = 1;  // from y on; a READ request has those of its responses; of a gap: 1
};

// The time without progress of an episode, as tables and findings count it: from what made its requester send again
// until new data went out or all was answered.
struct PsnWait {
    dissect::Instant from{};
    dissect::Instant to{};
    std::int64_t y = 0;
    RecoveryKind kind{};
    dissect::FrameIndex trigger{};
    dissect::FrameIndex resumed{};  // 0: never
};

struct PsnSeries {
    bool stream =
        false;  // of TCP: what counts are its sequence numbers, which go on past 32 bits, and of a request its bytes
    std::array<std::vector<PsnPoint>, kPsnMarkNames.size()> marks;
    std::vector<PsnWait> waits;
    // Requests that the responder has receives for, as its ACKs say, where they limit (9.7.7.2): a staircase.
    std::vector<Point> credits;
    [[nodiscard]] const std::vector<PsnPoint>& of(PsnMark mark) const { return marks[static_cast<std::size_t>(mark)]; }
    [[nodiscard]] std::vector<PsnPoint>& of(PsnMark mark) { return marks[static_cast<std::size_t>(mark)]; }
};

// PSNs as numbers that go on.
class PsnCounter {
public:
    // Where it lies, seen from the last one taken.
    [[nodiscard]] std::int64_t near(dissect::Psn psn) const {
        return begun_ ? last_ + (psn - dissect::Psn(static_cast<std::uint32_t>(last_ & dissect::Psn::kMask)))
                      : psn.value();
    }
    std::int64_t take(dissect::Psn psn) {
        last_ = near(psn);
        begun_ = true;
        return last_;
    }

private:
    std::int64_t last_ = 0;
    bool begun_ = false;
};

// Nothing where it was stopped.
[[nodiscard]] std::optional<PsnSeries> psn_series(const CaptureIndex& index, const Timeline& timeline,
                                                  ConnectionId connection, End requester, const Stop& stop = {});

}  // namespace qps::transport::series
