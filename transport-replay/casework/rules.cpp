// The table of rules, how claims are weighed, and what rules share.
#include <transport-replay/casework/claims.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace qps::casework {

namespace {

constexpr std::array kRules{
    Rule{"unrelated", "lines of programs or the kernel, none of RDMA", "nothing here is about RDMA", judge_unrelated},
    Rule{"captures", "captures, beside logs and counters", "their findings, and what lines are about", judge_captures},
    Rule{"completion", "error completions", "side, queue pair, what the status proves and excludes", judge_completions},
    Rule{"flush", "status 5", "a consequence, or a cause that nobody logged", judge_flushes},
    Rule{"port", "a port that went down", "where to look, and what follows", judge_ports},
    Rule{"host-event", "kernel events of a host", "the host, before any protocol", judge_host_events},
    Rule{"set-up", "a queue pair or connection that was not made", "address, listener or setting", judge_set_up},
    Rule{"device", "commands that firmware refused", "what the device lacks since", judge_device},
    Rule{"storage", "keep-alives and timeouts of NVMe", "who gave up first", judge_storage},
    Rule{"blocked", "blocked tasks with stacks", "a deadlock in the kernel", judge_blocked},
    Rule{"gid", "GID tables and the index in use", "an index that does not fit", judge_gids},
    Rule{"queue-pairs", "lists of queue pairs", "which are in error, which have no partner", judge_queue_pairs},
    Rule{"acs", "ACS of PCIe switches, a local error", "peer-to-peer DMA is redirected", judge_acs},
    Rule{"environment", "an environment and a list of devices", "a device that is not there", judge_environment},
    Rule{"states", "settings and states of several places", "what does not fit together", judge_states},
    Rule{"placement", "MTUs of ports, benchmarks bound to nodes", "what is too small or too far", judge_placement},
    Rule{"notices", "lines that say what is wrong", "what each says", judge_notices},
    Rule{"bootstrap", "addresses of the bootstrap", "hosts that share one", judge_bootstrap},
    Rule{"port-readings", "states of ports, empty GID tables, RoCE modes, ping", "what is not active or does not fit",
         judge_port_readings},
    Rule{"link-settings", "MTU, state, firmware of several hosts", "what differs", judge_link_settings},
    Rule{"classes", "PFC, trust and traffic classes", "priorities that differ", judge_classes},
    Rule{"loss", "differences of transport counters", "loss, its direction, and what should slow senders", judge_loss},
    Rule{"receivers", "RNR counters", "a receiver without receives", judge_receivers},
    Rule{"pauses", "PFC counters", "the direction of the pause", judge_pauses},
    Rule{"signals", "link and signal counters", "a bad link", judge_signals},
    Rule{"traffic", "byte counters beside error counters", "healthy traffic", judge_traffic},
    Rule{"readings", "two readings of one thing", "a contradiction", judge_readings},
    Rule{"netdev", "counters of ethtool", "which are not of RDMA", judge_netdev},
    Rule{"software", "soft-RoCE", "the limit of software", judge_software},
    Rule{"ranks", "a RAS dump", "who is ahead, who is behind", judge_ranks},
    Rule{"order", "UTC stamps of several hosts", "who failed first", judge_order},
    Rule{"watchdogs", "timeouts of collectives", "who never issued the call", judge_watchdogs},
    Rule{"unexplained", "complaints that no rule takes up", "what they say, and no more", judge_unexplained},
};

// Steps and open questions belong to the claim that a rule made last.
Weight weight_now(const Verdict& verdict) {
    return verdict.claims.empty() ? Weight::remark : verdict.claims.back().weight;
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::string_view name(Party party) {
    constexpr std::array<std::string_view, 9> kNames{"undecided",   "local host",     "remote host",
                                                     "network",     "switch setting", "host setting",
                                                     "application", "library",        "firmware"};
    return kNames[static_cast<std::size_t>(party)];
}

transport::Severity severity_of(Weight weight) {
    if (weight >= Weight::shown) return transport::Severity::error;
    return weight == Weight::hint ? transport::Severity::warning : transport::Severity::note;
}

void claim(Verdict& verdict, std::string_view id, Weight weight, Party party, std::string host, std::string text,
           std::vector<Place> evidence, transport::Facts facts) {
    constexpr std::size_t kMostClaims = 200;
    if (verdict.claims.size() == kMostClaims) return;
    const auto is_empty = [](const transport::Fact& fact) {
        const auto* list = std::get_if<std::vector<std::string>>(&fact.value);
        return std::holds_alternative<std::monostate>(fact.value) || (list != nullptr && list->empty());
    };
    std::erase_if(facts, is_empty);
    verdict.claims.push_back(
        {id, weight, party, std::move(host), std::move(text), std::move(evidence), std::move(facts)});
}

void consequence(Verdict& verdict, std::string text, std::vector<Place> evidence) {
    verdict.consequences.push_back(
        {"", Weight::remark, Party::undecided, "", std::move(text), std::move(evidence), {}});
}

void contradiction(Verdict& verdict, std::string text, std::vector<Place> evidence) {
    verdict.contradictions.push_back(
        {"", Weight::remark, Party::undecided, "", std::move(text), std::move(evidence), {}});
}

void next_step(Verdict& verdict, std::string command, std::string where, std::vector<Outcome> outcomes) {
    if (std::ranges::find(verdict.next, command, &NextStep::command) == verdict.next.end())
        verdict.next.push_back({weight_now(verdict), std::move(command), std::move(where), std::move(outcomes)});
}

void undecided(Verdict& verdict, std::string text) {
    if (std::ranges::find(verdict.undecided, text, &OpenQuestion::text) == verdict.undecided.end())
        verdict.undecided.push_back({weight_now(verdict), std::move(text)});
}

std::string queue_pair_text(dissect::Qpn qpn) {
    return fmt::format("QP {0:#x} ({0})", static_cast<std::uint32_t>(qpn));
}

std::string at_host(const std::string& host) { return host.empty() ? "this host" : host; }

std::string list_text(const std::set<std::string>& words, std::size_t most) {
    std::vector<std::string> shown;
    for (const std::string& word : words) {
        if (shown.size() == most) break;
        shown.push_back(word);
    }
    std::string text = fmt::format("{}", fmt::join(shown, ", "));
    if (words.size() > most) text += fmt::format(" and {} more", words.size() - most);
    return text;
}

std::vector<Place> places_of(const std::vector<const Event*>& events, std::size_t most) {
    std::vector<Place> places;
    for (const Event* event : events) {
        if (places.size() == most) break;
        places.push_back(event->place);
    }
    return places;
}

std::vector<const Event*> events_of(const Case& read, std::initializer_list<EventKind> kinds) {
    std::vector<const Event*> found;
    for (const Event& event : read.events)
        if (std::ranges::find(kinds, event.kind) != kinds.end()) found.push_back(&event);
    return found;
}

std::set<std::string> hosts_of(const std::vector<const Event*>& events) {
    std::set<std::string> hosts;
    for (const Event* event : events)
        if (!event->host.empty()) hosts.insert(event->host);
    return hosts;
}

bool anything_failed(const Case& read) {
    return !events_of(read, {EventKind::completion_error, EventKind::watchdog, EventKind::transport_timeout,
                             EventKind::storage_timeout, EventKind::setup_failed, EventKind::unreachable,
                             EventKind::address_unresolved, EventKind::rejected, EventKind::remote_error})
                .empty();
}

bool has_status(const Case& read, std::uint32_t status) {
    return std::ranges::any_of(read.events, [&](const Event& event) {
        return event.kind == EventKind::completion_error && event.status == status;
    });
}

bool no_answer(const Case& read) {
    return has_status(read, 12) ||
           !events_of(read, {EventKind::transport_timeout, EventKind::setup_failed, EventKind::unreachable}).empty();
}

namespace {

// "kite-2.rack4.example<38121>" -> "kite-2"; addresses stay whole.
std::string_view host_of_peer(std::string_view peer) {
    peer = peer.substr(0, peer.find_first_of("<:"));
    const bool name = !peer.empty() && std::isdigit(static_cast<unsigned char>(peer.front())) == 0;
    return name ? peer.substr(0, peer.find('.')) : peer;
}

}  // namespace

Tie tie_of(const Case& read, const Event& event) {
    constexpr std::int64_t kNear = 60 * dissect::kNanosecondsPerSecond;
    Tie tie;
    // What storage does when its transport fails counts where nothing else but flushes complains: they decide nothing.
    const bool storage = std::ranges::none_of(
        read.events, [](const Event& each) { return each.kind == EventKind::completion_error && each.status != 5; });
    if (storage)
        for (const Event* each : events_of(read, {EventKind::controller_reset, EventKind::address_unresolved}))
            if (each->host == event.host && each->clock == event.clock && each->clock != ClockKind::none &&
                each->time_ns >= event.time_ns && each->time_ns < event.time_ns + kNear)
                tie.near = true;
    bool before = false, after = false;  // complaints in the file of the event
    for (const Event* complaint :
         events_of(read, {EventKind::completion_error, EventKind::watchdog, EventKind::storage_timeout,
                          EventKind::peer_closed, EventKind::remote_error})) {
        tie.complaints = true;
        if (complaint->place.file == event.place.file) (complaint->place < event.place ? before : after) = true;
        if (!event.host.empty() && host_of_peer(complaint->peer) == event.host) tie.named = true;
        if (complaint->host != event.host) continue;
        tie.own = true;
        const bool clock = complaint->clock != ClockKind::none && complaint->clock == event.clock;
        const std::int64_t apart = complaint->time_ns - event.time_ns;
        if (clock && apart > -kNear && apart < kNear) tie.near = true;
    }
    tie.late = before && !after && !event.kernel;
    return tie;
}

Verdict judge(const Case& read) {
    Facts facts{read, counter_changes(read), {}};
    for (const CounterChange& change : facts.changes) facts.of_host[change.host].push_back(&change);
    Verdict verdict;
    for (const Rule& rule : kRules) rule.apply(facts, verdict);
    std::ranges::stable_sort(verdict.claims, std::ranges::greater{}, &Claim::weight);
    std::ranges::stable_sort(verdict.next, std::ranges::greater{}, &NextStep::weight);
    std::ranges::stable_sort(verdict.undecided, std::ranges::greater{}, &OpenQuestion::weight);
    if (verdict.claims.empty()) {
        undecided(verdict, read.mentions_rdma || !facts.changes.empty()
                               ? "undecided: nothing that was read shows a failure of RDMA, nor that all is well"
                               : "undecided: nothing here that is recognised is about RDMA");
        next_step(verdict,
                  "the log of the program that failed, and counters before and after: grep . "
                  "/sys/class/infiniband/*/ports/*/hw_counters/* twice, with the failure between",
                  "each host");
        return verdict;
    }
    const Claim& first = verdict.claims.front();
    verdict.host = first.host;
    if (first.weight >= Weight::shown) verdict.party = first.party;
    // What explains the rest leaves nothing open that only the rest asked.
    if (first.weight == Weight::decisive)
        std::erase_if(verdict.undecided, [](const OpenQuestion& open) { return open.weight < Weight::decisive; });
    // Two equal candidates are none.
    for (const Claim& other : verdict.claims) {
        if (other.weight != first.weight || first.weight < Weight::shown) break;
        if (other.party == verdict.party || other.party == Party::undecided) continue;
        if (verdict.party == Party::undecided) continue;
        verdict.party = Party::undecided;
        undecided(
            verdict,
            fmt::format("undecided: two things that the material shows point at different parties ({}: {}; {}: {})",
                        at_host(first.host), name(first.party), at_host(other.host), name(other.party)));
        break;
    }
    if (verdict.party == Party::undecided && verdict.undecided.empty() && !verdict.unrelated)
        undecided(verdict, "undecided: the material does not show which party has the cause");
    return verdict;
}

}  // namespace qps::casework
