#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/analysis/conclusion.hpp>
#include <transport-replay/collectives/nccl_log.hpp>
#include <transport-replay/model/stable_order.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/parts/archived_type.hpp>
#include <transport-replay/parts/host_clocks.hpp>
#include <transport-replay/parts/joined_hosts.hpp>
#include <transport-replay/parts/loss_between.hpp>
#include <transport-replay/parts/shared_connections.hpp>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

// Frames are numbered through all captures, and times are those of one clock where it can be told. 0 is none of either.
void move(PartReport& report, std::uint64_t frames, Duration ahead) {
    if (frames != 0)
        parts::for_each_of<FrameIndex>(report, [&](FrameIndex& frame) {
            if (frame != FrameIndex{}) frame = FrameIndex{std::to_underlying(frame) + frames};
        });
    if (ahead != Duration{})
        parts::for_each_of<Instant>(report, [&](Instant& time) {
            if (time != Instant{}) time = time - ahead;
        });
}

// An attempt at a connection, as both hosts have it: by its request, and by the numbers of both sides, which a capture
// that began late has of its end alone, whichever side began it.
using AttemptKey = std::tuple<Address, std::optional<std::uint32_t>, Address, std::uint64_t>;
std::vector<AttemptKey> keys_of(const CmAttempt& attempt) {
    std::vector<AttemptKey> keys{
        {attempt.active.address, attempt.active.communication_id, attempt.passive.address, attempt.transaction}};
    if (!attempt.active.communication_id || !attempt.passive.communication_id) return keys;
    std::pair first(attempt.active.address, *attempt.active.communication_id),
        second(attempt.passive.address, *attempt.passive.communication_id);
    if (second < first) std::swap(first, second);
    keys.emplace_back(first.first, first.second, second.first, second.second);
    return keys;
}

// Which capture tells of each attempt: that which tells of its hosts, where it has it, else the first that has it.
using Attempts = std::map<AttemptKey, std::uint32_t>;
Attempts attempts_of(std::span<const CapturePart> captures, const SharedConnections& shared) {
    Attempts told;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture)
        for (const CmAttempt& attempt : captures[capture].report.lanes.cm.attempts)
            for (const AttemptKey& key : keys_of(attempt)) {
                const auto [place, is_new] = told.try_emplace(key, capture);
                const bool others = !shared.tells(place->second, attempt.active.address, attempt.passive.address);
                if (!is_new && others && shared.tells(capture, attempt.active.address, attempt.passive.address))
                    place->second = capture;
            }
    return told;
}

// Takes what another capture tells out of the report of one.
class Removal {
public:
    Removal(std::uint32_t capture, const SharedConnections& shared) : capture_(capture), shared_(shared) {
        const auto own = std::ranges::equal_range(shared.all, capture, {}, &SharedConnection::capture);
        for (const SharedConnection& one : own) gone_.insert(one.view->uid);
    }
    void apply(LaneReport& report, const Attempts& attempts) const {
        remove_attempts(report, attempts);
        remove_connections(report);
        remove_congestion(report.congestion);
        report.collectives.leave_out([&](const FlowKey& hosts) { return !tells(hosts); });
    }
    [[nodiscard]] bool is_gone(ConnectionId connection) const { return gone_.contains(connection); }

private:
    [[nodiscard]] bool tells(const FlowKey& flow) const {
        return shared_.tells(capture_, flow.source, flow.destination);
    }

    void remove_connections(LaneReport& report) const {
        const auto gone = [&](const auto& of) { return is_gone(of.connection); };
        std::erase_if(report.tracked.connections,
                      [&](const Connection& connection) { return is_gone(connection.uid); });
        std::erase_if(report.tracked.recoveries, gone);
        std::erase_if(report.tracked.fatalities, gone);
        std::erase_if(report.congestion.rates, gone);
        std::erase_if(report.ulp.conversations, gone);
        std::erase_if(report.ulp.sums, gone);
        std::erase_if(report.ulp.failures, gone);
        std::erase_if(report.ulp.unanswered, gone);
        std::erase_if(report.ulp.refused, gone);
        std::erase_if(report.ulp.events,
                      [&](const UlpEvent& event) { return event.connection && is_gone(*event.connection); });
        std::erase_if(report.iwarp.conversations, gone);
        std::erase_if(report.uet.conversations, gone);
        for (OperationSum& sum : report.ulp.sums) std::erase_if(sum.slowest, gone);
    }

    // Attempts have numbers, which are their places.
    void remove_attempts(LaneReport& report, const Attempts& attempts) const {
        std::vector<std::optional<std::uint32_t>> numbers;
        std::vector<CmAttempt> kept;
        for (CmAttempt& attempt : report.cm.attempts) {
            const bool told = std::ranges::all_of(keys_of(attempt), [&](const AttemptKey& key) {
                const auto found = attempts.find(key);
                return found == attempts.end() || found->second == capture_;
            });
            numbers.push_back(told ? std::optional(static_cast<std::uint32_t>(kept.size())) : std::nullopt);
            if (!told) {
                report.cm.messages -=
                    std::min<std::uint64_t>(report.cm.messages, attempt.ladder.size() + attempt.rungs_dropped);
                continue;
            }
            attempt.uid = *numbers.back();
            kept.push_back(std::move(attempt));
        }
        report.cm.attempts = std::move(kept);
        std::erase_if(report.cm.refusals, [&](const CmRefusal& refusal) { return !numbers[refusal.uid]; });
        for (CmRefusal& refusal : report.cm.refusals) refusal.uid = *numbers[refusal.uid];
        for (Connection& connection : report.tracked.connections)
            if (connection.cm_attempt) connection.cm_attempt = numbers[*connection.cm_attempt];
        std::erase_if(report.ulp.events,
                      [&](const UlpEvent& event) { return event.cm_attempt && !numbers[*event.cm_attempt]; });
        for (UlpEvent& event : report.ulp.events)
            if (event.cm_attempt) event.cm_attempt = numbers[*event.cm_attempt];
    }

    void remove_congestion(CongestionReport& report) const {
        const auto others = [&](const auto& one) { return !tells(one.flow); };
        for (const PairCongestion& pair : report.pairs)
            if (!shared_.tells(capture_, pair.source, pair.destination))
                report.marked -= std::min(report.marked, pair.ce_marked);
        for (const CnpStream& stream : report.notifications)
            if (others(stream)) report.cnps -= std::min(report.cnps, stream.count);
        std::erase_if(report.flows, others);
        std::erase_if(report.notifications, others);
        std::erase_if(report.pairs, [&](const PairCongestion& pair) {
            return !shared_.tells(capture_, pair.source, pair.destination);
        });
    }

    std::uint32_t capture_;
    const SharedConnections& shared_;
    std::set<ConnectionId> gone_;
};

// Bursts of many senders are told by the capture that has most of what their receiver gets.
std::map<Address, std::uint32_t> receivers(std::span<const CapturePart> captures) {
    std::map<Address, std::map<std::uint32_t, std::uint64_t>> packets;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture)
        for (const Connection& connection : captures[capture].report.lanes.tracked.connections)
            for (const End end : {End::a, End::b})
                packets[connection.end(other(end)).address][capture] += connection.way(end).packets;
    std::map<Address, std::uint32_t> found;
    for (const auto& [address, by_capture] : packets)
        found[address] = std::ranges::max_element(by_capture, {}, [](const auto& one) { return one.second; })->first;
    return found;
}

void add(CaptureQuality& all, const CaptureQuality& one) {
    all.packets += one.packets;
    all.rdma_packets += one.rdma_packets;
    all.cut += one.cut;
    all.longest_whole = std::max(all.longest_whole, one.longest_whole);
    if (one.shortest_cut != 0)
        all.shortest_cut = all.shortest_cut == 0 ? one.shortest_cut : std::min(all.shortest_cut, one.shortest_cut);
    all.unreadable += one.unreadable;
    all.faulty += one.faulty;
    all.faulty_again += one.faulty_again;
    all.fragments += one.fragments;
    all.icrc_good += one.icrc_good;
    all.icrc_bad += one.icrc_bad;
    all.icrc_not_checkable += one.icrc_not_checkable;
    all.copies_of_other_taps += one.copies_of_other_taps;
    all.copies_of_same_tap += one.copies_of_same_tap;
    all.ambiguous_repetitions += one.ambiguous_repetitions;
    all.same_tap_systematic |= one.same_tap_systematic;
    all.least_copy_distance = std::min(all.least_copy_distance, one.least_copy_distance);
    all.most_copy_distance = std::max(all.most_copy_distance, one.most_copy_distance);
    all.window_displaced += one.window_displaced;
    if (one.vantage.taps > all.vantage.taps) all.vantage = one.vantage;
    all.left_out += one.left_out;
    all.icrc_not_judged += one.icrc_not_judged;
    all.icrc_zero += one.icrc_zero;
    all.backwards += one.backwards;
    if (one.largest_step_back > all.largest_step_back) {
        all.largest_step_back = one.largest_step_back;
        all.largest_step_frame = one.largest_step_frame;
    }
    if (one.clock_resolution)
        all.clock_resolution = std::max(all.clock_resolution.value_or(Duration{}), *one.clock_resolution);
    all.host_pairs += one.host_pairs;
    all.pairs_dropped += one.pairs_dropped;
    all.drops += one.drops;
}

// Who was heard one way by every capture that heard him at all: of hosts that captures share, the one that is told.
std::vector<OneWay> heard_one_way(std::span<const CapturePart> captures, const SharedConnections& shared) {
    std::vector<OneWay> all;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture)
        for (const OneWay& way : captures[capture].report.gate.quality.one_way)
            if (shared.tells(capture, way.source, way.destination)) all.push_back(way);
    const auto hosts = [](const OneWay& way) { return std::tie(way.source, way.destination); };
    std::ranges::sort(all, {}, hosts);
    const auto again = std::ranges::unique(all, {}, hosts);
    all.erase(again.begin(), again.end());
    return all;
}

template <class T, class Better> void keep(std::optional<T>& all, const std::optional<T>& one, Better better) {
    if (one && (!all || better(*one, *all))) all = one;
}

GateReport join_gates(std::span<CapturePart> captures, const SharedConnections& shared) {
    std::vector<OneWay> one_way = heard_one_way(captures, shared);
    GateReport all = std::move(captures.front().report.gate);
    for (CapturePart& capture : captures.subspan(1)) {
        GateReport& one = capture.report.gate;
        all.packets += one.packets;
        all.bytes += one.bytes;
        keep(all.first, one.first, std::less{});
        keep(all.last, one.last, std::greater{});
        all.now = std::max(all.now, one.now);
        all.now_transport = std::max(all.now_transport, one.now_transport);
        all.now_link = std::max(all.now_link, one.now_link);
        all.packets_on_links += one.packets_on_links;
        all.clocks_apart = std::max(all.clocks_apart, one.clocks_apart);
        add(all.quality, one.quality);
    }
    all.quality.one_way = std::move(one_way);
    all.learned = {};
    return all;
}

// Of what went to a host in a class: as the capture has it that saw most of it.
void keep_most(std::vector<LossyBeside>& all) {
    const auto what = [](const LossyBeside& one) { return std::tuple(one.destination, one.pcp, one.dscp); };
    std::ranges::stable_sort(all, [&](const LossyBeside& one, const LossyBeside& other) {
        return std::tuple(what(one), other.intervals) < std::tuple(what(other), one.intervals);
    });
    const auto doubles = std::ranges::unique(all, {}, what);
    all.erase(doubles.begin(), doubles.end());
}

// Pauses, credits and announcements are of the links of each host. Management datagrams are told by the capture that
// has most of them.
LinkReport join_links(std::span<CapturePart> captures) {
    const auto most = std::ranges::max_element(
        captures, {}, [](const CapturePart& capture) { return capture.report.links.management.datagrams; });
    LinkReport all = std::move(most->report.links);
    for (CapturePart& capture : captures) {
        if (&capture == &*most) continue;
        CongestionReport& one = capture.report.links.pauses;
        all.pauses.pauses.insert(all.pauses.pauses.end(), one.pauses.begin(), one.pauses.end());
        all.pauses.periods.insert(all.pauses.periods.end(), one.periods.begin(), one.periods.end());
        all.pauses.periods_dropped += one.periods_dropped;
        all.pauses.packets_dropped += one.packets_dropped;
        BridgingReport& announced = capture.report.links.bridging;
        std::ranges::move(announced.links, std::back_inserter(all.bridging.links));
        all.bridging.left_out += announced.left_out;
        // A request without an answer at one host may be answered in the capture of another: errors alone.
        ReachabilityReport& reached = capture.report.links.reachability;
        std::ranges::move(reached.errors, std::back_inserter(all.reachability.errors));
        std::ranges::move(reached.conflicts, std::back_inserter(all.reachability.conflicts));
        std::ranges::move(reached.gids, std::back_inserter(all.reachability.gids));
        all.reachability.left_out += reached.left_out;
        std::ranges::move(capture.report.links.beside, std::back_inserter(all.beside));
        std::ranges::move(capture.report.links.credits.starved, std::back_inserter(all.credits.starved));
        all.credits.left_out += capture.report.links.credits.left_out;
    }
    order_stably(all.pauses.pauses,
                 [](const PauseSummary& one) { return std::tuple(one.interface, one.priority, one.sender); });
    order_stably(all.pauses.periods, &PausePeriod::frame);
    keep_most(all.beside);
    order_stably(all.bridging.links,
                 [](const BridgingLink& link) { return link.ends.empty() ? link.last : link.ends[0].first; });
    return all;
}

std::vector<CapturedHost> hosts_of(std::span<CapturePart> captures, const SharedConnections& shared,
                                   const std::vector<HostClock>& clocks) {
    std::vector<CapturedHost> hosts;
    std::uint64_t frames = 0;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture) {
        PartOrigin& origin = captures[capture].origin;
        CapturedHost& host = hosts.emplace_back();
        host.name = std::move(origin.host);
        host.inputs = std::move(origin.inputs);
        host.packets = captures[capture].report.gate.packets;
        host.frames_before = frames;
        host.frames = origin.frames;
        host.management_left_out = captures[capture].report.links.management.datagrams;
        if (clocks[capture].root == 0) {
            host.clock_ahead = clocks[capture].ahead;
            host.clock_within = clocks[capture].within;
        }
        frames += origin.frames;
    }
    for (const SharedConnection& one : shared.all) ++hosts[one.capture].shared;
    const auto most = std::ranges::max_element(hosts, {}, &CapturedHost::management_left_out);
    most->management_left_out = 0;
    return hosts;
}

// Numbers of connections that are told, from 1 on through all captures.
void number(LaneReport& report, std::size_t connections, std::uint32_t& last) {
    std::vector<std::uint32_t> numbers(connections);
    for (const Connection& connection : report.tracked.connections)
        numbers[std::to_underlying(connection.uid) - 1] = ++last;
    report.tracked.joined.clear();  // nobody reads packets again by these numbers
    renumber(report, numbers);
}

// What goes in steps together is only told by clocks that can be compared.
std::vector<OfHosts::OfClock> by_clock(std::vector<LaneReport>& lanes, const std::vector<HostClock>& clocks) {
    std::map<std::uint32_t, OfHosts::OfClock> found;
    for (std::uint32_t capture = 0; capture < lanes.size(); ++capture) {
        OfHosts::OfClock& clock = found[clocks[capture].root];
        clock.collectives.absorb(std::exchange(lanes[capture].collectives, {}));
        clock.within = std::max(clock.within, clocks[capture].within);
    }
    std::vector<OfHosts::OfClock> all;
    for (auto& [root, clock] : found) all.push_back(std::move(clock));
    return all;
}

}  // namespace

Timeline conclude_hosts(std::vector<CapturePart> captures, const NcclLog& log, std::vector<Address> unordered) {
    const SharedConnections shared = find_shared(captures);
    const std::vector<HostClock> clocks = compare_clocks(captures.size(), shared);
    place_losses(captures, shared);
    const auto receiver = receivers(captures);
    const Attempts attempts = attempts_of(captures, shared);
    std::vector<CapturedHost> hosts = hosts_of(captures, shared, clocks);
    std::vector<Removal> removals;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture) removals.emplace_back(capture, shared);
    std::vector<LaneReport> lanes;
    std::uint32_t last = 0;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture) {
        PartReport& report = captures[capture].report;
        removals[capture].apply(report.lanes, attempts);
        std::erase_if(report.lanes.incasts, [&](const EndedIncast& one) {
            const auto found = receiver.find(one.burst.destination);
            return found != receiver.end() && found->second != capture;
        });
        move(report, hosts[capture].frames_before, clocks[capture].ahead);
        number(report.lanes, report.begun.size(), last);
        lanes.push_back(std::move(report.lanes));
    }
    std::vector<OfHosts::OfClock> of_clocks = by_clock(lanes, clocks);
    const IcrcPolicy icrc = captures.front().report.gate.quality.icrc_policy;
    return conclude({.icrc = icrc, .nccl_log = log, .unordered = std::move(unordered)}, join_gates(captures, shared),
                    join_links(captures), merge(std::move(lanes)), {std::move(of_clocks), std::move(hosts)});
}

}  // namespace qps::transport
