// The walk over LLDP (IEEE 802.1AB) with the TLVs of Data Center Bridging, and over congestion notification messages
// (802.1Qau). Internal to dissect/.
//
// Every TLV is a layer. Its length is the sender's word: one that is shorter than its table is kept as bytes, one that
// goes beyond the frame is cut there.
#pragma once

#include <dissect/base/walk.hpp>

namespace qps::dissect {

void walk_lldp(Walk& walk);  // behind EtherType 0x88cc
void walk_cnm(Walk& walk);   // behind EtherType 0x22e7

}  // namespace qps::dissect
