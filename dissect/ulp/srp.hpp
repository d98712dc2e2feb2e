// SRP, the SCSI RDMA Protocol (INCITS T10, revision 16a): information units, and the descriptors of memory in commands;
// what Linux added for the RDMA IP CM service and of SRP-2 (immediate data). Names are our own: Wireshark has no
// dissector for it.
//
// What an attacker could feed: descriptor tables of 255 entries, sense data of gigabytes; all is cut to what is there.
#pragma once

#include <dissect/ulp/scsi.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind srp_login_request = kind_in(LayerFamily::srp, 0);
inline constexpr LayerKind srp_login_request_rdma = kind_in(LayerFamily::srp, 1);
inline constexpr LayerKind srp_login_response = kind_in(LayerFamily::srp, 2);
inline constexpr LayerKind srp_login_reject = kind_in(LayerFamily::srp, 3);
inline constexpr LayerKind srp_command = kind_in(LayerFamily::srp, 4);
inline constexpr LayerKind srp_response = kind_in(LayerFamily::srp, 5);
inline constexpr LayerKind srp_task_management = kind_in(LayerFamily::srp, 6);
inline constexpr LayerKind srp_short = kind_in(LayerFamily::srp, 7);
inline constexpr LayerKind srp_event = kind_in(LayerFamily::srp, 8);
inline constexpr LayerKind srp_descriptor = kind_in(LayerFamily::srp, 9);
inline constexpr LayerKind srp_indirect = kind_in(LayerFamily::srp, 10);
inline constexpr LayerKind srp_immediate = kind_in(LayerFamily::srp, 11);
}  // namespace kind

namespace srp {

inline constexpr std::uint8_t kLoginRequest = 0x00, kTaskManagement = 0x01, kCommand = 0x02, kInitiatorLogout = 0x03,
                              kCreditResponse = 0x41, kEventResponse = 0x42, kTargetLogout = 0x80,
                              kCreditRequest = 0x81, kEventRequest = 0x82, kLoginResponse = 0xc0, kResponse = 0xc1,
                              kLoginReject = 0xc2;

inline constexpr std::array kOpcodes{
    ValueName{kLoginRequest, "SRP_LOGIN_REQ"},
    ValueName{kTaskManagement, "SRP_TSK_MGMT"},
    ValueName{kCommand, "SRP_CMD"},
    ValueName{kInitiatorLogout, "SRP_I_LOGOUT"},
    ValueName{kCreditResponse, "SRP_CRED_RSP"},
    ValueName{kEventResponse, "SRP_AER_RSP"},
    ValueName{kTargetLogout, "SRP_T_LOGOUT"},
    ValueName{kCreditRequest, "SRP_CRED_REQ"},
    ValueName{kEventRequest, "SRP_AER_REQ"},
    ValueName{kLoginResponse, "SRP_LOGIN_RSP"},
    ValueName{kResponse, "SRP_RSP"},
    ValueName{kLoginReject, "SRP_LOGIN_REJ"},
};
inline constexpr std::array kFormats{
    ValueName{0, "none"},
    ValueName{1, "direct"},
    ValueName{2, "indirect"},
    ValueName{3, "immediate"},
};
inline constexpr std::uint8_t kNone = 0, kDirect = 1, kIndirect = 2, kImmediate = 3;

inline constexpr std::uint32_t kRejectBase = 0x00010000;
inline constexpr std::array kRejectReasons{
    ValueName{kRejectBase + 0, "unable to establish RDMA channel, no reason specified"},
    ValueName{kRejectBase + 1, "insufficient RDMA channel resources"},
    ValueName{kRejectBase + 2, "requested initiator to target IU length is too large"},
    ValueName{kRejectBase + 3, "unable to associate RDMA channel with I_T nexus"},
    ValueName{kRejectBase + 4, "unsupported data buffer descriptor format"},
    ValueName{kRejectBase + 5, "multiple RDMA channels per I_T nexus are not supported"},
    ValueName{kRejectBase + 6, "RDMA channel limit reached for this initiator"},
};
inline constexpr std::array kLogoutReasons{
    ValueName{0, "no reason specified"},
    ValueName{1, "inactive RDMA channel"},
    ValueName{2, "invalid information unit type received by the target"},
    ValueName{3, "response without a request"},
    ValueName{4, "disconnected by a new login with another multi-channel action"},
    ValueName{6, "unsupported format of the data-out buffer descriptor"},
    ValueName{7, "unsupported format of the data-in buffer descriptor"},
    ValueName{8, "invalid length of an information unit"},
};
inline constexpr std::array kTaskFunctions{
    ValueName{0x01, "ABORT TASK"},         ValueName{0x02, "ABORT TASK SET"}, ValueName{0x04, "CLEAR TASK SET"},
    ValueName{0x08, "LOGICAL UNIT RESET"}, ValueName{0x40, "CLEAR ACA"},
};
inline constexpr std::array kResponseCodes{
    ValueName{0, "no failure, or function complete"},
    ValueName{2, "request fields invalid"},
    ValueName{4, "task management function not supported"},
    ValueName{5, "task management function failed"},
};
inline constexpr std::array kTaskAttributes{
    ValueName{0, "simple"},
    ValueName{1, "head of queue"},
    ValueName{2, "ordered"},
    ValueName{4, "ACA"},
};
inline constexpr std::array kLoginChannels{
    ValueName{0, "end other channels of the nexus"},
    ValueName{1, "keep other channels of the nexus"},
};
inline constexpr std::array kChannelResults{
    ValueName{0, "no other channels"},
    ValueName{1, "other channels were ended"},
    ValueName{2, "other channels were kept"},
};

inline constexpr Field kOpcode = row::hex("rdma.srp.opcode", "Type", at(0), 8).named(kOpcodes);
inline constexpr Field kNotification = row::hex("rdma.srp.sol_not", "Solicited notification", at(1), 8);
inline constexpr Field kDelta =
    row::decimal("rdma.srp.req_lim_delta", "Request limit delta: requests more that may be outstanding", at(4), 32);
inline constexpr Field kTag = row::hex("rdma.srp.tag", "Tag", at(8), 64);
inline constexpr Field kLun = row::hex("rdma.srp.lun", "Logical unit number", at(20), 64);

// The formats that a port can do, in logins.
consteval Field supports_direct(unsigned byte) {
    return row::flag("rdma.srp.buf_fmt.direct", "Direct data buffer descriptors", at(byte, 6)).part();
}
consteval Field supports_indirect(unsigned byte) {
    return row::flag("rdma.srp.buf_fmt.indirect", "Indirect data buffer descriptors", at(byte, 5)).part();
}
consteval Field buffer_formats(unsigned byte) {
    return row::hex("rdma.srp.buf_fmt", "Data buffer descriptor formats", at(byte), 16);
}

inline constexpr std::size_t kLoginRequestLength = 64;
inline constexpr std::array kLoginRequestFields{
    kOpcode,
    row::reserved(at(1), 56),
    kTag,
    row::decimal("rdma.srp.req_it_iu_len", "Longest information unit requested, to the target", at(16), 32).in("bytes"),
    row::reserved(at(20), 32),
    buffer_formats(24),
    supports_indirect(25),
    supports_direct(25),
    row::hex("rdma.srp.req_flags", "Flags", at(26), 8),
    row::flag("rdma.srp.req_flags.immediate", "Immediate data is requested", at(26)).part(),
    row::decimal("rdma.srp.req_flags.channels", "Multi-channel action", at(26, 6), 2).named(kLoginChannels).part(),
    row::reserved(at(27), 8),
    row::decimal("rdma.srp.imm_data_offset", "Offset of immediate data", at(28), 16).in("bytes"),
    row::reserved(at(30), 16),
    row::bytes("rdma.srp.initiator_port_id", "Initiator port", at(32), 128),
    row::bytes("rdma.srp.target_port_id", "Target port", at(48), 128),
};
static_assert(tiles(kLoginRequestFields, kLoginRequestLength));

// The same without what is reserved, as Linux puts it behind the header of the RDMA IP CM service.
inline constexpr std::size_t kLoginRequestRdmaLength = 56;
inline constexpr std::array kLoginRequestRdmaFields{
    row::hex("rdma.srp.tag", "Tag", at(0), 64),
    buffer_formats(8),
    supports_indirect(9),
    supports_direct(9),
    row::hex("rdma.srp.req_flags", "Flags", at(10), 8),
    row::flag("rdma.srp.req_flags.immediate", "Immediate data is requested", at(10)).part(),
    row::decimal("rdma.srp.req_flags.channels", "Multi-channel action", at(10, 6), 2).named(kLoginChannels).part(),
    row::hex("rdma.srp.opcode", "Type", at(11), 8).named(kOpcodes),
    row::decimal("rdma.srp.req_it_iu_len", "Longest information unit requested, to the target", at(12), 32).in("bytes"),
    row::bytes("rdma.srp.initiator_port_id", "Initiator port", at(16), 128),
    row::bytes("rdma.srp.target_port_id", "Target port", at(32), 128),
    row::decimal("rdma.srp.imm_data_offset", "Offset of immediate data", at(48), 16).in("bytes"),
    row::reserved(at(50), 48),
};
static_assert(tiles(kLoginRequestRdmaFields, kLoginRequestRdmaLength));

inline constexpr std::size_t kLoginResponseLength = 52;
inline constexpr std::array kLoginResponseFields{
    kOpcode,
    row::reserved(at(1), 24),
    kDelta,
    kTag,
    row::decimal("rdma.srp.max_it_iu_len", "Longest information unit: to the target", at(16), 32).in("bytes"),
    row::decimal("rdma.srp.max_ti_iu_len", "Longest information unit: to the initiator", at(20), 32).in("bytes"),
    buffer_formats(24),
    supports_indirect(25),
    supports_direct(25),
    row::hex("rdma.srp.rsp_flags", "Flags", at(26), 8),
    row::flag("rdma.srp.rsp_flags.immediate", "Immediate data is supported", at(26)).part(),
    row::decimal("rdma.srp.rsp_flags.channels", "Multi-channel result", at(26, 6), 2).named(kChannelResults).part(),
    row::reserved(at(27), 200),
};
static_assert(tiles(kLoginResponseFields, kLoginResponseLength));

inline constexpr std::size_t kLoginRejectLength = 32;
inline constexpr std::array kLoginRejectFields{
    kOpcode,
    row::reserved(at(1), 24),
    row::hex("rdma.srp.rej_reason", "Reason", at(4), 32).named(kRejectReasons),
    kTag,
    row::reserved(at(16), 64),
    buffer_formats(24),
    supports_indirect(25),
    supports_direct(25),
    row::reserved(at(26), 48),
};
static_assert(tiles(kLoginRejectFields, kLoginRejectLength));

inline constexpr std::size_t kCommandHead = 32;  // its CDB is a layer of its own
inline constexpr std::size_t kCommandLength = kCommandHead + scsi::kCdbArea;
inline constexpr std::array kCommandFields{
    kOpcode,
    kNotification,
    row::reserved(at(2), 24),
    row::decimal("rdma.srp.data_out_format", "Data-out buffer descriptor", at(5), 4).named(kFormats),
    row::decimal("rdma.srp.data_in_format", "Data-in buffer descriptor", at(5, 4), 4).named(kFormats),
    row::decimal("rdma.srp.data_out_count", "Data-out descriptors in this unit", at(6), 8),
    row::decimal("rdma.srp.data_in_count", "Data-in descriptors in this unit", at(7), 8),
    kTag,
    row::reserved(at(16), 32),
    kLun,
    row::reserved(at(28), 8),
    row::reserved(at(29), 5),
    row::decimal("rdma.srp.task_attribute", "Task attribute", at(29, 5), 3).named(kTaskAttributes),
    row::reserved(at(30), 8),
    row::decimal("rdma.srp.add_cdb_len", "Additional CDB length", at(31), 6).times(4).in("bytes"),
    row::reserved(at(31, 6), 2),
};
static_assert(tiles(kCommandFields, kCommandHead));

inline constexpr std::size_t kResponseLength = 36;
inline constexpr std::array kResponseFields{
    kOpcode,
    kNotification,
    row::reserved(at(2), 16),
    kDelta,
    kTag,
    row::reserved(at(16), 16),
    row::hex("rdma.srp.rsp.flags", "Flags", at(18), 8),
    row::flag("rdma.srp.rsp.diunder", "Data-in underflow", at(18, 2)).part(),
    row::flag("rdma.srp.rsp.diover", "Data-in overflow", at(18, 3)).part(),
    row::flag("rdma.srp.rsp.dounder", "Data-out underflow", at(18, 4)).part(),
    row::flag("rdma.srp.rsp.doover", "Data-out overflow", at(18, 5)).part(),
    row::flag("rdma.srp.rsp.snsvalid", "Sense data is valid", at(18, 6)).part(),
    row::flag("rdma.srp.rsp.rspvalid", "Response data is valid", at(18, 7)).part(),
    row::hex("rdma.srp.rsp.status", "SCSI status", at(19), 8).named(scsi::kStatus),
    row::decimal("rdma.srp.rsp.data_out_residual", "Data-out residual count", at(20), 32).in("bytes"),
    row::decimal("rdma.srp.rsp.data_in_residual", "Data-in residual count", at(24), 32).in("bytes"),
    row::decimal("rdma.srp.rsp.sense_len", "Length of the sense data", at(28), 32).in("bytes"),
    row::decimal("rdma.srp.rsp.response_len", "Length of the response data", at(32), 32).in("bytes"),
    row::bytes("rdma.srp.rsp.response", "Response data", at(36), kToEnd),
    row::decimal("rdma.srp.rsp.code", "Response code", at(39), 8).named(kResponseCodes).part(),
};
static_assert(tiles(kResponseFields, kResponseLength));

inline constexpr std::size_t kTaskManagementLength = 48;
inline constexpr std::array kTaskManagementFields{
    kOpcode,
    kNotification,
    row::reserved(at(2), 48),
    kTag,
    row::reserved(at(16), 32),
    kLun,
    row::reserved(at(28), 16),
    row::hex("rdma.srp.task_function", "Function", at(30), 8).named(kTaskFunctions),
    row::reserved(at(31), 8),
    row::hex("rdma.srp.task_tag", "Tag of the task", at(32), 64),
    row::reserved(at(40), 64),
};
static_assert(tiles(kTaskManagementFields, kTaskManagementLength));

// Logouts, credits, answers to events.
inline constexpr std::size_t kShortLength = 16;
inline constexpr std::array kShortFields{
    kOpcode,
    kNotification,
    row::reserved(at(2), 16),
    kDelta.only_if(at(0), 8, kCreditRequest),
    row::hex("rdma.srp.logout_reason", "Reason", at(4), 32)
        .named(kLogoutReasons)
        .part()
        .only_if(at(0), 8, kTargetLogout),
    kTag,
};
static_assert(tiles(kShortFields, kShortLength));

inline constexpr std::size_t kEventLength = 36;
inline constexpr std::array kEventFields{
    kOpcode,
    kNotification,
    row::reserved(at(2), 16),
    kDelta,
    kTag,
    row::reserved(at(16), 32),
    kLun,
    row::decimal("rdma.srp.event.sense_len", "Length of the sense data", at(28), 32).in("bytes"),
    row::reserved(at(32), 32),
};
static_assert(tiles(kEventFields, kEventLength));

inline constexpr std::size_t kDescriptorLength = 16;
inline constexpr std::array kDescriptorFields{
    row::hex("rdma.srp.desc.address", "Virtual address", at(0), 64),
    row::hex("rdma.srp.desc.key", "Memory handle: R_Key", at(8), 32),
    row::decimal("rdma.srp.desc.length", "Length", at(12), 32).in("bytes"),
};
static_assert(tiles(kDescriptorFields, kDescriptorLength));

inline constexpr std::size_t kIndirectLength = 20;
inline constexpr std::array kIndirectFields{
    row::hex("rdma.srp.table.address", "Virtual address of the table", at(0), 64),
    row::hex("rdma.srp.table.key", "Memory handle of the table: R_Key", at(8), 32),
    row::decimal("rdma.srp.table.length", "Length of the table", at(12), 32).in("bytes"),
    row::decimal("rdma.srp.table.data_length", "Length of the data", at(16), 32).in("bytes"),
};
static_assert(tiles(kIndirectFields, kIndirectLength));

inline constexpr std::size_t kImmediateLength = 4;
inline constexpr std::array kImmediateFields{
    row::decimal("rdma.srp.imm.length", "Length of the immediate data", at(0), 32).in("bytes"),
};
static_assert(tiles(kImmediateFields, kImmediateLength));

inline constexpr std::array kSrpHeaders{
    Header{kind::srp_login_request, "rdma.srp.login_req", "SRP Login Request", kLoginRequestLength,
           kLoginRequestFields},
    Header{kind::srp_login_request_rdma, "rdma.srp.login_req_rdma", "SRP Login Request (RDMA IP CM)",
           kLoginRequestRdmaLength, kLoginRequestRdmaFields},
    Header{kind::srp_login_response, "rdma.srp.login_rsp", "SRP Login Response", kLoginResponseLength,
           kLoginResponseFields},
    Header{kind::srp_login_reject, "rdma.srp.login_rej", "SRP Login Reject", kLoginRejectLength, kLoginRejectFields},
    Header{kind::srp_command, "rdma.srp.cmd", "SRP Command", kCommandHead, kCommandFields},
    Header{kind::srp_response, "rdma.srp.rsp", "SRP Response", kResponseLength, kResponseFields},
    Header{kind::srp_task_management, "rdma.srp.tsk_mgmt", "SRP Task Management", kTaskManagementLength,
           kTaskManagementFields},
    Header{kind::srp_short, "rdma.srp.control", "SRP Logout, Credit or Event Response", kShortLength, kShortFields},
    Header{kind::srp_event, "rdma.srp.aer_req", "SRP Asynchronous Event Request", kEventLength, kEventFields},
    Header{kind::srp_descriptor, "rdma.srp.desc", "SRP Memory Descriptor", kDescriptorLength, kDescriptorFields},
    Header{kind::srp_indirect, "rdma.srp.table", "SRP Indirect Data Buffer Descriptor", kIndirectLength,
           kIndirectFields},
    Header{kind::srp_immediate, "rdma.srp.imm", "SRP Immediate Data Descriptor", kImmediateLength, kImmediateFields},
};

// Where the parts of a command's IU are, in bytes from its start. It may say more than there is.
struct CommandShape {
    std::uint8_t out_format = 0;
    std::uint8_t in_format = 0;
    std::size_t out_at = 0;  // data-out descriptor
    std::size_t out_count = 0;
    std::size_t in_at = 0;
    std::size_t in_count = 0;
    std::size_t end = 0;  // of the descriptors
    bool valid = false;   // formats that exist
};
// Of the first kCommandLength bytes at least; not valid where there are fewer.
[[nodiscard]] CommandShape shape_of(Bytes command);

}  // namespace srp

}  // namespace qps::dissect
