#include <dissect/headers/icmp.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/link.hpp>
#include <dissect/headers/segment_routing.hpp>
#include <dissect/lldp/dcbx.hpp>
#include <dissect/lldp/tlvs.hpp>
#include <dissect/mad/notice.hpp>
#include <dissect/notation.hpp>
#include <dissect/omni_path/management.hpp>
#include <dissect/omni_path/packets.hpp>
#include <dissect/render_value.hpp>
#include <dissect/ulp/iser.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <dissect/ulp/libfabric.hpp>
#include <dissect/ulp/lnet.hpp>
#include <dissect/ulp/lustre.hpp>
#include <dissect/ulp/nvme.hpp>
#include <dissect/ulp/rds.hpp>
#include <dissect/ulp/rpc_rdma.hpp>
#include <dissect/ulp/sdp.hpp>
#include <dissect/ulp/smb_direct.hpp>
#include <dissect/ulp/srp.hpp>
#include <dissect/ulp/ucx.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::uint64_t kDefaultPkey = 0xffff;
constexpr std::uint64_t kGsiQkey = 0x80010000;
constexpr std::uint64_t kSend = 3;  // the only method of connection management

constexpr auto kWords = std::to_array<Word>({
    Word{LayerKind::bth, "infiniband.bth.destqp", "qp"},
    Word{LayerKind::bth, "infiniband.bth.psn", "psn"},
    Word{LayerKind::bth, "infiniband.bth.a", "ackreq", Mention::set},
    Word{LayerKind::bth, "infiniband.bth.se", "se", Mention::set},
    Word{LayerKind::bth, "infiniband.bth.fecn", "fecn", Mention::set},
    Word{LayerKind::bth, "infiniband.bth.becn", "becn", Mention::set},
    Word{LayerKind::bth, "infiniband.bth.p_key", "pkey", Mention::unusual, kDefaultPkey},
    Word{LayerKind::bth, "infiniband.bth.tver", "tver", Mention::unusual, 0},
    Word{LayerKind::bth, "infiniband.bth.reserved6", "resv6", Mention::unusual, 0},
    Word{LayerKind::bth, "infiniband.bth.reserved7", "resv7", Mention::unusual, 0},
    Word{LayerKind::rdeth, "infiniband.rdeth.eecnxt", "eec"},
    Word{LayerKind::xrceth, "infiniband.xrceth.xrcsrq", "srq"},
    Word{LayerKind::deth, "infiniband.deth.q_key", "qkey", Mention::unusual, kGsiQkey},
    Word{LayerKind::deth, "infiniband.deth.srcqp", "srcqp"},
    Word{LayerKind::feth, "infiniband.feth.selectivity_level", "sel"},
    Word{LayerKind::feth, "infiniband.feth.placement_type", "plt"},
    Word{LayerKind::reth, "infiniband.reth.va", "va"},
    Word{LayerKind::reth, "infiniband.reth.r_key", "rkey"},
    Word{LayerKind::reth, "infiniband.reth.dmalen", "dmalen"},
    Word{LayerKind::atomiceth, "infiniband.reth.va", "va"},
    Word{LayerKind::atomiceth, "infiniband.reth.r_key", "rkey"},
    Word{LayerKind::atomiceth, "infiniband.atomiceth.swapdt", "swap"},
    Word{LayerKind::atomiceth, "infiniband.atomiceth.cmpdt", "compare"},
    Word{LayerKind::aeth, "infiniband.aeth.syndrome.error_code", "nak"},
    Word{LayerKind::aeth, "infiniband.aeth.syndrome.reserved_value", "reserved_syndrome"},
    Word{LayerKind::aeth, "rdma.aeth.rnr_timer_ms", "rnr_ms"},
    Word{LayerKind::aeth, "rdma.aeth.credits", "credits"},
    Word{LayerKind::aeth, "infiniband.aeth.msn", "msn"},
    Word{LayerKind::atomicacketh, "infiniband.atomicacketh.origremdt", "original"},
    Word{LayerKind::immdt, "infiniband.immdt", "imm"},
    Word{LayerKind::ieth, "infiniband.ieth", "inv"},
    Word{LayerKind::mad, "infiniband.mad.mgmtclass", "class"},
    Word{LayerKind::mad, "infiniband.mad.attribute", "attr"},
    Word{LayerKind::mad, "infiniband.mad.method", "method", Mention::unusual, kSend},
    Word{kind::notice, "infiniband.notice.trapnumberdeviceid", "trap"},
    Word{LayerKind::cm_req, "infiniband.cm.req", "comm"},
    Word{LayerKind::cm_req, "infiniband.cm.req.serviceid", "service"},
    Word{LayerKind::cm_req, "infiniband.cm.req.serviceid.dport", "port"},
    Word{LayerKind::cm_req, "infiniband.cm.req.localqpn", "local_qp"},
    Word{LayerKind::cm_req, "infiniband.cm.req.startpsn", "start_psn"},
    Word{LayerKind::cm_rep, "infiniband.cm.rep", "comm"},
    Word{LayerKind::cm_rep, "infiniband.cm.rep.remotecommid", "remote_comm"},
    Word{LayerKind::cm_rep, "infiniband.cm.rep.localqpn", "local_qp"},
    Word{LayerKind::cm_rep, "infiniband.cm.rep.startpsn", "start_psn"},
    Word{LayerKind::cm_rtu, "infiniband.cm.rtu.localcommid", "comm"},
    Word{LayerKind::cm_rtu, "infiniband.cm.rtu.remotecommid", "remote_comm"},
    Word{LayerKind::cm_rej, "infiniband.cm.rej.localcommid", "comm"},
    Word{LayerKind::cm_rej, "infiniband.cm.rej.remotecommid", "remote_comm"},
    Word{LayerKind::cm_rej, "infiniband.cm.rej.reason", "reason"},
    Word{LayerKind::cm_dreq, "infiniband.cm.dreq.localcommid", "comm"},
    Word{LayerKind::cm_dreq, "infiniband.cm.dreq.remotecommid", "remote_comm"},
    Word{LayerKind::cm_drep, "infiniband.cm.drsp.localcommid", "comm"},
    Word{LayerKind::cm_drep, "infiniband.cm.drsp.remotecommid", "remote_comm"},
    Word{kind::opa_bth, "opa.bth.opcode", "op"},
    Word{kind::opa_bth, "opa.bth.destqp", "qp"},
    Word{kind::opa_bth, "opa.bth.psn", "psn"},
    Word{kind::opa_bth, "opa.bth.fcn", "fecn", Mention::set},
    Word{kind::opa_bth, "opa.bth.bcn", "becn", Mention::set},
    Word{kind::opa_mad, "opa.mad.mgmtclass", "class"},
    Word{kind::opa_mad, "opa.mad.attribute", "attr"},
    Word{kind::opa_mad, "opa.mad.method", "method"},
    Word{kind::opa_mad_directed, "opa.mad.mgmtclass", "class"},
    Word{kind::opa_mad_directed, "opa.mad.attribute", "attr"},
    Word{kind::opa_mad_directed, "opa.mad.method", "method"},
    Word{kind::nvme_command, "nvme.cmd.opc", "nvme"},
    Word{kind::nvme_command, "nvme.cmd.cid", "cid"},
    Word{kind::nvme_admin_command, "nvme.cmd.opc", "nvme"},
    Word{kind::nvme_admin_command, "nvme.cmd.cid", "cid"},
    Word{kind::nvme_io_command, "nvme.cmd.opc", "nvme"},
    Word{kind::nvme_io_command, "nvme.cmd.cid", "cid"},
    Word{kind::nvme_blocks, "nvme.cmd.slba", "lba"},
    Word{kind::nvme_blocks, "nvme.cmd.nlb", "blocks"},
    Word{kind::nvme_fabrics, "nvme.fabrics.cmd.fctype", "nvme"},
    Word{kind::nvme_fabrics, "nvme.fabrics.cmd.cid", "cid"},
    Word{kind::nvme_completion, "nvme.cqe.cid", "nvme_done"},
    Word{kind::nvme_completion, "nvme.cqe.status", "status", Mention::unusual, 0},
    Word{kind::iscsi_nop, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_nop, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_command, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_command, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_response, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_response, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_task_management, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_task_management, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_login_request, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_login_request, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_login_response, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_login_response, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_text, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_text, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_data_out, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_data_out, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_data_in, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_data_in, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_logout, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_logout, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_ready_to_transfer, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_ready_to_transfer, "iscsi.initiatortasktag", "itt"},
    Word{kind::iscsi_asynchronous, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_reject, "iscsi.opcode", "iscsi"},
    Word{kind::iscsi_login_response, "iscsi.login.status", "status", Mention::unusual, 0},
    Word{kind::scsi_cdb, "scsi_sbc.opcode", "scsi"},
    Word{kind::srp_command, "rdma.srp.opcode", "srp"},
    Word{kind::srp_command, "rdma.srp.tag", "tag"},
    Word{kind::srp_response, "rdma.srp.opcode", "srp"},
    Word{kind::srp_response, "rdma.srp.tag", "tag"},
    Word{kind::srp_login_request, "rdma.srp.opcode", "srp"},
    Word{kind::srp_login_request_rdma, "rdma.srp.opcode", "srp"},
    Word{kind::srp_login_response, "rdma.srp.opcode", "srp"},
    Word{kind::srp_login_reject, "rdma.srp.opcode", "srp"},
    Word{kind::srp_login_reject, "rdma.srp.rej_reason", "reason"},
    Word{kind::rpc_rdma, "rpcordma.xid", "xid"},
    Word{kind::rpc_rdma, "rpcordma.flow_control", "rpc_credits"},
    Word{kind::rpc_rdma, "rpcordma.msg_type", "rpc", Mention::unusual, 0},
    Word{kind::rpc_call, "rpc.program", "program"},
    Word{kind::rpc_call, "nfs.procedure_v3", "nfs"},
    Word{kind::nfs_compound, "nfs.main_opcode", "nfs"},
    Word{kind::nfs_compound_results, "nfs.main_opcode", "nfs"},
    Word{kind::nfs_compound_results, "nfs.status", "status", Mention::unusual, 0},
    Word{kind::smb2, "smb2.cmd", "smb2"},
    Word{kind::smb2, "smb2.msg_id", "id"},
    Word{kind::smb2, "smb2.nt_status", "status", Mention::unusual, 0},
    Word{kind::rds_header, "rdma.rds.sport", "rds_src"},
    Word{kind::rds_header, "rdma.rds.dport", "rds_dst"},
    Word{kind::lnet_header, "lnet.msg_type", "lnet"},
    Word{kind::lustre_body, "lustre.ptlrpc_body.pb_opc", "lustre"},
    Word{kind::lustre_body, "lustre.ptlrpc_body.pb_type", "ptlrpc"},
    Word{kind::lustre_body, "lustre.ptlrpc_body.pb_status", "status", Mention::unusual, 0},
    Word{kind::ucx_ud, "rdma.ucx.am.id", "ucx"},
    Word{kind::ucx_ud, "rdma.ucx.ud.psn", "ucx_psn"},
    Word{kind::ucx_ud_control, "rdma.ucx.ud.type", "ucx"},
    Word{kind::ucx_active, "rdma.ucx.am.id", "ucx"},
    Word{kind::ucx_wireup, "rdma.ucx.wireup.type", "wireup"},
    Word{kind::ucx_eager, "rdma.ucx.tag", "tag"},
    Word{kind::ucx_eager_first, "rdma.ucx.tag", "tag"},
    Word{kind::ucx_eager_sync, "rdma.ucx.tag", "tag"},
    Word{kind::ucx_eager_sync_first, "rdma.ucx.tag", "tag"},
    Word{kind::ucx_ready_to_send, "rdma.ucx.tag", "tag"},
    Word{kind::ucx_ready_to_send, "rdma.ucx.size", "size"},
    Word{kind::ofi_control, "rdma.rxm.ctrl.type", "rxm"},
    Word{kind::ofi_operation, "rdma.rxm.op", "op"},
    Word{kind::ofi_operation, "rdma.rxm.tag", "tag"},
    Word{kind::rxd_base, "rdma.rxd.type", "rxd"},
    Word{kind::rxd_base, "rdma.rxd.seq_no", "seq"},
    Word{kind::rxd_tag, "rdma.rxd.tag", "tag"},
    Word{kind::sdp_base, "infiniband_sdp.bsdh.mid", "sdp"},
    Word{kind::sdp_base, "infiniband_sdp.bsdh.mseq", "mseq"},
    Word{kind::opa_psm, "opa.psm.ackpsn", "ack"},
    Word{kind::flow_control, "infiniband_link.op", "op"},
    Word{kind::flow_control, "infiniband_link.vl", "vl"},
    Word{kind::flow_control, "infiniband_link.fctbs", "fctbs"},
    Word{kind::flow_control, "infiniband_link.fccl", "fccl"},
    Word{kind::mpa_request, "iwarp_mpa.rev", "mpa_request_rev"},
    Word{kind::mpa_reply, "iwarp_mpa.rev", "mpa_reply_rev"},
    Word{kind::rdmap, "iwarp_rdma.opcode", "rdmap"},
    Word{kind::ddp_tagged, "iwarp_ddp.stag", "stag"},
    Word{kind::ddp_untagged, "iwarp_ddp.msn", "msn"},
    Word{kind::uet_request, "uet.pds.type", "pds"},
    Word{kind::uet_request, "uet.pds.psn", "psn"},
    Word{kind::uet_request, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_request, "uet.pds.dpdcid", "to_pdc"},
    Word{kind::uet_request, "uet.pds.flags.retx", "retx", Mention::set},
    Word{kind::uet_request, "uet.pds.flags.ar", "ar", Mention::set},
    Word{kind::uet_request, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_request_syn, "uet.pds.type", "pds"},
    Word{kind::uet_request_syn, "uet.pds.psn", "psn"},
    Word{kind::uet_request_syn, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_request_syn, "uet.pds.flags.retx", "retx", Mention::set},
    Word{kind::uet_request_syn, "uet.pds.flags.ar", "ar", Mention::set},
    Word{kind::uet_request_syn, "uet.pds.flags.syn", "syn", Mention::set},
    Word{kind::uet_request_syn, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_rudi, "uet.pds.type", "pds"},
    Word{kind::uet_rudi, "uet.pds.rudi.pkt_id", "id"},
    Word{kind::uet_rudi, "uet.pds.flags.retx", "retx", Mention::set},
    Word{kind::uet_rudi, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_rudi_short, "uet.pds.type", "pds"},
    Word{kind::uet_rudi_short, "uet.pds.rudi.pkt_id", "id"},
    Word{kind::uet_rudi_short, "uet.pds.flags.retx", "retx", Mention::set},
    Word{kind::uet_rudi_short, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_rudi_open, "uet.pds.type", "pds"},
    Word{kind::uet_rudi_open, "uet.pds.flags.retx", "retx", Mention::set},
    Word{kind::uet_rudi_open, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_uud, "uet.pds.type", "pds"},
    Word{kind::uet_uud, "uet.trimmed_bytes", "trimmed"},
    Word{kind::uet_ack, "uet.pds.type", "pds"},
    Word{kind::uet_ack, "uet.pds.ack_psn", "psn"},
    Word{kind::uet_ack, "uet.pds.cack_psn", "cack"},
    Word{kind::uet_ack, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_ack, "uet.pds.dpdcid", "to_pdc"},
    Word{kind::uet_ack, "uet.pds.flags.m", "marked", Mention::set},
    Word{kind::uet_ack, "uet.pds.flags.req", "asks", Mention::unusual, 0},
    Word{kind::uet_ack_probe, "uet.pds.type", "pds"},
    Word{kind::uet_ack_probe, "uet.pds.cack_psn", "cack"},
    Word{kind::uet_ack_probe, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_ack_probe, "uet.pds.dpdcid", "to_pdc"},
    Word{kind::uet_ack_probe, "uet.pds.ctrl_probe_opaque", "probe"},
    Word{kind::uet_ack_probe, "uet.pds.flags.m", "marked", Mention::set},
    Word{kind::uet_ack_probe, "uet.pds.flags.req", "asks", Mention::unusual, 0},
    Word{kind::uet_nack, "uet.pds.type", "pds"},
    Word{kind::uet_nack, "uet.pds.nack.code", "code"},
    Word{kind::uet_nack, "uet.pds.nack.psn", "psn"},
    Word{kind::uet_nack, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_nack, "uet.pds.dpdcid", "to_pdc"},
    Word{kind::uet_nack, "uet.pds.flags.m", "marked", Mention::set},
    Word{kind::uet_nack_rudi, "uet.pds.type", "pds"},
    Word{kind::uet_nack_rudi, "uet.pds.nack.code", "code"},
    Word{kind::uet_nack_rudi, "uet.pds.nack.pkt_id", "id"},
    Word{kind::uet_nack_rudi, "uet.pds.flags.m", "marked", Mention::set},
    Word{kind::uet_control, "uet.pds.type", "pds"},
    Word{kind::uet_control, "uet.pds.ctl_type", "control"},
    Word{kind::uet_control, "uet.pds.psn", "psn"},
    Word{kind::uet_control, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_control, "uet.pds.dpdcid", "to_pdc"},
    Word{kind::uet_control, "uet.pds.flags.ar", "ar", Mention::set},
    Word{kind::uet_control_syn, "uet.pds.type", "pds"},
    Word{kind::uet_control_syn, "uet.pds.ctl_type", "control"},
    Word{kind::uet_control_syn, "uet.pds.psn", "psn"},
    Word{kind::uet_control_syn, "uet.pds.spdcid", "pdc"},
    Word{kind::uet_control_syn, "uet.pds.flags.ar", "ar", Mention::set},
    Word{kind::uet_control_syn, "uet.pds.flags.syn", "syn", Mention::set},
    Word{kind::uet_tss, "uet.tss.type", "pds"},
    Word{kind::uet_tss, "uet.tss.sdi", "sdi"},
    Word{kind::uet_tss, "uet.tss.tsc.counter", "counter"},
    Word{kind::uet_tss_ssi, "uet.tss.type", "pds"},
    Word{kind::uet_tss_ssi, "uet.tss.sdi", "sdi"},
    Word{kind::uet_tss_ssi, "uet.tss.ssi", "ssi"},
    Word{kind::uet_tss_ssi, "uet.tss.tsc.counter", "counter"},
    Word{kind::ses_standard, "uet.ses.std.opcode", "op"},
    Word{kind::ses_standard, "uet.ses.std.message_id", "msg"},
    Word{kind::ses_standard, "uet.ses.std.request_length", "length"},
    Word{kind::ses_standard_later, "uet.ses.std.opcode", "op"},
    Word{kind::ses_standard_later, "uet.ses.std.message_id", "msg"},
    Word{kind::ses_standard_later, "uet.ses.std.message_offset", "offset"},
    Word{kind::ses_standard_later, "uet.ses.std.request_length", "length"},
    Word{kind::ses_small, "uet.ses.std.opcode", "op"},
    Word{kind::ses_small, "uet.ses.small_req.req_length", "length"},
    Word{kind::ses_medium, "uet.ses.std.opcode", "op"},
    Word{kind::ses_medium, "uet.ses.med_req.req_length", "length"},
    Word{kind::ses_medium_data, "uet.ses.std.opcode", "op"},
    Word{kind::ses_medium_data, "uet.ses.med_req.req_length", "length"},
    Word{kind::ses_response, "uet.ses.rsp.opcode", "op"},
    Word{kind::ses_response, "uet.ses.rsp.return_code", "rc", Mention::unusual, 1},
    Word{kind::ses_response, "uet.ses.rsp.message_id", "msg"},
    Word{kind::ses_response_data, "uet.ses.rsp.opcode", "op"},
    Word{kind::ses_response_data, "uet.ses.rsp.return_code", "rc", Mention::unusual, 1},
    Word{kind::ses_response_data, "uet.ses.rsp.read_req_message_id", "msg"},
    Word{kind::ses_response_data, "uet.ses.rsp.message_offset", "offset"},
    Word{kind::ses_response_data_small, "uet.ses.rsp.opcode", "op"},
    Word{kind::ses_response_data_small, "uet.ses.rsp.return_code", "rc", Mention::unusual, 1},
    Word{kind::ses_response_data_small, "uet.ses.rsp.original_request_psn", "request_psn"},
    Word{kind::ses_atomic, "uet.ses.atomic_op_ext_hdr.atomic_opcode", "atomic"},
    Word{kind::lldp_chassis, "rdma.lldp.chassis.name", "chassis"},
    Word{kind::lldp_chassis_mac, "lldp.chassis.id.mac", "chassis"},
    Word{kind::lldp_chassis_address, "lldp.chassis.id.ip4", "chassis"},
    Word{kind::lldp_port, "lldp.port.id", "port"},
    Word{kind::lldp_port_mac, "lldp.port.id.mac", "port"},
    Word{kind::lldp_time_to_live, "lldp.time_to_live", "ttl"},
    Word{kind::lldp_system_name, "lldp.tlv.system.name", "name"},
    Word{kind::dcbx_pfc, "rdma.lldp.pfc.enabled", "pfc"},
    Word{kind::cee_pfc, "rdma.lldp.pfc.enabled", "pfc"},
    Word{kind::cnm, "rdma.cnm.quantized_feedback", "feedback"},
    Word{kind::cnm, "rdma.cnm.priority", "priority"},
    Word{LayerKind::tcp, "tcp.srcport", "src"},
    Word{LayerKind::tcp, "tcp.dstport", "dst"},
    Word{LayerKind::tcp, "tcp.seq_raw", "seq"},
    Word{LayerKind::tcp, "tcp.ack_raw", "ack"},
    Word{LayerKind::tcp, "tcp.flags.syn", "syn", Mention::set},
    Word{LayerKind::tcp, "tcp.flags.fin", "fin", Mention::set},
    Word{LayerKind::tcp, "tcp.flags.reset", "rst", Mention::set},
    Word{LayerKind::udp, "udp.srcport", "src"},
    Word{LayerKind::udp, "udp.dstport", "dst"},
    Word{LayerKind::arp, "arp.opcode", "op"},
    Word{LayerKind::arp, "arp.dst.proto_ipv4", "target"},
    Word{kind::icmp, "icmp.type", "type"},
    Word{kind::icmp_echo, "icmp.type", "type"},
    Word{kind::icmp_echo, "icmp.seq", "seq"},
    Word{kind::icmp_unreachable, "icmp.type", "type"},
    Word{kind::icmp_unreachable, "icmp.code", "code"},
    Word{kind::icmp_unreachable, "icmp.mtu", "mtu"},
    Word{kind::icmp_redirect, "icmp.type", "type"},
    Word{kind::icmp_redirect, "icmp.redir_gw", "gateway"},
    Word{kind::icmp_time_exceeded, "icmp.type", "type"},
    Word{kind::icmp_time_exceeded, "icmp.code", "code"},
    Word{kind::icmp_parameter, "icmp.type", "type"},
    Word{kind::icmp_parameter, "icmp.pointer", "pointer"},
    Word{kind::icmpv6, "icmpv6.type", "type"},
    Word{kind::icmpv6_echo, "icmpv6.type", "type"},
    Word{kind::icmpv6_echo, "icmpv6.echo.sequence_number", "seq"},
    Word{kind::icmpv6_unreachable, "icmpv6.type", "type"},
    Word{kind::icmpv6_unreachable, "icmpv6.code", "code"},
    Word{kind::icmpv6_too_big, "icmpv6.type", "type"},
    Word{kind::icmpv6_too_big, "icmpv6.mtu", "mtu"},
    Word{kind::icmpv6_time_exceeded, "icmpv6.type", "type"},
    Word{kind::icmpv6_time_exceeded, "icmpv6.code", "code"},
    Word{kind::icmpv6_parameter, "icmpv6.type", "type"},
    Word{kind::icmpv6_parameter, "icmpv6.code", "code"},
    Word{kind::icmpv6_parameter, "icmpv6.pointer", "pointer"},
    Word{kind::nd_router_solicitation, "icmpv6.type", "type"},
    Word{kind::nd_router_advertisement, "icmpv6.type", "type"},
    Word{kind::nd_router_advertisement, "icmpv6.nd.ra.router_lifetime", "lifetime"},
    Word{kind::nd_solicitation, "icmpv6.type", "type"},
    Word{kind::nd_solicitation, "icmpv6.nd.ns.target_address", "target"},
    Word{kind::nd_advertisement, "icmpv6.type", "type"},
    Word{kind::nd_advertisement, "icmpv6.nd.na.target_address", "target"},
    Word{kind::nd_advertisement, "icmpv6.nd.na.flag.r", "router", Mention::set},
    Word{kind::nd_advertisement, "icmpv6.nd.na.flag.s", "solicited", Mention::set},
    Word{kind::nd_advertisement, "icmpv6.nd.na.flag.o", "override", Mention::set},
    Word{kind::nd_redirect, "icmpv6.type", "type"},
    Word{kind::nd_redirect, "icmpv6.nd.rd.target_address", "target"},
    Word{kind::nd_redirect, "icmpv6.rd.na.destination_address", "destination"},
    Word{kind::mld, "icmpv6.type", "type"},
    Word{kind::mld, "icmpv6.mld.multicast_address", "group"},
    Word{kind::mld_report, "icmpv6.type", "type"},
    Word{kind::mld_record, "icmpv6.mldr.mar.multicast_address", "group"},
    Word{kind::nd_link_address, "icmpv6.opt.linkaddr", "mac"},
    Word{kind::nd_prefix, "icmpv6.opt.prefix", "prefix"},
    Word{kind::nd_mtu, "icmpv6.opt.mtu", "mtu"},
    Word{kind::quoted_ipv4, "rdma.quoted.ip.src", "quoted_src"},
    Word{kind::quoted_ipv4, "rdma.quoted.ip.dst", "quoted_dst"},
    Word{kind::quoted_ipv6, "rdma.quoted.ipv6.src", "quoted_src"},
    Word{kind::quoted_ipv6, "rdma.quoted.ipv6.dst", "quoted_dst"},
    Word{kind::quoted_udp, "rdma.quoted.udp.dstport", "quoted_port"},
    Word{kind::quoted_bth, "rdma.quoted.infiniband.bth.opcode", "quoted_op"},
    Word{kind::quoted_bth, "rdma.quoted.infiniband.bth.destqp", "quoted_qp"},
    Word{kind::quoted_bth, "rdma.quoted.infiniband.bth.psn", "quoted_psn"},
    Word{LayerKind::mac_pause, "macc.pause_time", "quanta"},
    Word{LayerKind::mac_pause, "rdma.pause.time_us", "us"},
    Word{LayerKind::mac_pfc, "macc.cbfc.enbv", "priorities"},
});

// Numbers as people read them in a line: names where there are names, hex where the field is hex, else plain.
void append_word_value(std::string& out, const Field& field, const Value& value) {
    if (const std::string_view name = name_of(field, value.number); !name.empty() && value.bytes.empty())
        std::ranges::replace_copy(name, std::back_inserter(out), ' ', '_');
    else if (field.format == Format::hexadecimal) fmt::format_to(std::back_inserter(out), "0x{:0{}x}", value.number, (field.width + 3) / 4);
    else if (field.format == Format::bytes) fmt::format_to(std::back_inserter(out), "0x"), append_hex(out, value.bytes);
    else if (field.format == Format::text) append_words(out, field, value);
    else append_plain(out, field, value);
}

struct ResolvedWord {
    const Field* field;
    const Word* word;
};

// The words of each kind, in table order, with their fields looked up once.
const std::array<std::vector<ResolvedWord>, kLayerKinds>& resolved() {
    static const auto table = [] {
        std::array<std::vector<ResolvedWord>, kLayerKinds> made;
        for (const Word& word : kWords) {
            const auto fields = header(word.kind).fields;
            const auto field = std::ranges::find(fields, word.field, &Field::name);
            if (field != fields.end()) made[static_cast<std::size_t>(word.kind)].push_back({&*field, &word});
        }
        return made;
    }();
    return table;
}

void append_words_of(std::string& out, const Packet& packet, const Layer& layer) {
    for (const auto& [field, word] : resolved()[static_cast<std::size_t>(layer.kind)]) {
        const auto value = value_of(packet, layer, *field);
        if (!value) continue;
        if (word->mention == Mention::set && value->number == 0) continue;
        if (word->mention == Mention::unusual && value->number == word->usual) continue;
        out += ' ';
        out += word->key;
        if (word->mention == Mention::set) continue;
        out += '=';
        append_word_value(out, *field, *value);
    }
}

// The pause times of the priorities that a PFC frame names, in microseconds where the link speed is known.
void append_pfc(std::string& out, const Packet& packet, const Layer& layer) {
    const Bytes bytes = packet.bytes_of(layer);
    for (std::size_t priority = 0; priority < 8; ++priority) {
        if ((read_be<std::uint16_t>(bytes, 0) >> priority & 1) == 0) continue;
        fmt::format_to(std::back_inserter(out), " p{}={}", priority, read_be<std::uint16_t>(bytes, 2 + 2 * priority));
        if (const auto time = derived::pause_ps(packet, layer, 2 + 2 * priority); time && time->number != 0)
            fmt::format_to(std::back_inserter(out), "({})", human_time(static_cast<double>(time->number) * 1e-12));
    }
}

void append_transport(std::string& out, const Packet& packet) {
    if (!packet.has_transport()) {
        out += "NO_BTH";
        return;
    }
    const OpcodeRow& row = info(packet.opcode);
    out += row.name();
    if (!row.defined) fmt::format_to(std::back_inserter(out), "_0x{:02X}", std::to_underlying(packet.opcode));
    for (const Layer& layer : packet.layers().subspan(packet.bth_layer)) append_words_of(out, packet, layer);
    if (packet.payload.length > 0) fmt::format_to(std::back_inserter(out), " len={}", packet.payload.length);
    if (packet.icrc.status == CrcStatus::bad)
        fmt::format_to(std::back_inserter(out), " icrc=BAD(found=0x{:08x},expected=0x{:08x})", packet.icrc.found, packet.icrc.expected);
    if (packet.vcrc.status == CrcStatus::bad)
        fmt::format_to(std::back_inserter(out), " vcrc=BAD(found=0x{:04x},expected=0x{:04x})", packet.vcrc.found, packet.vcrc.expected);
}

bool is_iwarp(LayerKind kind) { return is_of(kind, LayerFamily::iwarp); }
bool is_icmp(LayerKind kind) { return is_of(kind, LayerFamily::icmp); }
bool is_ultra_ethernet(LayerKind kind) { return is_of(kind, LayerFamily::ultra_ethernet); }

// A CE mark is what a switch has to say about congestion: worth a word on any IP packet.
void append_congestion(std::string& out, const Packet& packet) {
    if (packet.network_layer == kNoLayer) return;
    const Layer& network = packet.layer_storage[packet.network_layer];
    const Bytes bytes = packet.bytes_of(network);
    const std::uint8_t ecn = network.kind == LayerKind::ipv4   ? read_be<std::uint8_t>(bytes, 1) & 3
                             : network.kind == LayerKind::ipv6 ? read_be<std::uint8_t>(bytes, 1) >> 4 & 3
                                                               : 0;
    constexpr std::uint8_t kCongestionExperienced = 3;
    if (ecn == kCongestionExperienced) out += " ce";
}

// The path of SRv6, in the order in which it is travelled, with how much of it is left.
void append_segments(std::string& out, const Packet& packet) {
    constexpr Field kFirst = named(kSegmentRoutingFields, "rdma.srv6.destination");
    for (const Layer& layer : packet.layers()) {
        if (layer.kind != kind::segment_routing || layer.fault != Fault::none) continue;
        const Bytes bytes = packet.bytes_of(layer);
        std::string_view before = " via=";
        const std::size_t count = (bytes.size() - kSegmentsAt) / kSegment;
        for (std::size_t i = count; i-- > 0;) {
            if (count - i > kShownSegments && i != 0) continue;  // the end is worth more than the middle
            out += before;
            append_plain(out, kFirst, Value{0, slice(bytes, kSegmentsAt + i * kSegment, kSegment)});
            before = ">";
        }
        fmt::format_to(std::back_inserter(out), " left={}", read_be<std::uint8_t>(bytes, 3));
    }
}

// Those of the packet itself.
std::span<const Layer> own_layers(const Packet& packet) {
    const auto layers = packet.layers();
    return layers.first(layers.size() - (!layers.empty() && layers.back().kind == LayerKind::rdma ? 1 : 0));
}

const Layer* named_layer(const Packet& packet) {
    const auto layers = own_layers(packet);
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        if (layer->kind != LayerKind::data && layer->kind != LayerKind::frame) return &*layer;
    return nullptr;
}

// The innermost header that has addresses.
const Layer* addressed_layer(const Packet& packet) {
    if (packet.network_layer != kNoLayer) return &packet.layer_storage[packet.network_layer];
    const auto layers = packet.layers();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        if (layer->kind == kind::opa_9b) return &*layer;
        switch (layer->kind) {
            case LayerKind::ipv4:
            case LayerKind::ipv6:
            case LayerKind::grh:
            case LayerKind::lrh:
            case LayerKind::arp:
            case LayerKind::ethernet: return &*layer;
            default: break;
        }
    }
    return nullptr;
}

void append_address(std::string& out, const Packet& packet, bool source) {
    const Layer* layer = addressed_layer(packet);
    if (layer == nullptr) return;
    std::string_view name;
    switch (layer->kind) {
        case LayerKind::ipv4: name = source ? "ip.src" : "ip.dst"; break;
        case LayerKind::ipv6: name = source ? "ipv6.src" : "ipv6.dst"; break;
        case LayerKind::grh: name = source ? "infiniband.grh.sgid" : "infiniband.grh.dgid"; break;
        case LayerKind::arp: name = source ? "arp.src.proto_ipv4" : "arp.dst.proto_ipv4"; break;
        case LayerKind::lrh:
            name = source ? "infiniband.lrh.slid" : "infiniband.lrh.dlid";
            out += "lid ";
            break;
        default: name = source ? "eth.src" : "eth.dst";
    }
    if (layer->kind == kind::opa_9b) {
        name = source ? "opa.9b.slid" : "opa.9b.dlid";
        out += "lid ";
    }
    const auto fields = header(layer->kind).fields;
    const auto field = std::ranges::find(fields, name, &Field::name);
    if (const auto value = value_of(packet, *layer, *field)) append_plain(out, *field, *value);
}

}  // namespace

std::span<const Word> words() { return kWords; }

std::string_view protocol(const Packet& packet) {
    if (packet.encapsulation != Encapsulation::none) return kEncapsulationNames[std::to_underlying(packet.encapsulation)].name;
    const Layer* layer = named_layer(packet);
    if (layer == nullptr) return "DATA";
    if (find(packet, kind::opa_9b) != nullptr) return "OPA";
    if (std::ranges::any_of(packet.layers(), is_iwarp, &Layer::kind)) return "iWARP";
    if (is_ultra_ethernet(layer->kind)) return "UET";
    if (layer->kind == kind::flow_control) return "FLOW_CONTROL";
    if (const auto icmp = std::ranges::find_if(packet.layers(), is_icmp, &Layer::kind); icmp != packet.layers().end())
        return icmp->kind < kind::icmpv6 ? "ICMP" : "ICMPv6";
    if (is_of(layer->kind, LayerFamily::lldp)) return layer->kind == kind::cnm ? "CNM" : "LLDP";
    switch (layer->kind) {
        case LayerKind::tcp: return "TCP";
        case LayerKind::udp: return "UDP";
        case LayerKind::arp: return "ARP";
        case LayerKind::mac_pause: return "PAUSE";
        case LayerKind::mac_pfc: return "PFC";
        case LayerKind::mac_control: return "MAC_CONTROL";
        case LayerKind::ipv4:
        case LayerKind::ipv6: {
            const auto next = read_be<std::uint8_t>(packet.bytes_of(*layer), layer->kind == LayerKind::ipv4 ? 9 : 6);
            const auto row = std::ranges::find(kIpProtocols, next, &ValueName::value);
            return row == kIpProtocols.end() ? "IP" : row->name;
        }
        case LayerKind::ethernet:
        case LayerKind::vlan: {
            const auto type = read_be<std::uint16_t>(packet.bytes_of(*layer), layer->kind == LayerKind::ethernet ? 12 : 2);
            const auto row = std::ranges::find(kEtherTypes, type, &ValueName::value);
            return row == kEtherTypes.end() ? "ETHERNET" : row->name;
        }
        default: return header(layer->kind).name;
    }
}

void append_line(std::string& out, const Packet& packet) {
    if (packet.encapsulation != Encapsulation::none) {
        append_transport(out, packet);
    } else {
        out += protocol(packet);
        for (const Layer& layer : packet.layers()) {
            append_words_of(out, packet, layer);
            if (layer.kind == LayerKind::mac_pfc) append_pfc(out, packet, layer);
            if (layer.kind == kind::uet_payload) fmt::format_to(std::back_inserter(out), " len={}", layer.length);
        }
        if (const Layer& last = own_layers(packet).back(); last.kind == LayerKind::data)
            fmt::format_to(std::back_inserter(out), " len={}", last.length);
    }
    append_congestion(out, packet);
    append_segments(out, packet);
    for (const Layer& layer : packet.layers()) {
        if (layer.fault == Fault::none) continue;
        fmt::format_to(std::back_inserter(out), " !{}:{}", header(layer.kind).name, info(layer.fault).name);
        break;
    }
}

void append_words_of_layer(std::string& out, const Packet& packet, const Layer& layer) { append_words_of(out, packet, layer); }

void append_source(std::string& out, const Packet& packet) { append_address(out, packet, true); }
void append_destination(std::string& out, const Packet& packet) { append_address(out, packet, false); }

}  // namespace qps::dissect
