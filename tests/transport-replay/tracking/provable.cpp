// What few packets prove of a loss, and what they leave undecided.
#include <tests/support/conversation.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/tracking/incident_log.hpp>

#include <algorithm>

using namespace qps::transport;
using namespace qps::dissect;
using namespace qps::tests;

namespace {

// Set up, and the first request answered, after 3 us.
Conversation begun() {
    Conversation said;
    said.set_up();
    said.send(50);
    said.wait(microseconds(2));
    said.acknowledge(50);
    return said;
}

NakCause cause_of_first(const Tracked& tracked) {
    const auto asked = std::ranges::find(tracked.recoveries, RecoveryKind::sequence_nak, &Recovery::kind);
    REQUIRE(asked != tracked.recoveries.end());
    return asked->cause;
}

// Of the end that sent the requests.
Losses losses_of_requests(const Tracked& tracked) { return losses_of(tracked.connections.at(0).way(End::a)); }

}  // namespace

TEST_CASE("a packet that is lost again while its requester goes back counts each time") {
    Conversation said = begun();
    for (const std::uint32_t psn : {51U, 53U, 54U}) said.send(psn);
    said.ask_again(52);
    for (const std::uint32_t psn : {52U, 54U}) said.send(psn);
    said.ask_again(53);
    for (const std::uint32_t psn : {53U, 54U, 55U}) said.send(psn);
    said.acknowledge(55);
    const Losses losses = losses_of_requests(said.finish());
    CHECK(losses.requests_before_tap == 2);
    CHECK(losses.requests_behind_tap == 0);
}

TEST_CASE("the rest of a go-back that new packets follow was lost, where its requester is known to go back") {
    const auto lost = [](bool goes_back) {
        Conversation said = begun();
        for (const std::uint32_t psn : {51U, 53U, 54U, 55U, 56U}) said.send(psn);
        said.ask_again(52);
        said.send(52);
        if (goes_back) said.send(53);
        said.send(57);
        return losses_of_requests(said.finish()).requests_before_tap;
    };
    CHECK(lost(true) == 1 + 3);
    CHECK(lost(false) == 0);  // it may repeat selectively, and a single packet may have been late
}

TEST_CASE("who sends what NAKs name, one after the other, passes nothing over") {
    Conversation said = begun();
    for (const std::uint32_t psn : {51U, 53U, 54U, 56U, 57U}) said.send(psn);
    said.ask_again(52);
    said.ask_again(55);
    for (const std::uint32_t psn : {52U, 55U, 58U}) said.send(psn);
    said.acknowledge(58);
    CHECK(losses_of_requests(said.finish()).requests_before_tap == 2);
}

TEST_CASE(
    "a responder that acknowledges what passed before its turn keeps it: what it asks for then was lost behind the tap") {
    const auto cause_of_last = [](bool kept) {
        Conversation said = begun();
        for (const std::uint32_t psn : {51U, 53U, 54U, 55U, 56U}) said.send(psn);
        said.ask_again(52);
        said.wait(microseconds(8));
        said.send(52);
        said.wait(microseconds(8));
        said.ask_again(kept ? 55 : 53);
        const Tracked tracked = said.finish();
        return tracked.recoveries.back().cause;
    };
    CHECK(cause_of_last(true) == NakCause::lost_behind_tap);
    CHECK(cause_of_last(false) !=
          NakCause::lost_behind_tap);  // it discarded 53, which was lost once more or is on its way
}

TEST_CASE(
    "without identifications a packet that fills its gap once was sent again, and one that passes twice may have been late") {
    const auto cause = [](bool twice) {
        Conversation said = begun();
        said.fetch_add(52);
        said.ask_again(51);
        for (const std::uint32_t psn : {51U, 52U}) said.fetch_add(psn);
        for (const std::uint32_t psn : {51U, 52U}) said.respond(kAtomicAcknowledge, psn, 0);
        said.wait(microseconds(8));
        if (twice) said.fetch_add(51);
        return cause_of_first(said.finish());
    };
    CHECK(cause(false) == NakCause::lost_before_tap);
    CHECK(cause(true) == NakCause::undecided);
}

TEST_CASE(
    "a packet that passes twice in a row before those behind it may have been late, unless it was asked for twice") {
    const auto cause = [](bool asked) {
        Conversation said = begun();
        for (const std::uint32_t psn : {52U, 53U}) said.send(psn);
        said.ask_again(51);
        said.send(51);
        if (asked) said.ask_again(51);
        for (const std::uint32_t psn : {51U, 52U, 53U}) said.send(psn);
        said.acknowledge(53);
        return cause_of_first(said.finish());
    };
    CHECK(cause(true) == NakCause::lost_before_tap);
    CHECK(cause(false) == NakCause::undecided);
}

TEST_CASE(
    "a request that came once more as another tap would have recorded it is no ACK timeout, what came at other times is") {
    for (const bool timed_out : {false, true}) {
        Conversation said = begun();
        said.send(51);
        said.send(52);
        if (timed_out) {
            said.wait(microseconds(17'000));
            said.send(51);
            said.send(52);
        }
        said.acknowledge(52);
        said.wait(microseconds(50'000));
        said.send(51, Repetition::perhaps_other_tap);
        said.send(52, Repetition::perhaps_other_tap);
        const Tracked tracked = said.finish();
        CHECK(tracked.recoveries.size() == (timed_out ? 1U : 0U));
        CHECK(tracked.connections.front().ways[0].incidents->retransmitted == (timed_out ? 4U : 2U));
        if (timed_out) CHECK(tracked.recoveries.front().rounds == 1);
    }
}

TEST_CASE("who was refused a receive and perhaps sent again did not give up") {
    const auto end = [](Repetition repetition, bool again) {
        Conversation said = begun();
        said.send(51);
        said.refuse_receive(51);
        said.wait(microseconds(5'000));
        if (again) said.send(51, repetition);
        said.wait(microseconds(20'000));
        return said.end();
    };
    CHECK(end(Repetition::none, false) == RecoveryEnd::stopped);
    CHECK(end(Repetition::perhaps_other_tap, true) == RecoveryEnd::open);
}

TEST_CASE("an RNR NAK that comes sooner than its requester may send again is not another one") {
    const auto naks = [](Duration apart) {
        Conversation said = begun();
        said.send(51);
        said.refuse_receive(51);
        said.wait(apart);
        said.refuse_receive(51);
        const Tracked tracked = said.finish();
        REQUIRE(tracked.recoveries.size() == 1);
        return tracked.recoveries[0].triggers;
    };
    CHECK(naks(microseconds(3)) == 1);
    CHECK(naks(microseconds(2000)) == 2);
}

TEST_CASE("PSNs of a READ whose path MTU shows in its responses are no packets that the tap missed") {
    Conversation said = begun();
    said.read(51, 3000);  // as many PSNs as responses show: 51 to 53; 54 is lost
    said.send(55);
    said.respond(kResponseFirst, 51, 1024);
    said.respond(kResponseMiddle, 52, 1024);
    said.respond(kResponseLast, 53, 952);
    said.ask_again(54);
    for (const std::uint32_t psn : {54U, 55U}) said.send(psn);
    said.acknowledge(55);
    const Gaps gaps = said.finish().connections.at(0).way(End::a).incidents->gaps;
    CHECK(gaps.tap == 0);
    CHECK(gaps.skipped == 1);
}

TEST_CASE("a NAK that crosses its packet on the way does not show that the packet was late behind the tap") {
    const auto cause = [](Duration after) {
        Conversation said = begun();
        said.send(51);
        said.wait(after);
        said.ask_again(51);
        said.wait(microseconds(5));
        said.acknowledge(51);
        return cause_of_first(said.finish());
    };
    CHECK(cause(microseconds(5)) == NakCause::late_behind_tap);
    CHECK(cause(Duration{}) == NakCause::lost_behind_tap);
}

TEST_CASE(
    "a go-back that begins behind a packet after its answer did not send that packet again, nor one that goes on as if it were not there") {
    const auto cause = [](Duration later, std::initializer_list<std::uint32_t> before,
                          std::initializer_list<std::uint32_t> behind) {
        Conversation said = begun();
        for (const std::uint32_t psn : {51U, 52U, 54U, 55U}) said.send(psn);
        said.ask_again(53);
        for (const std::uint32_t psn : before) said.send(psn);
        said.send(53);
        if (later != Duration{}) said.acknowledge(53);
        said.wait(later);
        for (const std::uint32_t psn : behind) said.send(psn);
        said.acknowledge(55);
        return cause_of_first(said.finish());
    };
    CHECK(cause({}, {}, {54, 55}) == NakCause::lost_before_tap);
    CHECK(cause(microseconds(5), {}, {54, 55}) == NakCause::undecided);
    CHECK(cause({}, {51}, {52, 53, 54, 55}) == NakCause::undecided);
}

TEST_CASE("a packet that is only late begins no recovery, though the one before has just ended") {
    Conversation said = begun();
    for (const std::uint32_t psn : {51U, 52U}) said.send(psn);
    said.ask_again(51);
    for (const std::uint32_t psn : {51U, 52U}) said.send(psn);
    said.acknowledge(52);
    for (const std::uint32_t psn : {54U, 53U, 55U}) said.send(psn);
    said.acknowledge(55);
    const Tracked tracked = said.finish();
    CHECK(tracked.recoveries.size() == 1);
    const Gaps gaps = tracked.connections.at(0).way(End::a).incidents->gaps;
    CHECK(gaps.reordered == 1);
    CHECK(gaps.network == 0);
}

TEST_CASE("a queue pair that stands in one corrupt packet alone is nobody's partner") {
    const auto connections = [](CrcStatus icrc) {
        Conversation said;
        said.send(50);
        said.acknowledge(50, {0, Msn{1}}, icrc);
        return said.finish().connections.size();
    };
    CHECK(connections(CrcStatus::good) == 1);
    CHECK(connections(CrcStatus::bad) == 2);
}

TEST_CASE("what is sent again alone after its NAK may have been late and the NAK lost, which hardly happens twice") {
    for (const bool twice : {false, true}) {
        Conversation said = begun();
        for (std::uint32_t psn = 51; psn < (twice ? 55U : 53U); psn += 2) {
            said.send(psn + 1);
            said.ask_again(psn);
            said.send(psn);
            said.acknowledge(psn + 1);
        }
        const Tracked tracked = said.finish();
        REQUIRE(tracked.recoveries.size() == (twice ? 2U : 1U));
        for (const Recovery& one : tracked.recoveries)
            CHECK(one.cause == (twice ? NakCause::lost_before_tap : NakCause::undecided));
    }
}

TEST_CASE("a go-back begins with all of a gap, and goes on behind it") {
    Conversation said = begun();
    said.send(53);
    said.ask_again(51);
    for (const std::uint32_t psn : {51U, 52U, 53U}) said.send(psn);
    said.acknowledge(53);
    CHECK(cause_of_first(said.finish()) == NakCause::lost_before_tap);
}

TEST_CASE("what a go-back passed over was missed in it, not discarded the first time") {
    Conversation said = begun();
    said.count_from(10);
    for (std::uint32_t psn = 51; psn < 55; ++psn) said.send(psn);
    said.acknowledge(54);
    said.count_from(15);  // 55 is lost
    said.send(56);
    said.send(57);
    said.ask_again(55);
    said.send(55);
    said.send(56);
    said.count_from(20);  // 57 is lost, once more
    said.send(58);
    said.ask_again(57);
    said.send(57);
    said.send(58);
    said.acknowledge(58);
    const Tracked tracked = said.finish();
    REQUIRE(tracked.recoveries.size() == 2);
    CHECK(tracked.recoveries[0].cause == NakCause::lost_before_tap);
    CHECK(tracked.recoveries[1].cause != NakCause::discarded_lost);
}

TEST_CASE("a packet of a gap that comes late after all is one loss less, though the NAK named another one") {
    Conversation said = begun();
    said.count_from(10);
    for (std::uint32_t psn = 51; psn < 55; ++psn) said.send(psn);
    said.acknowledge(54);
    said.count_from(16);  // 55 and 56 are not there yet
    said.send(57);
    said.ask_again(55);
    for (const std::uint32_t psn : {55U, 56U, 57U}) said.send(psn);
    said.acknowledge(57);
    said.send(58);
    said.acknowledge(58);
    said.count_from(15);
    said.send(56);
    const Tracked tracked = said.finish();
    REQUIRE(tracked.recoveries.size() == 1);
    CHECK(tracked.recoveries.front().lost == 1);
    CHECK(tracked.connections.front().ways[0].incidents->gaps.network == 1);
}

TEST_CASE(
    "a gap that is filled behind requests that came twice may be part of a go-back whose reason was not captured") {
    for (const bool doubled : {false, true}) {
        Conversation said = begun();
        for (const std::uint32_t psn : {51U, 52U, 54U}) said.send(psn);
        if (doubled)
            for (const std::uint32_t psn : {51U, 52U}) said.send(psn, Repetition::ambiguous);
        said.send(53);
        said.acknowledge(54);
        const Gaps gaps = said.finish().connections.front().ways[0].incidents->gaps;
        CHECK(gaps.reordered == (doubled ? 0U : 1U));
        CHECK(gaps.undecided == (doubled ? 1U : 0U));
    }
}

TEST_CASE("a NAKed packet that perhaps was sent again was not late behind the tap") {
    for (const bool perhaps : {false, true}) {
        Conversation said = begun();
        said.send(51);
        said.send(52);
        said.wait(microseconds(20));
        said.ask_again(51);
        if (perhaps) said.send(51, Repetition::perhaps_other_tap);
        said.acknowledge(52);
        CHECK((cause_of_first(said.finish()) == NakCause::late_behind_tap) == !perhaps);
    }
}

TEST_CASE("a response behind the one that is due passed the tap, though its requester did not take it") {
    Conversation said = begun();
    said.read(51, 3 * 1024);
    said.respond(kResponseFirst, 51, 1024);
    said.respond(kResponseLast, 53, 1024);
    said.read(52, 2 * 1024);
    said.respond(kResponseLast, 53, 1024);  // 52 is missing once more
    for (std::uint32_t psn = 54; psn < 60; ++psn) {
        said.wait(microseconds(2'000));
        said.send(psn);
        said.acknowledge(psn);
    }
    const Gaps gaps = said.finish().connections.front().ways[1].incidents->response_gaps;
    CHECK(gaps.network + gaps.tap + gaps.undecided == 2);
}

TEST_CASE(
    "a READ that is asked for again while its answer is on the way was not answered too late for the first time") {
    const auto again = [](Duration after) {
        Conversation said = begun();
        said.wait(microseconds(40));  // there and back to the requester
        for (const std::uint32_t psn : {51U, 52U, 53U, 54U}) {
            said.read(psn, 100);
            said.wait(microseconds(10));
            said.respond(kResponseOnly, psn, 100);
            said.wait(microseconds(40));
        }
        said.read(55, 100);
        said.wait(microseconds(2000));
        said.respond(kResponseOnly, 55, 100);
        said.wait(after);
        said.read(55, 100);
        said.wait(microseconds(10));
        said.respond(kResponseOnly, 55, 100);
        return said.only_episode();
    };
    CHECK(again(microseconds(20)).lost_nothing());
    CHECK(again(microseconds(20)).kind == RecoveryKind::timeout);
    CHECK(again(microseconds(60)).fates == AnswerFates{AnswerFate::answer_lost_behind_tap, AnswerFate::late});
    CHECK(again(microseconds(2000)).fates == AnswerFates{AnswerFate::answer_lost_behind_tap});
}

TEST_CASE("an ACK that comes once more says nothing of the READ before it, whose response was lost") {
    Conversation said = begun();
    said.send(51);
    said.read(52, 100);
    said.send(53);
    said.wait(microseconds(3));
    said.acknowledge(53);
    said.wait(microseconds(67'000));
    said.read(52, 100);
    said.send(53);
    said.wait(microseconds(3));
    said.respond(kResponseOnly, 52, 100);
    said.acknowledge(53);
    CHECK_FALSE(said.only_episode().spurious());
}

TEST_CASE("a packet that is recorded right behind its own ACK is in the capture") {
    const auto lacking = [](Duration behind) {
        Conversation said = begun();
        for (const std::uint32_t psn : {51U, 53U}) said.send(psn);
        said.acknowledge(53);
        said.wait(behind);
        said.send(52);
        for (const std::uint32_t psn : {54U, 55U}) said.send(psn);
        return losses_of_requests(said.finish()).by_capture;
    };
    CHECK(lacking(microseconds(3)) == 0);
    CHECK(lacking(microseconds(9000)) == 1);
}

TEST_CASE("a timer that runs out behind a response that did not pass waited for that response") {
    const auto lacked = [](bool passed) {
        Conversation said = begun();
        said.read(51, 3000);
        said.respond(kResponseFirst, 51, 1024);
        if (passed) said.respond(kResponseMiddle, 52, 1024);
        said.respond(kResponseLast, 53, 952);
        said.wait(microseconds(67'000));
        said.read(passed ? 51 : 52, passed ? 3000 : 1976);
        said.wait(microseconds(100));
        const Recovery episode = said.only_episode();
        CHECK(episode.kind == RecoveryKind::timeout);
        return episode.lacked_response();
    };
    CHECK(lacked(false));
    CHECK_FALSE(lacked(true));
}

TEST_CASE("an ACK of what was sent behind a READ shows that its response had been sent, and proves no loss of an ACK") {
    const auto episode = [](bool asks_for_read) {
        Conversation said = begun();
        said.read(51, 1000);
        said.send(52);
        said.acknowledge(52);
        said.wait(microseconds(67'000));
        if (asks_for_read) said.read(51, 1000);
        else said.send(52);
        said.wait(microseconds(100));
        return said.only_episode();
    };
    CHECK(episode(true).lacked_response());
    CHECK_FALSE(episode(false).lacked_response());
    CHECK(episode(false).answered());
    CHECK(episode(false).fates.has(AnswerFate::request_lost_behind_tap));  // that answer is not what it waited for
}

TEST_CASE("what the first requests skipped may have passed before the capture began, where requests overtake others") {
    const auto missed = [](const WayKnown& known) {
        IncidentLog log;
        log.skip(Psn(10), 2, {{}, 2});
        log.skip(Psn(20), 1, {{}, 9});
        log.acknowledged(Psn(30), Instant{}, {});
        return log.judge(known).gaps.tap;
    };
    CHECK(missed({}) == 3);
    CHECK(missed({.reorders = true, .farthest = 0}) == 3);
    CHECK(missed({.reorders = true, .farthest = 3}) == 1);
    CHECK(missed({.reorders = true, .farthest = 8}) == 0);
    CHECK(missed({.reorders = true, .farthest = 8, .from_beginning = true}) == 3);
}
