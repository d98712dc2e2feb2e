// Names of counters: what mlx5, mlx4, bnxt_re, ionic, mana, rxe, hfi1, ethtool, perfquery and switches call one event.
// Names as Linux 6.12 has them (drivers/infiniband/hw/*, drivers/net/ethernet/*), and as the tools print them.
#include <transport-replay/casework/counter_changes.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include <re2/re2.h>

namespace qps::casework {

namespace {

using enum Counter;

struct NameRow {
    std::string_view vendor;
    Counter counter;
};
// clang-format off
constexpr std::array kNames{
    NameRow{"local_ack_timeout_err", ack_timeout}, NameRow{"sq_num_to", ack_timeout}, NameRow{"to_retransmits", ack_timeout},
    NameRow{"tx_rdma_ack_timeout", ack_timeout}, NameRow{"requester_timeout", ack_timeout}, NameRow{"RcTimeOut", ack_timeout},
    NameRow{"req_transport_retries_exceeded", retry_exceeded}, NameRow{"sq_num_tree", retry_exceeded}, NameRow{"max_retry_exceeded", retry_exceeded},
    NameRow{"req_tx_retry_excd_err", retry_exceeded}, NameRow{"requester_retries_exceeded", retry_exceeded}, NameRow{"retry_exceeded_err", retry_exceeded},
    NameRow{"packet_seq_err", sequence_nak_received}, NameRow{"sq_num_oos", sequence_nak_received}, NameRow{"seq_err_naks_rcvd", sequence_nak_received},
    NameRow{"req_rx_pkt_seq_err", sequence_nak_received}, NameRow{"requester_oos_nak", sequence_nak_received}, NameRow{"rcvd_seq_err", sequence_nak_received},
    NameRow{"RcSeqNak", sequence_nak_received}, NameRow{"SeqNak", sequence_nak_received},
    NameRow{"implied_nak_seq_err", implied_nak}, NameRow{"missing_resp", implied_nak}, NameRow{"req_rx_impl_nak_seq_err", implied_nak}, NameRow{"requester_implicit_nak", implied_nak},
    NameRow{"rnr_nak_retry_err", rnr_received}, NameRow{"sq_num_rnr", rnr_received}, NameRow{"rnr_naks_rcvd", rnr_received},
    NameRow{"req_rx_rnr_retry_err", rnr_received}, NameRow{"requester_rnr_nak", rnr_received}, NameRow{"rcvd_rnr_err", rnr_received}, NameRow{"RnrNak", rnr_received},
    NameRow{"req_rnr_retries_exceeded", rnr_exceeded}, NameRow{"sq_num_rree", rnr_exceeded}, NameRow{"requester_rnr_nak_retries_exceeded", rnr_exceeded}, NameRow{"retry_rnr_exceeded_err", rnr_exceeded},
    NameRow{"req_remote_access_errors", remote_access}, NameRow{"sq_num_rae", remote_access}, NameRow{"remote_access_err", remote_access}, NameRow{"req_rx_rmt_acc_err", remote_access}, NameRow{"nak_access_error", remote_access},
    NameRow{"req_remote_invalid_request", remote_invalid}, NameRow{"sq_num_rire", remote_invalid}, NameRow{"remote_invalid_req_err", remote_invalid}, NameRow{"req_rx_rmt_req_err", remote_invalid}, NameRow{"nak_inv_req", remote_invalid},
    NameRow{"sq_num_roe", remote_operation}, NameRow{"remote_op_err", remote_operation}, NameRow{"req_rx_oper_err", remote_operation}, NameRow{"nak_opp_error", remote_operation},
    NameRow{"sq_num_lle", local_error}, NameRow{"sq_num_lqpoe", local_error}, NameRow{"sq_num_lpe", local_error}, NameRow{"sq_num_mwbe", local_error},
    NameRow{"local_qp_op_err", local_error}, NameRow{"local_protection_err", local_error}, NameRow{"mem_mgmt_op_err", local_error},
    NameRow{"req_tx_loc_acc_err", local_error}, NameRow{"req_tx_loc_oper_err", local_error}, NameRow{"req_tx_mem_mgmt_err", local_error}, NameRow{"req_tx_loc_sgl_inv_err", local_error}, NameRow{"requestor_local_prot_error", local_error},
    NameRow{"req_cqe_error", cqe_error}, NameRow{"unrecoverable_err", cqe_error}, NameRow{"req_rx_cqe_err", cqe_error},
    NameRow{"req_cqe_flush_error", cqe_flush}, NameRow{"sq_num_wrfe", cqe_flush}, NameRow{"req_rx_cqe_flush", cqe_flush},
    NameRow{"roce_adp_retrans", adaptive_retry}, NameRow{"roce_adp_retrans_to", adaptive_retry}, NameRow{"roce_slow_restart", adaptive_retry},
    NameRow{"out_of_sequence", out_of_sequence}, NameRow{"rq_num_oos", out_of_sequence}, NameRow{"oos_drop_count", out_of_sequence}, NameRow{"resp_rx_outouf_seq", out_of_sequence},
    NameRow{"responder_oos", out_of_sequence}, NameRow{"out_of_seq_request", out_of_sequence}, NameRow{"RdmaSeq", out_of_sequence},
    NameRow{"duplicate_request", duplicate}, NameRow{"rq_num_dup", duplicate}, NameRow{"dup_req", duplicate}, NameRow{"resp_rx_dup_request", duplicate}, NameRow{"responder_dup_request", duplicate}, NameRow{"RcDupRew", duplicate},
    NameRow{"out_of_buffer", no_receive}, NameRow{"rq_num_rnr", no_receive}, NameRow{"resp_rx_outof_buf", no_receive},
    NameRow{"resp_tx_rnr_retry_err", no_receive}, NameRow{"responder_rnr_nak", no_receive}, NameRow{"send_rnr_err", no_receive},
    NameRow{"resp_local_length_error", response_length}, NameRow{"rq_num_lle", response_length}, NameRow{"length_mismatch", response_length}, NameRow{"resp_rx_loc_len_err", response_length}, NameRow{"responder_local_len_error", response_length},
    NameRow{"resp_remote_access_errors", response_access}, NameRow{"rq_num_rae", response_access}, NameRow{"res_rx_invalid_rkey", response_access}, NameRow{"res_rx_no_perm", response_access}, NameRow{"res_rx_range_err", response_access}, NameRow{"resp_tx_rmt_acc_err", response_access}, NameRow{"responder_rem_access_error", response_access},
    NameRow{"resp_cqe_error", response_error}, NameRow{"resp_cqe_flush_error", cqe_flush}, NameRow{"rq_num_wrfe", cqe_flush}, NameRow{"resp_rx_cqe_err", response_error},
    NameRow{"rx_write_requests", requests_in}, NameRow{"rx_read_requests", requests_in}, NameRow{"rx_atomic_requests", requests_in}, NameRow{"rx_write_req", requests_in}, NameRow{"rx_read_req", requests_in}, NameRow{"rx_send_req", requests_in},
    NameRow{"rcvd_pkts", rdma_packets}, NameRow{"sent_pkts", rdma_packets},
    NameRow{"np_cnp_sent", cnp_sent}, NameRow{"cc_tx_cnp_pkts", cnp_sent}, NameRow{"tx_cnp_pkts", cnp_sent}, NameRow{"tx_rdma_cnp_pkts", cnp_sent}, NameRow{"sent_cnps", cnp_sent}, NameRow{"cnpSent", cnp_sent},
    NameRow{"np_ecn_marked_roce_packets", ce_received}, NameRow{"cc_rx_ce_pkts", ce_received}, NameRow{"rx_ecn_marked_pkts", ce_received}, NameRow{"rx_rdma_ecn_pkts", ce_received}, NameRow{"received_ecns", ce_received}, NameRow{"RxECNMrkd", ce_received},
    NameRow{"rp_cnp_handled", cnp_handled}, NameRow{"rx_cnp_pkts", cnp_handled}, NameRow{"cc_rx_cnp_pkts", cnp_handled}, NameRow{"rx_rdma_cnp_pkts", cnp_handled}, NameRow{"received_cnps", cnp_handled}, NameRow{"cnpHandled", cnp_handled},
    NameRow{"rp_cnp_ignored", cnp_ignored}, NameRow{"cnpIgnored", cnp_ignored},
    NameRow{"rx_icrc_encapsulated", bad_icrc},
    NameRow{"rx_pause_ctrl_phy", pause_in}, NameRow{"rx_global_pause", pause_in}, NameRow{"rx_pause_frames", pause_in}, NameRow{"rx_pause", pause_in},
    NameRow{"a_pause_mac_ctrl_frames_received", pause_in}, NameRow{"dot3in_pause_frames", pause_in},
    NameRow{"tx_pause_ctrl_phy", pause_out}, NameRow{"tx_global_pause", pause_out}, NameRow{"tx_pause_frames", pause_out}, NameRow{"tx_pause", pause_out},
    NameRow{"tx_pause_storm_warning_events", pause_storms}, NameRow{"tx_pause_storm_error_events", pause_storms}, NameRow{"storms_detected", pause_storms},
    NameRow{"rx_discards_phy", receive_discard}, NameRow{"rx_dropped.nic", receive_discard}, NameRow{"rx_drops", receive_discard}, NameRow{"RX_DRP", receive_discard}, NameRow{"TX_DRP", transmit_discard},
    NameRow{"tx_discards_phy", transmit_discard}, NameRow{"port_xmit_discards", transmit_discard}, NameRow{"PortXmitDiscards", transmit_discard}, NameRow{"XmtDiscards", transmit_discard}, NameRow{"tx_dropped_link_down.nic", transmit_discard},
    NameRow{"link_down_events_phy", link_down}, NameRow{"link_downed", link_down}, NameRow{"LinkDownedCounter", link_down}, NameRow{"SwLinkDown", link_down}, NameRow{"Link Down Counter", link_down}, NameRow{"Link Error Recovery Counter", link_down}, NameRow{"link_error_recovery", link_down}, NameRow{"LinkErrorRecoveryCounter", link_down},
    NameRow{"rx_crc_errors_phy", signal_error}, NameRow{"rx_symbol_err_phy", signal_error}, NameRow{"rx_pcs_symbol_err_phy", signal_error}, NameRow{"symbol_error", signal_error}, NameRow{"SymbolErrorCounter", signal_error}, NameRow{"port_rcv_errors", signal_error}, NameRow{"PortRcvErrors", signal_error}, NameRow{"local_link_integrity_errors", signal_error}, NameRow{"LocalLinkIntegrityErrors", signal_error}, NameRow{"rx_crc_errors.nic", signal_error}, NameRow{"Effective Physical Errors", signal_error}, NameRow{"Symbol Errors", signal_error},
    NameRow{"port_rcv_remote_physical_errors", upstream_signal_error}, NameRow{"PortRcvRemotePhysicalErrors", upstream_signal_error},
    NameRow{"port_xmit_wait", transmit_wait}, NameRow{"PortXmitWait", transmit_wait}, NameRow{"XmtWait", transmit_wait},
    NameRow{"outbound_pci_stalled_rd_events", pcie_stall}, NameRow{"outbound_pci_stalled_wr_events", pcie_stall}, NameRow{"outbound_pci_buffer_overflow", pcie_stall}, NameRow{"rx_pci_signal_integrity", pcie_stall}, NameRow{"tx_pci_signal_integrity", pcie_stall},
    NameRow{"rx_vport_rdma_unicast_bytes", rdma_bytes}, NameRow{"tx_vport_rdma_unicast_bytes", rdma_bytes}, NameRow{"rx_rdma_ucast_bytes", rdma_bytes}, NameRow{"tx_rdma_ucast_bytes", rdma_bytes},
    NameRow{"rx_vport_rdma_unicast_packets", rdma_packets}, NameRow{"tx_vport_rdma_unicast_packets", rdma_packets}, NameRow{"rx_rdma_ucast_pkts", rdma_packets}, NameRow{"tx_rdma_ucast_pkts", rdma_packets},
    NameRow{"FCS", signal_error}, NameRow{"FCS-Err", signal_error}, NameRow{"FcsErr", signal_error}, NameRow{"CRC", signal_error}, NameRow{"CRC-Err", signal_error}, NameRow{"CrcErr", signal_error}, NameRow{"Symbol", signal_error}, NameRow{"Symbol-Err", signal_error},
    NameRow{"PortRcvSwitchRelayErrors", relay_discard}, NameRow{"port_rcv_switch_relay_errors", relay_discard},
    NameRow{"RX_ERR", receive_error}, NameRow{"Rcv-Err", receive_error}, NameRow{"InErrors", receive_error}, NameRow{"Input-Err", receive_error}, NameRow{"rx_errors", receive_error},
    NameRow{"port_rcv_data", port_data}, NameRow{"port_xmit_data", port_data}, NameRow{"PortXmitData", port_data}, NameRow{"PortRcvData", port_data},
};
// Of one priority: a pattern with the priority as its group.
struct PriorityRow {
    std::string_view pattern;
    Counter counter;
};
constexpr std::array kPriorities{
    PriorityRow{R"(^rx_prio(\d)_pause$)", pause_in}, PriorityRow{R"(^prio(\d)_rx_pause$)", pause_in}, PriorityRow{R"(^rx_priority_(\d)_xoff(?:\.nic)?$)", pause_in},
    PriorityRow{R"(^rx_pfc_ena_frames_pri(\d)$)", pause_in}, PriorityRow{R"(^frames_rx_pri_(\d)$)", pause_in},
    PriorityRow{R"(^tx_prio(\d)_pause$)", pause_out}, PriorityRow{R"(^prio(\d)_tx_pause$)", pause_out}, PriorityRow{R"(^tx_priority_(\d)_xoff(?:\.nic)?$)", pause_out},
    PriorityRow{R"(^tx_pfc_ena_frames_pri(\d)$)", pause_out},
    PriorityRow{R"(^rx_prio(\d)_(?:buf_discard|discards|cong_discard)$)", receive_discard}, PriorityRow{R"(^rx_discard_pkts_cos(\d)$)", receive_discard},
    PriorityRow{R"(^[rt]x_prio(\d)_(?:bytes|packets)$)", priority_volume}, PriorityRow{R"(^[rt]x_(?:bytes|packets)_pri(\d)$)", priority_volume},
    PriorityRow{R"(^rx_pfc_watchdog_storms_detected_pri(\d)$)", pause_storms},
};
// clang-format on

// By the values of the enumerators.
constexpr std::array<std::string_view, 41> kCounters{"other counter",
                                                     "ACK timeouts",
                                                     "retries exceeded",
                                                     "sequence NAKs received",
                                                     "implied NAKs",
                                                     "RNR NAKs received",
                                                     "RNR retries exceeded",
                                                     "remote access errors",
                                                     "remote invalid requests",
                                                     "remote operation errors",
                                                     "local errors",
                                                     "completions with an error",
                                                     "flushed completions",
                                                     "adaptive retransmissions",
                                                     "packets out of sequence",
                                                     "duplicate requests",
                                                     "requests without a posted receive",
                                                     "length errors of receives",
                                                     "refused accesses",
                                                     "error completions of receives",
                                                     "requests received",
                                                     "CNPs sent",
                                                     "ECN-marked packets received",
                                                     "CNPs handled",
                                                     "CNPs ignored",
                                                     "bad ICRCs",
                                                     "pause frames received",
                                                     "pause frames sent",
                                                     "pause storms",
                                                     "packets dropped on receive",
                                                     "packets dropped on transmit",
                                                     "link down events",
                                                     "signal errors",
                                                     "signal errors further up",
                                                     "time without credit",
                                                     "PCIe stalls",
                                                     "RDMA bytes",
                                                     "RDMA packets",
                                                     "traffic of a priority",
                                                     "frames received with an error",
                                                     "packets that came by the port they would leave by"};

}  // namespace

std::string_view name(Counter counter) {
    const auto index = static_cast<std::size_t>(counter);
    return index < kCounters.size() ? kCounters[index] : "port data";
}

CounterName canonical(std::string_view vendor_name) {
    if (vendor_name.starts_with("vport_")) vendor_name.remove_prefix(6);  // of representors in switchdev mode
    const auto found = std::ranges::find(kNames, vendor_name, &NameRow::vendor);
    if (found != kNames.end()) return {found->counter, -1};
    // Of tables of switches: what a queue or a priority group dropped.
    if (vendor_name.ends_with("_drops"))
        return {vendor_name.starts_with("pg") ? receive_discard : transmit_discard, -1};
    if (!vendor_name.contains("pri")) return {};
    static const auto patterns = [] {
        std::array<std::unique_ptr<RE2>, kPriorities.size()> made;
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] =
                std::make_unique<RE2>(re2::StringPiece(kPriorities[i].pattern.data(), kPriorities[i].pattern.size()));
        return made;
    }();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        int priority = -1;
        if (RE2::PartialMatch(re2::StringPiece(vendor_name.data(), vendor_name.size()), *patterns[i], &priority))
            return {kPriorities[i].counter, priority};
    }
    return {};
}

bool is_gauge(std::string_view vendor_name) {
    constexpr std::array<std::string_view, 7> kGauges{
        "lifespan",          "outbound_pci_stalled_rd", "outbound_pci_stalled_wr", "current_rate",
        "num_qps_congested", "rx_corrected_bits_phy",   "module_temperature"};
    return std::ranges::find(kGauges, vendor_name) != kGauges.end() || vendor_name.starts_with("active_") ||
           vendor_name.starts_with("watermark_");
}

}  // namespace qps::casework
