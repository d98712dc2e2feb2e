// The walks over messages of upper protocols, a file each. Internal to dissect/: they are reached through ulp_rows().
#pragma once

#include <dissect/base/ulp_hint.hpp>
#include <dissect/base/walk.hpp>

namespace qps::dissect::ulp {

void walk_nvme(Walk& walk, const UlpHint& hint);
void walk_nvme_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_nvme_data(Walk& walk, const UlpHint& hint);
void walk_rds(Walk& walk, const UlpHint& hint);
void walk_rds_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_ipoib(Walk& walk, const UlpHint& hint);
void walk_ipoib_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_rsockets(Walk& walk, const UlpHint& hint);
void walk_rsockets_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_lnet(Walk& walk, const UlpHint& hint);
void walk_lnet_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_ucx(Walk& walk, const UlpHint& hint);
void walk_ucx_datagram(Walk& walk, const UlpHint& hint);
void walk_rxm(Walk& walk, const UlpHint& hint);
void walk_rxd(Walk& walk, const UlpHint& hint);
void walk_sdp(Walk& walk, const UlpHint& hint);
void walk_sdp_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_iser(Walk& walk, const UlpHint& hint);
void walk_iser_private(Walk& walk, const UlpHint& hint, LayerKind message);
void walk_srp(Walk& walk, const UlpHint& hint);
void walk_srp_private(Walk& walk, const UlpHint& hint, LayerKind message);
void walk_rpc_rdma(Walk& walk, const UlpHint& hint);
void walk_rpc_rdma_private(Walk& walk, const UlpHint& hint, LayerKind cm_message);
void walk_rpc_rdma_data(Walk& walk, const UlpHint& hint);
void walk_smb_direct(Walk& walk, const UlpHint& hint);
// iWARP is what carries messages, not a message: it stands in the place of what a TCP segment carries.
void walk_iwarp(Packet& packet, const UlpHint& hint);

}  // namespace qps::dissect::ulp
