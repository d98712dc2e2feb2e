// When a requester gave up, and when nobody can know: what is given up is an error, and must be proven by what was
// captured.
#include <tests/support/conversation.hpp>

using namespace qps::transport;
using namespace qps::dissect;
using namespace qps::tests;

TEST_CASE("what was sent again sooner than any timer runs is given up only when a timer could have run out") {
    const auto ended = [](Duration silence) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        said.respond(kResponseLast, 53, 952);  // that of 52 is missing: an implied NAK
        said.read(52, 1976);
        said.wait(silence);
        return said.end();
    };
    CHECK(ended(microseconds(10)) == RecoveryEnd::open);
    CHECK(ended(microseconds(2'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(1'000'000)) == RecoveryEnd::gave_up);
}

TEST_CASE("a requester that was refused a receive gave up for it where nothing before it was missing") {
    const auto ended = [](bool read_is_whole) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.read(51, 3000);
        said.send(54);
        said.respond(kResponseFirst, 51, 1024);
        if (read_is_whole) said.respond(kResponseMiddle, 52, 1024);
        said.respond(kResponseLast, 53, 952);
        said.refuse_receive(54);
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(true) == RecoveryEnd::gave_up);
    CHECK(ended(false) == RecoveryEnd::open);
}

TEST_CASE("who takes a connection down does not wait for timers any more") {
    const auto ended = [](Duration before_it) {
        Conversation said;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        said.send(51);
        said.wait(microseconds(8'000));
        said.send(51);
        said.wait(before_it);
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(microseconds(5'000)) == RecoveryEnd::open);
    CHECK(ended(microseconds(20'000)) == RecoveryEnd::gave_up);
}

TEST_CASE("who was refused as often as CM says has given up, however soon the connection is taken down") {
    const auto ended = [](std::uint8_t active, std::uint8_t passive) {
        Conversation said;
        said.attempt().active.rnr_retry_count = active;
        said.attempt().passive.rnr_retry_count = passive;
        said.set_up();
        said.send(50);
        said.acknowledge(50);
        for (int i = 0; i < 3; ++i) {
            said.send(51);
            said.refuse_receive(51);
            if (i < 2) said.wait(microseconds(2'000));
        }
        said.take_down();
        said.wait(microseconds(1'000'000));
        return said.end();
    };
    CHECK(ended(2, 1) == RecoveryEnd::gave_up);
    CHECK(ended(2, 3) == RecoveryEnd::open);
    CHECK(ended(7, 7) == RecoveryEnd::open);
}
