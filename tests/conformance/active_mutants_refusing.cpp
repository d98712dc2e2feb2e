// Responders that take what they have to refuse, or refuse it wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kLength = "infiniband.reth.dmalen", kNakCode = "infiniband.aeth.syndrome.error_code";
constexpr std::uint64_t kAccessError = 2, kOperationalError = 3;

// A refusal has the PSN of the READ that it ends, whatever was answered of it.
Broken refuses_the_request() {
    const Memory number = remember(is(kRead), kPsn, naks(), kPsn);
    return {.damage = {.in = number.watch, .out = number.use}};
}

}  // namespace

std::vector<ActiveMutant> refusing_mutants() {
    namespace agent = transport::conformance::agent;
    return {
        {"rsp-25", "the address is rounded down",
         inward(change(is("RC_FETCH_ADD"), kAddress, [](std::uint64_t va) { return va & ~std::uint64_t{7}; }))},
        {"rsp-25", "refused as an access error", outward(change(naks(), kNakCode, exactly(kAccessError)))},
        {"rsp-25", "it goes on after a refusal", always_in("rts")},
        {"rsp-26", "a READ too many is dropped", inward(drop(nth(6, is(kRead))))},
        {"rsp-26", "an ATOMIC too many is dropped", inward(drop(nth(2, is("RC_FETCH_ADD"))))},
        {"rsp-26", "what was negotiated is not looked at",
         asked_with(agent::Verb::connect, agent::Key::dest_rd_atomic, 16)},
        {"rsp-26", "what was answered counts for ever", outward(drop(from(2, is("RC_RDMA_READ_RESPONSE_LAST"))))},
        {"rsp-26", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-26", "the first is refused, not the one too many", outward(change(nth(3, naks()), kPsn, minus(4096)))},
        {"rsp-31", "LAST of nothing is ONLY", inward(change(is("RC_SEND_LAST"), kOpcode, exactly(0x04)))},
        {"rsp-31", "MIDDLE of nothing is FIRST", inward(change(is("RC_SEND_MIDDLE"), kOpcode, exactly(0x00)))},
        {"rsp-31", "a WRITE MIDDLE of nothing is dropped", inward(drop(is("RC_RDMA_WRITE_MIDDLE")))},
        {"rsp-32", "ONLY in a message is its LAST", inward(change(is("RC_SEND_ONLY"), kOpcode, exactly(0x02)))},
        {"rsp-32", "FIRST in a message is a MIDDLE",
         inward(change(nth(3, is("RC_SEND_FIRST")), kOpcode, exactly(0x01)))},
        {"rsp-32", "a WRITE in a message is dropped", inward(drop(is("RC_RDMA_WRITE_ONLY")))},
        {"rsp-33", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-33", "a WRITE may go on beyond its length", inward(change(where(kLength, 2048), kLength, exactly(2112)))},
        {"rsp-33", "it goes on after a refusal", always_in("rts")},
        {"rsp-34", "a short FIRST is dropped", inward(drop(carries(1020, 1020)))},
        {"rsp-34", "a short MIDDLE is dropped", inward(drop(both(is("RC_SEND_MIDDLE"), carries(1020, 1020))))},
        {"rsp-34", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-35", "a LAST without payload is dropped", inward(drop(both(is("RC_SEND_LAST"), carries(0, 0))))},
        {"rsp-35", "a LAST without payload is acknowledged",
         acknowledges(both(is("RC_SEND_LAST"), carries(0, 0)), 0x1f)},
        {"rsp-36", "what is longer than the path MTU is dropped", inward(drop(carries(257)))},
        {"rsp-36", "a LAST longer than the path MTU is dropped", inward(drop(carries(260, 260)))},
        {"rsp-36", "refused one packet late", outward(change(naks(), kPsn, plus(1)))},
        {"rsp-37", "the length of a message has no bounds",
         inward(change(where(kLength, 0x8000'0001), kLength, exactly(2048)))},
        {"rsp-37", "the length of a READ has no bounds",
         inward(change(both(is(kRead), where(kLength, 0x8000'0001)), kLength, exactly(64)))},
        {"rsp-37", "refused as an access error", outward(change(naks(), kNakCode, exactly(kAccessError)))},
        {"rsp-38", "a WRITE may bring more than it announced",
         inward(change(where(kLength, 1100), kLength, exactly(2048)))},
        {"rsp-38", "an ONLY may bring more than it announced",
         inward(change(where(kLength, 64), kLength, exactly(100)))},
        {"rsp-38", "with immediate it may end early", inward(change(where(kLength, 4096), kLength, exactly(2148)))},
        {"rsp-38", "a WRITE may bring less than it announced",
         inward(change(where(kLength, 3000), kLength, exactly(1124)))},
        {"rsp-39", "a WRITE may bring more than it announced",
         inward(change(where(kLength, 64), kLength, exactly(512)))},
        {"rsp-39", "a LAST may bring more than is left", inward(change(where(kLength, 1100), kLength, exactly(1536)))},
        {"rsp-40", "a WRITE that announced nothing may bring something",
         inward(change(where(kLength, 0), kLength, exactly(64)))},
        {"rsp-40", "refused as an access error", outward(change(naks(), kNakCode, exactly(kAccessError)))},
        {"rsp-40", "a WRITE that announced nothing is dropped", inward(drop(where(kLength, 0)))},
        {"rsp-41", "the R_Key is not looked at", takes_any_key()},
        {"rsp-41", "memory is touched all the same", memory_differs()},
        {"rsp-42", "the request is refused, not the response", refuses_the_request()},
        {"rsp-42", "refused one response late", outward(change(naks(), kPsn, plus(1)))},
        {"rsp-42", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-42", "no more data, and no refusal", outward(drop(naks()))},
        {"rsp-42", "it goes on after a refusal", always_in("rts")},
        {"rsp-43", "rights of the queue pair are not looked at",
         asked_with(agent::Verb::connect, agent::Key::access, 0xf)},
        {"rsp-43", "READs are always allowed", asked_with(agent::Verb::connect, agent::Key::access, 0x5)},
        {"rsp-43", "ATOMICs are always allowed", asked_with(agent::Verb::connect, agent::Key::access, 0x9)},
        {"rsp-44", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-44", "the receive succeeds", every_status("success")},
        {"rsp-44", "it goes on after a refusal", always_in("rts")},
        {"rsp-45", "a stranger invalidates the window of another domain",
         inward(change(nth(4, is("RC_RDMA_WRITE_ONLY")), "infiniband.reth.r_key", plus(0x100)))},
        {"rsp-45", "another key is invalidated",
         inward(change(is("RC_SEND_ONLY_WITH_INVALIDATE"), "infiniband.ieth", plus(0x100)))},
        {"rsp-55", "no event", no_events()},
        {"rsp-55", "an access error is one of the queue pair", every_event("qp_fatal")},
        {"rsp-55", "an invalid request is an access error", every_event("qp_access_err")},
        {"rsp-55", "the event is of another queue pair", events_of_others()},
        {"rsp-46", "it refuses again and again", says_again(requests(), naks())},
        {"rsp-46", "a READ is refused again", acknowledges(is(kRead), 0x61)},
    };
}

}  // namespace qps::tests
