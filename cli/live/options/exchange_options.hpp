// How programs exchange queue pairs with their peer, and what they do with them: ibv_*_pingpong and ib_*.
#pragma once

#include <cli/options/option_table.hpp>
#include <dissect/base/types.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace qps::cli {

struct ExchangeOptions {
    std::string tcp;       // whom to call, or where to listen
    bool rdma_cm = false;  // of perftest's, not over TCP
    std::optional<dissect::Service> service;
    std::optional<std::uint32_t> queue_pairs;
    bool both_ways = false;
    bool all_sizes = false;
    std::optional<dissect::Duration> duration;
    dissect::Duration gap{};  // between messages
    bool compare_swap = false;

    // Both ends must be given the same: they do not tell each other.
    void add(OptionTable& table);
};

}  // namespace qps::cli
