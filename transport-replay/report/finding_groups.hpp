// Findings that belong together, in the same way for every front end: what happened to many connections alike is one
// group, and groups about the same packets are one panel.
#pragma once

#include <transport-replay/model/finding.hpp>

#include <span>
#include <string>
#include <vector>

namespace qps::transport {

// Findings of one id, severity and party, whose advice differs in names and amounts alone.
struct FindingGroup {
    std::vector<const Finding*> findings;  // never empty, the most frequent first
    std::uint64_t count = 0;               // how often in all
    [[nodiscard]] const Finding& first() const { return *findings.front(); }
};

// Whom the advice of others names than of the first, where it names somebody else: "(likewise for 10.1.0.3
// and 10.1.0.4)".
[[nodiscard]] std::string also_named(const FindingGroup& group);
// The advice of its first finding, with that.
[[nodiscard]] std::string advice_of(const FindingGroup& group);

// What is told together: `also` are groups of which every finding shares a packet with a finding of the panel on the
// same connection.
struct FindingPanel {
    FindingGroup head;
    std::vector<FindingGroup> also;
};

// Panels and the groups in them are in the order of their first finding: findings come worst first. They must outlive
// the result.
[[nodiscard]] std::vector<FindingPanel> finding_panels(std::span<const Finding* const> findings);

}  // namespace qps::transport
