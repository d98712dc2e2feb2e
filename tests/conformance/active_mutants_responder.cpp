// Responders that answer wrong where all was right, and that deliver wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kMsn = "infiniband.aeth.msn", kResponse = "RC_RDMA_READ_RESPONSE";
constexpr std::string_view kOriginal = "infiniband.atomicacketh.origremdt";
constexpr std::string_view kKey = "infiniband.reth.r_key";

// The READ of one number is taken for that of another: it reads what that one read.
Broken takes_the_first_for(std::size_t first, std::size_t again) {
    const Memory address = remember(nth(first, is(kRead)), kAddress, nth(again, is(kRead)), kAddress);
    const Memory key = remember(nth(first, is(kRead)), kKey, nth(again, is(kRead)), kKey);
    return inward(then(then(address.watch, key.watch), then(address.use, key.use)));
}

}  // namespace

std::vector<ActiveMutant> responder_mutants() {
    namespace agent = transport::conformance::agent;
    return {
        {"rsp-01", "the ACK is of the PSN before", outward(change(acks(), kPsn, minus(1)))},
        {"rsp-01", "no ACK at all", outward(drop(acks()))},
        {"rsp-03", "the last is not covered", outward(change(acks(), kPsn, minus(1)))},
        {"rsp-03", "the MSN is one behind", outward(change(acks(), kMsn, minus(1)))},
        {"rsp-03", "the last is not answered", outward(drop(where(kMsn, 5)))},
        {"rsp-04", "what asks for no ACK ends the connection", dies_after(1, requests())},
        {"rsp-04", "what asks for no ACK is refused", acknowledges(nth(1, requests()), 0x61)},
        {"rsp-04", "what asks for no ACK is not executed", inward(drop(nth(1, requests())))},
        {"rsp-05", "two NAKs", outward(twice(naks()))},
        {"rsp-05", "the NAK names the PSN that came", outward(change(naks(), kPsn, plus(1)))},
        {"rsp-06", "every further PSN brings a NAK", says_again(requests(), naks())},
        {"rsp-06", "what came early counts", outward(change(nth(1, acks()), kMsn, plus(10)))},
        {"rsp-06", "two NAKs", outward(twice(naks()))},
        {"rsp-07", "one NAK and never another", outward(drop(from(2, naks())))},
        {"rsp-07", "the second NAK names the PSN that came", outward(change(nth(2, naks()), kPsn, plus(1)))},
        {"rsp-07", "two NAKs of the second gap", outward(twice(nth(2, naks())))},
        {"rsp-08", "duplicates are not answered behind a hole", inward(drop(nth(3, requests())))},
        {"rsp-08", "behind a hole a duplicate counts", outward(change(nth(2, acks()), kMsn, plus(1)))},
        {"rsp-08", "behind a hole a duplicate brings the NAK again", says_again(nth(3, requests()), naks())},
        {"rsp-09", "a duplicate is executed: its PSN looks new", executes_duplicates()},
        {"rsp-09", "a WRITE that asks for no ACK is executed again",
         inward(change(both(from(3, is("RC_RDMA_WRITE_ONLY")), where("infiniband.bth.a", 0)), kPsn, plus(1)))},
        {"rsp-10", "the ACK of the duplicate passes the READ", outward(change(from(2, acks()), kPsn, plus(2)))},
        {"rsp-10", "the duplicate is not answered", inward(drop(nth(2, is("RC_RDMA_WRITE_ONLY"))))},
        {"rsp-10", "the duplicate brings the READ response again",
         says_again(nth(2, is("RC_RDMA_WRITE_ONLY")), begins(kResponse))},
        {"rsp-11", "what is far ahead is a duplicate", outward(drop(naks()))},
        {"rsp-11", "what is far behind is new",
         outward(then(change(nth(3, acks()), kPsn, minus(1)), change(nth(4, acks()), kMsn, plus(1))))},
        {"rsp-12", "PSNs end at 2^24", inward(drop(both(requests(), where(kPsn, 0))))},
        {"rsp-12", "at PSN 0 the MSN begins anew", outward(change(from(3, acks()), kMsn, minus(2)))},
        {"rsp-12", "ACKs end at 2^24", outward(drop(both(acks(), where(kPsn, 0))))},
        {"rsp-13", "responses in another order", outward(swap_with_next(is("RC_RDMA_READ_RESPONSE_MIDDLE")))},
        {"rsp-13", "other bytes", outward(other_bytes(is("RC_RDMA_READ_RESPONSE_LAST")))},
        {"rsp-14", "the R_Key of no bytes is looked at", inward(change(every(), "infiniband.reth.dmalen", exactly(1)))},
        {"rsp-14", "it is refused", acknowledges(is("RC_RDMA_READ_REQUEST"), 0x62)},
        {"rsp-14", "no answer", outward(drop(begins(kResponse)))},
        {"rsp-15", "a duplicate READ is not answered", outward(drop(from(2, begins(kResponse))))},
        {"rsp-15", "each READ brings two answers", outward(twice(begins(kResponse)))},
        {"rsp-16", "a duplicate READ brings other bytes", outward(other_bytes(from(4, begins(kResponse))))},
        {"rsp-16", "a duplicate READ is not answered", outward(drop(from(4, begins(kResponse))))},
        {"rsp-16", "a duplicate READ counts",
         outward(change(from(2, is("RC_RDMA_READ_RESPONSE_LAST")), kMsn, plus(1)))},
        {"rsp-17", "the rest of a READ begins with LAST",
         outward(change(from(2, is("RC_RDMA_READ_RESPONSE_FIRST")), kOpcode, exactly(0x0f)))},
        {"rsp-17", "the rest is answered as a whole",
         inward(then(then(change(nth(2, is(kRead)), kPsn, minus(2)), change(nth(2, is(kRead)), kAddress, minus(2048))),
                     change(nth(2, is(kRead)), "infiniband.reth.dmalen", exactly(4096))))},
        {"rsp-17", "a READ from its middle is dropped", inward(drop(nth(2, is(kRead))))},
        {"rsp-17", "the rest begins with the first bytes", outward(other_bytes(from(5, begins(kResponse))))},
        {"rsp-18", "the whole of three packets is other bytes", outward(other_bytes(from(8, begins(kResponse))))},
        {"rsp-18", "the whole, asked for again, is other bytes", outward(other_bytes(from(4, begins(kResponse))))},
        {"rsp-19", "the length of a duplicate READ is not looked at",
         inward(change(where("infiniband.reth.dmalen", 8192), "infiniband.reth.dmalen", exactly(1024)))},
        {"rsp-19", "the R_Key of a duplicate READ is not looked at", takes_the_first_for(3, 4)},
        {"rsp-19", "an address that wraps is the first's", takes_the_first_for(5, 6)},
        {"rsp-22", "the value after the addition is returned",
         outward(change(nth(1, is("RC_ATOMIC_ACKNOWLEDGE")), kOriginal, plus(5)))},
        {"rsp-22", "a compare that misses swaps",
         inward(change(nth(2, is("RC_COMPARE_SWAP")), "infiniband.atomiceth.cmpdt", exactly(77)))},
        {"rsp-22", "the MSN stays", outward(change(from(2, is("RC_ATOMIC_ACKNOWLEDGE")), kMsn, minus(1)))},
        {"rsp-23", "a duplicate ATOMIC is executed again",
         outward(change(from(2, is("RC_ATOMIC_ACKNOWLEDGE")), kOriginal, plus(5)))},
        {"rsp-23", "a duplicate ATOMIC brings two answers", outward(twice(from(2, is("RC_ATOMIC_ACKNOWLEDGE"))))},
        {"rsp-24", "a duplicate ATOMIC is not compared",
         inward(change(where("infiniband.atomiceth.swapdt", 6), "infiniband.atomiceth.swapdt", exactly(5)))},
        {"rsp-24", "the address of a duplicate ATOMIC is not looked at",
         inward(change(nth(4, is("RC_FETCH_ADD")), kAddress, minus(8)))},
        {"rsp-24", "an ATOMIC at a READ's PSN is the one before",
         inward(change(nth(6, is("RC_FETCH_ADD")), kPsn, minus(1)))},
        {"rsp-27", "the RNR NAK has another timer",
         outward(change(rnr_naks(), "infiniband.aeth.syndrome.timer", exactly(2)))},
        {"rsp-27", "the timer is not the queue pair's", asked_with(agent::Verb::connect, agent::Key::min_rnr, 5)},
        {"rsp-28", "every further PSN brings an RNR NAK", says_again(requests(), rnr_naks())},
        {"rsp-28", "a further PSN brings a sequence NAK", acknowledges(nth(3, requests()), 0x60)},
        {"rsp-28", "two RNR NAKs", outward(twice(rnr_naks()))},
        {"rsp-29", "the retry is executed twice",
         outward(change(from(2, both(acks(), where(kMsn, 1))), kMsn, plus(1)))},
        {"rsp-29", "it completes twice", completions_of_nothing()},
        {"rsp-29", "the retry is not heard", inward(drop(nth(3, requests())))},
        {"rsp-30", "where no receive is, it is refused for good",
         outward(change(rnr_naks(), "infiniband.aeth.syndrome", exactly(0x61)))},
        {"rsp-30", "FIRST finds no receive", acknowledges(is("RC_RDMA_WRITE_FIRST"), 0x2c)},
        {"rsp-30", "its bytes were lost", memory_differs()},
        {"rsp-48", "after a hole nothing is delivered", inward(drop(is("UC_SEND_ONLY")))},
        {"rsp-48", "a message with a hole is delivered", inward(change(is("UC_SEND_LAST"), kPsn, minus(1)))},
        {"rsp-49", "after a hole no WRITE is delivered", inward(drop(is("UC_RDMA_WRITE_ONLY")))},
        {"rsp-49", "it is written elsewhere", inward(change(is("UC_RDMA_WRITE_ONLY"), kAddress, plus(64)))},
        {"rsp-50", "UC is acknowledged", acknowledges(is("UC_SEND_ONLY"), 0x1f)},
        {"rsp-50", "UC is refused", acknowledges(is("UC_SEND_MIDDLE"), 0x61)},
        {"rsp-51", "the Q_Key is not looked at",
         inward(change(where("infiniband.deth.q_key", 1), "infiniband.deth.q_key", exactly(0x1111'1111)))},
        {"rsp-51", "what finds no receive kills", dies_after(1, is("UD_SEND_ONLY"))},
        {"rsp-51", "what is too long kills", dies_after(1, carries(400, 400))},
        {"rsp-52", "the payload is at byte 0", asked_with(agent::Verb::compare, agent::Key::off, 0)},
        {"rsp-52", "the IP header is at byte 0", asked_with(agent::Verb::read, agent::Key::off, 0)},
        {"rsp-53", "a FLUSH is not answered", outward(drop(nth(1, begins(kResponse))))},
        {"rsp-53", "an ATOMIC WRITE is not answered", inward(drop(is("RC_ATOMIC_WRITE")))},
        {"rsp-53", "16 bytes are refused as something else",
         outward(change(naks(), "infiniband.aeth.syndrome.error_code", exactly(3)))},
        {"rsp-54", "duplicates kill", dies_after(5000, requests())},
        {"rsp-54", "each duplicate brings two answers", outward(twice(again(acks())))},
    };
}

}  // namespace qps::tests
