// Conclusions on requesters: PSNs that CM told, what was outstanding, how long they waited, what they asked for.
#include <transport-replay/conformance/passive/conclusions.hpp>
#include <transport-replay/instant.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint64_t kEnoughMessages = 8;  // of a requester that never asks for an answer: below, it may have been luck
constexpr std::int64_t kTimerSlack = 20;      // one part in so many: clocks of taps, timers of software

void check_first_psn(const Connection& connection, const CmAttempt& attempt, End end, Tallies& tallies) {
    const Way& way = connection.way(end);
    const auto told = side_of(attempt, end).starting_psn;
    if (!told || way.requests == 0) return;
    tallies.look(Passive::req_04);
    const std::int32_t distance = Psn(way.first_psn) - *told;
    if (distance == 0) return;
    const bool missing = distance > 0 && way.gaps.skipped >= static_cast<std::uint64_t>(distance);
    if (missing) tallies.doubt(Passive::req_04, way.first_frame);
    else tallies.fail(Passive::req_04, way.first_frame, attempt.first_frame);
}

// 9.7.4.1.2, 12.7.29: what both told, the smaller of the two.
void check_depth(const Connection& connection, const CmAttempt& attempt, End end, Tallies& tallies) {
    const Way& way = connection.way(end);
    const auto asked = side_of(attempt, end).initiator_depth;
    const auto answered = side_of(attempt, other(end)).responder_resources;
    if (!asked || !answered || way.most_reads == 0) return;
    tallies.look(Passive::req_05);
    if (way.most_reads > std::min(*asked, *answered)) tallies.fail(Passive::req_05, way.first_frame);
}

void check_gaps(const Connection& connection, End end, Tallies& tallies) {
    const Way& way = connection.way(end);
    if (way.gaps.undecided == 0) return;
    const auto frames = way.frames(Oddity::gap);
    tallies.doubt(Passive::req_01, frames.empty() ? way.first_frame : frames.front());
}

void check_asking(const Timeline& timeline, const Connection& connection, const HalfWatch& half, End end, Tallies& tallies) {
    const Way& way = connection.way(end);
    if (!connection.reliable() || way.requests == 0 || half.messages == 0) return;
    tallies.look(Passive::req_30);
    const bool over = connection.released || connection.failed;
    const bool waits = half.unasked && !over && timeline.last && elapsed(half.unasked_end.time, *timeline.last) > kIdle;
    if (waits) tallies.fail(Passive::req_30, half.unasked_end.frame);
    else if (!half.ever_asked && half.messages >= kEnoughMessages) tallies.fail(Passive::req_30, way.first_frame);
    else if (!half.ever_asked) tallies.doubt(Passive::req_30, way.first_frame);
}

// 4.096 us * 2^exponent
Duration timeout_of(std::uint8_t exponent) { return Duration{std::int64_t{4096} << std::min<std::uint8_t>(exponent, 31)}; }

// The timers that an end may have: what the REQ told, or the packet lifetime in it with the delay of the other end (12.7.34), which
// makes it one more or one less.
struct Told {
    std::uint8_t least = 0;
    std::uint8_t most = 0;
};
std::optional<Told> timer_told(const CmAttempt& attempt) {
    if (!attempt.local_ack_timeout || *attempt.local_ack_timeout == 0) return {};
    const std::uint8_t told = *attempt.local_ack_timeout;
    const auto delayed = static_cast<std::uint8_t>(attempt.target_ack_delay.value_or(0) + 1);
    return Told{static_cast<std::uint8_t>(told - 1), std::max(told, delayed)};
}

// The timeouts of one end.
struct Waits {
    std::optional<Duration> shortest;
    std::optional<Duration> longest;
    FrameIndex longest_frame{};
    FrameIndex shortest_frame{};
    std::uint64_t count = 0;
};

void check_recoveries(const Timeline& timeline, Tallies& tallies) {
    boost::unordered_flat_map<std::uint64_t, Waits> ends;  // bounded by the recoveries, which are
    for (const Recovery& recovery : timeline.recoveries) {
        const Connection* connection = timeline.find(recovery.connection);
        if (connection == nullptr || recovery.inferred) continue;
        const CmAttempt* attempt = attempt_of(timeline, *connection);
        const auto told = attempt != nullptr ? timer_told(*attempt) : std::nullopt;
        if (recovery.kind == RecoveryKind::read_retry && told && recovery.resumed != FrameIndex{}) {
            tallies.look(Passive::req_13);
            if (recovery.longest_wait >= timeout_of(told->least)) tallies.fail(Passive::req_13, recovery.resumed, recovery.trigger);
        }
        if (recovery.kind != RecoveryKind::timeout || !recovery.interval) continue;
        tallies.look(Passive::req_21);
        Waits& waits = ends[std::uint64_t{std::to_underlying(recovery.connection)} << 1 | std::to_underlying(recovery.requester)];
        ++waits.count;
        if (!waits.shortest || *recovery.interval < *waits.shortest) {
            waits.shortest = recovery.interval;
            waits.shortest_frame = recovery.resumed;
        }
        const Duration longest = std::max(*recovery.interval, recovery.longest_wait);
        if (!waits.longest || longest > *waits.longest) {
            waits.longest = longest;
            waits.longest_frame = recovery.resumed;
        }
    }
    for (const auto& [key, waits] : ends) {
        const std::int64_t shortest = std::to_underlying(*waits.shortest);
        if (std::to_underlying(*waits.longest) / 4 > shortest + shortest / kTimerSlack)
            tallies.fail(Passive::req_21, waits.shortest_frame, waits.longest_frame);
        const Connection* connection = timeline.find(static_cast<ConnectionId>(key >> 1));
        const CmAttempt* attempt = connection != nullptr ? attempt_of(timeline, *connection) : nullptr;
        const auto told = attempt != nullptr ? timer_told(*attempt) : std::nullopt;
        if (!told) continue;
        tallies.look(Passive::cm_24);
        const std::int64_t least = std::to_underlying(timeout_of(told->least));
        const std::int64_t most = 4 * std::to_underlying(timeout_of(told->most));
        if (shortest < least - least / kTimerSlack || shortest > most + most / kTimerSlack)
            tallies.fail(Passive::cm_24, waits.shortest_frame, attempt->first_frame);
    }
}

}  // namespace

void conclude_requester(const Timeline& timeline, const Watches& watches, Tallies& tallies) {
    for_each_watched(timeline, watches, [&](const Connection& connection, const ConversationWatch& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            check_gaps(connection, end, tallies);
            check_asking(timeline, connection, watch.half(end), end, tallies);
            if (attempt == nullptr || !connection.reliable()) continue;
            check_first_psn(connection, *attempt, end, tallies);
            check_depth(connection, *attempt, end, tallies);
        }
    });
    check_recoveries(timeline, tallies);
}

}  // namespace qps::transport::conformance
