// Device: what frames come from and go to: a network interface, a UDP socket, a simulated link, or a device around one
// of these.
//
// Frames are whole Ethernet frames, from the destination address to the last byte before the frame check sequence,
// whatever the device is. Sending is in two steps without a copy between: reserve() lends room, commit() says how much
// of it is the frame; what was committed goes out with flush() at the latest. Nothing waits: who has nothing to do
// sleeps on descriptor() until poll_at(). Time is an argument and of the caller's clock; a frame that was received has
// the time of the receive() that gave it.
//
// What an attacker could feed: every frame received is bytes of a stranger, at least 14 and at most
// limits().frame_bytes of them; longer ones are dropped.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>

#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace qps::transport::live {

struct ReceivedFrame {
    dissect::Bytes bytes;  // borrowed until the next receive()
    dissect::Instant time{};
};

// Frames that one receive() gives at most, and that wait for a flush() at most: system calls cost little a frame by
// then, and a batch of the longest frames is still in a cache.
inline constexpr std::size_t kDeviceBatch = 64;

// Longest frame that a device carries: the 9216 of a switch that passes jumbo frames, its VLAN tags included, and room
// for more.
inline constexpr std::size_t kLongestFrame = 9600;
inline constexpr std::size_t kEthernetHeader = 14;
inline constexpr std::size_t kShortestFrame =
    60;  // what Ethernet pads to; shorter ones may be sent, and are padded on a wire

// "Call again at once", as what poll_at() returns where something is ready.
inline constexpr dissect::Instant kAtOnce{std::numeric_limits<std::int64_t>::min()};

struct DeviceLimits {
    std::size_t frame_bytes = 0;  // the longest frame, Ethernet header included, tags too
    // False: headers of received frames are in part a guess that the ICRC cannot confirm, so a wrong ICRC proves
    // nothing.
    bool checks_icrc = true;
    // True: the network finds the way by IP address; MAC addresses mean nothing, and nothing but UDP passes: no ARP, no
    // ping.
    bool resolves_addresses = false;
    // Set: every frame leaves with this UDP source port, whatever it says; one that says so itself leaves sooner.
    std::optional<std::uint16_t> udp_source_port{};
    std::uint64_t mac = 0;                // 48 bits; of the interface, made up where it has none
    dissect::BitsPerSecond link_speed{};  // 0: not known
    [[nodiscard]] bool operator==(const DeviceLimits&) const = default;
};

struct DeviceCounts {
    std::uint64_t received = 0;  // frames given by receive()
    std::uint64_t received_bytes = 0;
    std::uint64_t sent = 0;  // frames that went out
    std::uint64_t sent_bytes = 0;
    std::uint64_t dropped = 0;  // frames for us that were lost on this machine, or that were too long or too short
    std::uint64_t refused = 0;  // frames committed that did not go out: the interface would not have them
    [[nodiscard]] bool operator==(const DeviceCounts&) const = default;
};

// Why a device cannot be opened, or does nothing any more.
struct Problem {
    std::string device;    // as the user named it
    std::string sentence;  // without the name and a full stop; ASCII
};

class AnyDevice {
public:
    virtual ~AnyDevice() = default;
    // What is there, at most kDeviceBatch frames, in the order of arrival; borrowed until the next receive(). Does not
    // wait.
    [[nodiscard]] virtual std::span<const ReceivedFrame> receive(dissect::Instant now) = 0;
    // Room for one frame of up to limits().frame_bytes; empty where nothing more fits, so that it is to be sent later.
    // The bytes are what they happen to be. A second call without commit() between lends the same room again.
    [[nodiscard]] virtual dissect::MutableBytes reserve(dissect::Instant now) = 0;
    // The first `bytes` of the room are a frame to send. Without a reserve(), or beyond the room: nothing is sent, and
    // counted.
    virtual void commit(std::size_t bytes, dissect::Instant now) = 0;
    // What was committed goes out now. Where the system has no room for it, it is kept for the next flush().
    virtual void flush(dissect::Instant now) = 0;
    // When something happens of the device's own accord: a delayed frame, an arrival by a simulated link.
    [[nodiscard]] virtual std::optional<dissect::Instant> poll_at() const = 0;
    // For poll(2): readable when there may be frames. -1 where there is none.
    [[nodiscard]] virtual int descriptor() const = 0;
    [[nodiscard]] virtual DeviceLimits limits() const = 0;
    [[nodiscard]] virtual DeviceCounts counts() const = 0;
    // Set once the device is of no use any more: its interface is gone, say.
    [[nodiscard]] virtual std::optional<Problem> problem() const = 0;
};

// Any of them, as a value.
class Device {
public:
    template <std::derived_from<AnyDevice> T>
    Device(T device) : held_(std::make_unique<T>(std::move(device))) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) { return held_->receive(now); }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) { return held_->reserve(now); }
    void commit(std::size_t bytes, dissect::Instant now) { held_->commit(bytes, now); }
    void flush(dissect::Instant now) { held_->flush(now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const { return held_->poll_at(); }
    [[nodiscard]] int descriptor() const { return held_->descriptor(); }
    [[nodiscard]] DeviceLimits limits() const { return held_->limits(); }
    [[nodiscard]] DeviceCounts counts() const { return held_->counts(); }
    [[nodiscard]] std::optional<Problem> problem() const { return held_->problem(); }

private:
    std::unique_ptr<AnyDevice> held_;
};

}  // namespace qps::transport::live
