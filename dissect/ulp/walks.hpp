// The walks over messages of upper protocols, a file each. Internal to dissect/: they are reached through upper_rows().
#pragma once

#include <dissect/ulp/upper_hint.hpp>
#include <dissect/walk.hpp>

namespace qps::dissect::ulp {

void walk_nvme(Walk& walk, const UpperHint& hint);
void walk_nvme_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_nvme_data(Walk& walk, const UpperHint& hint);
void walk_rds(Walk& walk, const UpperHint& hint);
void walk_rds_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_ipoib(Walk& walk, const UpperHint& hint);
void walk_ipoib_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_rsockets(Walk& walk, const UpperHint& hint);
void walk_rsockets_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_lnet(Walk& walk, const UpperHint& hint);
void walk_lnet_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_iser(Walk& walk, const UpperHint& hint);
void walk_iser_private(Walk& walk, const UpperHint& hint, LayerKind message);
void walk_srp(Walk& walk, const UpperHint& hint);
void walk_srp_private(Walk& walk, const UpperHint& hint, LayerKind message);
void walk_rpc_rdma(Walk& walk, const UpperHint& hint);
void walk_rpc_rdma_private(Walk& walk, const UpperHint& hint, LayerKind cm_message);
void walk_rpc_rdma_data(Walk& walk, const UpperHint& hint);
void walk_smb_direct(Walk& walk, const UpperHint& hint);
// iWARP is what carries messages, not a message: it stands in the place of what a TCP segment carries.
void walk_iwarp(Packet& packet, const UpperHint& hint);

}  // namespace qps::dissect::ulp
