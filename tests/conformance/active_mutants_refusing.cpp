// Responders that take what they have to refuse, or refuse it wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kLength = "infiniband.reth.dmalen", kNakCode = "infiniband.aeth.syndrome.error_code";
constexpr std::uint64_t kOperationalError = 3;

}  // namespace

std::vector<ActiveMutant> refusing_mutants() {
    namespace agent = transport::conformance::agent;
    return {
        {"rsp-25", "the address is rounded down",
         inward(change(is("RC_FETCH_ADD"), "infiniband.reth.va", [](std::uint64_t va) { return va & ~std::uint64_t{7}; }))},
        {"rsp-26", "a READ too many is dropped", inward(drop(nth(2, is("RC_RDMA_READ_REQUEST"))))},
        {"rsp-31", "LAST of nothing is ONLY", inward(change(is("RC_SEND_LAST"), kOpcode, exactly(0x04)))},
        {"rsp-32", "ONLY in a message is its LAST", inward(change(is("RC_SEND_ONLY"), kOpcode, exactly(0x02)))},
        {"rsp-33", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-34", "a short FIRST is dropped", inward(drop(carries(1020, 1020)))},
        {"rsp-35", "a LAST without payload is dropped", inward(drop(both(is("RC_SEND_LAST"), carries(0, 0))))},
        {"rsp-36", "what is longer than the path MTU is dropped", inward(drop(carries(257)))},
        {"rsp-37", "the length of a message has no bounds", inward(change(where(kLength, 0x8000'0001), kLength, exactly(2048)))},
        {"rsp-38", "a WRITE may bring more than it announced", inward(change(where(kLength, 1100), kLength, exactly(2048)))},
        {"rsp-38", "an ONLY may bring more than it announced", inward(change(where(kLength, 64), kLength, exactly(100)))},
        {"rsp-38", "with immediate it may end early", inward(change(where(kLength, 4096), kLength, exactly(2148)))},
        {"rsp-38", "a WRITE may bring less than it announced", inward(change(where(kLength, 3000), kLength, exactly(1124)))},
        {"rsp-39", "a WRITE may bring more than it announced", inward(change(where(kLength, 64), kLength, exactly(512)))},
        {"rsp-40", "a WRITE that announced nothing may bring something", inward(change(where(kLength, 0), kLength, exactly(64)))},
        {"rsp-41", "the R_Key is not looked at", takes_any_key()},
        {"rsp-41", "memory is touched all the same", memory_differs()},
        {"rsp-42", "a region stays", asked(agent::Verb::mr_free, [](agent::Request& request) { request = {.verb = agent::Verb::ping}; })},
        {"rsp-43", "rights of the queue pair are not looked at", asked_with(agent::Verb::connect, agent::Key::access, 0xf)},
        {"rsp-44", "refused as something else", outward(change(naks(), kNakCode, exactly(kOperationalError)))},
        {"rsp-45", "a stranger invalidates the window of another domain",
         inward(change(nth(4, is("RC_RDMA_WRITE_ONLY")), "infiniband.reth.r_key", plus(0x100)))},
        {"rsp-45", "another key is invalidated", inward(change(is("RC_SEND_ONLY_WITH_INVALIDATE"), "infiniband.ieth", plus(0x100)))},
        {"rsp-46", "it refuses again and again", says_again(requests(), naks())},
    };
}

}  // namespace qps::tests
