// How packets are reconstructed, and what of that a user wants to see or be warned of.
#pragma once

#include <cli/options/option_table.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/model/finding.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/ulp/ulp_hints.hpp>

#include <optional>
#include <string>
#include <vector>

namespace qps::cli {

struct AnalysisOptions {
    transport::MemoryBudget memory = transport::MemoryBudget::of_machine();
    transport::UlpHints hints;                                      // --decode-as
    transport::IcrcPolicy icrc = transport::IcrcPolicy::automatic;  // --icrc
    std::vector<transport::ConnectionId> connections;               // only these; none: all
    std::optional<transport::Severity> fail_on;                     // findings as bad as this decide the exit code
    std::string nccl_log;                                           // file
    std::vector<transport::Address> unordered;                      // --out-of-order
    bool sums_apart = false;  // for a part that is joined with those of other hosts

    // What a reconstruction needs to be told.
    void add_decode_as(OptionTable& table);
    void add_icrc(OptionTable& table);
    void add_memory(OptionTable& table);
    // What the user knows beside the capture: ranks of NCCL, hosts that take packets in any order.
    void add_knowledge(OptionTable& table);
    // What is shown of it, and counts.
    void add_connections(OptionTable& table);
    void add_fail_on(OptionTable& table);
    void take_fail_on(const std::string& word);  // what --fail-on says
};

}  // namespace qps::cli
