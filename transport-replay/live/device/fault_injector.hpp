// inject_faults(): a device around a device that loses, doubles, delays, reorders, damages and marks frames, each way,
// by chance with a seed or to order; and that sends PAUSE and PFC frames of its own.
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

#include <array>
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

// `injected`, where given, counts what happened each way (a: out, b: in); the caller keeps it alive.
[[nodiscard]] Device inject_faults(Device inside, const FaultSettings& settings,
                                   std::array<InjectedCounts, 2>* injected = nullptr);

}  // namespace qps::transport::live
