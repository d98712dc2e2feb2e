// Endpoints that manage connections wrong.
#include <tests/conformance/active_mutants.hpp>

namespace qps::tests {

using namespace dissect;
using enum LayerKind;

namespace {

Broken forgets_whose_connection() {
    const Memory number = remember(message(cm_rep), "infiniband.cm.rep.localqpn", message(cm_dreq), "infiniband.cm.req.remoteqpneecn");
    return {.damage = {.in = number.use, .out = number.watch}};
}

}  // namespace

std::vector<ActiveMutant> management_mutants() {
    return {
        {"cm-04", "the REP has another number", outward(change(message(cm_rep), "infiniband.cm.rep.remotecommid", plus(1)))},
        {"cm-04", "no REP", outward(drop(message(cm_rep)))},
        {"cm-05", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-06", "a REQ that comes again is another connection", outward(change(from(2, message(cm_rep)), "infiniband.cm.rep", plus(1)))},
        {"cm-09", "a REP is sent once", outward(drop(from(2, message(cm_rep))))},
        {"cm-11", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-13", "the transport is not looked at", inward(change(message(cm_req), "infiniband.cm.req.transpsvctype", exactly(0)))},
        {"cm-13", "another reason", outward(change(message(cm_rej), "infiniband.cm.rej.reason", exactly(28)))},
        {"cm-14", "the path MTU is not looked at", inward(change(message(cm_req), "infiniband.cm.req.pppmtu", exactly(3)))},
        {"cm-16", "the class version is not looked at", inward(change(message(cm_req), "infiniband.mad.classversion", exactly(2)))},
        {"cm-17", "a DREQ ends the connection whatever queue pair it names", forgets_whose_connection()},
        {"cm-18", "the second DREQ is not answered", outward(drop(from(2, message(cm_drep))))},
        {"cm-20", "who said DREQ answers none", outward(drop(message(cm_drep)))},
        {"cm-21", "a REJ is not heard", inward(drop(message(cm_rej)))},
        {"cm-22", "a LAP is agreed to", outward(change(message(cm_apr), "infiniband.cm.apr.status", exactly(0)))},
        {"cm-28", "the class is not looked at",
         inward(change(where("infiniband.mad.mgmtclass", 0x55), "infiniband.mad.mgmtclass", exactly(7)))},
        {"cm-28", "garbage kills", dies_after(1, carries(300, 300))},
    };
}

}  // namespace qps::tests
