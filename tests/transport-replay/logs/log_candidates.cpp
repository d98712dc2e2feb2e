// Which connections and attempts lines of logs may be about.
#include <tests/support/catch.hpp>
#include <tests/support/timelines.hpp>
#include <transport-replay/logs/log_candidates.hpp>

using namespace qps::transport;
using namespace qps::tests;
using qps::dissect::Duration;
using qps::dissect::Instant;

namespace {

constexpr std::int64_t kHour = 3600 * kSecond;

// Two connections between the same hosts, with one and with three timeouts, a minute apart.
Timeline two_that_timed_out() {
    Timeline timeline;
    timeline.first = Instant{0};
    timeline.last = Instant{100 * kSecond};
    for (const unsigned triggers : {1U, 3U}) {
        Connection& connection = add_connection(timeline);
        connection.ways[0].incidents.made().recovery(RecoveryKind::timeout).triggers = triggers;
        Recovery& episode = timeline.recoveries.emplace_back();
        episode.connection = connection.uid;
        episode.kind = RecoveryKind::timeout;
        episode.resumed_time = Instant{(triggers == 1 ? 70 : 10) * kSecond};
        episode.time = OrderedSpan(episode.resumed_time);
    }
    return timeline;
}

ConnectionId first_of(const Timeline& timeline, std::optional<LineMoment> moment) {
    return candidates_for(read_log_line("10.0.0.1 10.0.0.2 status=12"), timeline, moment).at(0).connection;
}

}  // namespace

TEST_CASE("the time of a line decides between connections that fit alike") {
    const Timeline timeline = two_that_timed_out();
    CHECK(first_of(timeline, std::nullopt) == ConnectionId{2});  // the more timeouts
    CHECK(first_of(timeline, LineMoment{Instant{72 * kSecond}, {}}) == ConnectionId{1});
    CHECK(first_of(timeline, LineMoment{Instant{12 * kSecond}, {}}) == ConnectionId{2});
    const auto both =
        candidates_for(read_log_line("10.0.0.1 10.0.0.2 status=12"), timeline, LineMoment{Instant{72 * kSecond}, {}});
    CHECK(both.at(0).reasons == "both hosts; 1 timeout, 2 s before the line");
}

TEST_CASE("a time does not outweigh a host or a queue pair") {
    Timeline timeline = two_that_timed_out();
    CHECK(candidates_for(read_log_line("QP 2 status=12"), timeline, LineMoment{Instant{70 * kSecond}, {}})
              .at(0)
              .connection == ConnectionId{2});
}

TEST_CASE(
    "a local time is moved by the zone that brings it to the packets; one that is hours off, or since boot, is not used") {
    Timeline timeline;
    timeline.first = Instant{100 * kHour};
    timeline.last = Instant{100 * kHour + 60 * kSecond};
    const auto at = [&](LogClock clock, std::int64_t time) { return moment_of({clock, Instant{time}}, timeline); };
    REQUIRE(at(LogClock::local, 102 * kHour + kSecond));
    CHECK(at(LogClock::local, 102 * kHour + kSecond)->time == Instant{100 * kHour + kSecond});
    CHECK(at(LogClock::local, 102 * kHour + kSecond)->shift == Duration{-2 * kHour});
    CHECK(text(*at(LogClock::local, 102 * kHour + kSecond), timeline) ==
          "1 s into the capture (local time, moved by -7200 s)");
    CHECK(at(LogClock::utc, 100 * kHour + 90 * kSecond)->time == Instant{100 * kHour + 90 * kSecond});
    CHECK(!at(LogClock::utc, 102 * kHour + kSecond));
    CHECK(!at(LogClock::local, 200 * kHour));
    CHECK(!at(LogClock::boot, 100 * kHour));
}

TEST_CASE("a line about a rejected connection offers attempts with that reason alone") {
    Timeline timeline;
    for (const std::uint16_t reason : {std::uint16_t{8}, std::uint16_t{10}}) {
        CmAttempt& attempt = add_attempt(timeline, add_connection(timeline, 1, 2U + reason));
        attempt.outcome = CmOutcome::rejected;
        attempt.rejection =
            CmRejection{.reason = reason, .by_active = false, .rejected_message = 0, .private_data = {}};
    }
    add_attempt(timeline, add_connection(timeline));  // established
    const auto found = [&](std::string_view line) { return attempt_candidates_for(read_log_line(line), timeline); };
    REQUIRE(found("nvme nvme0: Connect rejected: status 10 (stale connection).").size() == 1);
    CHECK(found("nvme nvme0: Connect rejected: status 10 (stale connection).")[0].reasons ==
          "rejected by the passive side: Stale connection (10)");
    CHECK(found("Connect rejected: status 28 (consumer defined)").empty());
    CHECK(found("Connection rejected").size() == 2);
    CHECK(found("Connection rejected by 10.0.0.10").size() == 1);
    CHECK(found("status=10").empty());  // a completion
    CHECK(found("RDMA_CM_EVENT_UNREACHABLE").empty());
}
