// Rules about completions: the first status of a queue pair that is not 5 is the finding; who is named by many is where
// to look; what follows is told apart.
#include <transport-replay/casework/claim_rows.hpp>
#include <transport-replay/casework/claims.hpp>
#include <transport-replay/casework/completion_status.hpp>
#include <transport-replay/logs/error_cqe.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace qps::casework {

namespace {

using Group = std::vector<const Event*>;

transport::Complaint complaint_of(std::uint32_t status) {
    using enum transport::Complaint;
    switch (status) {
        case 5: return flushed;
        case 9: return remote_invalid_request;
        case 10: return remote_access;
        case 11: return remote_operation;
        case 12: return retries_exceeded;
        case 13: return rnr_retries_exceeded;
        case 1:
        case 2:
        case 4:
        case 6:
        case 8: return local;
        default: return other;
    }
}

// "vendor error 81 = 0x51 (the adapter could not read the payload ...)"
std::string vendor_text(const Group& group) {
    for (const Event* event : group) {
        if (!event->vendor || *event->vendor == 0) continue;
        const auto meaning = transport::vendor_meaning(*event->vendor, complaint_of(event->status.value_or(0)));
        std::string text = fmt::format(", vendor error {:#x} ({} decimal)", *event->vendor, *event->vendor);
        if (!meaning.empty() && event->status != 12) text += fmt::format(": {}", meaning);
        return text;
    }
    return {};
}

std::string operation_text(const Event& event) {
    std::string text;
    if (!event.operation.empty()) {
        std::string operation = event.operation;
        std::ranges::replace(operation, '_', ' ');
        text = fmt::format(" of {}", operation);
    }
    return text;
}

// "QP 0x11b (283), RDMA WRITE, as requester; QP ..." of at most a few.
std::string queue_pairs_text(const Group& group) {
    constexpr std::size_t kMost = 4;
    std::vector<std::string> shown;
    std::set<std::uint32_t> seen;
    for (const Event* event : group) {
        if (!event->qpn || !seen.insert(static_cast<std::uint32_t>(*event->qpn)).second) continue;
        if (shown.size() == kMost) continue;
        const bool dump = event->text.contains("error CQE");
        shown.push_back(fmt::format(
            "{}{}{}{}{}", queue_pair_text(*event->qpn), event->host.empty() ? "" : " of " + event->host,
            event->operation.empty() ? "" : "," + operation_text(*event).substr(3),
            dump ? event->responder ? ", as responder" : ", as requester" : "",
            event->peer_qpn ? fmt::format(", towards {} of the peer", queue_pair_text(*event->peer_qpn)) : ""));
    }
    std::string text = fmt::format("{}", fmt::join(shown, "; "));
    if (seen.size() > kMost) text += fmt::format("; {} more", seen.size() - kMost);
    return text;
}

std::set<std::string> peers_of(const Group& group) {
    std::set<std::string> peers;
    for (const Event* event : group) {
        if (event->peer_qpn) peers.insert(queue_pair_text(*event->peer_qpn));
        else if (!event->peer.empty()) peers.insert(event->peer.substr(0, event->peer.find('<')));
    }
    return peers;
}

// What the peers of status 12 amount to: one named by many, many named by one, or nobody.
void judge_peers(const Group& group, Verdict& verdict) {
    std::map<std::string, std::set<std::string>> named_by, names;
    for (const Event* event : group) {
        std::set<std::string> peers = peers_of({event});
        const std::string host = event->peer.substr(0, event->peer.find('<'));
        if (event->peer_qpn && !host.empty()) peers.insert(host);  // its queue pairs have a host in common
        for (const std::string& peer : peers) named_by[peer].insert(event->host);
        if (!peers.empty()) names[event->host].insert(host.empty() ? *peers.begin() : host);
    }
    if (named_by.empty()) {
        undecided(verdict,
                  "undecided: no line names the peer; the lines say which queue pairs gave up, not who did not answer, "
                  "so they do not show which machine or path it was");
        next_step(
            verdict,
            "UCX_LOG_LEVEL=info (prints rqpn and dgid), or rdma resource show qp, for the remote QP; logs of all nodes",
            "the hosts that gave up",
            {{"all name one peer", "look at that host and its port"}, {"one host names many", "look at its own port"}});
    }
    for (const auto& [peer, hosts] : named_by)
        if (hosts.size() >= 2) {
            claim(
                verdict, "case-peer-named-by-many", Weight::hint, Party::undecided, peer,
                fmt::format("{} hosts ({}) gave up on one peer, {}: what they have in common is that peer or its port",
                            hosts.size(), list_text(hosts), peer),
                places_of(group));
            next_step(verdict,
                      "its log and dmesg from before that time, rdma resource show qp and counters of its port", peer,
                      {{"its process ended, or its port was down", "it is the cause"},
                       {"all is well there", "look at the switch port of that host"}});
        }
    for (const auto& [host, peers] : names)
        if (peers.size() >= 3 && names.size() == 1)
            claim(verdict, "case-many-peers-of-one-host", Weight::hint, Party::undecided, host,
                  fmt::format("{} alone gave up on {} peers ({}): what they have in common is the port of {}",
                              at_host(host), peers.size(), list_text(peers), at_host(host)),
                  places_of(group));
}

transport::Facts facts_of(std::uint32_t status, const Group& group) {
    const auto list = [](const std::set<std::string>& words) {
        constexpr std::size_t kMost = 16;
        std::vector<std::string> first(words.begin(), words.end());
        if (first.size() > kMost) first.resize(kMost);
        return first;
    };
    std::set<std::string> own;
    std::optional<std::uint64_t> vendor;
    for (const Event* event : group) {
        if (event->qpn) own.insert(queue_pair_text(*event->qpn));
        if (!vendor && event->vendor.value_or(0) != 0) vendor = event->vendor;
    }
    return {{facts::kCompletionStatus, std::uint64_t{status}},
            {facts::kVendorError, vendor},
            {facts::kComplaining, list(hosts_of(group))},
            {facts::kOwnQueuePairs, list(own)},
            {facts::kNamedPeers, list(peers_of(group))}};
}

void judge_group(const Case& read, std::uint32_t status, const Group& group, Verdict& verdict) {
    const CompletionStatus* row = completion_status(status);
    const auto hosts = hosts_of(group);
    const std::string who = hosts.empty() ? "a host" : list_text(hosts);
    std::string words(row != nullptr ? row->words : "an error");
    std::string text = fmt::format("{}: {} (status {}{})", who, words, status, vendor_text(group));
    const std::string pairs = queue_pairs_text(group);
    if (!pairs.empty()) text += " on " + pairs;
    else if (!group.front()->operation.empty()) text += operation_text(*group.front());
    std::set<std::string> devices;
    for (const Event* event : group)
        if (!event->device.empty()) devices.insert(event->device);
    if (!devices.empty()) text += fmt::format(", device {}", list_text(devices, 3));
    if (const auto peers = peers_of(group); !peers.empty())
        text += fmt::format(", towards the peer {}", list_text(peers, 3));
    std::set<std::string> codes;
    for (const Event* event : group)
        if (!event->code.empty()) codes.insert(event->code);
    if (!codes.empty()) text += fmt::format(", {}", list_text(codes, 3));
    const bool refused = (status == 9 || status == 10 || status == 11) &&
                         std::ranges::all_of(group, [](const Event* event) { return event->responder; });
    if (refused)
        text +=
            ": as responder this host refused a request of its peer, which has that status; both ends take part: what the request named, and what is registered here";
    else if (row != nullptr) text += fmt::format(": {}", row->proves);
    if (row != nullptr && !row->excludes.empty()) text += fmt::format("; {}", row->excludes);
    Weight weight = row != nullptr ? row->weight : Weight::hint;
    Party party = row != nullptr && !refused ? row->party : Party::undecided;
    const auto ended = events_of(read, {EventKind::process_ended, EventKind::out_of_memory});
    if (status == 10)
        for (const Event* event : ended)
            if (!hosts.contains(event->host)) {
                text += fmt::format(". {} was interrupted or ended ({}): its memory was deregistered then",
                                    at_host(event->host), event->text);
                break;
            }
    std::vector<Place> evidence = places_of(group);
    // A queue pair that was not set up as its program wanted refuses, or is refused, for that.
    for (const Event* event : events_of(read, {EventKind::command_refused}))
        if ((status == 9 || status == 10) && event->operation.ends_with("_QP")) {
            text += fmt::format(". The firmware of {} refused {}: queue pairs there were not set up as their program "
                                "wanted, so the cause may lie on either end",
                                at_host(event->host), event->operation);
            party = Party::undecided;
            evidence.push_back(event->place);
            break;
        }
    claim(verdict, "case-completion-error", weight, party, hosts.size() == 1 ? *hosts.begin() : "", std::move(text),
          std::move(evidence), facts_of(status, group));
    if (status == 12) {
        undecided(verdict,
                  "undecided: status 12 says that no answer came, not why; peer, path, port and addresses remain");
        judge_peers(group, verdict);
    }
    // Security groups drop silently, and EFA counts nothing of it.
    if (std::ranges::any_of(codes, [](const std::string& code) { return code.starts_with("EFA status 15 "); }))
        next_step(verdict,
                  "the security group of both instances (all traffic within it, both ways), one subnet; fi_pingpong -p "
                  "efa between the two",
                  "both hosts",
                  {{"fi_pingpong fails", "the way between them is closed"},
                   {"it passes", "the process of the receiver was not there yet: its log"}});
    if (row == nullptr || row->command.empty()) return;
    next_step(verdict, std::string(row->command), std::string(row->where),
              {{std::string(row->seen), std::string(row->means)}, {"otherwise", std::string(row->other)}});
}

// Completions that are not flushes, by status.
std::map<std::uint32_t, Group> groups_of(const Case& read) {
    std::map<std::uint32_t, Group> groups;
    for (const Event& event : read.events)
        if (event.kind == EventKind::completion_error && event.status && event.status != 5)
            groups[*event.status].push_back(&event);
    return groups;
}

// One end has status 1 on a receive, the other status 9, and nothing else failed: the two halves of one message that is
// longer than the receive it met.
void judge_lengths(const std::map<std::uint32_t, Group>& groups, Verdict& verdict) {
    if (groups.size() != 2 || !groups.contains(1) || !groups.contains(9)) return;
    const Group& receives = groups.at(1);
    const Group& requests = groups.at(9);
    const auto receivers = hosts_of(receives);
    const auto senders = hosts_of(requests);
    const bool all_receives =
        std::ranges::all_of(receives, [](const Event* event) { return event->operation.starts_with("RECV"); });
    if (!all_receives || receivers.size() != 1 || senders.size() != 1 || receivers == senders) return;
    claim(verdict, "case-message-longer-than-receive", Weight::decisive, Party::remote_host, *receivers.begin(),
          fmt::format(
              "a message of {} is longer than the receive that {} posted (status 9 there, status 1 on RECV here): "
              "the two programs do not agree about sizes; not the network: the message arrived, and so did the "
              "refusal",
              *senders.begin(), *receivers.begin()),
          {receives.front()->place, requests.front()->place});
    next_step(verdict,
              "the largest message of both ends in their configurations and versions (NVMe: in-capsule data size, I/O "
              "unit size)",
              "both hosts",
              {{"they differ", "set one length on both"}, {"they agree", "look at the length of the failed request"}});
}

}  // namespace

void judge_completions(const Facts& facts, Verdict& verdict) {
    const auto groups = groups_of(facts.read);
    judge_lengths(groups, verdict);
    for (const auto& [status, group] : groups) judge_group(facts.read, status, group, verdict);
}

namespace {

// Nothing of its own host complains: it cannot follow from an error there.
bool of_another_host(const Case& read, const Event& event) { return !event.host.empty() && !tie_of(read, event).own; }

// A process that ended on a host whose log has no error of its own: before the errors of others, if they name it.
void judge_ended_peers(const Case& read, const Group& ended, Verdict& verdict) {
    std::set<std::string> told;
    for (const Event* event : ended) {
        if (!told.insert(event->host).second) continue;
        const Tie tie = tie_of(read, *event);
        // Clocks of two hosts: minutes apart they may be, hours they are not the same failure.
        constexpr std::int64_t kApart = 300 * dissect::kNanosecondsPerSecond;
        const bool together = std::ranges::any_of(read.events, [&](const Event& other) {
            const bool complains = other.kind == EventKind::completion_error || other.kind == EventKind::peer_closed;
            return complains && other.host != event->host && other.clock == event->clock &&
                   other.clock != ClockKind::none && other.clock != ClockKind::boot &&
                   other.time_ns - event->time_ns > -kApart && other.time_ns - event->time_ns < kApart;
        });
        const bool crash = event->text.contains("fault") || event->text.contains("core");
        const bool shown = tie.named && together;
        claim(verdict, "case-process-ended", shown ? Weight::shown : Weight::hint,
              shown && crash ? Party::application : Party::undecided, event->host,
              fmt::format(
                  "{}: a process{}{} ended ({}), and nothing before it complains there{}", event->host,
                  event->operation.empty() ? "" : " " + event->operation,
                  event->process.empty() ? "" : " " + event->process, event->text,
                  shown ? "; others name this host as the peer that no longer answers, at the same time: what they "
                          "report follows from it, not the network"
                        : "; whether others failed before or after it, times and names do not show"),
              {event->place});
        if (!shown)
            undecided(verdict, fmt::format("undecided: whether the process of {} ended before the errors of others",
                                           event->host));
        next_step(verdict, "the core and its backtrace (coredumpctl gdb), the last lines of the log of that process",
                  event->host,
                  {{"it crashed in code of the program or a library", "mend that"},
                   {"it was ended by somebody (launcher, scheduler)", "look at what ended it, and why"}});
    }
}

}  // namespace

// What only follows: flushes, closed sockets, remote errors that libraries pass on, a crash after an error.
void judge_flushes(const Facts& facts, Verdict& verdict) {
    Group flushed;
    for (const Event& event : facts.read.events)
        if (event.kind == EventKind::completion_error && event.status == 5) flushed.push_back(&event);
    const bool causes =
        !groups_of(facts.read).empty() ||
        !events_of(facts.read, {EventKind::keep_alive_expired, EventKind::port_down, EventKind::out_of_memory,
                                EventKind::gpu_memory, EventKind::gpu_error, EventKind::iommu_fault,
                                EventKind::device_fatal, EventKind::queue_overrun})
             .empty();
    if (!flushed.empty() && causes)
        consequence(verdict,
                    fmt::format("{} flushed (status 5): a consequence, the queue pair was in the error state already",
                                transport::counted(flushed.size(), "work request")),
                    places_of(flushed, 2));
    if (!flushed.empty() && !causes) {
        const bool own = std::ranges::any_of(flushed, [](const Event* event) { return event->vendor == 0xf5; });
        claim(
            verdict, "case-flushed-only", Weight::hint, Party::undecided, flushed.front()->host,
            own ? fmt::format(
                      "{}: only flushed work requests (status 5), the first with vendor error 0xf5: software of this host moved "
                      "the queue pair to the error state",
                      at_host(flushed.front()->host))
                : fmt::format(
                      "{}: only flushed work requests (status 5) are logged: they follow an earlier error, which nobody logged",
                      at_host(flushed.front()->host)),
            places_of(flushed));
        undecided(verdict,
                  "undecided: a flush never is the cause; the first error of the queue pair is not in the material");
        next_step(verdict, "the lines before the first flush, of both ends; dmesg; rdma resource show qp",
                  "both hosts");
    }
    Group closed = events_of(facts.read, {EventKind::peer_closed});
    if (!closed.empty() && (causes || !events_of(facts.read, {EventKind::out_of_memory, EventKind::gpu_memory,
                                                              EventKind::gpu_error, EventKind::port_down})
                                           .empty()))
        consequence(verdict,
                    fmt::format("{}: bootstrap connections that peers closed, which follows when a rank ends",
                                transport::counted(closed.size(), "line")),
                    places_of(closed, 2));
    else if (!closed.empty()) {
        claim(
            verdict, "case-peer-closed-first", Weight::hint, Party::undecided, closed.front()->host,
            fmt::format(
                "{}: the bootstrap (TCP) connection was closed by the peer {}: that process ended or aborted first; it says nothing of the "
                "RDMA path",
                at_host(closed.front()->host), closed.front()->peer),
            places_of(closed));
        undecided(verdict, "undecided: why the peer process ended first is in its own log, which is not here");
        next_step(verdict, "the log of the peer that closed first, from before this time", closed.front()->peer,
                  {{"an error or a crash", "it is the cause"}, {"it names another peer", "go on to that one"}});
    }
    Group crashed = events_of(facts.read, {EventKind::process_ended});
    std::erase_if(crashed, [](const Event* event) { return event->text == "^C"; });
    if (causes) {
        const auto others = std::ranges::stable_partition(
            crashed, [&](const Event* event) { return !of_another_host(facts.read, *event); });
        judge_ended_peers(facts.read, Group(others.begin(), others.end()), verdict);
        crashed.erase(others.begin(), others.end());
    }
    if (!crashed.empty() && causes)
        consequence(verdict,
                    fmt::format("{}: {}; it follows the error before it", at_host(crashed.front()->host),
                                crashed.front()->text),
                    places_of(crashed, 2));
    if (!crashed.empty() && !causes) {
        claim(verdict, "case-process-ended", Weight::hint, Party::undecided, crashed.front()->host,
              fmt::format("{}: a process ended ({}): what its peers report afterwards follows from that",
                          at_host(crashed.front()->host), crashed.front()->text),
              places_of(crashed));
        undecided(verdict, "undecided: why that process ended is not in these lines");
        next_step(
            verdict,
            "the backtrace of that process (coredumpctl gdb, or gdb on its core), and the lines of its log before",
            at_host(crashed.front()->host));
    }
}

}  // namespace qps::casework
