// iSCSI PDUs as iSER carries them: the basic header segment (BHS) of 48 bytes of every opcode, additional header
// segments and text keys (RFC 7143, chapter 11). Digests are not there: RDMA has its own (RFC 7145, 4.2).
//
// What an attacker could feed: segments that are longer than the message, keys without end. Every length is cut to what
// is there.
#pragma once

#include <dissect/base/walk.hpp>
#include <dissect/ulp/iscsi_names.hpp>
#include <dissect/ulp/scsi.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind iscsi_nop = kind_in(LayerFamily::iscsi, 0);
inline constexpr LayerKind iscsi_command = kind_in(LayerFamily::iscsi, 1);
inline constexpr LayerKind iscsi_response = kind_in(LayerFamily::iscsi, 2);
inline constexpr LayerKind iscsi_task_management = kind_in(LayerFamily::iscsi, 3);
inline constexpr LayerKind iscsi_login_request = kind_in(LayerFamily::iscsi, 4);
inline constexpr LayerKind iscsi_login_response = kind_in(LayerFamily::iscsi, 5);
inline constexpr LayerKind iscsi_text = kind_in(LayerFamily::iscsi, 6);
inline constexpr LayerKind iscsi_data_out = kind_in(LayerFamily::iscsi, 7);
inline constexpr LayerKind iscsi_data_in = kind_in(LayerFamily::iscsi, 8);
inline constexpr LayerKind iscsi_logout = kind_in(LayerFamily::iscsi, 9);
inline constexpr LayerKind iscsi_snack = kind_in(LayerFamily::iscsi, 10);
inline constexpr LayerKind iscsi_ready_to_transfer = kind_in(LayerFamily::iscsi, 11);
inline constexpr LayerKind iscsi_asynchronous = kind_in(LayerFamily::iscsi, 12);
inline constexpr LayerKind iscsi_reject = kind_in(LayerFamily::iscsi, 13);
inline constexpr LayerKind iscsi_key = kind_in(LayerFamily::iscsi, 14);
inline constexpr LayerKind iscsi_additional_header = kind_in(LayerFamily::iscsi, 15);
inline constexpr LayerKind iscsi_data_segment = kind_in(LayerFamily::iscsi, 16);
inline constexpr LayerKind iscsi_sense_length = kind_in(LayerFamily::iscsi, 17);
}  // namespace kind

namespace iscsi {

inline constexpr std::size_t kBhs = 48;
inline constexpr std::size_t kCommandHead = kBhs - scsi::kCdbArea;  // its CDB is a layer of its own
inline constexpr std::size_t kAhsHead = 4;
inline constexpr std::uint32_t kNoTag = 0xffffffff;
inline constexpr std::uint8_t kFromTarget = 0x20;  // of an opcode

// The opcodes whose request and response share a table.
inline constexpr std::uint8_t kNopOut = 0x00, kNopIn = 0x20, kTaskRequest = 0x02, kTaskResponse = 0x22,
                              kTextRequest = 0x04, kTextResponse = 0x24, kLogoutRequest = 0x06, kLogoutResponse = 0x26;
// The others.
inline constexpr std::uint8_t kCommand = 0x01, kResponse = 0x21, kLoginRequest = 0x03, kLoginResponse = 0x23,
                              kDataOut = 0x05, kDataIn = 0x25, kSnack = 0x10, kReadyToTransfer = 0x31,
                              kAsynchronous = 0x32, kReject = 0x3f;

// A field of one of two opcodes that share a table.
consteval Field of(std::uint8_t opcode, const Field& field) { return field.only_if(at(0, 2), 6, opcode); }

inline constexpr Field kReserved0 = row::reserved(at(0), 1);
inline constexpr Field kReserved01 = row::reserved(at(0), 2);  // of PDUs without immediate delivery
inline constexpr Field kImmediate = row::flag("iscsi.I", "Immediate delivery", at(0, 1));
inline constexpr Field kOpcode = row::hex("iscsi.opcode", "Opcode", at(0, 2), 6).named(kOpcodes);
inline constexpr Field kAhsLength =
    row::decimal("iscsi.totalahslength", "Length of additional header segments", at(4), 8).in("words of 4 bytes");
inline constexpr Field kDataLength =
    row::decimal("iscsi.datasegmentlength", "Length of the data segment", at(5), 24).in("bytes");
inline constexpr Field kLunMode = row::decimal("scsi.lun.address_mode", "How the LUN is written", at(8), 2);
inline constexpr Field kLun = row::hex("scsi.lun", "Logical unit number", at(8, 2), 14);
inline constexpr Field kLunRest = row::hex("rdma.scsi.lun.rest", "Rest of the LUN", at(10), 48);
inline constexpr Field kTaskTag = row::hex("iscsi.initiatortasktag", "Initiator task tag", at(16), 32);
inline constexpr Field kTransferTag = row::hex("iscsi.targettransfertag", "Target transfer tag", at(20), 32);
inline constexpr Field kCmdSn = row::decimal("iscsi.cmdsn", "Command sequence number", at(24), 32);
inline constexpr Field kStatSn = row::decimal("iscsi.statsn", "Status sequence number", at(24), 32);
inline constexpr Field kExpStatSn = row::decimal("iscsi.expstatsn", "Expected status sequence number", at(28), 32);
inline constexpr Field kExpCmdSn = row::decimal("iscsi.expcmdsn", "Expected command sequence number", at(28), 32);
inline constexpr Field kMaxCmdSn = row::decimal("iscsi.maxcmdsn", "Maximum command sequence number", at(32), 32);

inline constexpr std::array kNopFields{
    kReserved0,
    of(kNopOut, kImmediate),
    kOpcode,
    row::reserved(at(1), 24),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    of(kNopOut, kCmdSn),
    of(kNopIn, kStatSn.part()),
    of(kNopOut, kExpStatSn),
    of(kNopIn, kExpCmdSn.part()),
    of(kNopIn, kMaxCmdSn),
    row::reserved(at(36), 96),
};
static_assert(tiles(kNopFields, kBhs));

inline constexpr std::array kCommandFields{
    kReserved0,
    kImmediate,
    kOpcode,
    row::hex("iscsi.flags", "Flags", at(1), 8),
    row::flag("iscsi.scsicommand.F", "Final: no unsolicited data follows", at(1)).part(),
    row::flag("iscsi.scsicommand.R", "Read: data is expected", at(1, 1)).part(),
    row::flag("iscsi.scsicommand.W", "Write: data will be sent", at(1, 2)).part(),
    row::decimal("iscsi.scsicommand.attr", "Task attribute", at(1, 5), 3).named(kTaskAttributes).part(),
    row::reserved(at(2), 16),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    row::decimal("iscsi.scsicommand.expecteddatatransferlength", "Expected data transfer length", at(20), 32)
        .in("bytes"),
    kCmdSn,
    kExpStatSn,
};
static_assert(tiles(kCommandFields, kCommandHead));

inline constexpr std::array kResponseFields{
    kReserved01,
    kOpcode,
    row::hex("iscsi.flags", "Flags", at(1), 8),
    row::flag("iscsi.scsiresponse.o", "Bidirectional read overflow", at(1, 3)).part(),
    row::flag("iscsi.scsiresponse.u", "Bidirectional read underflow", at(1, 4)).part(),
    row::flag("iscsi.scsiresponse.O", "Overflow", at(1, 5)).part(),
    row::flag("iscsi.scsiresponse.U", "Underflow", at(1, 6)).part(),
    row::hex("iscsi.scsiresponse.response", "Response", at(2), 8).named(kResponses),
    row::hex("iscsi.scsiresponse.status", "SCSI status", at(3), 8).named(scsi::kStatus),
    kAhsLength,
    kDataLength,
    row::reserved(at(8), 64),
    kTaskTag,
    row::hex("rdma.iscsi.snack_tag", "SNACK tag", at(20), 32),
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    row::hex("iscsi.expdatasn", "Expected data sequence number", at(36), 32),
    row::decimal("iscsi.scsiresponse.bidireadresidualcount", "Residual count of a bidirectional read", at(40), 32)
        .in("bytes"),
    row::decimal("iscsi.scsiresponse.residualcount", "Residual count", at(44), 32).in("bytes"),
};
static_assert(tiles(kResponseFields, kBhs));

inline constexpr std::array kTaskManagementFields{
    kReserved0,
    of(kTaskRequest, kImmediate),
    kOpcode,
    row::reserved(at(1), 1),
    of(kTaskRequest, row::hex("iscsi.taskmanfun.function", "Function", at(1, 1), 7).named(kTaskFunctions)),
    of(kTaskResponse, row::hex("iscsi.taskmanfun.response", "Response", at(2), 8).named(kTaskResponses)),
    row::reserved(at(3), 8),
    kAhsLength,
    kDataLength,
    of(kTaskRequest, kLunMode),
    of(kTaskRequest, kLun),
    of(kTaskRequest, kLunRest),
    kTaskTag,
    of(kTaskRequest, row::hex("iscsi.taskmanfun.referencedtasktag", "Referenced task tag", at(20), 32)),
    of(kTaskRequest, kCmdSn),
    of(kTaskResponse, kStatSn.part()),
    of(kTaskRequest, kExpStatSn),
    of(kTaskResponse, kExpCmdSn.part()),
    of(kTaskRequest, row::decimal("iscsi.refcmdsn", "Referenced command sequence number", at(32), 32)),
    of(kTaskResponse, kMaxCmdSn.part()),
    of(kTaskRequest, row::hex("iscsi.expdatasn", "Expected data sequence number", at(36), 32)),
    row::reserved(at(40), 64),
};
static_assert(tiles(kTaskManagementFields, kBhs));

inline constexpr Field kIsid = row::bytes("iscsi.isid", "Initiator session ID", at(8), 48);
inline constexpr Field kTsih = row::hex("iscsi.tsih", "Target session identifying handle", at(14), 16);

inline constexpr Field kNextStage =
    row::hex("iscsi.login.nsg", "Next stage", at(1, 6), 2).named(kStages).only_if(at(1), 1, 1);

inline constexpr std::array kLoginRequestFields{
    kReserved0,
    kImmediate,
    kOpcode,
    row::flag("iscsi.login.T", "Transit to the next stage", at(1)),
    row::flag("iscsi.login.C", "Continue: the text goes on in the next request", at(1, 1)),
    row::reserved(at(1, 2), 2),
    row::hex("iscsi.login.csg", "Current stage", at(1, 4), 2).named(kStages),
    kNextStage,
    row::hex("iscsi.versionmax", "Highest version", at(2), 8),
    row::hex("iscsi.versionmin", "Lowest version", at(3), 8),
    kAhsLength,
    kDataLength,
    kIsid,
    row::hex("iscsi.isid.t", "Type", at(8), 2).named(kIsidTypes).part(),
    row::hex("iscsi.isid.a", "A", at(8, 2), 6).part(),
    row::hex("iscsi.isid.b", "B", at(9), 16).part(),
    row::hex("iscsi.isid.c", "C", at(11), 8).part(),
    row::hex("iscsi.isid.d", "D, the qualifier", at(12), 16).part(),
    kTsih,
    kTaskTag,
    row::hex("iscsi.cid", "Connection ID", at(20), 16),
    row::reserved(at(22), 16),
    kCmdSn,
    kExpStatSn,
    row::reserved(at(32), 128),
};
static_assert(tiles(kLoginRequestFields, kBhs));

inline constexpr std::array kLoginResponseFields{
    row::reserved(at(0), 2),
    kOpcode,
    row::flag("iscsi.login.T", "Transit to the next stage", at(1)),
    row::flag("iscsi.login.C", "Continue: the text goes on in the next response", at(1, 1)),
    row::reserved(at(1, 2), 2),
    row::hex("iscsi.login.csg", "Current stage", at(1, 4), 2).named(kStages),
    kNextStage,
    row::hex("iscsi.versionmax", "Highest version", at(2), 8),
    row::hex("iscsi.versionactive", "Active version", at(3), 8),
    kAhsLength,
    kDataLength,
    kIsid,
    row::hex("iscsi.isid.t", "Type", at(8), 2).named(kIsidTypes).part(),
    row::hex("iscsi.isid.a", "A", at(8, 2), 6).part(),
    row::hex("iscsi.isid.b", "B", at(9), 16).part(),
    row::hex("iscsi.isid.c", "C", at(11), 8).part(),
    row::hex("iscsi.isid.d", "D, the qualifier", at(12), 16).part(),
    kTsih,
    kTaskTag,
    row::reserved(at(20), 32),
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    row::hex("iscsi.login.status", "Status", at(36), 16).named(kLoginStatus),
    row::reserved(at(38), 80),
};
static_assert(tiles(kLoginResponseFields, kBhs));

inline constexpr std::array kTextFields{
    kReserved0,
    of(kTextRequest, kImmediate),
    kOpcode,
    row::flag("iscsi.text.F", "Final", at(1)),
    row::flag("iscsi.text.C", "Continue: the text goes on in the next PDU", at(1, 1)),
    row::reserved(at(1, 2), 22),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    of(kTextRequest, kCmdSn),
    of(kTextResponse, kStatSn.part()),
    of(kTextRequest, kExpStatSn),
    of(kTextResponse, kExpCmdSn.part()),
    of(kTextResponse, kMaxCmdSn),
    row::reserved(at(36), 96),
};
static_assert(tiles(kTextFields, kBhs));

inline constexpr Field kDataSn = row::decimal("iscsi.datasn", "Data sequence number", at(36), 32);
inline constexpr Field kBufferOffset = row::decimal("iscsi.bufferOffset", "Buffer offset", at(40), 32).in("bytes");

inline constexpr std::array kDataOutFields{
    kReserved01,
    kOpcode,
    row::flag("iscsi.scsidata.F", "Final", at(1)),
    row::reserved(at(1, 1), 23),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    row::reserved(at(24), 32),
    kExpStatSn,
    row::reserved(at(32), 32),
    kDataSn,
    kBufferOffset,
    row::reserved(at(44), 32),
};
static_assert(tiles(kDataOutFields, kBhs));

inline constexpr std::array kDataInFields{
    kReserved01,
    kOpcode,
    row::flag("iscsi.scsidata.F", "Final", at(1)),
    row::flag("iscsi.scsidata.A", "Acknowledge", at(1, 1)),
    row::reserved(at(1, 2), 3),
    row::flag("iscsi.scsidata.O", "Overflow", at(1, 5)),
    row::flag("iscsi.scsidata.U", "Underflow", at(1, 6)),
    row::flag("iscsi.scsidata.S", "Status: this PDU has the status of the command", at(1, 7)),
    row::reserved(at(2), 8),
    row::hex("iscsi.scsiresponse.status", "SCSI status", at(3), 8).named(scsi::kStatus),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    kDataSn,
    kBufferOffset,
    row::decimal("iscsi.scsidata.readresidualcount", "Residual count", at(44), 32).in("bytes"),
};
static_assert(tiles(kDataInFields, kBhs));

inline constexpr std::array kLogoutFields{
    kReserved0,
    of(kLogoutRequest, kImmediate),
    kOpcode,
    row::reserved(at(1), 1),
    of(kLogoutRequest, row::hex("iscsi.logout.reason", "Reason", at(1, 1), 7).named(kLogoutReasons)),
    of(kLogoutResponse, row::hex("iscsi.logout.response", "Response", at(2), 8).named(kLogoutResponses)),
    row::reserved(at(3), 8),
    kAhsLength,
    kDataLength,
    row::reserved(at(8), 64),
    kTaskTag,
    of(kLogoutRequest, row::hex("iscsi.cid", "Connection ID", at(20), 16)),
    row::reserved(at(22), 16),
    of(kLogoutRequest, kCmdSn),
    of(kLogoutResponse, kStatSn.part()),
    of(kLogoutRequest, kExpStatSn),
    of(kLogoutResponse, kExpCmdSn.part()),
    of(kLogoutResponse, kMaxCmdSn),
    row::reserved(at(36), 32),
    of(kLogoutResponse, row::decimal("iscsi.time2wait", "Time to wait before connecting anew", at(40), 16).in("s")),
    of(kLogoutResponse, row::decimal("iscsi.time2retain", "Time for which tasks are kept", at(42), 16).in("s")),
    row::reserved(at(44), 32),
};
static_assert(tiles(kLogoutFields, kBhs));

inline constexpr std::array kSnackFields{
    kReserved01,
    kOpcode,
    row::reserved(at(1), 4),
    row::decimal("iscsi.snack.type", "Type", at(1, 4), 4).named(kSnackTypes),
    row::reserved(at(2), 16),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    row::reserved(at(24), 32),
    kExpStatSn,
    row::reserved(at(32), 64),
    row::hex("iscsi.snack.begrun", "First number requested", at(40), 32),
    row::decimal("iscsi.snack.runlength", "How many", at(44), 32),
};
static_assert(tiles(kSnackFields, kBhs));

inline constexpr std::array kReadyToTransferFields{
    kReserved01,
    kOpcode,
    row::reserved(at(1), 24),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    kTaskTag,
    kTransferTag,
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    row::decimal("iscsi.r2tsn", "Number of this R2T", at(36), 32),
    kBufferOffset,
    row::decimal("iscsi.desireddatalength", "Desired data transfer length", at(44), 32).in("bytes"),
};
static_assert(tiles(kReadyToTransferFields, kBhs));

inline constexpr std::array kAsynchronousFields{
    kReserved01,
    kOpcode,
    row::reserved(at(1), 24),
    kAhsLength,
    kDataLength,
    kLunMode,
    kLun,
    kLunRest,
    row::reserved(at(16), 64),
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    row::hex("iscsi.asyncevent", "Event", at(36), 8).named(kAsyncEvents),
    row::hex("iscsi.eventvendorcode", "Vendor code of the event", at(37), 8),
    row::hex("iscsi.parameter1", "Parameter 1", at(38), 16),
    row::hex("iscsi.parameter2", "Parameter 2", at(40), 16),
    row::hex("iscsi.parameter3", "Parameter 3", at(42), 16),
    row::reserved(at(44), 32),
};
static_assert(tiles(kAsynchronousFields, kBhs));

inline constexpr std::array kRejectFields{
    kReserved01,
    kOpcode,
    row::reserved(at(1), 8),
    row::hex("iscsi.reject.reason", "Reason", at(2), 8).named(kRejectReasons),
    row::reserved(at(3), 8),
    kAhsLength,
    kDataLength,
    row::reserved(at(8), 128),
    kStatSn,
    kExpCmdSn,
    kMaxCmdSn,
    row::decimal("iscsi.datasn", "Data sequence number, or R2T's", at(36), 32),
    row::reserved(at(40), 64),
};
static_assert(tiles(kRejectFields, kBhs));

inline constexpr std::array kKeyFields{
    row::text("iscsi.keyvalue", "Key and value", at(0), kToEnd),
};
inline constexpr std::array kAhsFields{
    row::decimal("iscsi.ahs.length", "Length of what is specific to the type", at(0), 16).in("bytes"),
    row::hex("iscsi.ahs.type", "Type", at(2), 8).named(kAhsTypes),
    row::reserved(at(3), 8),
    row::bytes("rdma.iscsi.ahs.content", "Content", at(4), kToEnd),
    row::decimal("iscsi.ahs.bidir.length", "Bidirectional read expected data transfer length", at(4), 32)
        .part()
        .only_if(at(2), 8, 2),
};
static_assert(tiles(kAhsFields, kAhsHead));
inline constexpr std::array kDataSegmentFields{
    row::bytes("iscsi.immediatedata", "Data", at(0), kToEnd),
};
inline constexpr std::array kSenseLengthFields{
    row::decimal("iscsi.scsiresponse.senselength", "Length of the sense data", at(0), 16).in("bytes"),
};
static_assert(tiles(kSenseLengthFields, 2));

inline constexpr std::array kIscsiHeaders{
    Header{kind::iscsi_nop, "rdma.iscsi.nop", "iSCSI NOP", kBhs, kNopFields},
    Header{kind::iscsi_command, "rdma.iscsi.command", "iSCSI SCSI Command", kCommandHead, kCommandFields},
    Header{kind::iscsi_response, "rdma.iscsi.response", "iSCSI SCSI Response", kBhs, kResponseFields},
    Header{kind::iscsi_task_management, "rdma.iscsi.task_management", "iSCSI Task Management", kBhs,
           kTaskManagementFields},
    Header{kind::iscsi_login_request, "rdma.iscsi.login_request", "iSCSI Login Request", kBhs, kLoginRequestFields},
    Header{kind::iscsi_login_response, "rdma.iscsi.login_response", "iSCSI Login Response", kBhs, kLoginResponseFields},
    Header{kind::iscsi_text, "rdma.iscsi.text", "iSCSI Text", kBhs, kTextFields},
    Header{kind::iscsi_data_out, "rdma.iscsi.data_out", "iSCSI Data-Out", kBhs, kDataOutFields},
    Header{kind::iscsi_data_in, "rdma.iscsi.data_in", "iSCSI Data-In", kBhs, kDataInFields},
    Header{kind::iscsi_logout, "rdma.iscsi.logout", "iSCSI Logout", kBhs, kLogoutFields},
    Header{kind::iscsi_snack, "rdma.iscsi.snack", "iSCSI SNACK", kBhs, kSnackFields},
    Header{kind::iscsi_ready_to_transfer, "rdma.iscsi.r2t", "iSCSI Ready To Transfer", kBhs, kReadyToTransferFields},
    Header{kind::iscsi_asynchronous, "rdma.iscsi.asynchronous", "iSCSI Asynchronous Message", kBhs,
           kAsynchronousFields},
    Header{kind::iscsi_reject, "rdma.iscsi.reject", "iSCSI Reject", kBhs, kRejectFields},
    Header{kind::iscsi_key, "rdma.iscsi.key", "iSCSI Text Key", 0, kKeyFields},
    Header{kind::iscsi_additional_header, "iscsi.ahs", "iSCSI Additional Header Segment", kAhsHead, kAhsFields},
    Header{kind::iscsi_data_segment, "rdma.iscsi.data_segment", "iSCSI Data Segment", 0, kDataSegmentFields},
    Header{kind::iscsi_sense_length, "rdma.iscsi.sense", "iSCSI Sense Length", 2, kSenseLengthFields},
};

// A PDU in its bytes: where its parts are, as far as the bytes go. Nothing where the opcode is unknown or the header is
// not whole.
struct Pdu {
    std::uint8_t opcode = 0;
    Bytes header;  // kBhs bytes
    Bytes additional;
    Bytes data;                      // without its padding
    std::size_t data_length = 0;     // as the header says
    std::size_t length_on_wire = 0;  // of all of it, its data padded to 4 bytes
};
[[nodiscard]] std::optional<Pdu> pdu_of(Bytes bytes);

// Takes the first "key=value" off `text`, which is without its NUL; empty where none is left.
[[nodiscard]] Bytes next_key(Bytes& text);

}  // namespace iscsi

namespace ulp {
// An iSCSI PDU from the walk to the end of the message.
void walk_iscsi(Walk& walk);
}  // namespace ulp

}  // namespace qps::dissect
