// Requesters that break a rule, most of them because they mishear what is answered.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kSyndrome = "infiniband.aeth.syndrome", kRnrTimer = "infiniband.aeth.syndrome.timer";
constexpr std::uint64_t kUnlimited = 0x1f, kShortRnr = 0x21, kSequenceNak = 0x60;

// The rest of a READ is asked for as the whole.
Alter asks_for_all(std::string_view opcode) {
    return then(then(change(from(2, is(opcode)), kPsn, minus(1)), change(from(2, is(opcode)), "infiniband.reth.va", minus(1024))),
                change(from(2, is(opcode)), "infiniband.reth.dmalen", exactly(4096)));
}

}  // namespace

std::vector<ActiveMutant> requester_mutants() {
    namespace agent = transport::conformance::agent;
    constexpr std::string_view kRead = "RC_RDMA_READ_REQUEST";
    return {
        {"req-06", "an ACK completes the one behind it too", inward(change(nth(1, acks()), kPsn, plus(1)))},
        {"req-07", "an ACK completes the first alone", inward(change(acks(), kPsn, minus(4)))},
        {"req-08", "an ACK of what was not sent completes what was", inward(change(nth(1, acks()), kPsn, minus(5)))},
        {"req-09", "an old ACK is a new one", inward(change(nth(2, acks()), kPsn, plus(2)))},
        {"req-10", "an ACK completes a READ", every_status("success")},
        {"req-11", "the READ is not asked for again", outward(drop(from(2, is(kRead))))},
        {"req-12", "the whole is asked for again", outward(asks_for_all(kRead))},
        {"req-13", "the hole is not noticed", outward(drop(from(2, is(kRead))))},
        {"req-14", "the order is not looked at", every_status("success")},
        {"req-15", "bytes are written beyond the READ", memory_differs()},
        {"req-15", "the length is not looked at", every_status("success")},
        {"req-16", "any answer completes", every_status("success")},
        {"req-17", "a reserved syndrome is an ACK", inward(change(every(), kSyndrome, exactly(kUnlimited)))},
        {"req-18", "everything is sent again from the beginning", inward(change(naks(), kPsn, minus(2)))},
        {"req-18", "other bytes are sent the second time", outward(other_bytes(again(requests())))},
        {"req-19", "refusals of a PSN are not counted", inward(change(naks(), kSyndrome, exactly(kShortRnr)))},
        {"req-20", "once more than the retry count", outward(twice(is("RC_SEND_ONLY")))},
        {"req-20", "no retry", outward(drop(from(3, is("RC_SEND_ONLY"))))},
        {"req-20", "the retry count of the queue pair is not kept", asked_with(agent::Verb::connect, agent::Key::retry, 5)},
        {"req-22", "code 0 is some time", asked_with(agent::Verb::connect, agent::Key::timeout, 14)},
        {"req-22", "it is sent again", outward(twice(is("RC_SEND_ONLY")))},
        {"req-23", "the time in the RNR NAK is not kept", inward(change(rnr_naks(), kRnrTimer, exactly(1)))},
        {"req-23", "it waits for the ACK timer instead", outward(drop(nth(2, is("RC_SEND_ONLY"))))},
        {"req-24", "in the middle of a message an RNR NAK acknowledges nothing", inward(change(nth(2, rnr_naks()), kPsn, minus(2)))},
        {"req-24", "an RNR NAK acknowledges one too few", inward(change(rnr_naks(), kPsn, minus(1)))},
        {"req-25", "the new goes before the retry", outward(swap_with_next(nth(3, is("RC_SEND_ONLY"))))},
        {"req-25", "the time in the RNR NAK is not kept", inward(change(rnr_naks(), kRnrTimer, exactly(1)))},
        {"req-26", "the first RNR NAK is not counted", inward(drop(nth(1, rnr_naks())))},
        {"req-26", "it waits for the ACK timer instead", outward(drop(nth(3, is("RC_SEND_ONLY"))))},
        {"req-26", "7 is a count", asked_with(agent::Verb::connect, agent::Key::rnr_retry, 2)},
        {"req-27", "each refusal has the same status", inward(change(naks(), "infiniband.aeth.syndrome.error_code", exactly(3)))},
        {"req-27", "what is behind a refusal succeeds", every_status("success")},
        {"req-28", "a refusal among READ responses is not heard", inward(drop(naks()))},
        {"req-31", "credits are not counted", inward(change(acks(), kSyndrome, exactly(kUnlimited)))},
        {"req-32", "an ACK that comes late takes the window back",
         inward(then(change(nth(3, acks()), kPsn, plus(1)), change(nth(3, acks()), kSyndrome, exactly(kSequenceNak))))},
        {"req-33", "the response that comes last counts", inward(drop(nth(1, is("RC_RDMA_READ_RESPONSE_FIRST"))))},
    };
}

}  // namespace qps::tests
