// Field tables of RPC over RDMA version 1 (RFC 8166, private data RFC 8797), of RPC (RFC 5531) and of NFS in it. Names
// are Wireshark's where it has the field.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/ulp/nfs_tables.hpp>
#include <dissect/ulp/rpc_message.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind rpc_rdma = kind_in(LayerFamily::rpc_rdma, 0);
inline constexpr LayerKind rpc_rdma_error = kind_in(LayerFamily::rpc_rdma, 1);
inline constexpr LayerKind rpc_rdma_read_segment = kind_in(LayerFamily::rpc_rdma, 2);
inline constexpr LayerKind rpc_rdma_write_chunk = kind_in(LayerFamily::rpc_rdma, 3);
inline constexpr LayerKind rpc_rdma_reply_chunk = kind_in(LayerFamily::rpc_rdma, 4);
inline constexpr LayerKind rpc_rdma_segment = kind_in(LayerFamily::rpc_rdma, 5);
inline constexpr LayerKind rpc_rdma_list_end = kind_in(LayerFamily::rpc_rdma, 6);
inline constexpr LayerKind rpc_rdma_private = kind_in(LayerFamily::rpc_rdma, 7);
inline constexpr LayerKind rpc_call = kind_in(LayerFamily::rpc_rdma, 8);
inline constexpr LayerKind rpc_reply = kind_in(LayerFamily::rpc_rdma, 9);
inline constexpr LayerKind rpc_auth = kind_in(LayerFamily::rpc_rdma, 10);
inline constexpr LayerKind rpc_accepted = kind_in(LayerFamily::rpc_rdma, 11);
inline constexpr LayerKind rpc_denied = kind_in(LayerFamily::rpc_rdma, 12);
inline constexpr LayerKind nfs_compound = kind_in(LayerFamily::rpc_rdma, 13);
inline constexpr LayerKind nfs_compound_results = kind_in(LayerFamily::rpc_rdma, 14);
inline constexpr LayerKind nfs_operation = kind_in(LayerFamily::rpc_rdma, 15);
inline constexpr LayerKind nfs_result = kind_in(LayerFamily::rpc_rdma, 16);
inline constexpr LayerKind nfs_procedure = kind_in(LayerFamily::rpc_rdma, 17);
}  // namespace kind

inline constexpr std::array kRpcRdmaTypes{
    ValueName{0, "RDMA_MSG"},  ValueName{1, "RDMA_NOMSG"}, ValueName{2, "RDMA_MSGP"},
    ValueName{3, "RDMA_DONE"}, ValueName{4, "RDMA_ERROR"},
};
inline constexpr std::array kRpcRdmaErrors{ValueName{1, "ERR_VERS"}, ValueName{2, "ERR_CHUNK"}};
inline constexpr std::array kRpcTypes{ValueName{0, "Call"}, ValueName{1, "Reply"}};
inline constexpr std::array kRpcReplyStates{ValueName{0, "accepted"}, ValueName{1, "denied"}};
inline constexpr std::array kRpcPrograms{
    ValueName{rpc_program::kPortmap, "Portmap"},       ValueName{rpc_program::kNfs, "NFS"},
    ValueName{rpc_program::kMount, "MOUNT"},           ValueName{rpc_program::kLockManager, "NLM"},
    ValueName{rpc_program::kStatusMonitor, "STAT"},    ValueName{rpc_program::kNfsAcl, "NFSACL"},
    ValueName{rpc_program::kFirstTransient, "NFS_CB"},
};
inline constexpr std::array kRpcFlavors{
    ValueName{0, "AUTH_NONE"}, ValueName{1, "AUTH_SYS"},   ValueName{2, "AUTH_SHORT"},
    ValueName{3, "AUTH_DH"},   ValueName{6, "RPCSEC_GSS"}, ValueName{7, "AUTH_TLS"},
};
inline constexpr std::array kRpcAcceptStates{
    ValueName{0, "SUCCESS"},      ValueName{1, "PROG_UNAVAIL"}, ValueName{2, "PROG_MISMATCH"},
    ValueName{3, "PROC_UNAVAIL"}, ValueName{4, "GARBAGE_ARGS"}, ValueName{5, "SYSTEM_ERR"},
};
inline constexpr std::array kRpcRejectStates{ValueName{0, "RPC_MISMATCH"}, ValueName{1, "AUTH_ERROR"}};
inline constexpr std::array kRpcAuthStates{
    ValueName{0, "AUTH_OK"},
    ValueName{1, "AUTH_BADCRED"},
    ValueName{2, "AUTH_REJECTEDCRED"},
    ValueName{3, "AUTH_BADVERF"},
    ValueName{4, "AUTH_REJECTEDVERF"},
    ValueName{5, "AUTH_TOOWEAK"},
    ValueName{6, "AUTH_INVALIDRESP"},
    ValueName{7, "AUTH_FAILED"},
    ValueName{13, "RPCSEC_GSS_CREDPROBLEM"},
    ValueName{14, "RPCSEC_GSS_CTXPROBLEM"},
};
inline constexpr std::array kNfs4Procedures{ValueName{0, "NULL"}, ValueName{1, "COMPOUND"}};
inline constexpr std::array kNfsCallbackProcedures{ValueName{0, "CB_NULL"}, ValueName{1, "CB_COMPOUND"}};

// What is concluded from the layers of a message; nothing where it does not apply.
namespace rpc {
std::optional<Value> reads_count(const Packet& packet, const Layer& layer);
std::optional<Value> writes_count(const Packet& packet, const Layer& layer);
std::optional<Value> reply_count(const Packet& packet, const Layer& layer);
std::optional<Value> callback_procedure(const Packet& packet, const Layer& layer);
std::optional<Value> auth_stamp(const Packet& packet, const Layer& layer);
std::optional<Value> auth_machine(const Packet& packet, const Layer& layer);
std::optional<Value> auth_uid(const Packet& packet, const Layer& layer);
std::optional<Value> auth_gid(const Packet& packet, const Layer& layer);
std::optional<Value> compound_tag(const Packet& packet, const Layer& layer);
std::optional<Value> compound_minor(const Packet& packet, const Layer& layer);
std::optional<Value> compound_count(const Packet& packet, const Layer& layer);
std::optional<Value> compound_main(const Packet& packet, const Layer& layer);
std::optional<Value> compound_procedure(const Packet& packet, const Layer& layer);
std::optional<Value> opcode(const Packet& packet, const Layer& layer);
std::optional<Value> callback_opcode(const Packet& packet, const Layer& layer);
std::optional<Value> marked_name(const Packet& packet, const Layer& layer);
std::optional<Value> marked_handle(const Packet& packet, const Layer& layer);
std::optional<Value> marked_offset(const Packet& packet, const Layer& layer);
std::optional<Value> marked_count(const Packet& packet, const Layer& layer);
std::optional<Value> marked_state(const Packet& packet, const Layer& layer);
std::optional<Value> marked_session(const Packet& packet, const Layer& layer);
std::optional<Value> marked_sequence(const Packet& packet, const Layer& layer);
std::optional<Value> marked_slot(const Packet& packet, const Layer& layer);
std::optional<Value> status3(const Packet& packet, const Layer& layer);
std::optional<Value> name3(const Packet& packet, const Layer& layer);
std::optional<Value> handle3(const Packet& packet, const Layer& layer);
std::optional<Value> offset3(const Packet& packet, const Layer& layer);
std::optional<Value> count3(const Packet& packet, const Layer& layer);
std::optional<Value> mount_path(const Packet& packet, const Layer& layer);
}  // namespace rpc

inline constexpr std::array kRpcRdmaFields{
    row::hex("rpcordma.xid", "Transaction identifier", at(0), 32),
    row::decimal("rpcordma.version", "Version", at(4), 32),
    row::decimal("rpcordma.flow_control", "Credits, requested by a call and granted by a reply", at(8), 32),
    row::decimal("rpcordma.msg_type", "Message type", at(12), 32).named(kRpcRdmaTypes),
    row::decimal("rpcordma.rdma_align", "Alignment of the padded part", at(16), 32).only_if(at(12), 32, 2).in("bytes"),
    row::decimal("rpcordma.rdma_thresh", "Threshold from which it is padded", at(20), 32)
        .only_if(at(12), 32, 2)
        .in("bytes"),
    row::computed("rpcordma.reads_count", "Segments in the read list", Format::decimal, &rpc::reads_count),
    row::computed("rpcordma.writes_count", "Chunks in the write list", Format::decimal, &rpc::writes_count),
    row::computed("rpcordma.reply_count", "Reply chunks", Format::decimal, &rpc::reply_count),
};
static_assert(tiles(kRpcRdmaFields, 24));

inline constexpr std::array kRpcRdmaErrorFields{
    row::decimal("rpcordma.errcode", "Error code", at(0), 32).named(kRpcRdmaErrors),
    row::decimal("rpcordma.vers_low", "Lowest supported version", at(4), 32).only_if(at(0), 32, 1),
    row::decimal("rpcordma.vers_high", "Highest supported version", at(8), 32).only_if(at(0), 32, 1),
};
static_assert(tiles(kRpcRdmaErrorFields, 12));

inline constexpr std::array kRpcRdmaReadSegmentFields{
    row::decimal("rdma.rpcordma.read_follows", "A read segment follows", at(0), 32),
    row::decimal("rpcordma.position", "Position in the call, 0 for a call that is all in the chunk", at(4), 32),
    row::hex("rpcordma.rdma_handle", "Handle (R_Key)", at(8), 32),
    row::decimal("rpcordma.rdma_length", "Length", at(12), 32).in("bytes"),
    row::hex("rpcordma.rdma_offset", "Offset (virtual address)", at(16), 64),
};
static_assert(tiles(kRpcRdmaReadSegmentFields, 24));

inline constexpr std::array kRpcRdmaWriteChunkFields{
    row::decimal("rdma.rpcordma.write_follows", "A write chunk follows", at(0), 32),
    row::decimal("rpcordma.segment_count", "Segments of the chunk", at(4), 32),
};
static_assert(tiles(kRpcRdmaWriteChunkFields, 8));

inline constexpr std::array kRpcRdmaReplyChunkFields{
    row::decimal("rdma.rpcordma.reply_follows", "A reply chunk follows", at(0), 32),
    row::decimal("rpcordma.segment_count", "Segments of the chunk", at(4), 32),
};
static_assert(tiles(kRpcRdmaReplyChunkFields, 8));

inline constexpr std::array kRpcRdmaSegmentFields{
    row::hex("rpcordma.rdma_handle", "Handle (R_Key)", at(0), 32),
    row::decimal("rpcordma.rdma_length", "Length", at(4), 32).in("bytes"),
    row::hex("rpcordma.rdma_offset", "Offset (virtual address)", at(8), 64),
};
static_assert(tiles(kRpcRdmaSegmentFields, 16));

inline constexpr std::array kRpcRdmaListEndFields{
    row::decimal("rdma.rpcordma.list_end", "End of the list", at(0), 32),
};
static_assert(tiles(kRpcRdmaListEndFields, 4));

inline constexpr std::uint32_t kRpcRdmaPrivateMagic = 0xf6ab0e18;  // RFC 8797 4
inline constexpr std::size_t kRpcRdmaPrivateLength = 8;
inline constexpr std::uint16_t kRpcRdmaSizeUnit = 1024;
inline constexpr std::array kRpcRdmaPrivateFields{
    row::hex("rdma.rpcordma.private.magic", "Format identifier", at(0), 32),
    row::decimal("rdma.rpcordma.private.version", "Version", at(4), 8),
    row::hex("rdma.rpcordma.private.flags", "Flags", at(5), 8),
    row::flag("rdma.rpcordma.private.remote_invalidate", "Remote invalidation is supported", at(5, 7)).part(),
    row::decimal("rdma.rpcordma.private.send_size", "Send buffer size in KiB, less one", at(6), 8),
    row::decimal("rdma.rpcordma.private.receive_size", "Receive buffer size in KiB, less one", at(7), 8),
};
static_assert(tiles(kRpcRdmaPrivateFields, kRpcRdmaPrivateLength));

namespace rpc_when {
inline constexpr std::uint64_t kNfs3 = std::uint64_t{rpc_program::kNfs} << 32 | 3;
inline constexpr std::uint64_t kNfs4 = std::uint64_t{rpc_program::kNfs} << 32 | 4;
}  // namespace rpc_when

inline constexpr std::array kRpcCallFields{
    row::hex("rpc.xid", "Transaction identifier", at(0), 32),
    row::decimal("rpc.msgtyp", "Message type", at(4), 32).named(kRpcTypes),
    row::decimal("rpc.version", "RPC version", at(8), 32),
    row::decimal("rpc.program", "Program", at(12), 32).named(kRpcPrograms),
    row::decimal("rpc.programversion", "Version of the program", at(16), 32),
    row::decimal("rpc.procedure", "Procedure", at(20), 32),
    row::decimal("nfs.procedure_v3", "Procedure of NFSv3", at(20), 32)
        .part()
        .only_if(at(12), 64, rpc_when::kNfs3)
        .named(nfs::kProcedure3Names),
    row::decimal("nfs.procedure_v4", "Procedure of NFSv4", at(20), 32)
        .part()
        .only_if(at(12), 64, rpc_when::kNfs4)
        .named(kNfs4Procedures),
    row::computed("nfs.cb_procedure", "Procedure of a callback", Format::decimal, &rpc::callback_procedure)
        .named(kNfsCallbackProcedures),
};
static_assert(tiles(kRpcCallFields, kRpcCallLength));

inline constexpr std::array kRpcReplyFields{
    row::hex("rpc.xid", "Transaction identifier", at(0), 32),
    row::decimal("rpc.msgtyp", "Message type", at(4), 32).named(kRpcTypes),
    row::decimal("rpc.replystat", "Reply state", at(8), 32).named(kRpcReplyStates),
};
static_assert(tiles(kRpcReplyFields, kRpcReplyLength));

inline constexpr std::array kRpcAuthFields{
    row::decimal("rpc.auth.flavor", "Flavor", at(0), 32).named(kRpcFlavors),
    row::decimal("rpc.auth.length", "Length of the body", at(4), 32).in("bytes"),
    row::bytes("rdma.rpc.auth.body", "Body", at(8), kToEnd),
    row::computed("rpc.auth.stamp", "Stamp", Format::hexadecimal, &rpc::auth_stamp),
    row::computed("rpc.auth.machinename", "Machine name", Format::text, &rpc::auth_machine),
    row::computed("rpc.auth.uid", "User", Format::decimal, &rpc::auth_uid),
    row::computed("rpc.auth.gid", "Group", Format::decimal, &rpc::auth_gid),
};
static_assert(tiles(kRpcAuthFields, 8));

inline constexpr std::array kRpcAcceptedFields{
    row::decimal("rpc.state_accept", "Accept state", at(0), 32).named(kRpcAcceptStates),
    row::decimal("rpc.programversion.min", "Lowest version of the program", at(4), 32).only_if(at(0), 32, 2),
    row::decimal("rpc.programversion.max", "Highest version of the program", at(8), 32).only_if(at(0), 32, 2),
};
static_assert(tiles(kRpcAcceptedFields, 12));

inline constexpr std::array kRpcDeniedFields{
    row::decimal("rpc.state_reject", "Reject state", at(0), 32).named(kRpcRejectStates),
    row::decimal("rpc.version.min", "Lowest version of RPC", at(4), 32).only_if(at(0), 32, 0),
    row::decimal("rpc.state_auth", "Authentication state", at(4), 32)
        .part()
        .only_if(at(0), 32, 1)
        .named(kRpcAuthStates),
    row::decimal("rpc.version.max", "Highest version of RPC", at(8), 32).only_if(at(0), 32, 0),
};
static_assert(tiles(kRpcDeniedFields, 12));

inline constexpr std::array kNfsCompoundFields{
    row::decimal("rdma.nfs.tag_length", "Length of the tag", at(0), 32).in("bytes"),
    row::bytes("rdma.nfs.compound_head", "Tag, minor version, number of operations", at(4), kToEnd),
    row::computed("nfs.tag", "Tag", Format::text, &rpc::compound_tag),
    row::computed("nfs.minorversion", "Minor version", Format::decimal, &rpc::compound_minor),
    row::computed("nfs.ops.count", "Operations", Format::decimal, &rpc::compound_count),
    row::computed("nfs.main_opcode", "Operation that the others are for", Format::decimal, &rpc::compound_main)
        .named(nfs::kOperationNames),
};
static_assert(tiles(kNfsCompoundFields, 4));

inline constexpr std::array kNfsCompoundResultsFields{
    row::decimal("nfs.status", "Status", at(0), 32).named(nfs::kStatusNames),
    row::decimal("rdma.nfs.tag_length", "Length of the tag", at(4), 32).in("bytes"),
    row::bytes("rdma.nfs.compound_head", "Tag, number of operations", at(8), kToEnd),
    row::computed("nfs.tag", "Tag", Format::text, &rpc::compound_tag),
    row::computed("nfs.ops.count", "Operations", Format::decimal, &rpc::compound_count),
    row::computed("nfs.main_opcode", "Operation that the others are for", Format::decimal, &rpc::compound_main)
        .named(nfs::kOperationNames),
    row::computed("nfs.procedure_v4", "Procedure of NFSv4", Format::decimal, &rpc::compound_procedure)
        .named(kNfs4Procedures),
};
static_assert(tiles(kNfsCompoundResultsFields, 8));

inline constexpr std::array kNfsOperationFields{
    row::decimal("rdma.nfs.operation", "Operation as a number", at(0), 32),
    row::bytes("rdma.nfs.arguments", "Arguments", at(4), kToEnd),
    row::computed("nfs.opcode", "Operation", Format::decimal, &rpc::opcode).named(nfs::kOperationNames),
    row::computed("nfs.cb.operation", "Operation of a callback", Format::decimal, &rpc::callback_opcode)
        .named(nfs::kCallbackOperationNames),
    row::computed("nfs.fhandle", "File handle", Format::bytes, &rpc::marked_handle),
    row::computed("nfs.pathname.component", "Name", Format::text, &rpc::marked_name),
    row::computed("nfs.offset4", "Offset", Format::decimal, &rpc::marked_offset).in("bytes"),
    row::computed("nfs.count4", "Count", Format::decimal, &rpc::marked_count).in("bytes"),
    row::computed("nfs.stateid", "State", Format::bytes, &rpc::marked_state),
    row::computed("nfs.session_id4", "Session", Format::bytes, &rpc::marked_session),
    row::computed("nfs.seqid", "Sequence number", Format::hexadecimal, &rpc::marked_sequence),
    row::computed("nfs.slotid", "Slot", Format::decimal, &rpc::marked_slot),
};
static_assert(tiles(kNfsOperationFields, 4));

inline constexpr std::array kNfsResultFields{
    row::decimal("rdma.nfs.operation", "Operation as a number", at(0), 32),
    row::decimal("nfs.status", "Status", at(4), 32).named(nfs::kStatusNames),
    row::bytes("rdma.nfs.results", "Results", at(8), kToEnd),
    row::computed("nfs.opcode", "Operation", Format::decimal, &rpc::opcode).named(nfs::kOperationNames),
    row::computed("nfs.cb.operation", "Operation of a callback", Format::decimal, &rpc::callback_opcode)
        .named(nfs::kCallbackOperationNames),
    row::computed("nfs.fhandle", "File handle", Format::bytes, &rpc::marked_handle),
    row::computed("nfs.stateid", "State", Format::bytes, &rpc::marked_state),
    row::computed("nfs.session_id4", "Session", Format::bytes, &rpc::marked_session),
    row::computed("nfs.seqid", "Sequence number", Format::hexadecimal, &rpc::marked_sequence),
    row::computed("nfs.slotid", "Slot", Format::decimal, &rpc::marked_slot),
};
static_assert(tiles(kNfsResultFields, 8));

inline constexpr std::array kNfsProcedureFields{
    row::bytes("rdma.nfs.procedure", "Arguments or results", at(0), kToEnd),
    row::computed("nfs.status", "Status", Format::decimal, &rpc::status3).named(nfs::kStatusNames),
    row::computed("nfs.fhandle", "File handle", Format::bytes, &rpc::handle3),
    row::computed("nfs.name", "Name", Format::text, &rpc::name3),
    row::computed("nfs.offset3", "Offset", Format::decimal, &rpc::offset3).in("bytes"),
    row::computed("nfs.count3", "Count", Format::decimal, &rpc::count3).in("bytes"),
    row::computed("mount.path", "Path to mount", Format::text, &rpc::mount_path),
};
static_assert(tiles(kNfsProcedureFields, 0));

inline constexpr std::array kRpcRdmaHeaders{
    Header{kind::rpc_rdma, "rpcordma", "RPC over RDMA", 24, kRpcRdmaFields},
    Header{kind::rpc_rdma_error, "rpcordma.error", "RPC over RDMA error", 12, kRpcRdmaErrorFields},
    Header{kind::rpc_rdma_read_segment, "rpcordma.read", "Read chunk segment", 24, kRpcRdmaReadSegmentFields},
    Header{kind::rpc_rdma_write_chunk, "rpcordma.write", "Write chunk", 8, kRpcRdmaWriteChunkFields},
    Header{kind::rpc_rdma_reply_chunk, "rpcordma.reply", "Reply chunk", 8, kRpcRdmaReplyChunkFields},
    Header{kind::rpc_rdma_segment, "rpcordma.segment", "Chunk segment", 16, kRpcRdmaSegmentFields},
    Header{kind::rpc_rdma_list_end, "rpcordma.list_end", "End of a chunk list", 4, kRpcRdmaListEndFields},
    Header{kind::rpc_rdma_private, "rpcordma.private", "RPC over RDMA private data", kRpcRdmaPrivateLength,
           kRpcRdmaPrivateFields},
    Header{kind::rpc_call, "rpc", "Remote Procedure Call", kRpcCallLength, kRpcCallFields},
    Header{kind::rpc_reply, "rpc", "Remote Procedure Call reply", kRpcReplyLength, kRpcReplyFields},
    Header{kind::rpc_auth, "rpc.auth", "RPC credentials or verifier", 8, kRpcAuthFields},
    Header{kind::rpc_accepted, "rpc.accepted", "RPC reply, accepted", 12, kRpcAcceptedFields},
    Header{kind::rpc_denied, "rpc.denied", "RPC reply, denied", 12, kRpcDeniedFields},
    Header{kind::nfs_compound, "nfs", "NFS COMPOUND", 4, kNfsCompoundFields},
    Header{kind::nfs_compound_results, "nfs", "NFS COMPOUND results", 8, kNfsCompoundResultsFields},
    Header{kind::nfs_operation, "nfs.operation", "NFS operation", 4, kNfsOperationFields},
    Header{kind::nfs_result, "nfs.result", "NFS result", 8, kNfsResultFields},
    Header{kind::nfs_procedure, "nfs", "NFS procedure", 0, kNfsProcedureFields},
};

}  // namespace qps::dissect
