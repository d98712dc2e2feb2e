// Replayer: recorded frames to a device, each at its time, rewritten on the way. Stateless: nothing is expected of what
// comes back.
//
// Sans I/O: who drives it offers frames in order with the time it is, and waits until poll_at() where one is not taken
// yet. What an attacker could feed: the frames of a capture, with any time in them. A time before that of an earlier
// frame is due at once; a gap, however long, is waited for, as recorded. What cannot go (cut, of another link than
// Ethernet, too long or short) is counted and left out.
#pragma once

#include <dissect/base/frame.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/replay/rewriter.hpp>

namespace qps::transport::live {

struct Pace {
    double speed = 1;   // of the recorded time: 2 is twice as fast
    bool fast = false;  // as fast as the device takes them
};

inline constexpr double kSlowest = 1e-6, kFastest = 1e6;
inline constexpr dissect::Duration kLate{1'000'000};  // a frame is late that goes a millisecond after its time, or more

struct ReplayCounts {
    std::uint64_t frames = 0;  // handed to the device
    std::uint64_t bytes = 0;
    std::uint64_t late = 0;
    dissect::Duration latest{};  // the worst delay
    std::uint64_t cut = 0;       // left out: the capture does not hold all of them
    std::uint64_t foreign = 0;   // not of Ethernet
    std::uint64_t misfits = 0;   // too long for the device, or too short for Ethernet
    [[nodiscard]] std::uint64_t left_out() const { return cut + foreign + misfits; }
};

class Replayer {
public:
    Replayer(Device device, const Pace& pace, Rewriter rewriter);

    // Whether the frame went to the device, or is left out for good. False: it is not its time yet, or the device has
    // no room; offer it again at poll_at(), after a flush().
    [[nodiscard]] bool offer(const dissect::Frame& frame, dissect::Instant now);
    void flush(dissect::Instant now) { device_.flush(now); }
    // When the frame that was refused last is to be offered again; at once where nothing was.
    [[nodiscard]] dissect::Instant poll_at() const { return next_; }
    // The recording begins again: its first frame is due now.
    void begin_again() { origin_.reset(); }

    [[nodiscard]] const ReplayCounts& counts() const { return counts_; }
    [[nodiscard]] const Device& device() const { return device_; }

private:
    struct Origin {
        dissect::Instant recorded{};
        dissect::Instant replayed{};
    };
    [[nodiscard]] dissect::Instant due(dissect::Instant recorded, dissect::Instant now);
    [[nodiscard]] bool goes(const dissect::Frame& frame);

    Device device_;
    Pace pace_;
    Rewriter rewriter_;
    std::size_t longest_;
    std::optional<Origin> origin_;
    dissect::Instant next_ = kAtOnce;
    ReplayCounts counts_;
};

}  // namespace qps::transport::live
