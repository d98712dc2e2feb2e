// Endpoints that read packets wrong, that mistake marks and CNPs, and that do not endure.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;

namespace {

constexpr std::uint64_t kSendOnly = 0x04, kEcnCe = 3;

}  // namespace

std::vector<ActiveMutant> format_mutants() {
    return {
        {"fmt-03", "the ICRC is not looked at", inward(right_icrc())},
        {"fmt-03", "the ICRC of a READ is not looked at", inward(change(is("RC_RDMA_READ_REQUEST"), kPsn, plus(0)))},
        {"fmt-03", "the ICRC of a WRITE is not looked at", inward(change(is("RC_RDMA_WRITE_ONLY"), kPsn, plus(0)))},
        {"fmt-04", "the ICRC covers the time to live", inward(drop(where("ip.ttl", 3)))},
        {"fmt-04", "the ICRC covers the resv6 bits", inward(drop(where("infiniband.bth.reserved6", 0x3f)))},
        {"fmt-05", "reserved bits have to be 0", inward(drop(where("infiniband.bth.reserved7", 0x7f)))},
        {"fmt-05", "Resv6 has to be 0", inward(drop(where("infiniband.bth.reserved6", 0x3f)))},
        {"fmt-07", "the version is not looked at", inward(change(every(), "infiniband.bth.tver", exactly(0)))},
        {"fmt-07", "of the version three bits are looked at",
         inward(change(where("infiniband.bth.tver", 8), "infiniband.bth.tver", exactly(0)))},
        {"fmt-07", "another version kills", dies_after(1, without("infiniband.bth.tver", 0))},
        {"fmt-11", "an unknown opcode is a SEND", inward(change(begins("RESERVED"), kOpcode, exactly(kSendOnly)))},
        {"fmt-11", "the last of the unknown opcodes kills", dies_after(1, where(kOpcode, 0xff))},
        {"fmt-11", "opcodes of manufacturers are SENDs",
         inward(change(where(kOpcode, 0xdf), kOpcode, exactly(kSendOnly)))},
        {"fmt-12", "pad that is not there is not missed",
         inward(
             change(both(is("RC_SEND_ONLY"), where("infiniband.bth.padcnt", 3)), "infiniband.bth.padcnt", exactly(0)))},
        {"fmt-12", "a datagram that is too short kills", dies_after(1, where("udp.length", 12))},
        {"fmt-13", "an ACK with payload is a refusal",
         inward(change(both(acks(), carries(1)), "infiniband.aeth.syndrome", exactly(0x61)))},
        {"fmt-13", "from an ACK with payload on none is heard", inward(drop(from(1, acks())))},
        {"fmt-14", "the partition is not looked at", inward(change(every(), "infiniband.bth.p_key", exactly(0xffff)))},
        {"fmt-14", "limited members are refused", inward(drop(where("infiniband.bth.p_key", 0x7fff)))},
        {"fmt-15", "the P_Key is looked at before the ICRC",
         inward(change(where("infiniband.bth.p_key", 0x7ffe), "infiniband.bth.p_key", exactly(0x7ffe)))},
        {"fmt-15", "the Q_Key is looked at before the ICRC",
         inward(change(is("UD_SEND_ONLY"), "infiniband.deth.q_key", exactly(0x2222'2222)))},
        {"fmt-18", "a first fragment kills", dies_after(1, where("ip.flags.mf", 1))},
        {"fmt-18", "a later fragment kills", dies_after(1, where("ip.frag_offset", 8))},
        {"fmt-18", "a header with options kills", dies_after(1, where("ip.hdr_len", 24))},
        {"fmt-23", "packets to an unknown QP are delivered to the last QP", takes_for_its_own(requests())},
        {"fmt-23", "packets to an unknown QP are refused",
         acknowledges(where("infiniband.bth.destqp", 0xff'fffe), 0x61)},
        {"fmt-23", "queue pair 0 kills", dies_after(1, where("infiniband.bth.destqp", 0))},
        {"fmt-24", "the service is not looked at", inward(change(is("UC_SEND_ONLY"), kOpcode, exactly(kSendOnly)))},
        {"fmt-24", "another service is refused", acknowledges(is("UC_SEND_ONLY"), 0x61)},
        {"fmt-25", "the address is not looked at", inward(change(requests(), "ip.src", exactly(0xc000'0202)))},
        {"fmt-25", "a wrong address kills", dies_after(1, where("ip.src", 0xc000'0203))},

        {"cnp-02", "marks bring nothing", outward(drop(cnps()))},
        {"cnp-02", "the CNP goes to another queue pair", outward(change(cnps(), "infiniband.bth.destqp", plus(1)))},
        {"cnp-02", "a CNP without BECN", outward(change(cnps(), "infiniband.bth.becn", exactly(0)))},
        {"cnp-04", "CNPs without a mark", inward(change(requests(), "ip.dsfield.ecn", exactly(kEcnCe)))},
        {"cnp-04", "what can be marked counts as marked",
         inward(change(where("ip.dsfield.ecn", 2), "ip.dsfield.ecn", exactly(kEcnCe)))},
        {"cnp-04", "ECT(1) counts as marked",
         inward(change(where("ip.dsfield.ecn", 1), "ip.dsfield.ecn", exactly(kEcnCe)))},
        {"cnp-05", "a CNP for a marked CNP", sends_back(both(cnps(), where("ip.dsfield.ecn", kEcnCe)))},
        {"cnp-05", "a marked CNP kills", dies_after(1, cnps())},
        {"cnp-06", "a CNP is answered", sends_back(cnps())},
        {"cnp-06", "a CNP stops the queue pair", outward(drop(requests()))},
        {"cnp-06", "CNPs are not heard", inward(drop(cnps()))},
        {"cnp-06", "the first CNP alone is heard", inward(drop(from(2, cnps())))},
        {"cnp-06", "a CNP slows every queue pair down", reaches_all(cnps())},
        {"cnp-07", "a CNP for nobody is answered", sends_back(where("infiniband.bth.destqp", 0xff'fffe))},
        {"cnp-07", "a CNP with a wrong ICRC is answered", sends_back(both(cnps(), wrong_icrc()))},
        {"cnp-07", "a CNP for nobody kills", dies_after(1, where("infiniband.bth.destqp", 0xff'fffe))},

        {"err-01", "after some refusals others are not answered", outward(drop(both(after(4, naks()), acks())))},
        {"err-01", "after a dozen requests nothing is heard", dies_after(12, requests())},
        {"err-01", "what was refused was written", memory_differs()},
        {"err-03", "a silent peer stops the others", outward(drop(from(5, is("RC_SEND_ONLY"))))},
        {"err-03", "the silent one succeeds", every_status("success")},
        {"err-05", "wrong bits are taken", inward(right_icrc())},
        {"err-05", "what was repeated is executed twice", executes_duplicates()},
        {"err-05", "what comes again is other bytes", outward(other_bytes(again(requests())))},
        {"err-05", "what is lost on the way back stays lost", outward(drop(again(is("RC_SEND_FIRST"))))},
        {"err-06", "the old number reaches the new queue pair", takes_for_its_own(requests())},
        {"err-06", "a packet for one that is gone kills", dies_after(2, requests())},
    };
}

}  // namespace qps::tests
