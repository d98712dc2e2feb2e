// The functions of the table of findings, by family. Each emits a draft for everything that its row is true of, and
// nothing else: thresholds are constants beside them. They only read.
#pragma once

#include <transport-replay/findings/findings.hpp>

namespace qps::transport::draw {

// recovery.cpp: what had to be sent again
void retries_exceeded(const Timeline& timeline, const Emit& emit);
void rnr_retries_exceeded(const Timeline& timeline, const Emit& emit);
void go_back_n(const Timeline& timeline, const Emit& emit);
void selective_repeat(const Timeline& timeline, const Emit& emit);
void rnr_stall(const Timeline& timeline, const Emit& emit);
void rnr_wait_too_short(const Timeline& timeline, const Emit& emit);
void ack_timeout(const Timeline& timeline, const Emit& emit);
void spurious_retransmission(const Timeline& timeline, const Emit& emit);
void read_response_lost(const Timeline& timeline, const Emit& emit);

// reordering.cpp: NAKs of packets that were only late
void reordered_not_lost(const Timeline& timeline, const Emit& emit);
// naks.cpp: NAKs that were not heeded, NAKs without the requests that they refuse, retransmissions whose cause is not known
void nak_ignored(const Timeline& timeline, const Emit& emit);
void retransmission_undecided(const Timeline& timeline, const Emit& emit);
void lone_sequence_naks(const Timeline& timeline, const Emit& emit);  // of go_back_n
void lone_rnr_naks(const Timeline& timeline, const Emit& emit);       // of rnr_stall

// order.cpp: what the network did to the order and the bits of packets
void out_of_order(const Timeline& timeline, const Emit& emit);
void duplicated(const Timeline& timeline, const Emit& emit);
void icrc_wrong(const Timeline& timeline, const Emit& emit);

// refusal.cpp: fatal NAKs, READ depth
void remote_access_error(const Timeline& timeline, const Emit& emit);
void remote_invalid_request(const Timeline& timeline, const Emit& emit);
void remote_operational_error(const Timeline& timeline, const Emit& emit);
void unknown_nak(const Timeline& timeline, const Emit& emit);
void read_depth_exceeded(const Timeline& timeline, const Emit& emit);
void read_depth_limited(const Timeline& timeline, const Emit& emit);
void requests_unanswered(const Timeline& timeline, const Emit& emit);

// path.cpp: how the two ends are set up to reach each other
void roce_version_mismatch(const Timeline& timeline, const Emit& emit);
void link_local_gid(const Timeline& timeline, const Emit& emit);
void path_mtu_differs(const Timeline& timeline, const Emit& emit);
void path_mtu_small(const Timeline& timeline, const Emit& emit);
void pkey_mismatch(const Timeline& timeline, const Emit& emit);
void starting_psn_differs(const Timeline& timeline, const Emit& emit);

// classes.cpp: traffic classes and the spread over paths
void dscp_differs(const Timeline& timeline, const Emit& emit);
void dscp_changes(const Timeline& timeline, const Emit& emit);
void dscp_differs_between_connections(const Timeline& timeline, const Emit& emit);
void udp_port_entropy(const Timeline& timeline, const Emit& emit);

// congestion.cpp
void pfc_storm(const Timeline& timeline, const Emit& emit);
void pfc_pause(const Timeline& timeline, const Emit& emit);
void link_pause_storm(const Timeline& timeline, const Emit& emit);
void link_pause(const Timeline& timeline, const Emit& emit);
void ecn_congestion(const Timeline& timeline, const Emit& emit);
void ecn_not_answered(const Timeline& timeline, const Emit& emit);
void cnp_without_mark(const Timeline& timeline, const Emit& emit);
void cnp_without_effect(const Timeline& timeline, const Emit& emit);
void incast(const Timeline& timeline, const Emit& emit);
void shared_traffic_class(const Timeline& timeline, const Emit& emit);

// links.cpp: links of InfiniBand, their credits and who sends on them
void credit_starvation(const Timeline& timeline, const Emit& emit);
void gid_conflict(const Timeline& timeline, const Emit& emit);

// bridging.cpp: what both ends of a link announce of Data Center Bridging
void pfc_differs(const Timeline& timeline, const Emit& emit);
void ets_differs(const Timeline& timeline, const Emit& emit);
void application_priority_differs(const Timeline& timeline, const Emit& emit);
void roce_outside_pfc(const Timeline& timeline, const Emit& emit);
void lldp_stopped(const Timeline& timeline, const Emit& emit);

// reachability.cpp: who cannot be reached
void neighbour_unanswered(const Timeline& timeline, const Emit& emit);
void icmp_unreachable(const Timeline& timeline, const Emit& emit);
void path_mtu_exceeded(const Timeline& timeline, const Emit& emit);
void address_conflict(const Timeline& timeline, const Emit& emit);

// security.cpp: who may not be who he says, or tries what he was not given
void keys_tried(const Timeline& timeline, const Emit& emit);
void queue_pairs_tried(const Timeline& timeline, const Emit& emit);
void psn_conflict(const Timeline& timeline, const Emit& emit);
void cnp_unexpected_source(const Timeline& timeline, const Emit& emit);
void cm_request_flood(const Timeline& timeline, const Emit& emit);
void nvme_unauthenticated(const Timeline& timeline, const Emit& emit);
void nfs_auth_sys(const Timeline& timeline, const Emit& emit);

// collectives.cpp: groups of hosts that work in steps together
void collective_straggler(const Timeline& timeline, const Emit& emit);
void collective_incast(const Timeline& timeline, const Emit& emit);

// management.cpp: connections set up and taken down
void cm_rejected(const Timeline& timeline, const Emit& emit);
void cm_no_answer(const Timeline& timeline, const Emit& emit);
void cm_half_open(const Timeline& timeline, const Emit& emit);
void cm_unexpected_message(const Timeline& timeline, const Emit& emit);
void cm_retries(const Timeline& timeline, const Emit& emit);
void cm_unresolved(const Timeline& timeline, const Emit& emit);
void cm_disconnect_unanswered(const Timeline& timeline, const Emit& emit);
void multicast_join_failed(const Timeline& timeline, const Emit& emit);

// ulp_events.cpp: what upper protocols say of themselves
void protocol_refused(const Timeline& timeline, const Emit& emit);
void login_failed(const Timeline& timeline, const Emit& emit);
void session_terminated(const Timeline& timeline, const Emit& emit);
void protocol_error(const Timeline& timeline, const Emit& emit);
void message_malformed(const Timeline& timeline, const Emit& emit);
void keep_alive_late(const Timeline& timeline, const Emit& emit);
void credits_exhausted(const Timeline& timeline, const Emit& emit);
void single_credit(const Timeline& timeline, const Emit& emit);

// ulp_operations.cpp: their operations
void operation_failed(const Timeline& timeline, const Emit& emit);
void operation_unanswered(const Timeline& timeline, const Emit& emit);
void operation_slow(const Timeline& timeline, const Emit& emit);
void serialised_io(const Timeline& timeline, const Emit& emit);
// fabric.cpp: what management datagrams tell of ports and of those who manage them
void port_errors_counted(const Timeline& timeline, const Emit& emit);
void trap_reported(const Timeline& timeline, const Emit& emit);
void management_unanswered(const Timeline& timeline, const Emit& emit);
void sa_query_failed(const Timeline& timeline, const Emit& emit);
// ultra_ethernet.cpp
void uet_retransmitted(const Timeline& timeline, const Emit& emit);
void uet_nack(const Timeline& timeline, const Emit& emit);
void uet_trimmed(const Timeline& timeline, const Emit& emit);
void uet_path_loss(const Timeline& timeline, const Emit& emit);
void uet_path_slow(const Timeline& timeline, const Emit& emit);
void uet_refused(const Timeline& timeline, const Emit& emit);

// iwarp.cpp: RDMA over TCP
void iwarp_terminated(const Timeline& timeline, const Emit& emit);
void iwarp_refused(const Timeline& timeline, const Emit& emit);
void iwarp_crc_wrong(const Timeline& timeline, const Emit& emit);
void iwarp_retransmission(const Timeline& timeline, const Emit& emit);
void iwarp_nonconforming(const Timeline& timeline, const Emit& emit);
void iwarp_unreadable(const Timeline& timeline, const Emit& emit);
void iwarp_stream_holes(const Timeline& timeline, const Emit& emit);

// capture.cpp: what the capture cannot show
void capture_lost_packets(const Timeline& timeline, const Emit& emit);
void gaps_unexplained(const Timeline& timeline, const Emit& emit);
void capture_duplicates(const Timeline& timeline, const Emit& emit);
void capture_truncated(const Timeline& timeline, const Emit& emit);
void one_way_capture(const Timeline& timeline, const Emit& emit);
void pairing_uncertain(const Timeline& timeline, const Emit& emit);
void clock_backwards(const Timeline& timeline, const Emit& emit);
void clock_offset(const Timeline& timeline, const Emit& emit);
void clock_coarse(const Timeline& timeline, const Emit& emit);
void malformed_packets(const Timeline& timeline, const Emit& emit);
void ip_fragments(const Timeline& timeline, const Emit& emit);
void analysis_bounded(const Timeline& timeline, const Emit& emit);

}  // namespace qps::transport::draw
