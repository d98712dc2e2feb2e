// Findings about the fabric: counters of errors that moved, traps, requests of management without a good answer.
#include <dissect/types.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/management_words.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport::families {

namespace {

using namespace words;

// Traps that tell of a link going bad or of somebody who is not allowed: 129 to 131 and the violations of keys (14.2.5.1).
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
    std::vector<dissect::FrameIndex> packets;
};

template <class Keep>
std::map<Key, Group> groups(const Timeline& timeline, Keep keep) {
    std::map<Key, Group> found;
    for (const Exchange& exchange : timeline.management.exchanges) {
        if (!keep(exchange)) continue;
        Group& group = found[{exchange.requester, exchange.responder, exchange.management_class, exchange.method, exchange.attribute,
                              exchange.status}];
        if (group.count++ == 0) group.first = &exchange;
        group.retries += exchange.retries;
        for (const dissect::FrameIndex frame : {exchange.request, exchange.last_request, exchange.answer})
            if (group.packets.size() < kMaxEvidence) group.packets.push_back(frame);
    }
    return found;
}

// Between whom: SMPs of directed routes bear no addresses.
std::string between(const Exchange& exchange) {
    if (exchange.path) return fmt::format("along the directed route {}", text(*exchange.path));
    return fmt::format("from {} to {}", text(exchange.requester), text(exchange.responder));
}

std::string what(const Group& group) { return request_text(group.first->management_class, group.first->method, group.first->attribute); }

void port_errors_counted(const Timeline& timeline, const Emit& emit) {
    const FabricNodes nodes(timeline.management.fabric);
    for (const PortCounterHistory& history : timeline.management.counters) {
        const std::vector<std::string> moved = moved_texts(history, true);
        if (moved.empty()) continue;
        emit({.party = Party::fabric,
              .old_packets = {history.first, history.last},
              .count = moved.size(),
              .old_summary = fmt::format("{} counted errors within {}: {}.", owner_text(nodes, history),
                                     duration_text(history.last_time - history.first_time), fmt::join(moved, ", ")),
              .old_advice = "Check that link (cable, transceiver, the port at its other end): symbol errors and recoveries point to the "
                        "line, discards to congestion or routing, constraint errors to partitions."});
    }
}

void trap_reported(const Timeline& timeline, const Emit& emit) {
    std::map<std::tuple<bool, std::uint32_t, std::uint16_t>, std::vector<const ManagementEvent*>> kinds;
    for (const ManagementEvent& event : timeline.management.events)
        kinds[{event.generic, event.generic ? 0 : event.producer, event.number}].push_back(&event);
    for (const auto& [kind, events] : kinds) {
        const ManagementEvent& first = *events.front();
        FindingDraft draft{.party = Party::fabric, .count = 0};
        for (const ManagementEvent* event : events) {
            draft.count += event->count;
            add_evidence(draft, event->first);
        }
        draft.old_summary = fmt::format("{} reported to {}: {}{}.", text(first.from), text(first.to), event_text(first),
                                    draft.count > 1 ? fmt::format(" ({} in total)", counted(draft.count, "notice")) : "");
        draft.old_advice = is_trouble(first)
                           ? "Find the port or host that it names: its link is failing, or it uses a key that it may not use."
                           : "Compare with the changes made to the fabric at that time; if there were none, check the port that it names.";
        draft.severity = is_trouble(first) ? Severity::warning : Severity::note;
        emit(std::move(draft));
    }
}

void management_unanswered(const Timeline& timeline, const Emit& emit) {
    const auto mine = [](const Exchange& exchange) { return exchange.outcome == ExchangeOutcome::unanswered && exchange.retries != 0; };
    for (const auto& [key, group] : groups(timeline, mine))
        emit({.party = Party::undecided,
              .old_packets = group.packets,
              .count = group.count,
              .old_summary = fmt::format("{} for {} {} got no answer.", counted(group.retries + group.count, "request"), what(group),
                                     between(*group.first)),
              .old_advice = "Check that the responder is alive, that its M_Key permits the request, that its link is up, and that the tap sees "
                        "both directions."});
}

void sa_query_failed(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint16_t kNoRecords = 0x0300;
    // Joins of groups have a finding of their own.
    constexpr std::uint16_t kMemberRecord = 0x0038;
    const auto mine = [](const Exchange& exchange) {
        return exchange.outcome == ExchangeOutcome::refused && exchange.attribute != kMemberRecord &&
               exchange.management_class == dissect::ManagementClass::subnet_administration;
    };
    for (const auto& [key, group] : groups(timeline, mine))
        emit({.party = Party::responder,
              .old_packets = group.packets,
              .count = group.count,
              .old_summary = fmt::format("Subnet administration at {} rejected {} from {} {}: {}.", text(group.first->responder), what(group),
                                     text(group.first->requester), times(group.count),
                                     status_text(group.first->management_class, group.first->status)),
              .old_advice = "Check the log of the subnet manager; no records means that the item is not in the fabric or not in the "
                        "requester's partition.",
              .severity = group.first->status == kNoRecords ? Severity::note : Severity::warning});
}

}  // namespace

Family fabric_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "port-errors-counted",
                   .severity = Severity::warning,
                   .clause = "IBA 16.1.3.5",
                   .meaning = "Error counters of a port increased",
                   .draw = port_errors_counted},
        FindingRow{.id = "trap-reported",
                   .severity = Severity::note,
                   .clause = "IBA 13.4.8, 14.2.5.1",
                   .meaning = "A port or a manager reported an event",
                   .draw = trap_reported},
        FindingRow{.id = "management-unanswered",
                   .severity = Severity::warning,
                   .clause = "IBA 13.4.6",
                   .meaning = "A management request was repeated and not answered",
                   .by_order = true,
                   .draw = management_unanswered},
        FindingRow{.id = "sa-query-failed",
                   .severity = Severity::warning,
                   .clause = "IBA 15.2.5",
                   .meaning = "Subnet administration rejected a query",
                   .draw = sa_query_failed},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
