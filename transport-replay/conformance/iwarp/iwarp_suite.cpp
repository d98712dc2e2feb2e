#include <transport-replay/checks/passive/passive_record.hpp>
#include <transport-replay/conformance/iwarp/iwarp_suite.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr Address kOurselves{{0, 1}, AddressSpace::roce_v2};  // in what is judged as a capture; nobody else sees it
constexpr std::uint32_t kFirstPort = 40000;

}  // namespace

IwarpSuite::IwarpSuite(const Address& device, std::uint16_t port, std::function<bool(const CheckRow&)> wanted)
    : device_(device), port_(port), wanted_(std::move(wanted)) {
    tallies_.tell_apart(device_);
    for (const IwarpProbe& probe : iwarp_probes())
        if (wanted_(*find_check(probe.check))) probes_.push_back(&probe);
    std::ranges::stable_partition(probes_,
                                  [](const IwarpProbe* probe) { return !find_check(probe->check)->dangerous; });
}

const IwarpProbe* IwarpSuite::next() const {
    if (dead_) return nullptr;
    if (asks_alive_) return &iwarp_alive();
    return at_ < probes_.size() ? probes_[at_] : nullptr;
}

FlowKey IwarpSuite::flow() const { return {kOurselves, device_, Qpn{port_}, Qpn{kFirstPort + connections_}}; }

// Blamed on what was done last; what comes after it has no verdict.
void IwarpSuite::not_alive(const std::string& reason) {
    dead_ = true;
    silence_ = reason;
    if (results_.empty()) return;
    CheckResult& last = results_.back();
    last.verdict = Verdict::fail;
    last.failures = 1;
    last.reason +=
        fmt::format("{}the device took no connection afterwards: {}", last.reason.empty() ? "" : "; ", reason);
}

void IwarpSuite::unreachable(std::string reason) {
    ++connections_;
    if (asks_alive_) return not_alive(reason);
    take({.probe = probes_[at_],
          .verdict = Verdict::inconclusive,
          .reason = std::move(reason),
          .exchange = {},
          .took = {}});
}

void IwarpSuite::take(ProbeOutcome outcome) {
    ++connections_;
    if (asks_alive_) {
        asks_alive_ = false;
        if (outcome.verdict != Verdict::pass) not_alive(outcome.reason);
        return;
    }
    if (outcome.verdict == Verdict::pass && ++times_ < outcome.probe->times) return;
    times_ = 0;
    CheckResult& result = results_.emplace_back();
    result.check = find_check(outcome.probe->check);
    result.verdict = outcome.verdict;
    result.reason = std::move(outcome.reason);
    result.examined = outcome.probe->times;
    result.failures = outcome.verdict == Verdict::fail ? 1 : 0;
    result.took = outcome.took;
    if (outcome.verdict == Verdict::fail) result.exchange = std::move(outcome.exchange);
    ++at_;
    asks_alive_ = true;
}

Report IwarpSuite::report(const Profile& profile) {
    Report report{.subject = text(device_), .facts = {}, .results = {}};
    PassiveRecord record{.hosts = tallies_.take(), .watched = {}};
    std::vector<CheckResult> passive = judge(record, Timeline{}, {}, device_);
    for (const CheckRow& check : checks()) {
        if (!is_of_iwarp(check.family) || !wanted_(check)) continue;
        CheckResult& result = report.results.emplace_back();
        result.check = &check;
        result.reason = never_answered() ? fmt::format("not asked: {}", silence_) : "the device died before";
        for (std::vector<CheckResult>* all : {&results_, &passive}) {
            const auto found = std::ranges::find(*all, &check, &CheckResult::check);
            if (found == all->end()) continue;
            result = std::move(*found);
            result.evidence.clear();  // there is no capture that has those frames
        }
        if (result.verdict == Verdict::not_applicable && check.active() && dead_)
            result.verdict = Verdict::inconclusive;
        apply(profile, result);
    }
    return report;
}

}  // namespace qps::transport::conformance
