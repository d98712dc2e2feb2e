// What is wrong with a capture itself: what QualityTracker (tracking/quality.hpp) reports. Values; bounds are the
// tracker's.
#pragma once

#include <dissect/capture/drops.hpp>
#include <transport-replay/model/capture_traits.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

// Two hosts of which only one was heard.
struct OneWay {
    Address source;
    Address destination;
    std::uint64_t packets = 0;
    bool reliable = false;  // RC or XRC: there must have been answers
};

struct CaptureQuality {
    std::uint64_t packets = 0;
    std::uint64_t rdma_packets = 0;
    std::uint64_t cut = 0;
    // The snap length lies between the longest packet that is whole and the shortest that is cut (0: none), in bytes.
    std::uint32_t longest_whole = 0;
    std::uint32_t shortest_cut = 0;
    std::uint64_t unreadable = 0;  // RDMA whose BTH was cut off
    std::uint64_t faulty = 0;      // RDMA packets with a fault of any layer but the cut, which are no fragments
    std::uint64_t faulty_again =
        0;                        // of those: with the same bytes as one before, as far as the hash of packets has them
    std::uint64_t fragments = 0;  // IP fragments that begin with a BTH: the first of each datagram, without copies
    std::uint64_t icrc_good = 0;
    std::uint64_t icrc_bad = 0;
    std::uint64_t icrc_not_checkable = 0;

    std::uint64_t copies_of_other_taps = 0;
    std::uint64_t copies_of_same_tap = 0;  // Repetition::same_bytes
    std::uint64_t ambiguous_repetitions = 0;
    bool same_tap_systematic = false;  // at any time
    dissect::Duration least_copy_distance{};
    dissect::Duration most_copy_distance{};
    std::uint64_t window_displaced = 0;
    // Several taps recorded the same packets: learned from the whole capture, and one of them followed if the capture
    // was read a second time; else `left_out` is 0.
    VantagePoints vantage;
    std::uint64_t left_out = 0;  // packets of the others

    std::uint64_t icrc_not_judged = 0;  // wrong ICRCs of senders whose packets were followed all the same
    std::uint64_t icrc_zero = 0;        // of those: 0, which is a field that was not filled in
    IcrcPolicy icrc_policy = IcrcPolicy::automatic;
    // Where none is right there is nothing to judge a wrong one by: the tap, a tool that rewrote the file, or every
    // sender.
    [[nodiscard]] bool no_icrc_right() const {
        return icrc_policy != IcrcPolicy::check && icrc_bad != 0 && icrc_good == 0;
    }

    std::uint64_t backwards = 0;  // timestamps before that of the packet before
    dissect::Duration largest_step_back{};
    dissect::FrameIndex largest_step_frame{};
    std::optional<dissect::Duration> clock_resolution;  // a power of ten; nothing where too few packets tell

    std::vector<OneWay> one_way;  // sorted by source and destination
    std::uint64_t host_pairs = 0;
    std::uint64_t pairs_dropped = 0;  // packets of further pairs
    dissect::Drops drops;             // as the capture file says

    [[nodiscard]] std::uint64_t copies() const { return copies_of_other_taps + copies_of_same_tap; }
    // Whether nothing was heard that the second one sent to the first.
    [[nodiscard]] bool only_heard(const Address& source, const Address& destination) const {
        const auto hosts = [](const OneWay& way) { return std::pair(way.source, way.destination); };
        return std::ranges::binary_search(one_way, std::pair(source, destination), {}, hosts);
    }
    // Several taps recorded the same packets, and they were not told apart: the capture was read once only.
    [[nodiscard]] bool mixes_taps() const { return vantage.taps > 1 && left_out == 0 && copies() < rdma_packets / 4; }
};

}  // namespace qps::transport
