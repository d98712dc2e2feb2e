// LossPlaces: where packets were lost, marked, reordered or spoiled on their way from one host to another, by
// stretches: from the sender to the tap, and from the tap to the receiver; with captures of several hosts, between
// their taps.
//
// The numbers are those of connections and findings (model/losses.hpp), summed over the connections of a pair of hosts.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/captured_host.hpp>
#include <transport-replay/model/connection.hpp>

#include <vector>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

inline constexpr std::size_t kMostLossRows = 1000;  // pairs of hosts, the worst first

struct StretchCounts {
    std::uint64_t lost = 0;
    std::uint64_t corrupt = 0;    // passed the tap with a wrong ICRC; of the stretch before it
    std::uint64_t reordered = 0;  // came late, and were not lost
    std::uint64_t marked = 0;     // congestion experienced; of the stretch before the tap
    [[nodiscard]] bool any() const { return (lost | corrupt | reordered | marked) != 0; }
};

// What one host's tap had and another's had not, of what was asked for again.
struct BetweenTaps {
    HostNumber passed{};
    HostNumber missed{};
    std::uint64_t packets = 0;
};

struct LossRow {
    Address from;
    Address to;
    std::uint64_t connections = 0;
    std::uint64_t packets = 0;  // that it sent
    StretchCounts before_tap;
    StretchCounts behind_tap;
    std::uint64_t undecided = 0;   // missing, and nothing tells what became of them
    std::uint64_t by_capture = 0;  // arrived, and only the capture lacks them
    std::vector<BetweenTaps> between;
    ConnectionId worst{};  // of its connections the one with most of it
    [[nodiscard]] std::uint64_t harm() const {
        return before_tap.lost + behind_tap.lost + undecided + before_tap.corrupt;
    }
    [[nodiscard]] bool any() const {
        return before_tap.any() || behind_tap.any() || undecided != 0 || by_capture != 0 || !between.empty();
    }
};

struct LossPlaces {
    std::vector<LossRow> rows;  // those with something, the most harm first
    std::uint64_t left_out = 0;
    std::uint64_t quiet = 0;  // pairs, in one direction, to which nothing happened
};
[[nodiscard]] LossPlaces loss_places(const Timeline& timeline);

}  // namespace qps::transport::series
