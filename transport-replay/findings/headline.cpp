#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/findings/headline.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace qps::transport {

namespace {

using dissect::Duration;

// A summary without its particulars: no clause after the first, nothing in parentheses.
std::string without_particulars(std::string_view summary) {
    std::string line;
    int depth = 0;
    for (const char letter : summary) {
        if (letter == ';') break;
        if (letter == '(') {
            if (depth++ == 0 && line.ends_with(' ')) line.pop_back();
        } else if (letter == ')') {
            depth = std::max(0, depth - 1);
        } else if (depth == 0) {
            line += letter;
        }
    }
    if (line.ends_with('.')) line.pop_back();
    return line;
}

// Findings whose stalls have no other's in them: each retransmission episode is of one.
struct Stalls {
    std::string_view id;
    std::string_view words;
};
constexpr std::array kStalls{
    Stalls{"go-back-n-loss", "recovery from losses"},
    Stalls{"selective-repeat", "recovery from losses"},
    Stalls{"ack-timeout", "ACK timeouts"},
    Stalls{"rnr-stall", "waits for posted receives"},
    Stalls{"read-response-lost", "READs that were requested again"},
};

Duration fact_of(const Finding& finding, const FactRow& row) {
    const Fact* const fact = find_fact(finding.facts, row);
    const Duration* const value = fact == nullptr ? nullptr : std::get_if<Duration>(&fact->value);
    return value == nullptr ? Duration{} : *value;
}

// "612.6 ms of 695.7 ms without progress were ACK timeouts after ignored NAKs"; empty where nothing stalled.
std::string largest_stall(const Timeline& timeline) {
    std::array<Duration, kStalls.size()> sums{};
    Duration all{}, ignored{};
    for (const Finding& finding : timeline.findings) {
        if (finding.id == "nak-ignored") ignored = ignored + fact_of(finding, facts::kTotalWait);
        const auto row = std::ranges::find(kStalls, finding.id, &Stalls::id);
        if (row == kStalls.end()) continue;
        Duration& sum = sums[static_cast<std::size_t>(row - kStalls.begin())];
        sum = sum + fact_of(finding, facts::kStalled);
        all = all + fact_of(finding, facts::kStalled);
    }
    const auto most = std::ranges::max_element(sums);
    if (*most == Duration{}) return {};
    const Stalls& row = kStalls[static_cast<std::size_t>(most - sums.begin())];
    const bool after_naks = row.id == "ack-timeout" && std::to_underlying(ignored) * 2 > std::to_underlying(*most);
    const std::string part =
        *most == all ? duration_text(all) : fmt::format("{} of {}", duration_text(*most), duration_text(all));
    return fmt::format("{} without progress were {}{}", part, row.words, after_naks ? " after ignored NAKs" : "");
}

}  // namespace

std::string headline_of(const FindingGroup& group, std::uint64_t connections) {
    if (group.findings.size() == 1) return without_particulars(group.first().summary);
    const FindingRow* const row = finding_row(group.first().id);
    const std::string_view meaning = row == nullptr ? std::string_view{} : row->meaning;
    std::set<ConnectionId> named;
    for (const Finding* finding : group.findings)
        if (finding->connection) named.insert(*finding->connection);
    if (named.empty()) return fmt::format("{} ({} findings)", meaning, grouped(group.findings.size()));
    const std::string subject = fmt::format("{} of {}", grouped(named.size()), counted(connections, "connection"));
    return row == nullptr || row->predicate.empty() ? fmt::format("{}: {}", subject, meaning)
                                                    : fmt::format("{} {}", subject, row->predicate);
}

std::string conclusion_of(const Timeline& timeline) {
    std::vector<const Finding*> bad;
    for (const Finding& finding : timeline.findings)
        if (finding.severity != Severity::note) bad.push_back(&finding);
    const auto panels = finding_panels(bad);
    if (panels.empty()) return {};
    std::string text = headline_of(panels.front().head, timeline.connections.size());
    if (const std::string stall = largest_stall(timeline); !stall.empty()) text += "; " + stall;
    const std::size_t more = panels.size() - 1;
    return more == 0 ? text : fmt::format("{}; {} more {}", text, grouped(more), more == 1 ? "problem" : "problems");
}

}  // namespace qps::transport
