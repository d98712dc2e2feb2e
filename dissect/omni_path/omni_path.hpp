// The walk over Omni-Path packets: 9B link header, GRH, BTH, datagrams of management. Internal to dissect/.
//
// Their transport is not InfiniBand's for us: no connection is followed, and the ICRC is shown, not checked. Lengths
// are the wire's word and bounded by the record and by kMaxLayers.
#pragma once

#include <dissect/base/walk.hpp>

namespace qps::dissect {

void walk_opa_snc(Walk& walk);  // behind the notes of the capturing host
void walk_opa_9b(Walk& walk);

}  // namespace qps::dissect
