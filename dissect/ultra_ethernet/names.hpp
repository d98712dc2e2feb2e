// Names of Ultra Ethernet's numbers: packet types, what follows them, control packets, NACKs, operations, return codes.
//
// Of UEC Specification 1.0 as open implementations have it; a number that they do not agree on has no name here.
#pragma once

#include <dissect/base/field.hpp>

#include <array>

namespace qps::dissect {

enum class PdsType : std::uint8_t {
    tss = 1,
    rud_request = 2,
    rod_request = 3,
    rudi_request = 4,
    rudi_response = 5,
    uud_request = 6,
    ack = 7,
    ack_cc = 8,
    ack_ccx = 9,
    nack = 10,
    control = 11,
    nack_ccx = 12,
    rud_cc_request = 13,
    rod_cc_request = 14,
};

inline constexpr std::array kPdsTypes{
    ValueName{1, "TSS"},         ValueName{2, "RUD_REQ"},     ValueName{3, "ROD_REQ"}, ValueName{4, "RUDI_REQ"},
    ValueName{5, "RUDI_RESP"},   ValueName{6, "UUD_REQ"},     ValueName{7, "ACK"},     ValueName{8, "ACK_CC"},
    ValueName{9, "ACK_CCX"},     ValueName{10, "NACK"},       ValueName{11, "CP"},     ValueName{12, "NACK_CCX"},
    ValueName{13, "RUD_CC_REQ"}, ValueName{14, "ROD_CC_REQ"},
};

// What follows the packet delivery sublayer.
enum class SesForm : std::uint8_t { none, small, medium, standard, response, response_data, response_data_small };

inline constexpr std::array kSesForms{
    ValueName{0, "NONE"},
    ValueName{1, "REQUEST_SMALL"},
    ValueName{2, "REQUEST_MEDIUM"},
    ValueName{3, "REQUEST_STD"},
    ValueName{4, "RESPONSE"},
    ValueName{5, "RESPONSE_DATA"},
    ValueName{6, "RESPONSE_DATA_SMALL"},
};

inline constexpr std::uint8_t kUetNoop = 0;
inline constexpr std::uint8_t kUetProbe = 6;
inline constexpr std::uint8_t kUetNegotiation = 9;

inline constexpr std::array kUetControlTypes{
    ValueName{0, "NOOP"},          ValueName{1, "ACK_REQUEST"},   ValueName{2, "CLEAR_COMMAND"},
    ValueName{3, "CLEAR_REQUEST"}, ValueName{4, "CLOSE_COMMAND"}, ValueName{5, "CLOSE_REQUEST"},
    ValueName{6, "PROBE"},         ValueName{7, "CREDIT"},        ValueName{8, "CREDIT_REQUEST"},
    ValueName{9, "NEGOTIATION"},
};

// What the receiver asks of the sender with an ACK.
inline constexpr std::array kUetAckRequests{ValueName{0, "NONE"}, ValueName{1, "CLEAR"}, ValueName{2, "CLOSE"}};

inline constexpr std::array kUetNackCodes{
    ValueName{0x01, "TRIMMED"},
    ValueName{0x02, "TRIMMED_LASTHOP"},
    ValueName{0x03, "TRIMMED_ACK"},
    ValueName{0x04, "NO_PDC_AVAIL"},
    ValueName{0x05, "NO_CCC_AVAIL"},
    ValueName{0x06, "NO_BITMAP"},
    ValueName{0x07, "NO_PKT_BUFFER"},
    ValueName{0x08, "NO_GTD_DEL_AVAIL"},
    ValueName{0x09, "NO_SES_MSG_AVAIL"},
    ValueName{0x0a, "NO_RESOURCE"},
    ValueName{0x0b, "PSN_OOR_WINDOW"},
    ValueName{0x0d, "ROD_OOO"},
    ValueName{0x0e, "INV_DPDCID"},
    ValueName{0x0f, "PDC_HDR_MISMATCH"},
    ValueName{0x10, "CLOSING"},
    ValueName{0x11, "CLOSING_IN_ERR"},
    ValueName{0x12, "PKT_NOT_RCVD"},
    ValueName{0x13, "GTD_RESP_UNAVAIL"},
    ValueName{0x14, "ACK_WITH_DATA"},
    ValueName{0x15, "INVALID_SYN"},
    ValueName{0x16, "PDC_MODE_MISMATCH"},
    ValueName{0x17, "NEW_START_PSN"},
    ValueName{0x18, "RCVD_SES_PROCG"},
    ValueName{0x19, "UNEXP_EVENT"},
    ValueName{0x1a, "RCVR_INFER_LOSS"},
    ValueName{0xfd, "EXPERIMENTAL_NORMAL"},
    ValueName{0xfe, "EXPERIMENTAL_ERROR"},
    ValueName{0xff, "EXPERIMENTAL_FATAL"},
};

inline constexpr std::array kUetCongestionTypes{ValueName{0, "NSCC"}, ValueName{1, "CREDIT"}};

enum class SesOpcode : std::uint8_t {
    write = 0x01,
    read = 0x02,
    atomic = 0x03,
    fetching_atomic = 0x04,
    send = 0x05,
    rendezvous_send = 0x06,
    datagram_send = 0x07,
    tagged_send = 0x09,
    rendezvous_tagged_send = 0x0a,
    tagged_send_atomic = 0x0d,
    tagged_send_fetching_atomic = 0x0e,
    message_error = 0x0f,
};

// 0x10 and 0x11 are in one implementation alone.
inline constexpr std::array kSesOpcodes{
    ValueName{0x00, "NO_OP"},
    ValueName{0x01, "WRITE"},
    ValueName{0x02, "READ"},
    ValueName{0x03, "ATOMIC"},
    ValueName{0x04, "FETCHING_ATOMIC"},
    ValueName{0x05, "SEND"},
    ValueName{0x06, "RENDEZVOUS_SEND"},
    ValueName{0x07, "DATAGRAM_SEND"},
    ValueName{0x08, "DEFERRABLE_SEND"},
    ValueName{0x09, "TAGGED_SEND"},
    ValueName{0x0a, "RENDEZVOUS_TSEND"},
    ValueName{0x0b, "DEFERRABLE_TSEND"},
    ValueName{0x0c, "DEFERRABLE_RTR"},
    ValueName{0x0d, "TSEND_ATOMIC"},
    ValueName{0x0e, "TSEND_FETCH_ATOMIC"},
    ValueName{0x0f, "MSG_ERROR"},
};

inline constexpr std::uint8_t kSesResponseWithData = 2;

inline constexpr std::array kSesResponseOpcodes{
    ValueName{0, "DEFAULT_RESPONSE"},
    ValueName{1, "RESPONSE"},
    ValueName{2, "RESPONSE_W_DATA"},
    ValueName{3, "NO_RESPONSE"},
};

inline constexpr std::array kSesLists{ValueName{0, "EXPECTED"}, ValueName{1, "OVERFLOW"}};

inline constexpr std::array kSesReturnCodes{
    ValueName{0x00, "NULL"},
    ValueName{0x01, "OK"},
    ValueName{0x02, "BAD_GENERATION"},
    ValueName{0x03, "DISABLED"},
    ValueName{0x04, "DISABLED_GEN"},
    ValueName{0x05, "NO_MATCH"},
    ValueName{0x06, "UNSUPPORTED_OP"},
    ValueName{0x07, "UNSUPPORTED_SIZE"},
    ValueName{0x08, "AT_INVALID"},
    ValueName{0x09, "AT_PERM"},
    ValueName{0x0a, "AT_ATS_ERROR"},
    ValueName{0x0b, "AT_NO_TRANS"},
    ValueName{0x0c, "AT_OUT_OF_RANGE"},
    ValueName{0x0d, "HOST_POISONED"},
    ValueName{0x0e, "HOST_UNSUCCESS_CMPL"},
    ValueName{0x0f, "AMO_UNSUPPORTED_OP"},
    ValueName{0x10, "AMO_UNSUPPORTED_DT"},
    ValueName{0x11, "AMO_UNSUPPORTED_SIZE"},
    ValueName{0x12, "AMO_UNALIGNED"},
    ValueName{0x13, "AMO_FP_NAN"},
    ValueName{0x14, "AMO_FP_UNDERFLOW"},
    ValueName{0x15, "AMO_FP_OVERFLOW"},
    ValueName{0x16, "AMO_FP_INEXACT"},
    ValueName{0x17, "PERM_VIOLATION"},
    ValueName{0x18, "OP_VIOLATION"},
    ValueName{0x19, "BAD_INDEX"},
    ValueName{0x1a, "BAD_PID"},
    ValueName{0x1b, "BAD_JOB_ID"},
    ValueName{0x1c, "BAD_MKEY"},
    ValueName{0x1d, "BAD_ADDR"},
    ValueName{0x1e, "CANCELLED"},
    ValueName{0x1f, "UNDELIVERABLE"},
    ValueName{0x20, "UNCOR"},
    ValueName{0x21, "UNCOR_TRNSNT"},
    ValueName{0x22, "TOO_LONG"},
    ValueName{0x23, "INITIATOR_ERR"},
    ValueName{0x24, "DROPPED"},
};

inline constexpr std::uint8_t kUetFirstSwap = 0x0d;  // compare-and-swap, to kUetLastSwap: operands follow
inline constexpr std::uint8_t kUetLastSwap = 0x12;
inline constexpr std::uint8_t kUetMaskedSwap = 0x13;  // whether its operands stand there too, documents disagree

inline constexpr std::array kUetAtomicOpcodes{
    ValueName{0x00, "MIN"},      ValueName{0x01, "MAX"},      ValueName{0x02, "SUM"},      ValueName{0x03, "DIFF"},
    ValueName{0x04, "PROD"},     ValueName{0x05, "LOR"},      ValueName{0x06, "LAND"},     ValueName{0x07, "BOR"},
    ValueName{0x08, "BAND"},     ValueName{0x09, "LXOR"},     ValueName{0x0a, "BXOR"},     ValueName{0x0b, "READ"},
    ValueName{0x0c, "WRITE"},    ValueName{0x0d, "CSWAP"},    ValueName{0x0e, "CSWAP_NE"}, ValueName{0x0f, "CSWAP_LE"},
    ValueName{0x10, "CSWAP_LT"}, ValueName{0x11, "CSWAP_GE"}, ValueName{0x12, "CSWAP_GT"}, ValueName{0x13, "MSWAP"},
    ValueName{0x14, "INVAL"},
};

inline constexpr std::array kUetDataTypes{
    ValueName{0x00, "INT8"},          ValueName{0x01, "UINT8"},
    ValueName{0x02, "INT16"},         ValueName{0x03, "UINT16"},
    ValueName{0x04, "INT32"},         ValueName{0x05, "UINT32"},
    ValueName{0x06, "INT64"},         ValueName{0x07, "UINT64"},
    ValueName{0x08, "INT128"},        ValueName{0x09, "UINT128"},
    ValueName{0x0a, "FLOAT"},         ValueName{0x0b, "DOUBLE"},
    ValueName{0x0c, "FLOAT_COMPLEX"}, ValueName{0x0d, "DOUBLE_COMPLEX"},
    ValueName{0x0e, "LONG_DOUBLE"},   ValueName{0x0f, "LONG_DOUBLE_COMPLEX"},
    ValueName{0x10, "BF16"},          ValueName{0x11, "FP16"},
};

}  // namespace qps::dissect
