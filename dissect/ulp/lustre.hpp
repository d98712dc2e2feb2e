// Field tables of what Lustre sends above LNet: the header of a message of ptlrpc with the lengths of its buffers, the
// body that says what is asked or answered, and of reads, writes and changes of names what they are about (lustre_idl.h
// of Lustre and of Linux up to 4.17). Little-endian; of the other order nothing is taken apart.
#pragma once

#include <dissect/ulp/lustre_names.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind lustre_message = kind_in(LayerFamily::lnet, 8);
inline constexpr LayerKind lustre_pad = kind_in(LayerFamily::lnet, 9);
inline constexpr LayerKind lustre_body = kind_in(LayerFamily::lnet, 10);
inline constexpr LayerKind lustre_buffer = kind_in(LayerFamily::lnet, 11);
inline constexpr LayerKind lustre_object = kind_in(LayerFamily::lnet, 12);
inline constexpr LayerKind lustre_extent = kind_in(LayerFamily::lnet, 13);
inline constexpr LayerKind lustre_change = kind_in(LayerFamily::lnet, 14);
}  // namespace kind

namespace lustre {

inline constexpr std::uint32_t kMagic = 0x0bd00bd3;  // LUSTRE_MSG_MAGIC_V2
inline constexpr std::size_t kHead = 32;             // before the lengths of the buffers
inline constexpr std::size_t kBufferLength = 4;      // each
inline constexpr std::size_t kAlign = 8;             // of the first buffer and of each
inline constexpr std::uint32_t kMostBuffers = 32;    // messages have some ten

// A length, where there are so many buffers: behind the last may be a pad.
consteval Field length_of(unsigned index) {
    return row::decimal("lustre.lustre_msg_v2.lm_buflens", "Length of a buffer",
                        at(static_cast<unsigned>(kHead) + index * 4), 32)
        .le()
        .in("bytes")
        .part();
}

inline constexpr std::array kMessageFields{
    row::decimal("lustre.lustre_msg_v2.lm_bufcount", "Buffers", at(0), 32).le(),
    row::hex("lustre.lustre_msg_v2.lm_secflvr", "Security flavor", at(4), 32).le(),
    row::hex("lustre.lustre_msg_v2.lm_magic", "Magic number", at(8), 32).le(),
    row::decimal("lustre.lustre_msg_v2.lm_repsize", "Room for the reply", at(12), 32).le().in("bytes"),
    row::decimal("lustre.lustre_msg_v2.lm_cksum", "Checksum of the body", at(16), 32).le(),
    row::hex("lustre.lustre_msg_v2.lm_flags", "Flags", at(20), 32).le(),
    row::flag("rdma.lustre.flags.adaptive_timeouts", "The sender knows early replies", at(20, 0)).le().part(),
    row::decimal("lustre.lustre_msg_v2.lm_padding_2", "Length of what an operation packs, or padding", at(24), 32).le(),
    row::decimal("lustre.lustre_msg_v2.lm_padding_3", "Padding", at(28), 32).le(),
    row::bytes("rdma.lustre.lengths", "Lengths of the buffers", at(kHead), kToEnd),
    length_of(0),
    length_of(1),
    length_of(2),
    length_of(3),
    length_of(4),
    length_of(5),
    length_of(6),
    length_of(7),
    length_of(8),
    length_of(9),
    length_of(10),
    length_of(11),
};
static_assert(tiles(kMessageFields, kHead));

// Bytes up to the next buffer.
inline constexpr std::array kPadFields{
    row::bytes("rdma.lustre.pad.bytes", "Pad to a multiple of 8 bytes", at(0), kToEnd)};
static_assert(tiles(kPadFields, 0));

// What has been there since 1.6; versions behind it follow as far as the buffer goes.
inline constexpr std::size_t kBody = 88, kLongestBody = 512;  // versions of today have 184 bytes
inline constexpr std::array kBodyFields{
    row::hex("rdma.lustre.handle", "Handle of the connection of client and target", at(0), 64).le(),
    row::decimal("lustre.ptlrpc_body.pb_type", "Type of the message", at(8), 32).le().named(kTypes),
    row::decimal("lustre.ptlrpc_body.pb_version", "Version of the messages", at(12), 16).le(),
    row::decimal("rdma.lustre.service", "Service", at(14), 16).le().named(kServices),
    row::decimal("lustre.ptlrpc_body.pb_opc", "Request", at(16), 32).le().named(kOpcodes),
    row::decimal("lustre.ptlrpc_body.pb_status", "Status: 0, or an error number of Linux as a negative", at(20), 32)
        .le(),
    row::decimal("lustre.ptlrpc_body.pb_last_xid", "Highest XID that needs no reply any more", at(24), 64).le(),
    row::decimal("lustre.ptlrpc_body.pb_last_seen", "Slot of a request that changes something", at(32), 64).le(),
    row::decimal("rdma.lustre.slot", "Slot", at(32), 16).le().part(),
    row::decimal("lustre.ptlrpc_body.pb_last_committed", "Last transaction on disk", at(40), 64).le(),
    row::decimal("lustre.ptlrpc_body.pb_transno", "Transaction number", at(48), 64).le(),
    row::hex("lustre.ptlrpc_body.pb_flags", "Flags of the message", at(56), 32).le(),
    row::flag("rdma.lustre.flags.last_replay", "Last replay of a recovery", at(56, 0)).le().part(),
    row::flag("rdma.lustre.flags.resent", "Resent", at(56, 1)).le().part(),
    row::flag("rdma.lustre.flags.replay", "Replayed in recovery", at(56, 2)).le().part(),
    row::hex("lustre.ptlrpc_body.pb_op_flags", "Flags of the request", at(60), 32).le(),
    row::decimal("lustre.ptlrpc_body.pb_conn_cnt", "How often the client has connected", at(64), 32).le(),
    row::decimal("lustre.ptlrpc_body.pb_timeout", "Deadline of a request, estimate of a reply", at(68), 32)
        .le()
        .in("s"),
    row::decimal("lustre.ptlrpc_body.pb_service_time", "Time that the server took", at(72), 32).le().in("s"),
    row::decimal("lustre.ptlrpc_body.pb_limit", "Locks that the client may keep", at(76), 32).le(),
    row::hex("lustre.ptlrpc_body.pb_slv", "Server lock volume", at(80), 64).le(),
    row::bytes("rdma.lustre.versions", "Versions of objects, match bits, job", at(kBody), kToEnd),
    row::decimal("lustre.ptlrpc_body.pb_pre_version", "Version of an object before", at(88), 64).le().part(),
    row::decimal("lustre.ptlrpc_body.pb_pre_version", "Version of an object before", at(96), 64).le().part(),
    row::decimal("lustre.ptlrpc_body.pb_pre_version", "Version of an object before", at(104), 64).le().part(),
    row::decimal("lustre.ptlrpc_body.pb_pre_version", "Version of an object before", at(112), 64).le().part(),
    row::hex("rdma.lustre.mbits", "Match bits of the bulk data", at(120), 64).le().part(),
    row::text("lustre.ptlrpc_body.pb_jobid", "Job", at(152), 256).part(),
};
static_assert(tiles(kBodyFields, kBody));

inline constexpr std::array kBufferFields{
    row::bytes("rdma.lustre.buffer.bytes", "What the request or the reply carries", at(0), kToEnd)};
static_assert(tiles(kBufferFields, 0));

// struct obd_ioobj: what a read or write is of, in the third buffer of OST_READ and OST_WRITE.
inline constexpr std::size_t kObject = 24;
inline constexpr std::array kObjectFields{
    row::decimal("lustre.obd_ioobj.ioo_id", "Object", at(0), 64).le(),
    row::decimal("lustre.obd_ioobj.ioo_seq", "Sequence of the object", at(8), 64).le(),
    row::hex("lustre.obd_ioobj.ioo_max_brw", "Bulk transfers at most, less one, in the upper half", at(16), 32).le(),
    row::decimal("lustre.obd_ioobj.ioo_bufcnt", "Extents", at(20), 32).le(),
};
static_assert(tiles(kObjectFields, kObject));

// struct niobuf_remote: an extent of it, in the fourth buffer.
inline constexpr std::size_t kExtent = 16;
inline constexpr std::size_t kMostExtents = 4;  // that are taken apart
inline constexpr std::array kExtentFields{
    row::hex("lustre.niobuf_remote.offset", "Offset in the object", at(0), 64).le(),
    row::decimal("lustre.niobuf_remote.len", "Length", at(8), 32).le().in("bytes"),
    row::hex("lustre.niobuf_remote.flags", "Flags", at(12), 32).le(),
};
static_assert(tiles(kExtentFields, kExtent));

// struct mdt_rec_reint: which change of names or attributes MDS_REINT asks for; what follows depends on it.
inline constexpr std::size_t kChange = 4;
inline constexpr std::array kChangeFields{
    row::decimal("lustre.mdt_rec_reint.opcode", "Change", at(0), 32).le().named(kChanges),
    row::bytes("rdma.lustre.change", "What the change is about", at(kChange), kToEnd),
};
static_assert(tiles(kChangeFields, kChange));

inline constexpr std::array kLustreHeaders{
    Header{kind::lustre_message, "lustre.lustre_msg_v2", "Lustre message", kHead, kMessageFields},
    Header{kind::lustre_pad, "rdma.lustre.pad", "Lustre pad", 0, kPadFields},
    Header{kind::lustre_body, "lustre.ptlrpc_body", "Lustre ptlrpc", kBody, kBodyFields},
    Header{kind::lustre_buffer, "rdma.lustre.buffer", "Lustre buffer", 0, kBufferFields},
    Header{kind::lustre_object, "lustre.obd_ioobj", "Lustre object", kObject, kObjectFields},
    Header{kind::lustre_extent, "lustre.niobuf_remote", "Lustre extent", kExtent, kExtentFields},
    Header{kind::lustre_change, "lustre.mdt_rec_reint", "Lustre change", kChange, kChangeFields},
};

// What the beginning of a message says, where it is one of ptlrpc: its magic number, buffers within bounds, and a body
// of a type that exists as far as the bytes go. Nothing for what is wrapped by a security flavor, whose body is not the
// first buffer.
struct Said {
    std::uint32_t type = 0;
    std::uint32_t opcode = 0;
    std::uint32_t status = 0;
    std::uint32_t buffers = 0;
    bool adaptive_timeouts = false;
    bool has_extents = false;  // and then:
    std::uint64_t object = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};
[[nodiscard]] std::optional<Said> said_by(Bytes message);

[[nodiscard]] constexpr std::size_t aligned(std::size_t length) { return (length + kAlign - 1) / kAlign * kAlign; }

}  // namespace lustre

struct Walk;
namespace ulp {
// What an LNet PUT carries, if it is a message of ptlrpc; data else.
void walk_lustre(Walk& walk);
}  // namespace ulp

}  // namespace qps::dissect
