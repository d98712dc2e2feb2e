// The loop of every command that speaks on a wire: opens the device that the user names, and lets an endpoint and a
// program act until the program is done, the user interrupts or the time is up. The only place that knows the clock and
// sleeps.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/live/options/wire_options.hpp>
#include <dissect/capture/saved_capture.hpp>
#include <transport-replay/live/endpoint.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qps::cli {

struct Failure {
    ExitCode code = ExitCode::unreadable;
    std::string sentence;
};
// Prints the sentence; returns the code.
[[nodiscard]] ExitCode fail(const Failure& failure);

// Wall-clock time that never jumps: read once, then counted by the monotonic clock.
class SteadyTime {
public:
    SteadyTime();
    [[nodiscard]] dissect::Instant now() const;
    [[nodiscard]] dissect::Instant start() const { return start_; }

private:
    dissect::Instant start_;
    std::int64_t monotonic_start_;
};

// Of this process, since it began. How much of it the kernel's is by its own counting, which most systems sample at
// each tick.
struct ProcessTime {
    dissect::Duration worked{};
    dissect::Duration kernel{};
};
[[nodiscard]] ProcessTime processor_time();

// A UDP socket on the port of RoCEv2, which nobody reads: without one the system would answer what comes for us at an
// address that it has too with "port unreachable". Holds nothing where the port is taken.
class ReservedPort {
public:
    ReservedPort() = default;
    explicit ReservedPort(const transport::Address& address);
    ReservedPort(ReservedPort&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    ReservedPort& operator=(ReservedPort&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~ReservedPort();
    [[nodiscard]] bool held() const { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

// The endpoint on it: its addresses, MTU and identity as the options say or as the interface has them.
struct OpenEndpoint {
    transport::live::Endpoint endpoint;
    std::shared_ptr<dissect::SavedCapture> capture;  // where asked for; to be committed at the end
    std::vector<ReservedPort> reserved;
    std::vector<transport::Address> addresses;  // ours, without link-local ones that nobody typed
    bool of_system = false;                     // they are the system's too, whose sockets can use them
};
[[nodiscard]] std::expected<OpenEndpoint, Failure> open_endpoint(const WireOptions& options, dissect::Instant now);

// Lets the host find out whether its addresses are free, which takes a second at most. Fails where another has one of
// them.
[[nodiscard]] std::expected<void, Failure> settle(transport::live::Endpoint& endpoint, const SteadyTime& clock);

// How driving ended.
enum class Ending : std::uint8_t { done, interrupted, time_is_up, device_gone };

// The endpoint and the program have their turns; in between it sleeps until a frame comes or one of them is due (a
// program that says kAtOnce is polled without sleeping; so is everything with --busy). Once the user interrupts or the
// time is up, the program is told to stop and has kFarewell to take its connections down.
inline constexpr dissect::Duration kFarewell{3'000'000'000};
[[nodiscard]] Ending drive(transport::live::Endpoint& endpoint, transport::live::Program& program,
                           const WireOptions& options, const SteadyTime& clock,
                           const std::function<void(dissect::Instant)>& show);

}  // namespace qps::cli
