// Listener: frames from a network interface, through libpcap, as batches like those of a capture file.
//
// Promiscuous, nanosecond timestamps where the interface has them. Opening needs the right to capture
// (root, or CAP_NET_RAW). A batch waits at most kPatience for its first frame, so that a caller can stop.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <expected>
#include <memory>
#include <string>

namespace qps::transport {

// Frames lost on the way from the interface to us.
struct ListenerDrops {
    std::uint64_t received = 0;
    std::uint64_t dropped_by_system = 0;
    std::uint64_t dropped_by_interface = 0;
};

// Bytes kept of a frame unless one asks for fewer: the longest IP packet.
inline constexpr std::uint32_t kListenerSnapLength = 65'535;

class Listener {
public:
    // Fails with unreadable: no such interface, no permission, or a filter expression that libpcap refuses.
    // `snap_length` is 1 to kListenerSnapLength; what is outside becomes the nearest of these.
    [[nodiscard]] static std::expected<Listener, dissect::InputProblem> open(
        const std::string& interface, const std::string& capture_filter,
        std::uint32_t snap_length = kListenerSnapLength);
    // Takes only the frames that the expression asks for from now on. Needs no rights, so a program that has given up
    // its own can still do it. Fails with unreadable where libpcap refuses it.
    [[nodiscard]] std::expected<void, dissect::InputProblem> select(const std::string& capture_filter);

    Listener(Listener&&) noexcept;
    Listener& operator=(Listener&&) noexcept;
    ~Listener();

    // The frames that are there; an empty batch after kPatience without one. False when the interface is gone:
    // problem().
    [[nodiscard]] bool read(dissect::Batch& batch);
    [[nodiscard]] const dissect::InputProblem& problem() const;
    [[nodiscard]] ListenerDrops drops() const;
    [[nodiscard]] dissect::LinkType link() const;

private:
    struct State;
    explicit Listener(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport
