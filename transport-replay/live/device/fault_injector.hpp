// FaultInjector: a device around a device that loses, doubles, delays, reorders, damages and marks frames, each way, by
// chance with a seed or to order; and that sends PAUSE and PFC frames of its own.
//
// Of the two ends of faults.hpp, a is this side: a fault "from a" meets what is sent, one "from b" what is received.
// The same settings and the same frames at the same times give the same dispositions. Chances of loss, doubling and
// delay meet every frame, ARP too; damage and marks only packets of RDMA, where they mean something.
//
// What an attacker could feed: any frame. What is held back is bounded by kMaxHeld frames each way; beyond that frames
// are lost.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/faults.hpp>

#include <map>
#include <vector>

namespace qps::transport::live {

struct WayFaults {
    LinkFaults chances;
    dissect::Duration delay{};   // of every frame
    dissect::Duration jitter{};  // up to that more, drawn; frames may overtake each other
    [[nodiscard]] bool operator==(const WayFaults&) const = default;
};

// PAUSE or PFC frames to who is at the other end of the link.
struct PauseFault {
    std::uint16_t quanta = 0;
    std::optional<std::uint8_t> priority{};  // none: PAUSE
    dissect::Duration after{};               // from the start to the first
    dissect::Duration every{};               // 0: one
    std::uint64_t times = 0;                 // how many; 0: without end, or one
    [[nodiscard]] bool operator==(const PauseFault&) const = default;
};

struct FaultSettings {
    std::uint64_t seed = 1;
    WayFaults out;
    WayFaults in;
    dissect::Duration reorder_by = microseconds(100);  // a frame that is to be overtaken comes up to that later
    std::vector<ExactFault> exact{};
    std::vector<PauseFault> pauses{};
    std::uint64_t pause_source = 0;  // MAC address of who sends them
    [[nodiscard]] bool operator==(const FaultSettings&) const = default;
};

inline constexpr std::size_t kMaxHeld = 1U << 14;  // frames held back one way: 40 ms of frames of 1 KiB at 3 Gbit/s

struct InjectedCounts {
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t delayed = 0;  // beyond what every frame is
    std::uint64_t corrupted = 0;
    std::uint64_t marked = 0;
    std::uint64_t overflowed = 0;  // lost because too many were held back
    std::uint64_t pauses = 0;      // frames that were added
    [[nodiscard]] bool operator==(const InjectedCounts&) const = default;
};

class FaultInjector final : public AnyDevice {
public:
    // `injected`, where given, counts what happened each way (a: out, b: in); the caller keeps it alive.
    FaultInjector(Device inside, const FaultSettings& settings, std::array<InjectedCounts, 2>* injected = nullptr);

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override;
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override;
    void commit(std::size_t bytes, dissect::Instant now) override;
    void flush(dissect::Instant now) override;
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override;
    [[nodiscard]] int descriptor() const override { return inside_.descriptor(); }
    [[nodiscard]] DeviceLimits limits() const override { return inside_.limits(); }
    [[nodiscard]] DeviceCounts counts() const override { return inside_.counts(); }
    [[nodiscard]] std::optional<Problem> problem() const override { return inside_.problem(); }

private:
    using Held = std::map<std::pair<dissect::Instant, std::uint64_t>, std::vector<std::byte>>;
    // What is to happen to one frame, all drawn.
    struct Plan {
        Disposition disposition;
        dissect::Duration later_by{};
        std::size_t corrupt_from = 0;
        std::size_t corrupt_bytes = 0;
        std::uint64_t bit = 0;
        [[nodiscard]] bool untouched() const {
            return !disposition.lost && !disposition.duplicated && !disposition.corrupted && !disposition.marked &&
                   later_by <= dissect::Duration{};
        }
    };
    // When the next frame of a PauseFault is due, and how many are left.
    struct NextPause {
        dissect::Instant time{};
        std::uint64_t left = 0;
    };
    [[nodiscard]] bool idle(End from) const { return idle_[static_cast<std::size_t>(from)]; }
    [[nodiscard]] const WayFaults& way(End from) const { return from == End::a ? settings_.out : settings_.in; }
    [[nodiscard]] Plan draw(End from, dissect::Bytes frame);
    void alter(End from, const Plan& plan, dissect::MutableBytes frame);
    void hold(End from, dissect::Bytes frame, dissect::Instant until);
    void give(std::vector<std::byte> frame, dissect::Instant now);
    void take(const ReceivedFrame& frame, dissect::Instant now);
    void send_due(dissect::Instant now);
    [[nodiscard]] bool send_pauses(dissect::Instant now);
    [[nodiscard]] bool send_pause(const PauseFault& fault, dissect::Instant now);
    [[nodiscard]] bool send(dissect::Bytes frame, dissect::Instant now);
    [[nodiscard]] InjectedCounts& injected(End from) {
        return (shared_counts_ != nullptr ? *shared_counts_ : own_counts_)[static_cast<std::size_t>(from)];
    }
    [[nodiscard]] Held& held(End from) { return held_[static_cast<std::size_t>(from)]; }

    Device inside_;
    FaultSettings settings_;
    std::array<bool, 2> idle_;  // nothing can happen to a frame of that way
    std::array<Dispositions, 2>
        dispositions_;  // each way has draws of its own, so that one does not depend on the other's traffic
    std::array<InjectedCounts, 2> own_counts_{};
    std::array<InjectedCounts, 2>* shared_counts_;
    std::array<Held, 2> held_;
    std::vector<NextPause> pauses_;  // as in the settings, from the first call on
    std::uint64_t serial_ = 0;
    dissect::MutableBytes lent_;
    std::vector<std::vector<std::byte>> altered_;  // what received frames borrow that are not as they came
    std::vector<ReceivedFrame> received_;
};

}  // namespace qps::transport::live
