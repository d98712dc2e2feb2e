// Conclusions on requesters: PSNs that CM announced, what was outstanding, how long they waited, what they asked for.
#include <dissect/base/timers.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/checks/passive/conclusions.hpp>
#include <transport-replay/checks/passive/conversation_watch.hpp>
#include <transport-replay/model/starting_psn.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint64_t kEnoughMessages =
    8;                                    // of a requester that never asks for an answer: below, it may have been luck
constexpr std::int64_t kTimerSlack = 20;  // one part in so many: clocks of taps, timers of software

void check_first_psn(const std::vector<RefusedStart>& refused, const Connection& connection, const CmAttempt& attempt,
                     End end, Tallies& tallies) {
    const Way& way = connection.way(end);
    const auto start = starting_psn(connection, attempt, end);
    if (!start) return;
    tallies.look(Passive::req_04);
    if (!start->differs()) return;
    if (start->may_be_missing && find(refused, connection.uid, end) == nullptr)
        tallies.doubt(Passive::req_04, way.first_frame);
    else tallies.fail(Passive::req_04, way.first_frame, attempt.first_frame);
}

// 9.7.4.1.2, 12.7.29: what both announced, the smaller of the two.
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
    if (way.incidents->gaps.undecided == 0) return;
    const auto frames = way.incidents->frames(Oddity::gap);
    tallies.doubt(Passive::req_01, frames.empty() ? way.first_frame : frames.front());
}

void check_asking(const Timeline& timeline, const Connection& connection, const WatchedEnd& state, End end,
                  Tallies& tallies) {
    const Way& way = connection.way(end);
    if (!connection.reliable() || way.requests == 0 || state.messages == 0) return;
    tallies.look(Passive::req_30);
    const bool over = connection.released || connection.failed;
    const bool waits = state.unasked && !over && timeline.last && *timeline.last - state.unasked_end.time > kIdle;
    if (waits) tallies.fail(Passive::req_30, state.unasked_end.frame);
    else if (!state.ever_asked && state.messages >= kEnoughMessages) tallies.fail(Passive::req_30, way.first_frame);
    else if (!state.ever_asked) tallies.doubt(Passive::req_30, way.first_frame);
}

// The timers that an end may have: what the REQ announced, or the packet lifetime in it with the delay of the other end
// (12.7.34), which makes it one more or one less.
struct AnnouncedTimer {
    std::uint8_t least = 0;
    std::uint8_t most = 0;
};
std::optional<AnnouncedTimer> timer_announced(const CmAttempt& attempt) {
    if (!attempt.local_ack_timeout || *attempt.local_ack_timeout == 0) return {};
    const std::uint8_t announced = *attempt.local_ack_timeout;
    const auto delayed = static_cast<std::uint8_t>(attempt.target_ack_delay.value_or(0) + 1);
    return AnnouncedTimer{static_cast<std::uint8_t>(announced - 1), std::max(announced, delayed)};
}

// The timeouts of one end. What is sent again once may answer a NAK that the tap missed; what is sent again and again
// without any answer is a timer.
struct Waits {
    std::optional<Duration> shortest;
    Duration longest{};
    FrameIndex shortest_frame{};
    FrameIndex longest_frame{};
};

[[nodiscard]] bool differ_too_much(Duration shortest, Duration longest) {
    const std::int64_t least = std::to_underlying(shortest);
    return std::to_underlying(longest) / 4 - least >
           least / kTimerSlack;  // times of a hostile capture may be as long as can be
}

// Whether each round of it was begun by the timer: others are not so far apart, and where packets overtake each other
// they are guessed.
[[nodiscard]] bool is_timer(const Recovery& recovery, const Connection& connection) {
    const Way& requests = connection.way(recovery.requester);
    const Way& answers = connection.way(other(recovery.requester));
    const bool in_order = requests.incidents->gaps.reordered == 0 && answers.incidents->response_gaps.reordered == 0 &&
                          requests.incidents->duplicated == 0;
    return recovery.rounds > 1 && *recovery.interval > kReordering && in_order;
}

void check_timer(const Recovery& recovery, const Connection& connection, const CmAttempt* attempt, Tallies& tallies) {
    const auto announced = attempt != nullptr ? timer_announced(*attempt) : std::nullopt;
    const bool timer = is_timer(recovery, connection);
    if (timer && differ_too_much(*recovery.interval, recovery.longest_wait))
        tallies.fail(Passive::req_21, recovery.resumed, recovery.last);
    if (!announced) return;
    tallies.look(Passive::cm_24);
    const std::int64_t least = std::to_underlying(timeout_of(announced->least));
    const std::int64_t most = 4 * std::to_underlying(timeout_of(announced->most));
    const std::int64_t interval = std::to_underlying(*recovery.interval);
    if (interval >= least - least / kTimerSlack && interval <= most + most / kTimerSlack) return;
    if (timer) tallies.fail(Passive::cm_24, recovery.resumed, attempt->first_frame);
    else tallies.doubt(Passive::cm_24, recovery.resumed, attempt->first_frame);
}

// A READ that is asked for again from its middle lost responses; where later ones came, nobody has to wait for the
// timer.
void check_read_retry(const Recovery& recovery, const Connection& connection, std::optional<AnnouncedTimer> announced,
                      Tallies& tallies) {
    const bool waited = recovery.kind == RecoveryKind::timeout || recovery.kind == RecoveryKind::undecided;
    const bool in_part = recovery.kind == RecoveryKind::read_retry || (waited && recovery.partial_read());
    if (!in_part || recovery.resumed == FrameIndex{} || !announced) return;
    tallies.look(Passive::req_13);
    if (recovery.longest_wait < timeout_of(announced->least)) return;
    const bool later_came = connection.way(other(recovery.requester)).incidents->response_gaps.skipped != 0;
    if (later_came) tallies.fail(Passive::req_13, recovery.resumed, recovery.original);
    else tallies.doubt(Passive::req_13, recovery.resumed, recovery.original);
}

void check_recoveries(const Timeline& timeline, Tallies& tallies) {
    boost::unordered_flat_map<std::uint64_t, Waits> ends;  // bounded by the recoveries, which are
    for (const Recovery& recovery : timeline.recoveries) {
        const Connection* connection = timeline.find(recovery.connection);
        if (connection == nullptr || recovery.inferred) continue;
        tallies.about(connection->end(recovery.requester).address);
        if (!tallies.counts()) continue;
        const CmAttempt* attempt = attempt_of(timeline, *connection);
        const auto announced = attempt != nullptr ? timer_announced(*attempt) : std::nullopt;
        check_read_retry(recovery, *connection, announced, tallies);
        if (recovery.kind != RecoveryKind::timeout || !recovery.interval) continue;
        tallies.look(Passive::req_21);
        check_timer(recovery, *connection, attempt, tallies);
        Waits& waits =
            ends[std::uint64_t{std::to_underlying(recovery.connection)} << 1 | std::to_underlying(recovery.requester)];
        if (!waits.shortest || *recovery.interval < *waits.shortest) {
            waits.shortest = recovery.interval;
            waits.shortest_frame = recovery.resumed;
        }
        if (*recovery.interval > waits.longest) {
            waits.longest = *recovery.interval;
            waits.longest_frame = recovery.resumed;
        }
    }
    tallies.about_all();
    for (const auto& [key, waits] : ends)
        if (differ_too_much(*waits.shortest, waits.longest))
            tallies.doubt(Passive::req_21, waits.shortest_frame, waits.longest_frame);
}

}  // namespace

void conclude_requester(const Timeline& timeline, const WatchedConnections& watched, Tallies& tallies) {
    const auto refused = refused_starts(timeline);
    for_each_watched(timeline.connections, watched, [&](const Connection& connection, const WatchedConnection& watch) {
        const CmAttempt* attempt = attempt_of(timeline, connection);
        for (const End end : {End::a, End::b}) {
            tallies.about(connection.end(end).address);
            if (find(refused, connection.uid, end) == nullptr) check_gaps(connection, end, tallies);
            check_asking(timeline, connection, watch.end(end), end, tallies);
            if (attempt == nullptr || !connection.reliable()) continue;
            check_first_psn(refused, connection, *attempt, end, tallies);
            check_depth(connection, *attempt, end, tallies);
        }
    });
    check_recoveries(timeline, tallies);
}

}  // namespace qps::transport::conformance
