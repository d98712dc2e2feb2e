// The ends of a wire that benchmarks measure with: raw packet sockets alone, clocks, and the round trip between two
// ends.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <functional>
#include <string>
#include <vector>

#include <time.h>

namespace qps::bench {

inline constexpr std::size_t kSmall = 60;

// Of the calling thread or of the machine.
[[nodiscard]] double seconds(clockid_t clock);
// The calling thread runs on that processor alone, modulo those there are.
void stay_on(unsigned processor);
// To everybody, of the type of IPv4, so that no switch minds.
void fill(dissect::MutableBytes frame);

struct End {
    std::function<void()> send;
    std::function<bool()> receive;
};
// A packet socket that does not block; the program ends where there is none.
[[nodiscard]] int raw_socket(const std::string& interface);
[[nodiscard]] End raw_end(int socket);
[[nodiscard]] End device_end(transport::live::Device& device);
void send(transport::live::Device& device, std::size_t bytes);

// Round trips between them in polling mode, each on a processor of its own: seconds, sorted.
[[nodiscard]] std::vector<double> round_trips(const End& here, const End& there);

}  // namespace qps::bench
