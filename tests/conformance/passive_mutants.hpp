// Captures that break the rule of exactly one passive check, and captures that nearly do: a table of each for every
// family.
#pragma once

#include <tests/conformance/passive_traffic.hpp>
#include <transport-replay/checks/verdict.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::tests {

struct PassiveMutant {
    std::string_view id;  // of the check
    std::string what;     // is wrong
    std::function<RecordedCapture()> healthy;
    std::function<void(RecordedCapture&)> harm;
};
using PassiveMutants = std::vector<PassiveMutant>;

// What looks wrong and is not, or is nobody's fault that a capture proves.
struct NearMiss {
    std::string_view id;
    std::string_view what;
    std::function<RecordedCapture()> make;
    transport::conformance::Verdict verdict = transport::conformance::Verdict::pass;
};
using NearMisses = std::vector<NearMiss>;

[[nodiscard]] PassiveMutants recorded_format_mutants();  // TRC, FMT
[[nodiscard]] PassiveMutants recorded_responder_mutants();
[[nodiscard]] PassiveMutants recorded_requester_mutants();
[[nodiscard]] PassiveMutants recorded_management_mutants();  // CM, CNP, ERR
[[nodiscard]] PassiveMutants recorded_framing_mutants();     // MPA
[[nodiscard]] PassiveMutants recorded_placement_mutants();   // DDP
[[nodiscard]] PassiveMutants recorded_rdmap_mutants();
[[nodiscard]] PassiveMutants recorded_nvme_set_up_mutants();  // NVME, and the next three
[[nodiscard]] PassiveMutants recorded_nvme_capsule_mutants();
[[nodiscard]] PassiveMutants recorded_nvme_data_mutants();
[[nodiscard]] PassiveMutants recorded_nvme_response_mutants();
[[nodiscard]] PassiveMutants edited_mutants();  // one field is another

[[nodiscard]] NearMisses recorded_format_near_misses();
[[nodiscard]] NearMisses recorded_responder_near_misses();
[[nodiscard]] NearMisses recorded_requester_near_misses();
[[nodiscard]] NearMisses recorded_management_near_misses();
[[nodiscard]] NearMisses recorded_iwarp_near_misses();
[[nodiscard]] NearMisses recorded_nvme_near_misses();

}  // namespace qps::tests
