// The table of what a case can say: a row for each kind of claim, of the form that findings of captures have
// (findings/findings.hpp), with the same ids, severities and pages of the manual.
//
// Words of a claim are made by its rule, where the evidence is; a row has what holds for all claims of its kind.
#pragma once

#include <transport-replay/model/fact.hpp>
#include <transport-replay/model/finding.hpp>

#include <span>
#include <string_view>

namespace qps::casework {

struct ClaimRow {
    std::string_view id;             // kebab-case, begins with "case-"; scripts depend on it
    transport::Severity severity{};  // of the heaviest claims of it
    std::string_view rests_on;       // what kind of evidence
    std::string_view meaning;        // one line
    std::string_view alike{};        // what else looks like it
    std::string_view limits{};       // what it cannot know
};

[[nodiscard]] std::span<const ClaimRow> claim_rows();
// nullptr: none has that id.
[[nodiscard]] const ClaimRow* claim_row(std::string_view id);

// Facts of claims, beside those of findings.
namespace facts {
inline constexpr transport::FactRow kCompletionStatus{"status_of_completion", transport::Unit::number,
                                                      "status that the log names, numbered as in ibv_wc_status"};
inline constexpr transport::FactRow kVendorError{"vendor_error", transport::Unit::number,
                                                 "vendor syndrome beside the status"};
inline constexpr transport::FactRow kOwnQueuePairs{"own_queue_pairs", transport::Unit::list,
                                                   "queue pairs that lines of logs name as their own"};
inline constexpr transport::FactRow kNamedPeers{"named_peers", transport::Unit::list,
                                                "queue pairs or hosts that lines of logs name as peers"};
inline constexpr transport::FactRow kComplaining{"complaining_hosts", transport::Unit::list,
                                                 "hosts whose logs have the complaint"};
inline constexpr transport::FactRow kGrown{"grown_counters", transport::Unit::list,
                                           "counters that grew between two readings, with by how much"};
inline constexpr transport::FactRow kNamedDevices{"named_devices", transport::Unit::list,
                                                  "devices, ports or interfaces that the evidence names"};
}  // namespace facts
[[nodiscard]] std::span<const transport::FactRow* const> claim_facts();

}  // namespace qps::casework
