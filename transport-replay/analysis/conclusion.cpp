#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/findings/findings.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/giving_up.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kFewestWrong = 4;     // packets; below, chance cannot be told from a rule
constexpr std::uint64_t kFewestAccepted = 8;  // requests that are not sent again

// Ways whose requester shows that it was answered, although the capture has none of its answers.
std::set<std::pair<ConnectionId, End>> answered_unseen(const Timeline& timeline) {
    std::set<std::pair<ConnectionId, End>> found;
    for (const Recovery& recovery : timeline.recoveries)
        if (const Connection* connection = timeline.find(recovery.connection);
            connection != nullptr && answered_unseen(*connection, recovery.requester, recovery.psn))
            found.emplace(recovery.connection, recovery.requester);
    return found;
}

// Silence is an answer where the tap hears the other host at all, and all that it says is for somebody else.
void judge_silence(Timeline& timeline, const HostPairs& heard) {
    // Another recording says nothing about this one.
    HostPairs heard_there;
    if (!timeline.recordings.empty())
        for (const Connection& connection : timeline.connections)
            for (const End end : {End::a, End::b})
                if (connection.way(end).packets != 0)
                    heard_there.insert(heard_pair(connection.end(end).address, connection.end(other(end)).address,
                                                  connection.recording));
    const auto only_heard = [&](const Address& source, const Address& destination, std::uint16_t recording) {
        return timeline.recordings.empty() ? timeline.quality.only_heard(source, destination)
                                           : !heard_there.contains(heard_pair(destination, source, recording));
    };
    const auto unseen = answered_unseen(timeline);
    for (Recovery& recovery : timeline.recoveries) {
        if (unseen.contains({recovery.connection, recovery.requester})) {
            recovery.inferred = true;
            continue;
        }
        const Connection* connection = timeline.find(recovery.connection);
        if (connection == nullptr || connection->way(other(recovery.requester)).packets != 0) continue;
        const Address& source = connection->end(recovery.requester).address;
        const Address& destination = connection->end(other(recovery.requester)).address;
        recovery.inferred =
            connection->ambiguous || (!heard.contains(heard_pair(destination, source, connection->recording)) &&
                                      only_heard(source, destination, connection->recording));
    }
}

// The set-ups of iWARP stand behind those of CM.
void add_iwarp_attempts(Timeline& timeline) {
    for (IwarpConversation& iwarp : timeline.iwarp.conversations) {
        if (!iwarp.attempt) continue;
        const auto uid = static_cast<std::uint32_t>(timeline.cm.attempts.size());
        const auto connection = std::ranges::lower_bound(timeline.connections, iwarp.connection, {}, &Connection::uid);
        if (connection != timeline.connections.end() && connection->uid == iwarp.connection)
            connection->cm_attempt = uid;
        timeline.cm.attempts.push_back(std::move(*iwarp.attempt));
        timeline.cm.attempts.back().uid = uid;
        iwarp.attempt.reset();
    }
}

// Senders whose every ICRC is wrong, and whose packets are accepted all the same, or all where nobody's is right: it is
// not the wire that made them wrong.
std::vector<Address> icrcs_not_judged(const Timeline& timeline) {
    struct Sender {
        std::uint64_t wrong = 0;
        std::uint64_t right = 0;
        bool accepted = false;  // or nobody could be heard who would say so
    };
    std::map<Address, Sender> senders;
    if (timeline.quality.icrc_bad == 0) return {};
    for (const Connection& connection : timeline.connections)
        for (const End end : {End::a, End::b}) {
            const Way& way = connection.way(end);
            const Way& back = connection.way(other(end));
            if (way.packets == 0) continue;
            Sender& sender = senders[connection.end(end).address];
            sender.wrong += way.incidents->corrupt;
            sender.right += way.intact;
            // Its requests are answered; or the other end, whose requests it answers, does not send them again.
            const bool answered = way.requests != 0 && back.packets > back.requests;
            const bool content = way.packets > way.requests && back.requests >= kFewestAccepted &&
                                 back.incidents->retransmitted * 4 <= back.requests;
            sender.accepted |=
                answered || content ||
                timeline.quality.only_heard(connection.end(end).address, connection.end(other(end)).address);
        }
    const bool all = timeline.quality.no_icrc_right();
    std::vector<Address> found;
    for (const auto& [address, sender] : senders)
        if (sender.wrong != 0 && sender.right == 0 && (all || (sender.wrong >= kFewestWrong && sender.accepted)))
            found.push_back(address);
    return found;
}

// CM speaks of connections that never came to be.
bool is_idea_only(const Connection& connection, const CmReport& cm) {
    if (connection.packets() != 0 || !connection.cm_attempt) return false;
    return !was_set_up(cm.attempts[*connection.cm_attempt].outcome);
}

// Everything that names a connection names it by its number at the end. A flow may have spoken an upper protocol before
// it was known whose other way it is: the connection speaks it once.
void settle(LaneReport& report, const FinalNumbers& numbers) {
    if (!numbers.any()) return;
    End nobody{};
    const auto both = [&](auto& named, End& end) { numbers.settle(named.connection, end); };
    for (auto& connection : report.tracked.connections) numbers.settle(connection.uid, nobody);
    for (auto& recovery : report.tracked.recoveries) both(recovery, recovery.requester);
    for (auto& fatality : report.tracked.fatalities) both(fatality, fatality.requester);
    for (auto& rate : report.congestion.rates) both(rate, rate.from);
    for (auto& conversation : report.ulp.conversations) both(conversation, conversation.active);
    for (auto& sum : report.ulp.sums) {
        both(sum, nobody);
        for (auto& operation : sum.slowest) both(operation, operation.requester);
    }
    for (auto& failures : report.ulp.failures) both(failures, failures.requester);
    for (auto& operation : report.ulp.unanswered) both(operation, operation.requester);
    for (auto& access : report.ulp.refused) both(access, access.requester);
    for (auto& event : report.ulp.events)
        if (event.connection) numbers.settle(*event.connection, nobody);
    for (auto& conversation : report.iwarp.conversations) both(conversation, nobody);
    for (auto& conversation : report.uet.conversations) both(conversation, nobody);
    order_stably(report.ulp.conversations, &UlpConversation::connection);
    const auto twice = std::ranges::unique(report.ulp.conversations, {}, &UlpConversation::connection);
    report.ulp.conversations.erase(twice.begin(), twice.end());
}

// Decides the numbers of connections, and gives them to the lanes.
FinalNumbers number(LaneReport& lanes, Numbering numbering) {
    std::vector<JoinedFlow> parts = std::move(lanes.tracked.joined);
    ConnectionId last{};
    for (const Connection& connection : lanes.tracked.connections) last = std::max(last, connection.uid);
    std::erase_if(lanes.tracked.connections, [&](const Connection& connection) {
        if (!is_idea_only(connection, lanes.cm)) return false;
        parts.push_back({connection.uid, {}});
        return true;
    });
    FinalNumbers numbers = number_connections(std::move(parts), last, numbering);
    settle(lanes, numbers);
    return numbers;
}

// A rank that began late by less than clocks may differ may have been in time.
void doubt(CollectiveReport& report, Duration within) {
    for (Collective& collective : report.collectives) {
        for (CollectiveStep& step : collective.steps)
            if (step.waited <= within + within && within != Duration{}) {
                step.last.reset();
                step.certainty = 0;
            }
        const auto& straggler = collective.straggler;
        const auto steps = static_cast<std::int64_t>(straggler ? std::max<std::uint64_t>(straggler->steps, 1) : 1);
        if (straggler && Duration{std::to_underlying(straggler->waited) / steps} <= within + within &&
            within != Duration{})
            collective.straggler.reset();
    }
}

// The largest first, of all clocks.
void add(CollectiveReport& all, CollectiveReport&& one) {
    all.collectives.insert(all.collectives.end(), std::make_move_iterator(one.collectives.begin()),
                           std::make_move_iterator(one.collectives.end()));
    std::ranges::stable_sort(all.collectives, std::greater{}, &Collective::bytes);
    all.left_out += one.left_out;
    if (all.collectives.size() > kMaxCollectives) {
        all.left_out += all.collectives.size() - kMaxCollectives;
        all.collectives.resize(kMaxCollectives);
    }
    all.packets_left_out += one.packets_left_out;
}

// Pauses belong to congestion too.
void take_links(LinkReport&& links, Timeline& timeline) {
    timeline.congestion.pauses = std::move(links.pauses.pauses);
    timeline.congestion.periods = std::move(links.pauses.periods);
    timeline.congestion.periods_dropped = links.pauses.periods_dropped;
    timeline.congestion.packets_dropped += links.pauses.packets_dropped;
    timeline.management = std::move(links.management);
    timeline.bridging = std::move(links.bridging);
    timeline.reachability = std::move(links.reachability);
    timeline.credits = std::move(links.credits);
    timeline.beside = std::move(links.beside);
    timeline.totals.management = links.datagrams;
}

}  // namespace

Timeline conclude(const AnalysisSettings& settings, GateReport&& gate, LinkReport&& links, LaneReport&& lanes,
                  OfHosts of_hosts, Numbering numbering) {
    Timeline timeline;
    timeline.numbers = number(lanes, numbering);
    timeline.packets = gate.packets;
    timeline.bytes = gate.bytes;
    timeline.first = gate.first;
    timeline.last = gate.last;
    timeline.recordings = std::move(gate.recordings);
    timeline.quality = std::move(gate.quality);
    timeline.learned = std::move(gate.learned);
    timeline.cm = std::move(lanes.cm);
    timeline.congestion = std::move(lanes.congestion);
    timeline.congestion.packets = gate.packets_on_links;
    tell_incasts(std::move(lanes.incasts), 0, timeline.congestion);
    timeline.iwarp = std::move(lanes.iwarp);
    timeline.uet = std::move(lanes.uet);
    timeline.ulp = std::move(lanes.ulp);
    join_connections(timeline.ulp.sums);
    timeline.collectives = lanes.collectives.conclude(settings.nccl_log);
    for (OfHosts::OfClock& clock : of_hosts.clocks) {
        CollectiveReport of_clock = clock.collectives.conclude(settings.nccl_log);
        doubt(of_clock, clock.within);
        add(timeline.collectives, std::move(of_clock));
    }
    timeline.unordered = settings.unordered;
    timeline.hosts = std::move(of_hosts.hosts);
    timeline.connections = std::move(lanes.tracked.connections);
    timeline.retired = lanes.tracked.retired;
    timeline.totals = timeline.retired.totals;
    take_links(std::move(links), timeline);
    add_iwarp_attempts(timeline);
    timeline.recoveries = std::move(lanes.tracked.recoveries);
    timeline.fatalities = std::move(lanes.tracked.fatalities);
    judge_silence(timeline, lanes.heard);
    judge_causes(timeline, gate.clocks_apart);
    timeline.left_out.packets_of_connections = lanes.tracked.packets_left_out;
    timeline.left_out.messages = lanes.tracked.messages_left_out;
    timeline.left_out.recoveries = lanes.tracked.recoveries_left_out;
    timeline.left_out.fatalities = lanes.tracked.fatalities_left_out;
    timeline.left_out.contradictions += lanes.tracked.contradictions;
    for (const Connection& connection : timeline.connections) timeline.totals.add(connection);
    timeline.totals.ce_marked += timeline.congestion.marked;
    timeline.totals.cnps = timeline.congestion.cnps;
    if (settings.icrc == IcrcPolicy::automatic && settings.traits.icrc_not_judged.empty())
        timeline.learned.icrc_not_judged = icrcs_not_judged(timeline);
    draw_findings(timeline);
    return timeline;
}

}  // namespace qps::transport
