// Field tables of libfabric's utility providers: ofi_rxm, messages over connections (ofi_proto.h, rxm.h), and ofi_rxd,
// reliable messages over datagrams (rxd_proto.h). Little-endian, as the processors are that it runs on.
//
// rxm has versions and lengths that must fit; of rxd the request that opens a conversation proves what it is.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind ofi_control = kind_in(LayerFamily::libfabric, 0);
inline constexpr LayerKind ofi_operation = kind_in(LayerFamily::libfabric, 1);
inline constexpr LayerKind rxm_rendezvous = kind_in(LayerFamily::libfabric, 2);
inline constexpr LayerKind rxd_base = kind_in(LayerFamily::libfabric, 3);
inline constexpr LayerKind rxd_ready_to_send = kind_in(LayerFamily::libfabric, 4);
inline constexpr LayerKind rxd_clear_to_send = kind_in(LayerFamily::libfabric, 5);
inline constexpr LayerKind rxd_extended = kind_in(LayerFamily::libfabric, 6);
inline constexpr LayerKind rxd_tag = kind_in(LayerFamily::libfabric, 7);
inline constexpr LayerKind rxd_data = kind_in(LayerFamily::libfabric, 8);
inline constexpr LayerKind rxd_segments = kind_in(LayerFamily::libfabric, 9);
inline constexpr LayerKind rxd_memory = kind_in(LayerFamily::libfabric, 10);
inline constexpr LayerKind rxd_atomic = kind_in(LayerFamily::libfabric, 11);
}  // namespace kind

namespace libfabric {

// ofi_ctrl_hdr, with the types of rxm.
inline constexpr std::uint64_t kEager = 0, kSegment = 1, kRendezvous = 2;
inline constexpr std::array kControlTypes{
    ValueName{0, "eager"},        ValueName{1, "seg"},          ValueName{2, "rndv_req"},
    ValueName{3, "rndv_rd_done"}, ValueName{4, "atomic"},       ValueName{5, "atomic_resp"},
    ValueName{6, "credit"},       ValueName{7, "rndv_wr_data"}, ValueName{8, "rndv_wr_done"}};
inline constexpr std::array kSegments{ValueName{1, "first"}, ValueName{2, "middle"}, ValueName{3, "last"}};
inline constexpr std::uint16_t kTypeAt = at(1);
inline constexpr std::size_t kControl = 32;
inline constexpr std::array kControlFields{
    row::decimal("rdma.rxm.ctrl.version", "Version of the control header", at(0), 8).le(),
    row::decimal("rdma.rxm.ctrl.type", "Type", kTypeAt, 8).le().named(kControlTypes),
    row::decimal("rdma.rxm.ctrl.seg_size", "Length of a segment", at(2), 16).le(),
    row::decimal("rdma.rxm.ctrl.seg_no", "Number of the segment", at(4), 32).le(),
    row::hex("rdma.rxm.ctrl.conn_id", "Connection, as the receiver calls it", at(8), 64).le(),
    row::hex("rdma.rxm.ctrl.msg_id", "Message, as the sender calls it", at(16), 64).le(),
    row::hex("rdma.rxm.ctrl.data", "What belongs to that type", at(24), 64).le(),
    row::decimal("rdma.rxm.seg.type", "Which segment", at(24), 2)
        .le()
        .named(kSegments)
        .only_if(kTypeAt, 8, kSegment)
        .part(),
    row::decimal("rdma.rxm.seg.offset", "Offset in the message", at(28), 32)
        .le()
        .only_if(kTypeAt, 8, kSegment)
        .in("bytes")
        .part(),
};
static_assert(tiles(kControlFields, kControl));

// ofi_op_hdr.
inline constexpr std::uint64_t kMessageOp = 0, kTaggedOp = 1;
inline constexpr std::array kOperations{
    ValueName{0, "msg"},       ValueName{1, "tagged"},       ValueName{2, "read_req"},
    ValueName{3, "read_rsp"},  ValueName{4, "write"},        ValueName{5, "write_async"},
    ValueName{6, "atomic"},    ValueName{7, "atomic_fetch"}, ValueName{8, "atomic_compare"},
    ValueName{9, "read_async"}};
inline constexpr std::uint16_t kOpAt = at(2);
inline constexpr std::size_t kOperation = 32;
inline constexpr std::array kOperationFields{
    row::decimal("rdma.rxm.op.version", "Version of the operation header", at(0), 8).le(),
    row::decimal("rdma.rxm.op.rx_index", "Receive context", at(1), 8).le(),
    row::decimal("rdma.rxm.op", "Operation", kOpAt, 8).le().named(kOperations),
    row::hex("rdma.rxm.op.data", "Data of the operation", at(3), 8).le(),
    row::hex("rdma.rxm.op.flags", "Flags", at(4), 32).le(),
    row::flag("rdma.rxm.op.flags.remote_cq_data", "Data for the completion of the receiver", at(4, 0)).le().part(),
    row::flag("rdma.rxm.op.flags.transmit_complete", "Complete when transmitted", at(4, 1)).le().part(),
    row::flag("rdma.rxm.op.flags.delivery_complete", "Complete when delivered", at(4, 2)).le().part(),
    row::decimal("rdma.rxm.op.size", "Length of the data", at(8), 64).le().in("bytes"),
    row::hex("rdma.rxm.op.cq_data", "Data for the completion of the receiver", at(16), 64).le(),
    row::hex("rdma.rxm.op.last", "Tag, or what belongs to the operation", at(24), 64).le(),
    row::hex("rdma.rxm.tag", "Tag", at(24), 64).le().only_if(kOpAt, 8, kTaggedOp).part(),
};
static_assert(tiles(kOperationFields, kOperation));

// ofi_rma_iov, four of them.
inline constexpr std::size_t kPieces = 4, kPiece = 24;
template <std::size_t N>
consteval std::array<Field, 3 * N> pieces(std::string_view address, std::string_view length, std::string_view key) {
    std::array<Field, 3 * N> fields{};
    for (unsigned i = 0; i < N; ++i) {
        fields[3 * i] = row::hex(address, "Address of a piece of memory", at(24 * i), 64).le();
        fields[3 * i + 1] = row::decimal(length, "Length of a piece of memory", at(24 * i + 8), 64).le().in("bytes");
        fields[3 * i + 2] = row::hex(key, "Key of a piece of memory", at(24 * i + 16), 64).le();
    }
    return fields;
}

// rxm_rndv_hdr.
inline constexpr std::size_t kRendezvousLength = 104;
inline constexpr std::array kRendezvousFields =
    joined(pieces<kPieces>("rdma.rxm.rndv.addr", "rdma.rxm.rndv.len", "rdma.rxm.rndv.key"),
           std::array{row::decimal("rdma.rxm.rndv.count", "Pieces of memory", at(96), 8).le(),
                      row::hex("", "Padding", at(97), 56).le()});
static_assert(tiles(kRendezvousFields, kRendezvousLength));

// rxd_base_hdr.
inline constexpr std::uint64_t kRxdMessage = 0, kRxdTagged = 1, kRxdRead = 2, kRxdWrite = 4, kRxdAtomic = 6,
                               kRxdAtomicCompare = 8, kRxdReadyToSend = 9, kRxdClearToSend = 10, kRxdAck = 11,
                               kRxdData = 12, kRxdDataRead = 13, kRxdNoOp = 14;
inline constexpr std::array kRxdTypes{
    ValueName{0, "MSG"},    ValueName{1, "TAGGED"},       ValueName{2, "READ_REQ"},       ValueName{4, "WRITE"},
    ValueName{6, "ATOMIC"}, ValueName{7, "ATOMIC_FETCH"}, ValueName{8, "ATOMIC_COMPARE"}, ValueName{9, "RTS"},
    ValueName{10, "CTS"},   ValueName{11, "ACK"},         ValueName{12, "DATA"},          ValueName{13, "DATA_READ"},
    ValueName{14, "NO_OP"}};
inline constexpr std::uint64_t kRxdVersion = 2;
inline constexpr std::size_t kRxdBase = 16;
inline constexpr std::array kRxdBaseFields{
    row::decimal("rdma.rxd.version", "Version", at(0), 8).le(),
    row::decimal("rdma.rxd.type", "Type", at(1), 8).le().named(kRxdTypes),
    row::hex("rdma.rxd.flags", "Flags", at(2), 16).le(),
    row::flag("rdma.rxd.flags.remote_cq_data", "Data for the completion of the receiver", at(2, 0)).le().part(),
    row::flag("rdma.rxd.flags.no_tx_comp", "No completion of the sender", at(2, 1)).le().part(),
    row::flag("rdma.rxd.flags.no_rx_comp", "No completion of the receiver", at(2, 2)).le().part(),
    row::flag("rdma.rxd.flags.inject", "Injected", at(2, 3)).le().part(),
    row::flag("rdma.rxd.flags.tag_hdr", "A tag follows", at(2, 4)).le().part(),
    row::flag("rdma.rxd.flags.inline", "All of the message is in this packet", at(2, 5)).le().part(),
    row::decimal("rdma.rxd.peer", "Peer, as the receiver calls it", at(4), 32).le(),
    row::decimal("rdma.rxd.seq_no", "Sequence number", at(8), 64).le(),
};
static_assert(tiles(kRxdBaseFields, kRxdBase));

inline constexpr std::size_t kReadyToSend = 72, kName = 64;
inline constexpr std::array kReadyToSendFields{
    row::decimal("rdma.rxd.rts_addr", "Peer, as who opens calls it", at(0), 64).le(),
    row::bytes("rdma.rxd.source", "Name of the endpoint that opens", at(8), kName * 8),
    row::ipv6("rdma.rxd.source.gid", "GID of a verbs endpoint that opens", at(8)).part(),
    row::hex("rdma.rxd.source.qpn", "Queue pair of a verbs endpoint that opens", at(24), 32).le().part(),
};
static_assert(tiles(kReadyToSendFields, kReadyToSend));
inline constexpr std::array kClearToSendFields{
    row::decimal("rdma.rxd.rts_addr", "Peer, as who opens calls it", at(0), 64).le(),
    row::decimal("rdma.rxd.cts_addr", "Peer, as who answers calls it", at(8), 64).le(),
};
static_assert(tiles(kClearToSendFields, 16));
// rxd_ext_hdr: of ACK and DATA.
inline constexpr std::array kExtendedFields{
    row::decimal("rdma.rxd.tx_id", "Message, as its sender calls it", at(0), 32).le(),
    row::decimal("rdma.rxd.rx_id", "Message, as its receiver calls it", at(4), 32).le(),
    row::decimal("rdma.rxd.seg_no", "Number of the segment", at(8), 64).le(),
};
static_assert(tiles(kExtendedFields, 16));
inline constexpr std::array kRxdTagFields{row::hex("rdma.rxd.tag", "Tag", at(0), 64).le()};
inline constexpr std::array kRxdDataFields{
    row::hex("rdma.rxd.cq_data", "Data for the completion of the receiver", at(0), 64).le()};
inline constexpr std::array kRxdSegmentFields{
    row::decimal("rdma.rxd.size", "Length of the message", at(0), 64).le().in("bytes"),
    row::decimal("rdma.rxd.num_segs", "Segments", at(8), 64).le(),
    row::decimal("rdma.rxd.sar.tx_id", "Message, as its sender calls it", at(16), 32).le(),
    row::decimal("rdma.rxd.iov_count", "Pieces of memory", at(20), 8).le(),
    row::hex("", "Reserved", at(21), 24).le(),
};
static_assert(tiles(kRxdSegmentFields, 24));
inline constexpr std::array kRxdMemoryFields =
    pieces<kPieces>("rdma.rxd.rma.addr", "rdma.rxd.rma.len", "rdma.rxd.rma.key");
static_assert(tiles(kRxdMemoryFields, kPieces* kPiece));
inline constexpr std::array kRxdAtomicFields{
    row::decimal("rdma.rxd.atomic.datatype", "Type of the data (enum fi_datatype)", at(0), 32).le(),
    row::decimal("rdma.rxd.atomic.op", "Atomic operation (enum fi_op)", at(4), 32).le(),
};
static_assert(tiles(kRxdAtomicFields, 8));

inline constexpr std::array kLibfabricHeaders{
    Header{kind::ofi_control, "rdma.rxm", "libfabric rxm, control", kControl, kControlFields},
    Header{kind::ofi_operation, "rdma.rxm.operation", "libfabric rxm, operation", kOperation, kOperationFields},
    Header{kind::rxm_rendezvous, "rdma.rxm.rndv", "libfabric rxm, rendezvous", kRendezvousLength, kRendezvousFields},
    Header{kind::rxd_base, "rdma.rxd", "libfabric rxd", kRxdBase, kRxdBaseFields},
    Header{kind::rxd_ready_to_send, "rdma.rxd.rts", "libfabric rxd, ready to send", kReadyToSend, kReadyToSendFields},
    Header{kind::rxd_clear_to_send, "rdma.rxd.cts", "libfabric rxd, clear to send", 16, kClearToSendFields},
    Header{kind::rxd_extended, "rdma.rxd.ext", "libfabric rxd, segment", 16, kExtendedFields},
    Header{kind::rxd_tag, "rdma.rxd.tag_hdr", "libfabric rxd, tag", 8, kRxdTagFields},
    Header{kind::rxd_data, "rdma.rxd.data_hdr", "libfabric rxd, completion data", 8, kRxdDataFields},
    Header{kind::rxd_segments, "rdma.rxd.sar", "libfabric rxd, segments", 24, kRxdSegmentFields},
    Header{kind::rxd_memory, "rdma.rxd.rma", "libfabric rxd, memory", kPieces* kPiece, kRxdMemoryFields},
    Header{kind::rxd_atomic, "rdma.rxd.atomic", "libfabric rxd, atomic", 8, kRxdAtomicFields},
};

enum class Fit : std::uint8_t { none, possible, sure };
// How well a SEND of that length fits rxm: `sure` where it is an eager message as long as its header says, or a
// rendezvous that names as much memory.
[[nodiscard]] Fit fits_rxm(Bytes message, std::uint64_t length);
// Of a datagram: `sure` for the request that opens a conversation.
[[nodiscard]] Fit fits_rxd(Bytes message, std::uint64_t length);

}  // namespace libfabric

}  // namespace qps::dissect
