// Endpoints that manage connections wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;
using enum LayerKind;

namespace {

constexpr std::string_view kService = "infiniband.cm.req.serviceid";
constexpr std::uint64_t kNobody = 0x0000'0000'0106'0009;  // TCP port 9 of the RDMA IP CM service

Broken forgets_whose_connection() {
    const Memory number =
        remember(message(cm_rep), "infiniband.cm.rep.localqpn", message(cm_dreq), "infiniband.cm.req.remoteqpneecn");
    return {.damage = {.in = number.use, .out = number.watch}};
}
// The second REQ comes from another queue pair, as the device sees it.
Broken stale_looks_new() { return inward(change(nth(2, message(cm_req)), "infiniband.cm.req.localqpn", plus(1))); }

}  // namespace

std::vector<ActiveMutant> management_mutants() {
    return {
        {"cm-04", "the REP has another number",
         outward(change(message(cm_rep), "infiniband.cm.rep.remotecommid", plus(1)))},
        {"cm-04", "no REP", outward(drop(message(cm_rep)))},
        {"cm-05", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-05", "silence", outward(drop(message(cm_rej)))},
        {"cm-05", "rejected twice", outward(twice(message(cm_rej)))},
        {"cm-06", "a REQ that comes again is another connection",
         outward(change(from(2, message(cm_rep)), "infiniband.cm.rep", plus(1)))},
        {"cm-06", "a REQ that comes again is refused",
         inward(then(change(nth(2, message(cm_req)), kService, exactly(kNobody)),
                     change(nth(2, message(cm_req)), "infiniband.cm.req", plus(1))))},
        {"cm-07", "an MRA is not heard", inward(drop(message(cm_mra)))},
        {"cm-07", "an MRA brings the REQ at once", says_again(message(cm_mra), message(cm_req))},
        {"cm-07", "behind an MRA a REJ is not heard", inward(drop(message(cm_rej)))},
        {"cm-08", "a REQ is sent once", outward(drop(from(2, message(cm_req))))},
        {"cm-08", "it comes again with another number",
         outward(change(from(2, message(cm_req)), "infiniband.cm.req", plus(1)))},
        {"cm-08", "it comes again at once", outward(twice(message(cm_req)))},
        {"cm-08", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-09", "a REP is sent once", outward(drop(from(2, message(cm_rep))))},
        {"cm-09", "it comes again with another number",
         outward(change(from(2, message(cm_rep)), "infiniband.cm.rep", plus(1)))},
        {"cm-10", "without an RTU nothing is answered", inward(drop(requests()))},
        {"cm-10", "data without an RTU is refused", acknowledges(nth(1, requests()), 0x63)},
        {"cm-11", "silence", outward(drop(message(cm_rej)))},
        {"cm-11", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-12", "a queue pair may have two connections", stale_looks_new()},
        {"cm-12", "the old connection stays", outward(drop(message(cm_dreq)))},
        {"cm-13", "the transport is not looked at",
         inward(change(message(cm_req), "infiniband.cm.req.transpsvctype", exactly(0)))},
        {"cm-13", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-14", "the path MTU is not looked at",
         inward(change(message(cm_req), "infiniband.cm.req.pppmtu", exactly(3)))},
        {"cm-14", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-14", "silence", outward(drop(message(cm_rej)))},
        {"cm-15", "the depth that was asked for is granted",
         outward(change(message(cm_rep), "infiniband.cm.rep.respres", exactly(255)))},
        {"cm-15", "the IP version is not looked at",
         inward(change(where("infiniband.cm.req.ip_cm.ipv", 5), "infiniband.cm.req.ip_cm.ipv", exactly(4)))},
        {"cm-16", "the class version is not looked at",
         inward(change(message(cm_req), "infiniband.mad.classversion", exactly(2)))},
        {"cm-16", "another version kills", dies_after(1, where("infiniband.mad.classversion", 1))},
        {"cm-16", "rejected for another reason",
         inward(then(change(both(message(cm_req), where("infiniband.mad.classversion", 1)), kService, exactly(kNobody)),
                     change(where("infiniband.mad.classversion", 1), "infiniband.mad.classversion", exactly(2))))},
        {"cm-17", "a DREQ ends the connection whatever queue pair it names", forgets_whose_connection()},
        {"cm-17", "the DREP is of another connection",
         outward(change(message(cm_drep), "infiniband.cm.drsp.remotecommid", plus(1)))},
        {"cm-17", "a DREQ for another queue pair kills",
         dies_after(1, where("infiniband.cm.req.remoteqpneecn", 0x12'3456))},
        {"cm-18", "the second DREQ is not answered", outward(drop(from(2, message(cm_drep))))},
        {"cm-18", "the second DREP is of another connection",
         outward(change(nth(2, message(cm_drep)), "infiniband.cm.drsp.remotecommid", plus(1)))},
        {"cm-20", "who said DREQ answers none", outward(drop(message(cm_drep)))},
        {"cm-20", "who is asked to disconnect says nothing", outward(drop(message(cm_dreq)))},
        {"cm-21", "a REJ is not heard", inward(drop(message(cm_rej)))},
        {"cm-21", "a REJ is taken for another connection's",
         inward(change(message(cm_rej), "infiniband.cm.rej.remotecommid", plus(1)))},
        {"cm-22", "a LAP is agreed to", outward(change(message(cm_apr), "infiniband.cm.apr.status", exactly(0)))},
        {"cm-22", "a LAP kills", dies_after(1, message(cm_lap))},
        {"cm-22", "after a LAP the connection is another",
         outward(change(message(cm_drep), "infiniband.cm.drsp.remotecommid", plus(1)))},
        {"cm-23", "another queue pair is named",
         outward(change(message(cm_sidr_rep), "infiniband.cm.sidr_rep.qpn", plus(1)))},
        {"cm-23", "every service is there",
         outward(change(message(cm_sidr_rep), "infiniband.cm.sidr_rep.status", exactly(0)))},
        {"cm-23", "the IP version is not looked at",
         inward(change(where("infiniband.cm.req.ip_cm.ipv", 5), "infiniband.cm.req.ip_cm.ipv", exactly(4)))},
        {"cm-28", "the class is not looked at",
         inward(change(where("infiniband.mad.mgmtclass", 0x55), "infiniband.mad.mgmtclass", exactly(7)))},
        {"cm-28", "garbage kills", dies_after(1, carries(300, 300))},
    };
}

}  // namespace qps::tests
