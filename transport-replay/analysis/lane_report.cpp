#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace qps::transport {

namespace {

template <class List> void append(List& list, List&& part) {
    list.insert(list.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

// Attempts of all lanes are numbered in the order of their first messages; `before` of them are of lanes before this
// one.
void merge(CmReport& all, CmReport&& part) {
    append(all.attempts, std::move(part.attempts));
    append(all.joins, std::move(part.joins));
    append(all.refusals, std::move(part.refusals));
    all.messages += part.messages;
    all.messages_unreadable += part.messages_unreadable;
    all.messages_dropped += part.messages_dropped;
    all.joins_dropped += part.joins_dropped;
    all.refusals_dropped += part.refusals_dropped;
}

// Everything of a lane that names an attempt, but the attempts themselves.
template <class Anew> void rename_attempts(LaneReport& report, Anew anew) {
    for (CmRefusal& refusal : report.cm.refusals) refusal.uid = anew(refusal.uid);
    for (Connection& connection : report.tracked.connections)
        if (connection.cm_attempt) connection.cm_attempt = anew(*connection.cm_attempt);
    for (UlpEvent& event : report.ulp.events)
        if (event.cm_attempt) event.cm_attempt = anew(*event.cm_attempt);
}

void put_attempts_behind(LaneReport& lane, std::uint32_t before) {
    for (CmAttempt& attempt : lane.cm.attempts) attempt.uid += before;
    rename_attempts(lane, [&](std::uint32_t uid) { return uid + before; });
}

void put_attempts_in_order(LaneReport& report) {
    std::vector<CmAttempt>& attempts = report.cm.attempts;
    if (std::ranges::is_sorted(attempts, {}, &CmAttempt::first_frame)) return;
    order_stably(attempts, &CmAttempt::first_frame);
    std::vector<std::uint32_t> numbers(attempts.size());
    for (std::uint32_t i = 0; i < attempts.size(); ++i) numbers[std::exchange(attempts[i].uid, i)] = i;
    rename_attempts(report, [&](std::uint32_t uid) { return numbers[uid]; });
}

void merge(CongestionReport& all, CongestionReport&& part) {
    append(all.flows, std::move(part.flows));
    append(all.pairs, std::move(part.pairs));
    append(all.notifications, std::move(part.notifications));
    append(all.rates, std::move(part.rates));
    all.marked += part.marked;
    all.cnps += part.cnps;
    all.packets_dropped += part.packets_dropped;
    all.incasts_dropped += part.incasts_dropped;
    all.rates_left_out += part.rates_left_out;
}

void merge(Tracked& all, Tracked&& part) {
    append(all.connections, std::move(part.connections));
    append(all.recoveries, std::move(part.recoveries));
    append(all.fatalities, std::move(part.fatalities));
    all.retired.add(part.retired);
    append(all.joined, std::move(part.joined));
    all.packets_left_out += part.packets_left_out;
    all.messages_left_out += part.messages_left_out;
    all.recoveries_left_out += part.recoveries_left_out;
    all.fatalities_left_out += part.fatalities_left_out;
    all.contradictions += part.contradictions;
}

void merge(UlpReport& all, UlpReport&& part) {
    append(all.conversations, std::move(part.conversations));
    merge(all.sums, std::move(part.sums));
    append(all.failures, std::move(part.failures));
    append(all.unanswered, std::move(part.unanswered));
    append(all.refused, std::move(part.refused));
    append(all.events, std::move(part.events));
    all.conversations_left_out += part.conversations_left_out;
    all.operations_left_out += part.operations_left_out;
    all.events_left_out += part.events_left_out;
    all.failures_left_out += part.failures_left_out;
    all.payload_left_out += part.payload_left_out;
}

void merge(UetReport& all, UetReport&& part) {
    append(all.conversations, std::move(part.conversations));
    all.left_out += part.left_out;
    all.packets_left_out += part.packets_left_out;
    all.datagrams += part.datagrams;
    all.secured += part.secured;
    all.unread += part.unread;
}

// Everything that names a connection; 0 is none.
template <class Report, class Visit> void for_each_connection(Report& report, Visit visit) {
    for (auto& connection : report.tracked.connections) visit(connection.uid);
    for (auto& flow : report.tracked.joined) {
        visit(flow.given);
        visit(flow.connection);
    }
    for (auto& recovery : report.tracked.recoveries) visit(recovery.connection);
    for (auto& fatality : report.tracked.fatalities) visit(fatality.connection);
    for (auto& rate : report.congestion.rates) visit(rate.connection);
    for (auto& conversation : report.ulp.conversations) visit(conversation.connection);
    for (auto& sum : report.ulp.sums) {
        visit(sum.connection);
        for (auto& operation : sum.slowest) visit(operation.connection);
    }
    for (auto& failures : report.ulp.failures) visit(failures.connection);
    for (auto& operation : report.ulp.unanswered) visit(operation.connection);
    for (auto& access : report.ulp.refused) visit(access.connection);
    for (auto& event : report.ulp.events)
        if (event.connection) visit(*event.connection);
    for (auto& conversation : report.iwarp.conversations) visit(conversation.connection);
    for (auto& conversation : report.uet.conversations) visit(conversation.connection);
}

// Lists have an order that is the capture's, not that in which things came to an end.
void put_in_order(LaneReport& report) {
    put_attempts_in_order(report);
    order_stably(report.cm.joins, &MulticastJoin::frame);
    order_stably(report.cm.refusals, &CmRefusal::frame);
    order_stably(report.tracked.connections, &Connection::uid);
    order_stably(report.tracked.joined, &JoinedFlow::given);
    // A lane gives lower numbers than all lanes together.
    std::erase_if(report.tracked.joined,
                  [](const JoinedFlow& flow) { return !FinalNumbers::has_room_for(flow.given); });
    order_stably(report.tracked.recoveries, [](const Recovery& r) {
        return std::tuple(r.time.begin(), r.connection, r.requester, r.psn.value());
    });
    order_stably(report.tracked.fatalities, [](const Fatality& one) { return std::tuple(one.frame, one.connection); });
    order_stably(report.congestion.flows, &FlowCongestion::flow);
    order_stably(report.congestion.pairs,
                 [](const PairCongestion& pair) { return std::tie(pair.source, pair.destination); });
    order_stably(report.congestion.notifications, &CnpStream::flow);
    order_stably(report.congestion.rates, [](const RateControl& one) { return std::pair(one.connection, one.from); });
    order_stably(report.ulp.conversations, &UlpConversation::connection);
    order_stably(report.ulp.failures,
                 [](const OperationFailures& one) { return std::tuple(one.frames.front(), one.connection); });
    order_stably(report.ulp.unanswered,
                 [](const UlpOperation& one) { return std::tuple(one.asked_frame, one.connection); });
    order_stably(report.ulp.refused, [](const RefusedAccess& one) { return std::tuple(one.nak, one.connection); });
    order_stably(report.ulp.events, [](const UlpEvent& one) {
        return std::tuple(one.frame, one.connection.value_or(ConnectionId{}), one.cm_attempt.value_or(0));
    });
    order_stably(report.iwarp.conversations, &IwarpConversation::connection);
    order_stably(report.uet.conversations, &UetConversation::connection);
    merge(report.ulp.sums, {});
}

}  // namespace

void renumber(LaneReport& report, std::span<const std::uint32_t> numbers) {
    for_each_connection(report, [&](ConnectionId& connection) {
        if (connection != ConnectionId{}) connection = ConnectionId{numbers[std::to_underlying(connection) - 1]};
    });
}

bool names_nothing_else(const LaneReport& report, std::size_t connections) {
    bool good = true;
    for_each_connection(report,
                        [&](const ConnectionId& connection) { good &= std::to_underlying(connection) <= connections; });
    const std::vector<CmAttempt>& attempts = report.cm.attempts;
    for (std::uint32_t i = 0; i < attempts.size(); ++i) good &= attempts[i].uid == i;
    const auto known = [&](std::optional<std::uint32_t> attempt) { return !attempt || *attempt < attempts.size(); };
    for (const CmRefusal& refusal : report.cm.refusals) good &= known(refusal.uid);
    for (const Connection& connection : report.tracked.connections)
        good &= connection.uid != ConnectionId{} && known(connection.cm_attempt);
    for (const UlpEvent& event : report.ulp.events) good &= known(event.cm_attempt);
    return good && report.collectives.is_sound();
}

LaneReport merge(std::vector<LaneReport> lanes) {
    LaneReport all = std::move(lanes.front());
    for (LaneReport& part : std::span(lanes).subspan(1)) {
        put_attempts_behind(part, static_cast<std::uint32_t>(all.cm.attempts.size()));
        merge(all.tracked, std::move(part.tracked));
        merge(all.cm, std::move(part.cm));
        merge(all.congestion, std::move(part.congestion));
        append(all.incasts, std::move(part.incasts));
        merge(all.ulp, std::move(part.ulp));
        all.collectives.absorb(std::move(part.collectives));
        append(all.iwarp.conversations, std::move(part.iwarp.conversations));
        all.iwarp.left_out += part.iwarp.left_out;
        merge(all.uet, std::move(part.uet));
        all.heard.insert(part.heard.begin(), part.heard.end());
        all.peaks.add(part.peaks);
    }
    put_in_order(all);
    return all;
}

}  // namespace qps::transport
