// Rules about lists of queue pairs: which are in the error state, and which have no partner.
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// A queue pair of a list whose state is ERR or SQE.
struct Failed {
    const Setting* state = nullptr;
    std::string peer, process;
};

std::vector<Failed> failed_of(const Case& read) {
    std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, Failed> found;
    const auto key = [](const Setting& each) { return std::tuple(each.host, each.device, each.name, each.place.file); };
    for (const Setting& each : read.settings)
        if (each.subject == "queue pair" && (each.value == "ERR" || each.value == "SQE"))
            found[key(each)].state = &each;
    for (const Setting& each : read.settings) {
        if (each.subject != "queue pair peer" && each.subject != "queue pair process") continue;
        if (const auto at = found.find(key(each)); at != found.end())
            (each.subject == "queue pair peer" ? at->second.peer : at->second.process) = each.value;
    }
    std::vector<Failed> all;
    for (auto& [unused, each] : found) all.push_back(std::move(each));
    std::ranges::sort(all, {}, [](const Failed& each) { return each.state->place; });
    return all;
}

std::string digits(std::optional<dissect::Qpn> qpn) {
    return qpn ? fmt::format("{}", static_cast<std::uint32_t>(*qpn)) : std::string();
}

// The completion of another host that got no answer from this queue pair: both numbers agree.
const Event* unanswered_by(const Case& read, const Failed& pair) {
    for (const Event& event : read.events)
        if (event.kind == EventKind::completion_error && event.status == 12 && event.host != pair.state->host &&
            event.qpn && digits(event.qpn) == pair.peer && digits(event.peer_qpn) == pair.state->name)
            return &event;
    return nullptr;
}

// A queue pair in the error state answers nothing; whether it was so before its peer gave up, the list does not say.
void judge_failed(const Facts& facts, Verdict& verdict) {
    constexpr std::size_t kMost = 8;  // claims; the rest are counted
    const auto all = failed_of(facts.read);
    std::size_t told = 0;
    for (const Failed& pair : all) {
        const std::string& host = pair.state->host;
        const Event* event = unanswered_by(facts.read, pair);
        if (event == nullptr && ++told > kMost) continue;
        std::string text = fmt::format(
            "{}: queue pair {} of {}{} is in state {}: {}", at_host(host), pair.state->name, pair.state->device,
            pair.process.empty() ? "" : fmt::format(" ({})", pair.process), pair.state->value,
            pair.state->value == "ERR" ? "whatever its peer sends gets no answer" : "its send queue failed");
        std::vector<Place> evidence{pair.state->place};
        if (event != nullptr) {
            text += fmt::format(
                ". It is the peer that {} of {} got no answer from (status 12): look at this end before the path",
                queue_pair_text(*event->qpn), at_host(event->host));
            evidence.push_back(event->place);
        }
        claim(verdict, "case-queue-pair-in-error", event != nullptr ? Weight::shown : Weight::hint, Party::undecided,
              host, std::move(text), std::move(evidence));
        if (event != nullptr)
            undecided(verdict, fmt::format("undecided: whether queue pair {} of {} failed before its peer gave up, or "
                                           "was closed because of that",
                                           pair.state->name, at_host(host)));
        next_step(verdict,
                  fmt::format("the first error of that queue pair: log of its process ({}) and dmesg",
                              pair.process.empty() ? "pid in rdma resource show qp" : pair.process),
                  at_host(host),
                  {{"an error before the peer gave up", "it is the cause"},
                   {"it was closed afterwards", "look at the path and at the peer's log"}});
    }
    if (told > kMost)
        claim(verdict, "case-queue-pair-in-error", Weight::hint, Party::undecided, "",
              fmt::format("{} more queue pairs are in an error state", told - kMost), {all.back().state->place});
}

// Lists of two hosts: a queue pair that points at none of the other's lost its peer.
void judge_partners(const Facts& facts, Verdict& verdict) {
    struct End {
        std::string own, peer;
        Place place;
    };
    std::map<std::string, std::vector<End>> hosts;
    for (const Setting& setting : facts.read.settings)
        if (setting.subject == "queue pair peer")
            hosts[setting.host].push_back({setting.name, setting.value, setting.place});
    if (hosts.size() != 2) return;
    const auto& [a, ends_a] = *hosts.begin();
    const auto& [b, ends_b] = *std::next(hosts.begin());
    const auto pair_of = [](const End& end, const std::vector<End>& others) {
        return std::ranges::any_of(others,
                                   [&](const End& other) { return other.own == end.peer && other.peer == end.own; });
    };
    // One pair at least shows that the lists are of one job.
    if (std::ranges::none_of(ends_a, [&](const End& end) { return pair_of(end, ends_b); })) return;
    for (const auto& [host, ends, other, others] :
         {std::tuple{&a, &ends_a, &b, &ends_b}, std::tuple{&b, &ends_b, &a, &ends_a}}) {
        std::set<std::string> alone;
        std::vector<Place> evidence;
        for (const End& end : *ends) {
            if (end.peer == "0" || pair_of(end, *others)) continue;
            alone.insert(fmt::format("QP {} (towards QP {})", end.own, end.peer));
            if (evidence.size() < 4) evidence.push_back(end.place);
        }
        if (alone.empty()) continue;
        claim(verdict, "case-queue-pair-alone", Weight::hint, Party::undecided, *other,
              fmt::format("{} of {} has no partner in the list of {}: it was closed there, or belongs to a third host",
                          list_text(alone, 4), *host, *other),
              std::move(evidence));
        undecided(verdict, "undecided: whether the missing queue pairs were closed before or after the failure");
        next_step(
            verdict,
            fmt::format(
                "the log of the process on {} that owned them, from before the failure; rdma resource show qp again",
                *other),
            *other,
            {{"it closed them or ended first", "that process is where to look"},
             {"they belong to a third host", "get its list as well"}});
    }
}

}  // namespace

void judge_queue_pairs(const Facts& facts, Verdict& verdict) {
    judge_failed(facts, verdict);
    judge_partners(facts, verdict);
}

}  // namespace qps::casework
