// Responders that answer wrong where all was right, and that deliver wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::string_view kMsn = "infiniband.aeth.msn", kResponse = "RC_RDMA_READ_RESPONSE";
constexpr std::string_view kOriginal = "infiniband.atomicacketh.origremdt";

}  // namespace

std::vector<ActiveMutant> responder_mutants() {
    namespace agent = transport::conformance::agent;
    return {
        {"rsp-01", "the ACK is of the PSN before", outward(change(acks(), kPsn, minus(1)))},
        {"rsp-01", "no ACK at all", outward(drop(acks()))},
        {"rsp-03", "the last is not covered", outward(change(acks(), kPsn, minus(1)))},
        {"rsp-04", "what asks for no ACK ends the connection", dies_after(1, requests())},
        {"rsp-05", "two NAKs", outward(twice(naks()))},
        {"rsp-05", "the NAK names the PSN that came", outward(change(naks(), kPsn, plus(1)))},
        {"rsp-06", "every further PSN brings a NAK", says_again(requests(), naks())},
        {"rsp-07", "one NAK and never another", outward(drop(from(2, naks())))},
        {"rsp-08", "duplicates are not answered behind a hole", inward(drop(nth(3, requests())))},
        {"rsp-09", "a duplicate is executed: its PSN looks new", executes_duplicates()},
        {"rsp-09", "a WRITE that asks for no ACK is executed again", inward(change(both(from(3, is("RC_RDMA_WRITE_ONLY")), where("infiniband.bth.a", 0)), kPsn, plus(1)))},
        {"rsp-10", "the ACK of the duplicate passes the READ", outward(change(from(2, acks()), kPsn, plus(2)))},
        {"rsp-11", "what is far ahead is a duplicate", outward(drop(naks()))},
        {"rsp-11", "what is far behind is new",
         outward(then(change(nth(3, acks()), kPsn, minus(1)), change(nth(4, acks()), kMsn, plus(1))))},
        {"rsp-12", "PSNs end at 2^24", inward(drop(both(requests(), where(kPsn, 0))))},
        {"rsp-13", "responses in another order", outward(swap_with_next(is("RC_RDMA_READ_RESPONSE_MIDDLE")))},
        {"rsp-13", "other bytes", outward(other_bytes(is("RC_RDMA_READ_RESPONSE_LAST")))},
        {"rsp-14", "the R_Key of no bytes is looked at", inward(change(every(), "infiniband.reth.dmalen", exactly(1)))},
        {"rsp-15", "a duplicate READ is not answered", outward(drop(from(2, begins(kResponse))))},
        {"rsp-15", "each READ brings two answers", outward(twice(begins(kResponse)))},
        {"rsp-16", "a duplicate READ brings other bytes", outward(other_bytes(from(4, begins(kResponse))))},
        {"rsp-17", "the rest of a READ begins with LAST",
         outward(change(from(2, is("RC_RDMA_READ_RESPONSE_FIRST")), kOpcode, exactly(0x0f)))},
        {"rsp-18", "the whole of three packets is other bytes", outward(other_bytes(from(8, begins(kResponse))))},
        {"rsp-18", "the whole, asked for again, is other bytes", outward(other_bytes(from(4, begins(kResponse))))},
        {"rsp-19", "the length of a duplicate READ is not looked at",
         inward(change(where("infiniband.reth.dmalen", 8192), "infiniband.reth.dmalen", exactly(1024)))},
        {"rsp-22", "the value after the addition is told", outward(change(nth(1, is("RC_ATOMIC_ACKNOWLEDGE")), kOriginal, plus(5)))},
        {"rsp-23", "a duplicate ATOMIC is executed again", outward(change(from(2, is("RC_ATOMIC_ACKNOWLEDGE")), kOriginal, plus(5)))},
        {"rsp-23", "a duplicate ATOMIC brings two answers", outward(twice(from(2, is("RC_ATOMIC_ACKNOWLEDGE"))))},
        {"rsp-24", "a duplicate ATOMIC is not compared",
         inward(change(where("infiniband.atomiceth.swapdt", 6), "infiniband.atomiceth.swapdt", exactly(5)))},
        {"rsp-27", "the RNR NAK has another timer", outward(change(rnr_naks(), "infiniband.aeth.syndrome.timer", exactly(2)))},
        {"rsp-27", "the timer is not the queue pair's", asked_with(agent::Verb::connect, agent::Key::min_rnr, 5)},
        {"rsp-28", "every further PSN brings an RNR NAK", says_again(requests(), rnr_naks())},
        {"rsp-29", "the retry is executed twice", outward(change(from(2, both(acks(), where(kMsn, 1))), kMsn, plus(1)))},
        {"rsp-30", "where no receive is, it is refused for good", outward(change(rnr_naks(), "infiniband.aeth.syndrome", exactly(0x61)))},
        {"rsp-48", "after a hole nothing is delivered", inward(drop(is("UC_SEND_ONLY")))},
        {"rsp-49", "after a hole no WRITE is delivered", inward(drop(is("UC_RDMA_WRITE_ONLY")))},
        {"rsp-50", "UC is acknowledged", acknowledges(is("UC_SEND_ONLY"), 0x1f)},
        {"rsp-50", "UC is refused", acknowledges(is("UC_SEND_MIDDLE"), 0x61)},
        {"rsp-51", "the Q_Key is not looked at",
         inward(change(where("infiniband.deth.q_key", 1), "infiniband.deth.q_key", exactly(0x1111'1111)))},
        {"rsp-52", "the payload is at byte 0", asked_with(agent::Verb::compare, agent::Key::off, 0)},
        {"rsp-53", "a FLUSH is not answered", outward(drop(nth(1, begins(kResponse))))},
        {"rsp-54", "duplicates kill", dies_after(5000, requests())},
        {"rsp-54", "each duplicate brings two answers", outward(twice(again(acks())))},
    };
}

}  // namespace qps::tests
