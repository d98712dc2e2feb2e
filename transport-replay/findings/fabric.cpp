// Findings about the fabric: counters of errors that moved, traps, requests of management without a good answer.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/management_words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kNode{"node", Unit::text, "the node, by its description where the fabric told it, else by its LID"};
constexpr FactRow kPortNumber{"port_number", Unit::number, "number of its port"};
constexpr FactRow kErrorCounters{"error_counters", Unit::list,
                                 "counters of errors that increased: by how much and to what"};
constexpr FactRow kTrap{"trap", Unit::number, "number of the trap (IBA 14.2.5.1)"};
constexpr FactRow kNotice{"notice", Unit::text, "the first such notice in words"};
constexpr FactRow kNotices{"notices", Unit::count, "how often it was sent, where more than once"};
constexpr FactRow kManagementRequest{"management_request", Unit::word,
                                     "class, method and attribute that were asked for"};
constexpr FactRow kDirectedRoute{"directed_route", Unit::word,
                                 "the ports that the requests went through; they bear no addresses"};
constexpr FactRow kRefusals{"refusals", Unit::count, "queries that were rejected"};
constexpr FactRow kStatusMeaning{"status_meaning", Unit::word, "what that status means"};

// Traps that tell of a link going bad or of somebody who is not allowed: 129 to 131 and the violations of keys
// (14.2.5.1).
bool is_trouble(const ManagementEvent& event) {
    constexpr std::uint16_t kIntegrity = 129, kWatchdog = 131, kFirstViolation = 256, kLastViolation = 259;
    return event.generic && ((event.number >= kIntegrity && event.number <= kWatchdog) ||
                             (event.number >= kFirstViolation && event.number <= kLastViolation));
}

// Requests of one kind between the same two.
using Key = std::tuple<Address, Address, dissect::ManagementClass, ManagementMethod, std::uint16_t, std::uint16_t>;
struct Group {
    const Exchange* first = nullptr;
    std::uint64_t count = 0;
    std::uint64_t retries = 0;
    std::vector<FindingEvent> events{};
};

template <class Keep> std::map<Key, Group> groups(const Timeline& timeline, Keep keep) {
    std::map<Key, Group> found;
    for (const Exchange& exchange : timeline.management.exchanges) {
        if (!keep(exchange)) continue;
        Group& group = found[{exchange.requester, exchange.responder, exchange.management_class, exchange.method,
                              exchange.attribute, exchange.status}];
        if (group.count++ == 0) group.first = &exchange;
        group.retries += exchange.retries;
        group.events.push_back({exchange.request, EventRole::original, exchange.requested});
        group.events.push_back({exchange.last_request, EventRole::retransmission, exchange.last_requested});
        const auto answered =
            exchange.latency ? std::optional(exchange.last_requested + *exchange.latency) : std::nullopt;
        group.events.push_back({exchange.answer, EventRole::end, answered});
    }
    return found;
}

// Between whom, and for what: SMPs of directed routes bear no addresses.
Facts exchanged(const Exchange& first) {
    Facts facts{{kManagementRequest, request_text(first.management_class, first.method, first.attribute)}};
    if (first.path) {
        facts.emplace_back(kDirectedRoute, text(*first.path));
        return facts;
    }
    facts.emplace_back(kRequester, Endpoint{first.requester, {}});
    facts.emplace_back(kResponder, Endpoint{first.responder, {}});
    return facts;
}

void port_errors_counted(const Timeline& timeline, const Emit& emit) {
    const FabricNodes nodes(timeline.management.fabric);
    for (const PortCounterHistory& history : timeline.management.counters) {
        std::vector<std::string> moved = moved_texts(history, true);
        if (moved.empty()) continue;
        emit({.party = Party::fabric,
              .count = moved.size(),
              .facts = {{kNode, owner_node_text(nodes, history)},
                        {kPortNumber, history.port},
                        {kSpan, history.last_time - history.first_time},
                        {kErrorCounters, std::move(moved)}},
              .events = {{history.first, EventRole::evidence, history.first_time},
                         {history.last, EventRole::evidence, history.last_time}}});
    }
}

constexpr std::string_view kTroubleAdvice =
    "Find the port or host that it names: its link is failing, or it uses a key that it may not use.";

void trap_reported(const Timeline& timeline, const Emit& emit) {
    std::map<std::tuple<bool, std::uint32_t, std::uint16_t>, std::vector<const ManagementEvent*>> kinds;
    for (const ManagementEvent& event : timeline.management.events)
        kinds[{event.generic, event.generic ? 0 : event.producer, event.number}].push_back(&event);
    for (const auto& [kind, events] : kinds) {
        const ManagementEvent& first = *events.front();
        FindingDraft draft{.party = Party::fabric,
                           .count = 0,
                           .facts = {{kHost, first.from}, {kPeer, first.to}, {kNotice, event_text(first)}}};
        for (const ManagementEvent* event : events) {
            draft.count += event->count;
            draft.events.push_back({event->first, EventRole::evidence, event->time});
        }
        if (first.generic) draft.facts.emplace_back(kTrap, first.number);
        if (draft.count > 1) draft.facts.emplace_back(kNotices, draft.count);
        if (is_trouble(first)) draft.advice = kTroubleAdvice;
        draft.severity = is_trouble(first) ? Severity::warning : Severity::note;
        emit(std::move(draft));
    }
}

void management_unanswered(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Exchange& exchange) {
        return exchange.outcome == ExchangeOutcome::unanswered && exchange.retries != 0;
    };
    for (auto& [key, group] : groups(timeline, mine)) {
        Facts facts = exchanged(*group.first);
        facts.emplace_back(kRequestsSent, group.retries + group.count);
        emit({.party = Party::undecided, .count = group.count, .facts = std::move(facts), .events = group.events});
    }
}

void sa_query_failed(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint16_t kNoRecords = 0x0300;
    // Joins of groups have a finding of their own.
    constexpr std::uint16_t kMemberRecord = 0x0038;
    const auto mine = [](const Exchange& exchange) {
        return exchange.outcome == ExchangeOutcome::refused && exchange.attribute != kMemberRecord &&
               exchange.management_class == dissect::ManagementClass::subnet_administration;
    };
    for (const auto& [key, group] : groups(timeline, mine)) {
        const std::uint16_t status = group.first->status;
        const std::string_view meaning = status_name(group.first->management_class, status);
        Facts facts = exchanged(*group.first);
        facts.emplace_back(kRefusals, group.count);
        facts.emplace_back(kMadStatus, status);
        if (!meaning.empty()) facts.emplace_back(kStatusMeaning, meaning);
        emit({.party = Party::responder,
              .count = group.count,
              .severity = status == kNoRecords ? Severity::note : Severity::warning,
              .facts = std::move(facts),
              .events = group.events});
    }
}

}  // namespace

Family fabric_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "port-errors-counted",
            .severity = Severity::warning,
            .clause = "IBA 16.1.3.5",
            .meaning = "Error counters of a port increased",
            .sentence = "{node} port {port_number} counted errors within {span}: {error_counters:each}.",
            .advice =
                "Check that link (cable, transceiver, the port at its other end): symbol errors and recoveries point to the line, discards to "
                "congestion or routing, constraint errors to partitions.",
            .alike =
                "A cable that was unplugged, or a host that booted, moves the same counters once; and errors at a low rate are within what links are "
                "specified for.",
            .limits =
                "Counters were read twice or more: what happened between two reads, and when, is not known; one that stands at its largest value hides "
                "what came after.",
            .draw = port_errors_counted},
        FindingRow{
            .id = "trap-reported",
            .severity = Severity::note,
            .clause = "IBA 13.4.8, 14.2.5.1",
            .meaning = "A port or a manager reported an event",
            .sentence = "{host} reported to {peer}: {notice}[ ({notices:notice} in total)].",
            .advice =
                "Compare with the changes made to the fabric at that time; if there were none, check the port that it names.",
            .alike = "Maintenance sends the same traps: a reboot, a cable that was moved, a new subnet manager.",
            .limits =
                "A notice may be repeated until it is acknowledged: how often it was sent is not how often the event happened.",
            .draw = trap_reported},
        FindingRow{
            .id = "management-unanswered",
            .severity = Severity::warning,
            .clause = "IBA 13.4.6",
            .meaning = "A management request was repeated and not answered",
            .by_order = true,
            .sentence =
                "{requests_sent:request} for {management_request} [directed_route?along the directed route {directed_route}|from {requester:host} to "
                "{responder:host}] got no answer.",
            .advice =
                "Check that the responder is alive, that its M_Key permits the request, that its link is up, and that the tap sees both directions.",
            .alike =
                "A tap that sees one direction alone, and a sweep of ports that have nothing attached, look the same.",
            .limits = "Whether the request arrived, and whether its answer was lost, is not in the packets.",
            .draw = management_unanswered},
        FindingRow{
            .id = "sa-query-failed",
            .severity = Severity::warning,
            .clause = "IBA 15.2.5",
            .meaning = "Subnet administration rejected a query",
            .sentence =
                "Subnet administration at {responder:host} rejected {management_request} from {requester:host} {refusals:times}: "
                "[status_meaning?{status_meaning} ({mad_status:hex4})|status {mad_status:hex4}].",
            .advice =
                "Check the log of the subnet manager; no records means that the item is not in the fabric or not in the requester's partition.",
            .alike =
                "A query for something that does not exist yet, by a program that waits for it, is rejected until it does.",
            .limits =
                "The status is all that subnet administration says: what it knows of the fabric is not in the packets.",
            .draw = sa_query_failed},
    };
    static constexpr std::array kOwn{
        &kNode,    &kPortNumber,        &kErrorCounters, &kTrap,     &kNotice,
        &kNotices, &kManagementRequest, &kDirectedRoute, &kRefusals, &kStatusMeaning,
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
