#include <tests/support/catch.hpp>
#include <tests/support/golden.hpp>
#include <transport-replay/cm/cm_machine.hpp>
#include <transport-replay/live/cm/cm_end_machine.hpp>
#include <transport-replay/model/edges.hpp>
#include <transport-replay/queue_pair/requester.hpp>
#include <transport-replay/queue_pair/responder.hpp>
#include <transport-replay/tracking/recovery_watch.hpp>

using namespace qps::transport;
using qps::tests::check_golden;

namespace {

enum class Door : std::uint8_t { closed, open, gone };
enum class Hand : std::uint8_t { push, pull };

constexpr Machine kDoor{
    std::array<std::string_view, 2>{"closed", "open"},
    std::array<std::string_view, 2>{"push", "pull"},
    std::array{Edge{Door::closed, Hand::push, Door::open}, Edge{Door::open, Hand::pull, Door::closed}},
};
static_assert(sound(kDoor));
static_assert(step(kDoor, Door::closed, Hand::push) == Door::open);
static_assert(!step(kDoor, Door::closed, Hand::pull));

// Two ways out of one state by the same event.
static_assert(!sound(Machine{
    std::array<std::string_view, 2>{"closed", "open"}, std::array<std::string_view, 2>{"push", "pull"},
    std::array{Edge{Door::closed, Hand::push, Door::open}, Edge{Door::closed, Hand::push, Door::closed}}}));
// A state that nothing leads to.
static_assert(!sound(Machine{
    std::array<std::string_view, 3>{"closed", "open", "gone"}, std::array<std::string_view, 2>{"push", "pull"},
    std::array{Edge{Door::closed, Hand::push, Door::open}, Edge{Door::gone, Hand::pull, Door::open}}}));
// A state without a name.
static_assert(!sound(Machine{
    std::array<std::string_view, 2>{"closed", "open"}, std::array<std::string_view, 2>{"push", "pull"},
    std::array{Edge{Door::closed, Hand::push, Door::open}, Edge{Door::open, Hand::pull, Door::gone}}}));

}  // namespace

TEST_CASE("a machine is printed as a grid") {
    CHECK(grid(kDoor) == "      closed  open\n"
                         "push  open    -\n"
                         "pull  -       closed\n");
}

TEST_CASE("the machines of a queue pair are as they were") {
    check_golden("transport-replay/golden/responder.txt", grid(kResponderMachine));
    check_golden("transport-replay/golden/message.txt", grid(kMessageMachine));
    check_golden("transport-replay/golden/requester.txt", grid(kRequesterMachine));
}

TEST_CASE("the machines of the reconstruction are as they were") {
    check_golden("transport-replay/golden/cm_conversation.txt", grid(kCmConversation));
    check_golden("transport-replay/golden/cm_gaps.txt", grid(kCmGaps));
    check_golden("transport-replay/golden/recovery.txt", grid(kRecoveryMachine));
}

TEST_CASE("the machines of a connection manager are as they were") {
    check_golden("transport-replay/golden/cm_end.txt", grid(live::kCmEndMachine));
    check_golden("transport-replay/golden/cm_alternate.txt", grid(live::kAlternateMachine));
}
