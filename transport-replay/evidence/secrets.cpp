#include <dissect/field.hpp>
#include <transport-replay/evidence/secrets.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kWidestReserved = 64;  // bits; what is wider may hold anything

constexpr std::array kSecretRows{
    // Local identifiers.
    SecretRow{"infiniband.lrh.dlid", Secret::lid},
    SecretRow{"infiniband.lrh.slid", Secret::lid},
    SecretRow{"infiniband.smpdirected.drslid", Secret::lid},
    SecretRow{"infiniband.smpdirected.drdlid", Secret::lid},
    SecretRow{"infiniband.portinfo.lid", Secret::lid},
    SecretRow{"infiniband.portinfo.mastersmlid", Secret::lid},
    SecretRow{"infiniband.pathrecord.dlid", Secret::lid},
    SecretRow{"infiniband.pathrecord.slid", Secret::lid},
    SecretRow{"infiniband.mcmemberrecord.mlid", Secret::lid},
    SecretRow{"infiniband.classportinfo.redirectlid", Secret::lid},
    SecretRow{"infiniband.classportinfo.traplid", Secret::lid},
    SecretRow{"infiniband.cm.req.prim_locallid", Secret::lid},
    SecretRow{"infiniband.cm.req.prim_remotelid", Secret::lid},
    SecretRow{"infiniband.cm.req.alt_locallid", Secret::lid},
    SecretRow{"infiniband.cm.req.alt_remotelid", Secret::lid},
    SecretRow{"infiniband.cm.lap.alt_locallid", Secret::lid},
    SecretRow{"infiniband.cm.lap.alt_remotelid", Secret::lid},
    SecretRow{"infiniband.notice.issuerlid", Secret::lid},
    SecretRow{"infiniband.trap.lidaddr", Secret::lid},
    SecretRow{"infiniband.trap.drslid", Secret::lid},
    SecretRow{"infiniband.trap.lidaddr1", Secret::lid},
    SecretRow{"infiniband.trap.lidaddr2", Secret::lid},
    SecretRow{"infiniband.trap.swlidaddr", Secret::lid},
    SecretRow{"infiniband.informinfo.lidrangebegin", Secret::lid},
    SecretRow{"infiniband.informinfo.lidrangeend", Secret::lid},
    SecretRow{"infiniband.sa.lid", Secret::lid},
    SecretRow{"infiniband.sa.endportlid", Secret::lid},
    SecretRow{"infiniband.linkrecord.fromlid", Secret::lid},
    SecretRow{"infiniband.linkrecord.tolid", Secret::lid},
    SecretRow{"opa.9b.dlid", Secret::lid},
    SecretRow{"opa.9b.slid", Secret::lid},
    SecretRow{"opa.sm.dr.slid", Secret::lid},
    SecretRow{"opa.sm.dr.dlid", Secret::lid},
    SecretRow{"opa.sa.lid", Secret::lid},
    SecretRow{"opa.portinfo.lid", Secret::lid},
    SecretRow{"opa.portinfo.mastersmlid", Secret::lid},
    // Keys of partitions and queues.
    SecretRow{"infiniband.bth.p_key", Secret::pkey},
    SecretRow{"infiniband.pathrecord.p_key", Secret::pkey},
    SecretRow{"infiniband.mcmemberrecord.p_key", Secret::pkey},
    SecretRow{"infiniband.linkrecord.servicep_key", Secret::pkey},
    SecretRow{"infiniband.classportinfo.redirectpkey", Secret::pkey},
    SecretRow{"infiniband.classportinfo.trappkey", Secret::pkey},
    SecretRow{"infiniband.cm.req.pkey", Secret::pkey},
    SecretRow{"infiniband.cm.sidr_req.pkey", Secret::pkey},
    SecretRow{"nvme.cmd.get_logpage.identify.rcrd.tsas.rdma_pkey", Secret::pkey},
    SecretRow{"infiniband.trap.pkey", Secret::pkey},
    SecretRow{"infiniband.multipathrecord.p_key", Secret::pkey},
    SecretRow{"opa.bth.p_key", Secret::pkey},
    SecretRow{"infiniband.p_keytable.p_key", Secret::pkey},
    SecretRow{"infiniband.bth.p_key.base", Secret::partition},
    SecretRow{"infiniband.p_keytable.p_keybase", Secret::partition},
    SecretRow{"infiniband.deth.q_key", Secret::qkey},
    SecretRow{"infiniband.mcmemberrecord.q_key", Secret::qkey},
    SecretRow{"infiniband.classportinfo.redirectqkey", Secret::qkey},
    SecretRow{"infiniband.classportinfo.trapqkey", Secret::qkey},
    SecretRow{"infiniband.cm.req.localqkey", Secret::qkey},
    SecretRow{"infiniband.cm.rep.localqkey", Secret::qkey},
    SecretRow{"infiniband.cm.sidr_rep.qkey", Secret::qkey},
    SecretRow{"opa.deth.q_key", Secret::qkey},
    SecretRow{"infiniband.trap.key", Secret::qkey},
    // What gives access to memory, to a subnet, to a session.
    SecretRow{"gre.key", Secret::key},
    SecretRow{"infiniband.reth.r_key", Secret::key},
    SecretRow{"infiniband.ieth", Secret::key},
    SecretRow{"infiniband.smplid.mkey", Secret::key},
    SecretRow{"infiniband.sa.smkey", Secret::key},
    SecretRow{"infiniband.portinfo.m_key", Secret::key},
    SecretRow{"infiniband.sminfo.sm_key", Secret::key},
    SecretRow{"infiniband.trap.mkey", Secret::key},
    SecretRow{"opa.sm.lid.mkey", Secret::key},
    SecretRow{"opa.sa.smkey", Secret::key},
    SecretRow{"opa.portinfo.mkey", Secret::key},
    SecretRow{"opa.kdeth.j_key", Secret::key},
    SecretRow{"nvme.cmd.sgl1.key", Secret::key},
    SecretRow{"iser.write_stag", Secret::key},
    SecretRow{"iser.read_stag", Secret::key},
    SecretRow{"rdma.srp.desc.key", Secret::key},
    SecretRow{"rdma.srp.table.key", Secret::key},
    SecretRow{"rpcordma.rdma_handle", Secret::key},
    SecretRow{"smb2.buffer_descriptor.token", Secret::key},
    SecretRow{"rdma.rds.extension.rdma_r_key", Secret::key},
    SecretRow{"rdma.rds.extension.r_key", Secret::key},
    SecretRow{"rdma.rsockets.offers.r_key", Secret::key},
    SecretRow{"rdma.rsockets.data.r_key", Secret::key},
    SecretRow{"rdma.rsockets.offer.r_key", Secret::key},
    SecretRow{"lnet.rdma.key", Secret::key},
    SecretRow{"iwarp_ddp.stag", Secret::key},
    SecretRow{"iwarp_rdma.inval_stag", Secret::key},
    SecretRow{"iwarp_rdma.sinkstag", Secret::key},
    SecretRow{"iwarp_rdma.srcstag", Secret::key},
    SecretRow{"iwarp_rdma.atomic.remote_stag", Secret::key},
    SecretRow{"smb2.sesid", Secret::key},
    SecretRow{"rpc.auth.stamp", Secret::key},
    SecretRow{"rdma.cnm.cpid", Secret::key},  // a MAC address and a queue
    SecretRow{"uet.ses.std.mem_key_match_bits", Secret::key},
    SecretRow{"uet.ses.med_req.mem_key_match_bits", Secret::key},
    SecretRow{"uet.ses.rendv_ext_hdr.read_match_bits", Secret::key},
    SecretRow{"lnet.msg_dst_interface_cookie", Secret::key},
    SecretRow{"lnet.msg_dst_object_cookie", Secret::key},
    SecretRow{"lnet.msg_dst_match_bits", Secret::key},
    SecretRow{"rdma.sdp.srcavail.r_key", Secret::key},
    SecretRow{"rdma.rxm.rndv.key", Secret::key},
    SecretRow{"rdma.rxd.rma.key", Secret::key},
    SecretRow{"rdma.rxm.op.last", Secret::key},
    SecretRow{"rdma.rxm.tag", Secret::key},
    SecretRow{"rdma.rxm.op.cq_data", Secret::key},
    SecretRow{"rdma.rxd.tag", Secret::key},
    SecretRow{"rdma.rxd.cq_data", Secret::key},
    SecretRow{"rdma.ucx.tag", Secret::key},
    SecretRow{"rdma.ucx.rts.header", Secret::key},
    SecretRow{"rdma.ucx.ud.pid", Secret::erased},
    SecretRow{"rdma.lustre.handle", Secret::key},
    SecretRow{"rdma.lustre.mbits", Secret::key},
    SecretRow{"rdma.lnet.ib.srcstamp", Secret::key},
    SecretRow{"rdma.lnet.ib.dststamp", Secret::key},
    // Addresses of memory.
    SecretRow{"infiniband.reth.va", Secret::address},
    SecretRow{"nvme.cmd.sgl1.addr", Secret::address},
    SecretRow{"iser.write_base_offset", Secret::address},
    SecretRow{"iser.read_base_offset", Secret::address},
    SecretRow{"rdma.srp.desc.address", Secret::address},
    SecretRow{"rdma.srp.table.address", Secret::address},
    SecretRow{"rpcordma.rdma_offset", Secret::address},
    SecretRow{"smb2.buffer_descriptor.offset", Secret::address},
    SecretRow{"rdma.rsockets.offers.address", Secret::address},
    SecretRow{"rdma.rsockets.data.address", Secret::address},
    SecretRow{"rdma.rsockets.offer.address", Secret::address},
    SecretRow{"lnet.rdma_frag.addr", Secret::address},
    SecretRow{"rdma.sdp.srcavail.va", Secret::address},
    SecretRow{"rdma.ucx.wireup.src_ep", Secret::address},
    SecretRow{"rdma.ucx.wireup.dst_ep", Secret::address},
    SecretRow{"rdma.ucx.ep_id", Secret::address},
    SecretRow{"rdma.ucx.req_id", Secret::address},
    SecretRow{"rdma.ucx.rtr.req_id", Secret::address},
    SecretRow{"rdma.ucx.rts.address", Secret::address},
    SecretRow{"rdma.ucx.rtr.address", Secret::address},
    SecretRow{"rdma.rxm.rndv.addr", Secret::address},
    SecretRow{"rdma.rxd.rma.addr", Secret::address},
    SecretRow{"iwarp_ddp.tagged_offset", Secret::address},
    SecretRow{"iwarp_rdma.sinkto", Secret::address},
    SecretRow{"iwarp_rdma.srcto", Secret::address},
    SecretRow{"iwarp_rdma.atomic.remote_tagged_offset", Secret::address},
    SecretRow{"uet.ses.std.buffer_offset", Secret::address},
    SecretRow{"uet.ses.small_req.buffer_offset", Secret::address},
    SecretRow{"uet.ses.med_req.buffer_offset", Secret::address},
    SecretRow{"uet.ses.rendv_ext_hdr.read_offset", Secret::address},
    // Names that are numbers.
    SecretRow{"infiniband.portinfo.guid", Secret::gid_prefix},
    SecretRow{"infiniband.tracerecord.gidprefix", Secret::gid_prefix},
    SecretRow{"rdma.srp.initiator_port_id", Secret::guids},
    SecretRow{"rdma.srp.target_port_id", Secret::guids},
    // Bytes that name something.
    SecretRow{"nvme.fabrics.cmd.connect.data.hostid", Secret::opaque},
    SecretRow{"nvme.cmd.identify.ctrl.fguid", Secret::opaque},
    SecretRow{"nvme.cmd.identify.ns.nguid", Secret::opaque},
    SecretRow{"nvme.cmd.identify.ns.eui64", Secret::opaque},
    SecretRow{"iscsi.isid", Secret::opaque},
    SecretRow{"nfs.fhandle", Secret::opaque},
    SecretRow{"nfs.stateid", Secret::opaque},
    SecretRow{"nfs.session_id4", Secret::opaque},
    SecretRow{"rdma.smb2.file_id", Secret::opaque},
    SecretRow{"infiniband.linkrecord.servicekey", Secret::opaque},
    // External data representation: of strings and addresses no word is that small (RFC 4506).
    SecretRow{"rdma.nfs.compound_head", Secret::xdr},
    SecretRow{"rdma.nfs.arguments", Secret::xdr},
    SecretRow{"rdma.nfs.results", Secret::xdr},
    SecretRow{"rdma.nfs.procedure", Secret::xdr},
    SecretRow{"rdma.rpc.auth.body", Secret::xdr},
    // What applications keep in memory, and whom they act for.
    SecretRow{"infiniband.atomiceth.swapdt", Secret::erased},
    SecretRow{"infiniband.atomiceth.cmpdt", Secret::erased},
    SecretRow{"infiniband.atomicacketh.origremdt", Secret::erased},
    SecretRow{"rpc.auth.uid", Secret::erased},
    SecretRow{"rpc.auth.gid", Secret::erased},
    SecretRow{"lnet.msg_hdr_data", Secret::erased},
    SecretRow{"iwarp_rdma.atomic.add_data", Secret::erased},
    SecretRow{"iwarp_rdma.atomic.swap_data", Secret::erased},
    SecretRow{"iwarp_rdma.atomic.compare_data", Secret::erased},
    SecretRow{"iwarp_rdma.atomic.original_remote_data_value", Secret::erased},
    SecretRow{"uet.ses.std.header_data", Secret::erased},
    SecretRow{"uet.ses.med_req.header_data", Secret::erased},
    SecretRow{"nvme.cmd.identify.ctrl.vs", Secret::erased},
    SecretRow{"nvme.cmd.identify.ns.vs", Secret::erased},
    // Bytes that say nothing of anybody: paths of ports, counters, constants of a protocol.
    SecretRow{"infiniband.immdt", Secret::none},
    SecretRow{"infiniband.pad", Secret::none},
    SecretRow{"infiniband.smpdirected.initialpath", Secret::none},
    SecretRow{"infiniband.smpdirected.returnpath", Secret::none},
    SecretRow{"infiniband.trap.drnoticereturnpath", Secret::none},
    SecretRow{"opa.sm.dr.initialpath", Secret::none},
    SecretRow{"opa.sm.dr.returnpath", Secret::none},
    SecretRow{"opa.portinfo.modes", Secret::none},
    SecretRow{"opa.snc.notes", Secret::none},
    SecretRow{"iwarp_mpa.key.req", Secret::none},
    SecretRow{"iwarp_mpa.key.rep", Secret::none},
    SecretRow{"iwarp_mpa.pad", Secret::none},
    SecretRow{"iwarp_ddp.rsvdulp", Secret::none},
    SecretRow{"iwarp_rdma.reserved", Secret::none},
    SecretRow{"rdma.iwarp.immediate", Secret::none},
    SecretRow{"nvme.cmd.rsvd1", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.dur", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.duw", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.hrc", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.hwc", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.cbt", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.pc", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.poh", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.us", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.mie", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.ele", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.smart.ts", Secret::none},
    SecretRow{"nvme.cmd.identify.ctrl.tnvmcap", Secret::none},
    SecretRow{"nvme.cmd.identify.ctrl.unvmcap", Secret::none},
    SecretRow{"rdma.nvme.identify.ns.nvmcap", Secret::none},
    SecretRow{"rdma.nvme.identify.ns.lbafs", Secret::none},
    SecretRow{"nvme.cmd.get_logpage.identify.rcrd.trsvcid", Secret::none},
    SecretRow{"infiniband.cnp.reserved", Secret::none},
};

Secret secret_by_format(const Field& field) {
    switch (field.format) {
        case Format::mac: return Secret::mac;
        case Format::ipv4: return Secret::ipv4;
        case Format::ipv6: return Secret::ipv6;
        case Format::guid: return Secret::guid;
        case Format::text: return Secret::name;
        case Format::bytes: return Secret::erased;
        default: return field.width <= kWidestReserved ? Secret::none : Secret::erased;
    }
}

}  // namespace

std::span<const SecretRow> secret_rows() { return kSecretRows; }

// What an ICMP error quotes is as secret as in a packet.
Secret secret_of(const Field& field) {
    constexpr std::string_view kQuoted = "rdma.quoted.";
    const std::string_view name = field.name.substr(field.name.starts_with(kQuoted) ? kQuoted.size() : 0);
    const auto row = name.empty() ? kSecretRows.end() : std::ranges::find(kSecretRows, name, &SecretRow::field);
    return row != kSecretRows.end() ? row->secret : secret_by_format(field);
}

}  // namespace qps::transport
