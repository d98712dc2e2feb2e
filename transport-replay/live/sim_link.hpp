// SimLink: a cable between two ends under a virtual clock, with faults to order and a tap that may itself be poor.
//
// Frames are bytes. Each way has a speed and a delay; every frame's disposition is drawn when it is sent. The same seed
// gives the same dispositions everywhere (draws are made of the bits of std::mt19937_64, not by the distributions of a
// library), and the tap draws from numbers of its own: what a capture misses never changes what the network did.
//
// Everything here is ours; nothing comes from a wire. What grows: frames under way (kMaxUnderWay), frames recorded
// (kMaxRecorded); beyond that frames are lost, or not recorded, and overflowed() says so.
#pragma once

#include <transport-replay/live/faults.hpp>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

struct LinkSettings {
    std::uint64_t seed = 1;
    dissect::Duration delay = microseconds(2);  // one way
    dissect::BitsPerSecond speed{25'000'000'000};
    dissect::Duration reorder_delay = microseconds(20);
    LinkFaults a_to_b;
    LinkFaults b_to_a;
    std::vector<ExactFault> exact{};
    std::size_t longest = SIZE_MAX;  // bytes of a frame; longer ones from end a are lost: an MTU that is too small
};

enum class TapPlace : std::uint8_t { end_a, middle, end_b };

struct TapSettings {
    TapPlace place = TapPlace::end_a;
    bool sees_a_to_b = true;
    bool sees_b_to_a = true;
    double loss = 0;                // frames that the capture misses and the network does not
    bool twice = false;             // a mirror port that copies on the way in and out
    std::uint32_t snap_length = 0;  // bytes kept of a frame; 0: all
    dissect::Duration starts{};     // after the simulation began: what was before is not seen
};

// A frame on its way, with what the faults need to know of it.
struct Shipment {
    std::vector<std::byte> bytes;
    dissect::Psn psn;
    dissect::Qpn destination_qp{};
    bool response = false;
    std::size_t covered_from = 0;  // where corruption may begin and end: covered by the ICRC and not masked
    std::size_t covered_to = 0;
};

struct Delivery {
    End to = End::a;
    dissect::Instant time{};
    std::vector<std::byte> bytes;
};

struct CapturedFrame {
    dissect::Instant time{};
    std::uint32_t wire_length = 0;
    std::vector<std::byte> bytes;  // as far as kept
    [[nodiscard]] bool operator==(const CapturedFrame&) const = default;
};

struct TapCounts {
    std::uint64_t recorded = 0;  // frames, copies of the mirror included
    std::uint64_t missed = 0;    // passed by in sight, and were not recorded
    std::uint64_t mirrored = 0;  // second copies
};

inline constexpr std::size_t kMaxUnderWay = 1U << 18;  // far above what a window of every queue pair fills
inline constexpr std::size_t kMaxRecorded = 1U << 22;  // 4 million frames, some GiB
inline constexpr dissect::Duration kMirrorDelay = nanoseconds(400);

class SimLink {
public:
    SimLink(const LinkSettings& settings, const TapSettings& tap, dissect::Instant start);

    // When the end may send again: frames go one after the other.
    [[nodiscard]] dissect::Instant free_at(End end) const { return free_at_[index(end)]; }

    // Sends a frame at `now`, or once the line is free.
    Disposition send(End from, const Shipment& shipment, dissect::Instant now);

    [[nodiscard]] std::optional<dissect::Instant> next_arrival() const;
    // The next frame that arrived until `now`.
    [[nodiscard]] std::optional<Delivery> receive(dissect::Instant now);

    [[nodiscard]] dissect::BitsPerSecond speed() const { return settings_.speed; }

    [[nodiscard]] const TapCounts& tap_counts() const { return tap_counts_; }
    [[nodiscard]] bool overflowed() const { return overflowed_; }
    // What the tap recorded, in the order of time.
    [[nodiscard]] std::vector<CapturedFrame> take_recording();

private:
    [[nodiscard]] static constexpr std::size_t index(End end) { return static_cast<std::size_t>(end); }
    void record(const std::vector<std::byte>& bytes, dissect::Instant time, Disposition& disposition);
    void observe_passing(End from, const Shipment& sent, const Shipment& arriving, dissect::Instant departure,
                         dissect::Instant arrival, bool early, Disposition& disposition);

    LinkSettings settings_;
    TapSettings tap_;
    dissect::Instant tap_start_;
    Dispositions network_;
    Draws tapping_;
    std::array<dissect::Instant, 2> free_at_;
    std::map<std::pair<dissect::Instant, std::uint64_t>, Delivery> under_way_;
    std::uint64_t shipped_ = 0;
    std::multimap<dissect::Instant, CapturedFrame> recording_;  // those of the same time in the order of recording
    TapCounts tap_counts_;
    bool overflowed_ = false;
};

}  // namespace qps::transport
