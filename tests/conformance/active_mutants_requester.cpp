// Requesters that break a rule, most of them because they mishear what is answered.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kSyndrome = "infiniband.aeth.syndrome", kRnrTimer = "infiniband.aeth.syndrome.timer";
constexpr std::uint64_t kUnlimited = 0x1f, kShortRnr = 0x21, kSequenceNak = 0x60, kInvalidNak = 0x61, kAckOpcode = 0x11;

// The rest of a READ is asked for as the whole.
Alter asks_for_all(std::string_view opcode) {
    return then(then(change(from(2, is(opcode)), kPsn, minus(1)), change(from(2, is(opcode)), kAddress, minus(1024))),
                change(from(2, is(opcode)), "infiniband.reth.dmalen", exactly(4096)));
}

}  // namespace

std::vector<ActiveMutant> requester_mutants() {
    namespace agent = transport::conformance::agent;
    return {
        {"req-06", "an ACK completes the one behind it too", inward(change(nth(1, acks()), kPsn, plus(1)))},
        {"req-06", "it tells of a completion that never was", completions_of_nothing()},
        {"req-06", "an ACK completes nothing", inward(drop(nth(1, acks())))},
        {"req-07", "an ACK completes the first alone", inward(change(acks(), kPsn, minus(4)))},
        {"req-07", "the last is not covered", inward(change(acks(), kPsn, minus(1)))},
        {"req-08", "an ACK of what was not sent completes what was", inward(change(nth(1, acks()), kPsn, minus(5)))},
        {"req-08", "an ACK of what was not sent is a refusal",
         inward(then(change(nth(1, acks()), kPsn, minus(5)), change(nth(1, acks()), kSyndrome, exactly(kInvalidNak))))},
        {"req-08", "behind it the right one is not heard", inward(drop(nth(2, acks())))},
        {"req-09", "an old ACK is a new one", inward(change(nth(2, acks()), kPsn, plus(2)))},
        {"req-09", "one from long ago is a new one", inward(change(nth(3, acks()), kPsn, plus(101)))},
        {"req-10", "an ACK completes a READ", every_status("success")},
        {"req-10", "it neither succeeds nor ends", asked_with(agent::Verb::connect, agent::Key::timeout, 0)},
        {"req-11", "the READ is not asked for again", outward(drop(from(2, is(kRead))))},
        {"req-11", "other bytes are asked for", outward(change(from(2, is(kRead)), kAddress, plus(64)))},
        {"req-12", "the whole is asked for again", outward(asks_for_all(kRead))},
        {"req-12", "the address stays", outward(change(from(2, is(kRead)), kAddress, minus(1024)))},
        {"req-12", "the length stays", outward(change(from(2, is(kRead)), "infiniband.reth.dmalen", exactly(4096)))},
        {"req-13", "the hole is not noticed", outward(drop(from(2, is(kRead))))},
        {"req-13", "a timer notices it", inward(drop(from(2, begins("RC_RDMA_READ_RESPONSE"))))},
        {"req-13", "what came is asked for, not what is missing", outward(change(from(2, is(kRead)), kPsn, plus(2)))},
        {"req-14", "the order is not looked at", every_status("success")},
        {"req-14", "it waits for ever", asked_with(agent::Verb::connect, agent::Key::timeout, 0)},
        {"req-15", "bytes are written beyond the READ", memory_differs()},
        {"req-15", "the length is not looked at", every_status("success")},
        {"req-16", "any answer completes", every_status("success")},
        {"req-16", "an ATOMIC ACK is an ACK",
         inward(change(is("RC_ATOMIC_ACKNOWLEDGE"), kOpcode, exactly(kAckOpcode)))},
        {"req-16", "a READ response is an ACK",
         inward(change(is("RC_RDMA_READ_RESPONSE_ONLY"), kOpcode, exactly(kAckOpcode)))},
        {"req-17", "a reserved syndrome is an ACK", inward(change(every(), kSyndrome, exactly(kUnlimited)))},
        {"req-17", "bit 7 is not looked at", inward(change(where(kSyndrome, 0x80), kSyndrome, exactly(kUnlimited)))},
        {"req-17", "an unknown NAK is an ACK", inward(change(where(kSyndrome, 0x65), kSyndrome, exactly(kUnlimited)))},
        {"req-18", "everything is sent again from the beginning", inward(change(naks(), kPsn, minus(2)))},
        {"req-18", "other bytes are sent the second time", outward(other_bytes(again(requests())))},
        {"req-19", "refusals of a PSN are not counted", inward(change(naks(), kSyndrome, exactly(kShortRnr)))},
        {"req-19", "the one too many is not heard", inward(drop(nth(4, naks())))},
        {"req-19", "it goes on after it gave up", always_in("rts")},
        {"req-20", "once more than the retry count", outward(twice(is("RC_SEND_ONLY")))},
        {"req-20", "no retry", outward(drop(from(3, is("RC_SEND_ONLY"))))},
        {"req-20", "the retry count of the queue pair is not kept",
         asked_with(agent::Verb::connect, agent::Key::retry, 5)},
        {"req-22", "code 0 is some time", asked_with(agent::Verb::connect, agent::Key::timeout, 14)},
        {"req-22", "it is sent again", outward(twice(is("RC_SEND_ONLY")))},
        {"req-23", "the time in the RNR NAK is not kept", inward(change(rnr_naks(), kRnrTimer, exactly(1)))},
        {"req-23", "it waits for the ACK timer instead", outward(drop(nth(2, is("RC_SEND_ONLY"))))},
        {"req-24", "in the middle of a message an RNR NAK acknowledges nothing",
         inward(change(nth(2, rnr_naks()), kPsn, minus(2)))},
        {"req-24", "an RNR NAK acknowledges one too few", inward(change(rnr_naks(), kPsn, minus(1)))},
        {"req-25", "the new goes before the retry", outward(swap_with_next(nth(3, is("RC_SEND_ONLY"))))},
        {"req-25", "the time in the RNR NAK is not kept", inward(change(rnr_naks(), kRnrTimer, exactly(1)))},
        {"req-26", "the first RNR NAK is not counted", inward(drop(nth(1, rnr_naks())))},
        {"req-26", "it waits for the ACK timer instead", outward(drop(nth(3, is("RC_SEND_ONLY"))))},
        {"req-26", "7 is a count", asked_with(agent::Verb::connect, agent::Key::rnr_retry, 2)},
        {"req-27", "each refusal has the same status",
         inward(change(naks(), "infiniband.aeth.syndrome.error_code", exactly(3)))},
        {"req-27", "what is behind a refusal succeeds", every_status("success")},
        {"req-28", "a refusal among READ responses is not heard", inward(drop(naks()))},
        {"req-28", "another status", every_status("rem_op_err")},
        {"req-28", "it goes on after a refusal", always_in("rts")},
        {"req-31", "credits are not counted", inward(change(acks(), kSyndrome, exactly(kUnlimited)))},
        {"req-31", "new credits are not heard", inward(drop(nth(2, acks())))},
        {"req-32", "an ACK that comes late takes the window back",
         inward(then(change(nth(3, acks()), kPsn, plus(1)), change(nth(3, acks()), kSyndrome, exactly(kSequenceNak))))},
        {"req-32", "what comes again acknowledges more", inward(change(nth(7, acks()), kPsn, plus(2)))},
        {"req-33", "the response that comes last counts", inward(drop(nth(1, is("RC_RDMA_READ_RESPONSE_FIRST"))))},
        {"req-33", "what comes twice is written", memory_differs()},
        {"req-33", "the last response that comes counts", inward(drop(nth(1, is("RC_RDMA_READ_RESPONSE_LAST"))))},
    };
}

}  // namespace qps::tests
