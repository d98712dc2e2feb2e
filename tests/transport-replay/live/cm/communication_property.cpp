// Two connection managers over a wire that loses, doubles and reorders, by many seeds: every attempt comes to one of
// the ends there are, both sides of what was established have the same numbers, nothing is left behind, and the same
// seed tells the same course.
#include <tests/support/catch.hpp>
#include <tests/support/cm_ends.hpp>

#include <algorithm>
#include <map>

using namespace qps::dissect;
using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::tests;
using Kind = ConnectionEventKind;

namespace {

struct Course {
    std::map<CmId, std::vector<Kind>> events;
    bool operator==(const Course&) const = default;
};

// A consumer of moods: accepts, refuses, hesitates, forgets, hangs up, gives up.
struct Moods {
    explicit Moods(std::uint64_t seed) : draws(seed * 7919 + 1) {}

    void operator()(CmEnds& ends, End end, const ConnectionEvent& event) {
        ConnectionManager& manager = ends.of(end);
        switch (event.kind) {
            case Kind::request: {
                const std::uint64_t mood = draws.below(10);
                if (mood == 0) (void)manager.reject(event.id, RejectReason::consumer, {}, {}, ends.now);
                if (mood == 1) return;  // forgets
                if (mood == 2) (void)manager.delay(event.id, TimeoutCode{21}, {}, ends.now);
                if (mood == 3) (void)manager.abandon(event.id, ends.now);
                if (mood >= 2) ends.decide(end, event);
                return;
            }
            case Kind::reply: {
                const std::uint64_t mood = draws.below(10);
                if (mood == 0) (void)manager.reject(event.id, RejectReason::consumer, {}, {}, ends.now);
                if (mood == 1) return;
                if (mood == 2) (void)manager.delay(event.id, TimeoutCode{21}, {}, ends.now);
                if (mood >= 2) ends.decide(end, event);
                if (mood > 7) (void)manager.disconnect(event.id, {}, ends.now);
                return;
            }
            case Kind::established:
                if (draws.chance(0.5)) (void)manager.disconnect(event.id, {}, ends.now);
                return;
            case Kind::alternate_request:
                (void)manager.answer_alternate(event.id, AlternateStatus::loaded, {}, ends.now);
                return;
            case Kind::sidr_request: (void)manager.sidr_reply(event.id, {.qpn = Qpn{3}}, {}, ends.now); return;
            default: return;
        }
    }
    Draws draws;
};

constexpr std::uint32_t kAttempts = 12;
constexpr auto kLast = static_cast<Kind>(kConnectionEventNames.size());  // what a course ends with

// Whether both sides of an established connection have the same numbers.
bool fits_a_reply(const std::vector<ConnectionEvent>& replies, const ConnectionEvent& established) {
    const ConnectionParameters& theirs = established.parameters;
    return std::ranges::any_of(replies, [&](const ConnectionEvent& reply) {
        const ConnectionParameters& ours = reply.parameters;
        return reply.local_qpn == theirs.remote_qpn && ours.remote_qpn == established.local_qpn &&
               ours.remote_psn == theirs.local_psn && ours.local_psn == theirs.remote_psn &&
               ours.initiator_depth <= theirs.responder_resources && theirs.initiator_depth <= ours.responder_resources;
    });
}

std::array<Course, 2> play(std::uint64_t seed) {
    Draws weather(seed);
    CmEnds ends(
        seed, {.loss = weather.unit() * 0.4, .duplication = weather.unit() * 0.3, .reordering = weather.unit() * 0.3});
    ends.automatic = false;
    ends.managers[1] = ConnectionManager({.seed = seed + 1, .alternate_paths = true});
    Moods moods(seed);
    ends.consumer = [&](CmEnds& world, End end, const ConnectionEvent& event) { moods(world, end, event); };
    REQUIRE(ends.passive().listen(kEchoService));
    REQUIRE(ends.active().listen(kEchoService));
    REQUIRE(ends.passive().listen(ServiceId{9}, ListenKind::datagrams));
    std::array<std::vector<CmId>, 2> begun;
    for (std::uint32_t i = 0; i < kAttempts; ++i) {
        ConnectRequest request = CmEnds::request(0x100 + i);
        request.max_retries = static_cast<std::uint8_t>(weather.below(16));
        request.remote_response_timeout = TimeoutCode{static_cast<std::uint8_t>(16 + weather.below(6))};
        const End end = weather.chance(0.3) ? End::b : End::a;
        if (end == End::b) std::swap(request.path.local, request.path.remote);
        const auto id = ends.of(end).connect(request, ends.now);
        REQUIRE(id);
        begun[static_cast<std::size_t>(end)].push_back(*id);
        if (weather.chance(0.2)) {
            const auto resolving =
                ends.active().sidr_request({.service = ServiceId{9}, .path = CmEnds::request().path}, ends.now);
            REQUIRE(resolving);
            begun[0].push_back(*resolving);
        }
        ends.run_for(Duration{static_cast<std::int64_t>(weather.below(3'000'000'000))});
        if (weather.chance(0.1)) (void)ends.of(end).abandon(*id, ends.now);
        if (weather.chance(0.2))
            (void)ends.of(end).load_alternate(*id, {.local = ipv4(1), .remote = ipv4(2)}, {}, ends.now);
    }
    // Ends with open connections disconnect, then time passes.
    ends.run_for(seconds(300));
    for (const auto& [end, event] : std::vector(ends.events)) (void)ends.of(end).disconnect(event.id, {}, ends.now);
    ends.run_for(seconds(3000));
    for (const End end : {End::a, End::b}) {
        CHECK(ends.of(end).size() == 0);
        CHECK(ends.of(end).half_open() == 0);
        CHECK_FALSE(ends.of(end).poll_at());
    }
    for (const auto& [end, event] : ends.events)
        if (event.kind == Kind::established) CHECK(fits_a_reply(ends.events_of(other(end), Kind::reply), event));
    std::array<Course, 2> courses;
    for (const auto& [end, event] : ends.events) {
        auto& events = courses[static_cast<std::size_t>(end)].events[event.id];
        REQUIRE((events.empty() || events.back() != kLast));  // `last` is the last
        events.push_back(event.kind);
        if (event.last) events.push_back(kLast);
    }
    return courses;
}

}  // namespace

TEST_CASE("over any wire every attempt ends, and nothing is left of it") {
    std::size_t established = 0;
    std::size_t over = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        const auto courses = play(seed);
        for (const Course& course : courses)
            for (const auto& [id, events] : course.events) {
                const auto count = [&](Kind kind) { return std::ranges::count(events, kind); };
                REQUIRE(count(Kind::established) <= 1);
                REQUIRE(count(Kind::disconnected) <= 1);
                REQUIRE(count(Kind::request) + count(Kind::reply) <= 1);
                REQUIRE(count(Kind::rejected) + count(Kind::unreachable) + count(Kind::sidr_response) +
                            count(Kind::disconnected) <=
                        1);
                established += static_cast<std::size_t>(count(Kind::established));
                over += events.back() == kLast ? 1U : 0U;
            }
    }
    CHECK(established > 500);  // it was not all failure
    CHECK(over > 2000);
}

TEST_CASE("the same seed gives the same course") {
    for (const std::uint64_t seed : {3UL, 99UL, 312UL}) CHECK(play(seed) == play(seed));
}
