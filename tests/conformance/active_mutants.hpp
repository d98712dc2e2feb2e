// Endpoints that break exactly one rule, by the script whose check has to say so: a table for each family.
#pragma once

#include <tests/support/breaking.hpp>

#include <string>
#include <string_view>

namespace qps::tests {

inline constexpr std::string_view kPsn = "infiniband.bth.psn", kOpcode = "infiniband.bth.opcode";
inline constexpr std::string_view kRead = "RC_RDMA_READ_REQUEST", kAddress = "infiniband.reth.va";

struct ActiveMutant {
    std::string script;
    std::string what;  // is broken
    Broken broken;     // good for one run
};

[[nodiscard]] std::vector<ActiveMutant> format_mutants();      // and of congestion, and of what endures
[[nodiscard]] std::vector<ActiveMutant> management_mutants();  // CM
[[nodiscard]] std::vector<ActiveMutant> requester_mutants();
[[nodiscard]] std::vector<ActiveMutant> responder_mutants();
[[nodiscard]] std::vector<ActiveMutant> refusing_mutants();  // of responders: what they have to refuse

}  // namespace qps::tests
