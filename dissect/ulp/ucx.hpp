// Field tables of UCX: the header of its active messages on a connection (uct_rc_hdr) and in datagrams (uct_ud_neth),
// and what its protocols say in them: wire-up, tag matching, eager and by rendezvous, messages of users (ucp_am_id and
// the headers beside it, of UCX 1.10 to 1.19). Little-endian, as the processors are that it runs on.
//
// None of it has a magic number. What proves that a connection speaks it is its set-up: proves_connection(),
// proves_datagrams().
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind ucx_ud = kind_in(LayerFamily::ucx, 0);
inline constexpr LayerKind ucx_ud_control = kind_in(LayerFamily::ucx, 1);
inline constexpr LayerKind ucx_hardware_tag = kind_in(LayerFamily::ucx, 2);
inline constexpr LayerKind ucx_active = kind_in(LayerFamily::ucx, 3);
inline constexpr LayerKind ucx_wireup = kind_in(LayerFamily::ucx, 4);
inline constexpr LayerKind ucx_eager = kind_in(LayerFamily::ucx, 5);
inline constexpr LayerKind ucx_eager_first = kind_in(LayerFamily::ucx, 6);
inline constexpr LayerKind ucx_eager_middle = kind_in(LayerFamily::ucx, 7);
inline constexpr LayerKind ucx_eager_sync = kind_in(LayerFamily::ucx, 8);
inline constexpr LayerKind ucx_eager_sync_first = kind_in(LayerFamily::ucx, 9);
inline constexpr LayerKind ucx_reply = kind_in(LayerFamily::ucx, 10);
inline constexpr LayerKind ucx_ready_to_send = kind_in(LayerFamily::ucx, 11);
inline constexpr LayerKind ucx_ready_to_receive = kind_in(LayerFamily::ucx, 12);
inline constexpr LayerKind ucx_rendezvous_data = kind_in(LayerFamily::ucx, 13);
inline constexpr LayerKind ucx_user = kind_in(LayerFamily::ucx, 14);
}  // namespace kind

namespace ucx {

// ucp_am_id_t.
enum class Active : std::uint8_t {
    wireup = 1,
    eager_only = 2,
    eager_first = 3,
    eager_middle = 4,
    eager_sync_only = 6,
    eager_sync_first = 7,
    eager_sync_ack = 8,
    ready_to_send = 9,
    ack_to_send = 10,
    ready_to_receive = 11,
    rendezvous_data = 12,
    offload_sync_ack = 14,
    stream_data = 15,
    ack_to_put = 16,
    put = 17,
    get_request = 18,
    get_reply = 19,
    atomic_request = 20,
    atomic_reply = 21,
    completion = 22,
    user_single = 23,
    user_first = 24,
    user_middle = 25,
    user_single_reply = 26,
};
inline constexpr std::array kActives{
    ValueName{1, "WIREUP"},         ValueName{2, "EAGER_ONLY"},      ValueName{3, "EAGER_FIRST"},
    ValueName{4, "EAGER_MIDDLE"},   ValueName{6, "EAGER_SYNC_ONLY"}, ValueName{7, "EAGER_SYNC_FIRST"},
    ValueName{8, "EAGER_SYNC_ACK"}, ValueName{9, "RNDV_RTS"},        ValueName{10, "RNDV_ATS"},
    ValueName{11, "RNDV_RTR"},      ValueName{12, "RNDV_DATA"},      ValueName{14, "OFFLOAD_SYNC_ACK"},
    ValueName{15, "STREAM_DATA"},   ValueName{16, "RNDV_ATP"},       ValueName{17, "PUT"},
    ValueName{18, "GET_REQ"},       ValueName{19, "GET_REP"},        ValueName{20, "ATOMIC_REQ"},
    ValueName{21, "ATOMIC_REP"},    ValueName{22, "CMPL"},           ValueName{23, "AM_SINGLE"},
    ValueName{24, "AM_FIRST"},      ValueName{25, "AM_MIDDLE"},      ValueName{26, "AM_SINGLE_REPLY"},
};

// uct_ud_neth: who it is for, and in its highest bits either an active message or what it controls.
inline constexpr std::uint16_t kIsActive = at(0, 24);
inline constexpr std::uint16_t kHigh = at(0, 27);
inline constexpr std::size_t kDatagram = 8;
inline constexpr std::array kDatagramFields{
    row::hex("rdma.ucx.ud.dest", "Endpoint of the receiver", at(0), 24).le(),
    row::flag("rdma.ucx.ud.active", "An active message follows", kIsActive).le(),
    row::flag("rdma.ucx.ud.ack_req", "An acknowledgment is asked for", at(0, 25)).le(),
    row::flag("rdma.ucx.ud.ecn", "Congestion was seen", at(0, 26)).le(),
    row::hex("rdma.ucx.ud.high", "Active message, or flags", kHigh, 5).le(),
    row::decimal("rdma.ucx.am.id", "Active message", kHigh, 5).le().named(kActives).only_if(kIsActive, 1, 1).part(),
    row::flag("rdma.ucx.ud.nak", "Negative acknowledgment", kHigh).le().only_if(kIsActive, 1, 0).part(),
    row::flag("rdma.ucx.ud.put", "A write follows", at(0, 28)).le().only_if(kIsActive, 1, 0).part(),
    row::flag("rdma.ucx.ud.ctl", "A message of the connection follows", at(0, 29)).le().only_if(kIsActive, 1, 0).part(),
    row::decimal("rdma.ucx.ud.psn", "Sequence number", at(4), 16).le(),
    row::decimal("rdma.ucx.ud.ack_psn", "Acknowledged up to", at(6), 16).le(),
};
static_assert(tiles(kDatagramFields, kDatagram));

// uct_ud_ctl_hdr.
inline constexpr std::uint64_t kRequest = 1, kReply = 2;
inline constexpr std::array kControls{ValueName{kRequest, "CREQ"}, ValueName{kReply, "CREP"}};
inline constexpr std::size_t kControl = 40;
inline constexpr std::array kControlFields{
    row::decimal("rdma.ucx.ud.type", "Connection message", at(0), 8).le().named(kControls),
    row::hex("", "Reserved", at(1), 24).le(),
    row::bytes("rdma.ucx.ud.parameters", "What belongs to that type", at(4), 128),
    row::hex("rdma.ucx.ud.qpn", "Queue pair of the sender", at(4), 24).le().only_if(at(0), 8, kRequest).part(),
    row::hex("rdma.ucx.ud.ep", "Endpoint of the sender", at(7), 24).le().only_if(at(0), 8, kRequest).part(),
    row::decimal("rdma.ucx.ud.conn_sn", "Number of the connection", at(12), 32).le().only_if(at(0), 8, kRequest).part(),
    row::decimal("rdma.ucx.ud.path", "Path", at(16), 8).le().only_if(at(0), 8, kRequest).part(),
    row::hex("rdma.ucx.ud.ep", "Endpoint of the sender", at(4), 32).le().only_if(at(0), 8, kReply).part(),
    row::text("rdma.ucx.ud.host", "Host of the sender", at(20), 128),
    row::decimal("rdma.ucx.ud.pid", "Process of the sender", at(36), 32).le(),
    row::bytes("rdma.ucx.ud.address", "Address of the sender", at(40), kToEnd),
};
static_assert(tiles(kControlFields, kControl));

// Where adapters match tags, a byte stands before the number of the active message: 0, none of theirs.
inline constexpr std::array kHardwareTagFields{
    row::hex("rdma.ucx.tmh.opcode", "Tag matching of the adapter, 0: none", at(0), 8)};
static_assert(tiles(kHardwareTagFields, 1));

// uct_rc_hdr.
inline constexpr std::array kActiveFields{
    row::decimal("rdma.ucx.am.id", "Active message", at(0), 5).le().named(kActives),
    row::flag("rdma.ucx.fc.soft_req", "Credits are asked for with the next message", at(0, 5)).le(),
    row::flag("rdma.ucx.fc.hard_req", "Credits are asked for at once", at(0, 6)).le(),
    row::flag("rdma.ucx.fc.grant", "Credits are granted", at(0, 7)).le(),
};
static_assert(tiles(kActiveFields, 1));

// ucp_wireup_msg, behind it the address of the sender; from 1.20 on two maps of lanes are between.
inline constexpr std::array kWireups{ValueName{0, "PRE_REQUEST"},     ValueName{1, "REQUEST"},
                                     ValueName{2, "REPLY"},           ValueName{3, "ACK"},
                                     ValueName{4, "EP_CHECK"},        ValueName{5, "EP_REMOVED"},
                                     ValueName{6, "REPLY_RECONFIG"},  ValueName{7, "LANES_ADDR_REQUEST"},
                                     ValueName{8, "LANES_ADDR_REPLY"}};
inline constexpr std::array kErrorModes{ValueName{0, "none"}, ValueName{1, "peer"}, ValueName{2, "failover"}};
inline constexpr std::size_t kWireup = 20;
inline constexpr std::array kWireupFields{
    row::decimal("rdma.ucx.wireup.type", "Wire-up", at(0), 8).le().named(kWireups),
    row::decimal("rdma.ucx.wireup.err_mode", "Error handling", at(1), 8).le().named(kErrorModes),
    row::decimal("rdma.ucx.wireup.conn_sn", "Number of the connection", at(2), 16).le(),
    row::hex("rdma.ucx.wireup.src_ep", "Endpoint of the sender", at(4), 64).le(),
    row::hex("rdma.ucx.wireup.dst_ep", "Endpoint of the receiver, 0: not known yet", at(12), 64).le(),
    row::bytes("rdma.ucx.wireup.address", "Address of the sender", at(kWireup), kToEnd),
};
static_assert(tiles(kWireupFields, kWireup));

inline constexpr Field kTag = row::hex("rdma.ucx.tag", "Tag", at(0), 64).le();
inline constexpr Field kTotal =
    row::decimal("rdma.ucx.total_length", "Length of the whole message", at(8), 64).le().in("bytes");
inline constexpr Field kMessage = row::decimal("rdma.ucx.msg_id", "Number of the message", at(16), 64).le();
// ucp_request_hdr: for the answer.
consteval Field sender(unsigned byte) {
    return row::hex("rdma.ucx.ep_id", "Endpoint that the answer goes to", at(byte), 64).le();
}
consteval Field request(unsigned byte) { return row::hex("rdma.ucx.req_id", "Request", at(byte), 64).le(); }
consteval Field moved(Field field, unsigned byte) {
    field.bit = at(byte);
    return field;
}

inline constexpr std::array kEagerFields{kTag};
inline constexpr std::array kEagerFirstFields{kTag, kTotal, kMessage};
inline constexpr std::array kEagerMiddleFields{
    moved(kMessage, 0), row::decimal("rdma.ucx.offset", "Offset in the message", at(8), 64).le().in("bytes")};
inline constexpr std::array kEagerSyncFields{kTag, sender(8), request(16)};
inline constexpr std::array kEagerSyncFirstFields{kTag, kTotal, kMessage, sender(24), request(32)};
static_assert(tiles(kEagerFields, 8) && tiles(kEagerFirstFields, 24) && tiles(kEagerMiddleFields, 16));
static_assert(tiles(kEagerSyncFields, 24) && tiles(kEagerSyncFirstFields, 40));

// ucp_reply_hdr; of a part of a message its length follows (ucp_rndv_ack_hdr).
inline constexpr std::size_t kAnswer = 9;
inline constexpr std::array kReplyFields{
    request(0),
    row::hex("rdma.ucx.status", "Status, 0: done", at(8), 8).le(),
    row::bytes("rdma.ucx.ack", "How much of it", at(kAnswer), kToEnd),
    row::decimal("rdma.ucx.size", "Length that is acknowledged", at(kAnswer), 64).le().in("bytes").part(),
};
static_assert(tiles(kReplyFields, kAnswer));

// ucp_rndv_rts_hdr.
inline constexpr std::size_t kReadyToSend = 41;
inline constexpr std::array kReadyToSendFields{
    row::hex("rdma.ucx.rts.header", "Tag, or header of a user's message", at(0), 64).le(),
    row::hex("rdma.ucx.tag", "Tag", at(0), 64).le().only_if(at(40), 8, 0).part(),
    sender(8),
    request(16),
    row::hex("rdma.ucx.rts.address", "Address of the data, 0: none offered", at(24), 64).le(),
    row::decimal("rdma.ucx.size", "Length of the data", at(32), 64).le().in("bytes"),
    row::decimal("rdma.ucx.rts.opcode", "What it is, 0: with a tag, 1: a user's message", at(40), 8).le(),
    row::bytes("rdma.ucx.rts.keys", "Keys of the memory", at(kReadyToSend), kToEnd),
};
static_assert(tiles(kReadyToSendFields, kReadyToSend));

// ucp_rndv_rtr_hdr.
inline constexpr std::size_t kReadyToReceive = 40;
inline constexpr std::array kReadyToReceiveFields{
    request(0),
    row::hex("rdma.ucx.rtr.req_id", "Request of the receiver", at(8), 64).le(),
    row::hex("rdma.ucx.rtr.address", "Address of the memory", at(16), 64).le(),
    row::decimal("rdma.ucx.size", "Length of the data", at(24), 64).le().in("bytes"),
    row::decimal("rdma.ucx.offset", "Offset in the message", at(32), 64).le().in("bytes"),
    row::bytes("rdma.ucx.rtr.keys", "Keys of the memory", at(kReadyToReceive), kToEnd),
};
static_assert(tiles(kReadyToReceiveFields, kReadyToReceive));

// ucp_request_data_hdr.
inline constexpr std::array kRendezvousDataFields{
    request(0), row::decimal("rdma.ucx.offset", "Offset in the message", at(8), 64).le().in("bytes")};
static_assert(tiles(kRendezvousDataFields, 16));

// ucp_am_hdr.
inline constexpr std::array kUserFields{
    row::decimal("rdma.ucx.user.id", "Message of a user", at(0), 16).le(),
    row::hex("rdma.ucx.user.flags", "Flags", at(2), 16).le(),
    row::decimal("rdma.ucx.user.header_length", "Length of the user's header", at(4), 32).le().in("bytes"),
};
static_assert(tiles(kUserFields, 8));

inline constexpr std::array kUcxHeaders{
    Header{kind::ucx_ud, "rdma.ucx.ud", "UCX datagram", kDatagram, kDatagramFields},
    Header{kind::ucx_ud_control, "rdma.ucx.ud.control", "UCX connection of datagrams", kControl, kControlFields},
    Header{kind::ucx_hardware_tag, "rdma.ucx.tmh", "UCX tag matching of the adapter", 1, kHardwareTagFields},
    Header{kind::ucx_active, "rdma.ucx.am", "UCX active message", 1, kActiveFields},
    Header{kind::ucx_wireup, "rdma.ucx.wireup", "UCX wire-up", kWireup, kWireupFields},
    Header{kind::ucx_eager, "rdma.ucx.eager", "UCX eager message", 8, kEagerFields},
    Header{kind::ucx_eager_first, "rdma.ucx.eager.first", "UCX eager message, first part", 24, kEagerFirstFields},
    Header{kind::ucx_eager_middle, "rdma.ucx.eager.middle", "UCX eager message, another part", 16, kEagerMiddleFields},
    Header{kind::ucx_eager_sync, "rdma.ucx.eager.sync", "UCX synchronous message", 24, kEagerSyncFields},
    Header{kind::ucx_eager_sync_first, "rdma.ucx.eager.sync.first", "UCX synchronous message, first part", 40,
           kEagerSyncFirstFields},
    Header{kind::ucx_reply, "rdma.ucx.reply", "UCX acknowledgment", kAnswer, kReplyFields},
    Header{kind::ucx_ready_to_send, "rdma.ucx.rts", "UCX ready to send", kReadyToSend, kReadyToSendFields},
    Header{kind::ucx_ready_to_receive, "rdma.ucx.rtr", "UCX ready to receive", kReadyToReceive, kReadyToReceiveFields},
    Header{kind::ucx_rendezvous_data, "rdma.ucx.rndv", "UCX rendezvous data", 16, kRendezvousDataFields},
    Header{kind::ucx_user, "rdma.ucx.user", "UCX message of a user", 8, kUserFields},
};

// Whether a SEND can be nothing but wire-up of a connection: its number, pointers as endpoints, and an address with the
// name of a worker. Connections whose endpoints are numbers, not pointers, are not proven by it.
[[nodiscard]] bool proves_connection(Bytes message);
// Likewise a datagram: a connection request or its reply, with zeros where they belong and the name of a host.
[[nodiscard]] bool proves_datagrams(Bytes message);
// What any datagram of UCX fulfils; many others do too.
[[nodiscard]] bool may_be_datagram(Bytes message);

}  // namespace ucx

}  // namespace qps::dissect
