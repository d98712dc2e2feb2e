// Senders whose rate follows something, over one queue that they share with others: packets as a tap sees them, and
// what made their rate.
//
// A model is a few lines of its paper: DCQCN (the adapter's own), TIMELY (Mittal et al., SIGCOMM 2015, algorithm 1),
// Swift (Kumar et al., SIGCOMM 2020, 3.1 and 3.2), a receiver that gives out credits at a pace of its own (as
// Shaped-Quota and others shape what they grant), and senders that follow nothing: at a fixed rate, with a fixed
// window, with pauses of their application, slowed down by losses alone, or by something in the host that nobody sees.
// All numbers are drawn from the seed: link, base round-trip time, sizes, marking, how bursty the others are.
#pragma once

#include <transport-replay/model/observation.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace qps::transport {

enum class RateModel : std::uint8_t {
    dcqcn,
    timely,
    swift,
    quota,
    fixed_rate,
    fixed_window,
    idle_gaps,
    losses,
    wandering
};
inline constexpr std::array<std::string_view, 9> kRateModelNames{"DCQCN",
                                                                 "TIMELY",
                                                                 "Swift",
                                                                 "receiver's quota",
                                                                 "fixed rate",
                                                                 "fixed window",
                                                                 "pauses between messages",
                                                                 "slowed down by losses",
                                                                 "wandering rate"};

// Where packets are recorded: at either end, or on the link before the queue.
enum class RateTap : std::uint8_t { sender, link, receiver };

struct RateScenario {
    RateModel model{};
    std::uint64_t seed = 1;
    std::uint32_t packets = 20'000;  // of data that are sent
    RateTap tap = RateTap::sender;
    bool one_direction = false;  // the tap sees the data alone
};

[[nodiscard]] std::vector<Observation> simulate_rate(const RateScenario& scenario);

}  // namespace qps::transport
