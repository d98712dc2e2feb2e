// Value names of management datagrams (chapters 12 to 16, A11): what the codes in their fields stand for.
//
// Only names; which field uses which table is said by the field tables. A value that is not listed is reserved or newer
// than this table and is shown as a number.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

// 13.4.4. 0x09 to 0x0f and 0x30 to 0x4f are vendors', 0x10 to 0x2f are applications' where not listed.
inline constexpr std::array kManagementClasses{
    ValueName{0x01, "Subn"},  // LID routed
    ValueName{0x03, "SubnAdm"}, ValueName{0x04, "Perf"},
    ValueName{0x05, "BM"},  // baseboard
    ValueName{0x06, "DevMgt"},  ValueName{0x07, "ComMgt"},
    ValueName{0x08, "SNMP"},    ValueName{0x10, "DevAdm"},
    ValueName{0x11, "BootMgt"}, ValueName{0x12, "BIS"},  // boot information service
    ValueName{0x21, "CongMgt"}, ValueName{0x81, "Subn_DirectedRoute"},
};

// 13.4.5, and those of subnet administration (15.2.2); bit 7 marks a response.
inline constexpr std::array kMethods{
    ValueName{0x01, "Get"},          ValueName{0x02, "Set"},           ValueName{0x03, "Send"},
    ValueName{0x05, "Trap"},         ValueName{0x06, "Report"},        ValueName{0x07, "TrapRepress"},
    ValueName{0x12, "GetTable"},     ValueName{0x13, "GetTraceTable"}, ValueName{0x14, "GetMulti"},
    ValueName{0x15, "Delete"},       ValueName{0x81, "GetResp"},       ValueName{0x86, "ReportResp"},
    ValueName{0x92, "GetTableResp"}, ValueName{0x94, "GetMultiResp"},  ValueName{0x95, "DeleteResp"},
};

// Bits 4:2 of the status (13.4.7).
inline constexpr std::array kMadStatusCodes{
    ValueName{0, "No invalid fields"},
    ValueName{1, "Class version not supported"},
    ValueName{2, "Method not supported"},
    ValueName{3, "Method and attribute combination not supported"},
    ValueName{7, "Invalid value in attribute or modifier"},
};

// Bits 15:8 of the status of subnet administration (15.2.5).
inline constexpr std::array kSaStatusCodes{
    ValueName{0, "No error"},
    ValueName{1, "No resources"},
    ValueName{2, "Request invalid"},
    ValueName{3, "No records"},
    ValueName{4, "Too many records"},
    ValueName{5, "Invalid GID"},
    ValueName{6, "Insufficient components"},
    ValueName{7, "Request denied"},
    ValueName{8, "Priority suggested"},  // unverified
};

// 13.6.2.1.
inline constexpr std::array kRmppTypes{
    ValueName{0, "Not RMPP"}, ValueName{1, "DATA"}, ValueName{2, "ACK"}, ValueName{3, "STOP"}, ValueName{4, "ABORT"},
};

// 13.6.2.1; 128 to 191 are the class's, 192 to 255 the vendor's.
inline constexpr std::array kRmppStatus{
    ValueName{0, "Normal"},
    ValueName{1, "Resources exhausted"},
    ValueName{118, "Total time too long"},
    ValueName{119, "Inconsistent last and payload length"},
    ValueName{120, "Inconsistent first and segment number"},
    ValueName{121, "Bad RMPP type"},
    ValueName{122, "New window last too small"},
    ValueName{123, "Segment number too big"},
    ValueName{124, "Illegal status"},
    ValueName{125, "Unsupported version"},
    ValueName{126, "Too many retries"},
    ValueName{127, "Unspecified"},
};

// What a service id under the prefix of the RDMA IP CM service stands for (A11.6): IP protocol numbers.
inline constexpr std::array kIpCmProtocols{
    ValueName{6, "TCP"},
    ValueName{17, "UDP"},
};

// 12.6.5, table 106; 12.7.
inline constexpr std::array kTransportServices{
    ValueName{0, "RC"},
    ValueName{1, "UC"},
    ValueName{2, "RD"},
    ValueName{3, "Extended"},
};
inline constexpr std::array kExtendedTransports{
    ValueName{0, "None"},
    ValueName{1, "XRC"},
};

// Payload of a path: 256 << (code - 1) bytes.
inline constexpr std::array kMtuCodes{
    ValueName{1, "256"}, ValueName{2, "512"}, ValueName{3, "1024"}, ValueName{4, "2048"}, ValueName{5, "4096"},
};

// Codes of 3-bit RNR retry counts that are not counts (12.7.28).
inline constexpr std::array kRnrRetries{ValueName{7, "Infinite"}};

// Static rates in paths, records and CM messages (15.2.5.16).
inline constexpr std::array kRates{
    ValueName{0, "Port's rate"},
    ValueName{2, "2.5 Gb/s"},
    ValueName{3, "10 Gb/s"},
    ValueName{4, "30 Gb/s"},
    ValueName{5, "5 Gb/s"},
    ValueName{6, "20 Gb/s"},
    ValueName{7, "40 Gb/s"},
    ValueName{8, "60 Gb/s"},
    ValueName{9, "80 Gb/s"},
    ValueName{10, "120 Gb/s"},
    ValueName{11, "14 Gb/s (FDR 1x)"},
    ValueName{12, "56 Gb/s (FDR 4x)"},
    ValueName{13, "112 Gb/s (FDR 8x)"},
    ValueName{14, "168 Gb/s (FDR 12x)"},
    ValueName{15, "25 Gb/s (EDR 1x)"},
    ValueName{16, "100 Gb/s (EDR 4x)"},
    ValueName{17, "200 Gb/s (EDR 8x)"},
    ValueName{18, "300 Gb/s (EDR 12x)"},
    ValueName{19, "28 Gb/s (FDR 2x)"},
    ValueName{20, "50 Gb/s (EDR 2x, HDR 1x)"},
    ValueName{21, "400 Gb/s (HDR 8x, NDR 4x)"},
    ValueName{22, "600 Gb/s (HDR 12x)"},
    ValueName{23, "800 Gb/s (NDR 8x, XDR 4x)"},
    ValueName{24, "1200 Gb/s (NDR 12x)"},
    ValueName{25, "1600 Gb/s (XDR 8x)"},   // unverified
    ValueName{26, "2400 Gb/s (XDR 12x)"},  // unverified
};

// How the value beside a selector is meant (15.2.5.16).
inline constexpr std::array kSelectors{
    ValueName{0, "Greater than"},
    ValueName{1, "Less than"},
    ValueName{2, "Exactly"},
    ValueName{3, "Best available"},
};

// 12.6.6, table 107 (MRA) and 12.6.7, table 108 (REJ).
inline constexpr std::array kMessagesMraed{
    ValueName{0, "REQ"},
    ValueName{1, "REP"},
    ValueName{2, "LAP"},
};
inline constexpr std::array kMessagesRejected{
    ValueName{0, "REQ"},
    ValueName{1, "REP"},
    ValueName{2, "No message"},
};

// 12.6.7.2.
inline constexpr std::array kCmRejectReasons{
    ValueName{1, "No QP available"},
    ValueName{2, "No EEC available"},
    ValueName{3, "No resources available"},
    ValueName{4, "Timeout"},
    ValueName{5, "Unsupported request"},
    ValueName{6, "Invalid communication ID"},
    ValueName{7, "Invalid communication instance"},
    ValueName{8, "Invalid service ID"},
    ValueName{9, "Invalid transport service type"},
    ValueName{10, "Stale connection"},
    ValueName{11, "RDC does not exist"},
    ValueName{12, "Primary remote port GID rejected"},
    ValueName{13, "Primary remote port LID rejected"},
    ValueName{14, "Invalid primary SL"},
    ValueName{15, "Invalid primary traffic class"},
    ValueName{16, "Invalid primary hop limit"},
    ValueName{17, "Invalid primary packet rate"},
    ValueName{18, "Alternate remote port GID rejected"},
    ValueName{19, "Alternate remote port LID rejected"},
    ValueName{20, "Invalid alternate SL"},
    ValueName{21, "Invalid alternate traffic class"},
    ValueName{22, "Invalid alternate hop limit"},
    ValueName{23, "Invalid alternate packet rate"},
    ValueName{24, "Port and CM redirection"},
    ValueName{25, "Port redirection"},
    ValueName{26, "Invalid path MTU"},
    ValueName{27, "Insufficient responder resources"},
    ValueName{28, "Consumer reject"},
    ValueName{29, "RNR retry count reject"},
    ValueName{30, "Duplicate local communication ID"},
    ValueName{31, "Unsupported class version"},
    ValueName{32, "Invalid primary flow label"},
    ValueName{33, "Invalid alternate flow label"},
    ValueName{35, "Vendor option not supported"},
};

// 12.6.8: what became of the alternate path a REQ proposed.
inline constexpr std::array kFailoverCodes{
    ValueName{0, "Accepted"},
    ValueName{1, "Not supported"},
    ValueName{2, "Rejected"},
};

// 12.8.2.1.
inline constexpr std::array kAprStatus{
    ValueName{0, "Alternate path loaded"},
    ValueName{1, "Invalid communication ID"},
    ValueName{2, "Alternate paths not supported"},
    ValueName{3, "Rejected by the consumer"},
    ValueName{4, "Redirect"},
    ValueName{5, "Proposed path is the current primary path"},
    ValueName{6, "QPN or EECN mismatch"},
    ValueName{7, "Remote port LID rejected"},
    ValueName{8, "Remote port GID rejected"},
    ValueName{9, "Flow label rejected"},
    ValueName{10, "Traffic class rejected"},
    ValueName{11, "Hop limit rejected"},
    ValueName{12, "Packet rate rejected"},
    ValueName{13, "SL rejected"},
};

// 12.11.2.1.
inline constexpr std::array kSidrStatus{
    ValueName{0, "QPN and Q_Key valid"},
    ValueName{1, "Service ID not supported"},
    ValueName{2, "Rejected by the service provider"},
    ValueName{3, "No QP available"},
    ValueName{4, "Redirect"},
    ValueName{5, "Unsupported version"},
};

// 14.2.5.3.
inline constexpr std::array kNodeTypes{
    ValueName{1, "Channel adapter"},
    ValueName{2, "Switch"},
    ValueName{3, "Router"},
};

// 14.2.5.13.
inline constexpr std::array kSmStates{
    ValueName{0, "Not active"},
    ValueName{1, "Discovering"},
    ValueName{2, "Standby"},
    ValueName{3, "Master"},
};

// 14.2.5.6: PortInfo.
inline constexpr std::array kPortStates{
    ValueName{0, "No change"}, ValueName{1, "Down"},   ValueName{2, "Initialize"},
    ValueName{3, "Armed"},     ValueName{4, "Active"},
};
inline constexpr std::array kPortPhysicalStates{
    ValueName{0, "No change"},
    ValueName{1, "Sleep"},
    ValueName{2, "Polling"},
    ValueName{3, "Disabled"},
    ValueName{4, "Port configuration training"},
    ValueName{5, "Link up"},
    ValueName{6, "Link error recovery"},
    ValueName{7, "PHY test"},
};
inline constexpr std::array kLinkDownDefaultStates{
    ValueName{0, "No change"},
    ValueName{1, "Sleep"},
    ValueName{2, "Polling"},
};
// Bit masks; combinations that hardware reports are named, others are shown as numbers.
inline constexpr std::array kLinkWidths{
    ValueName{1, "1x"},
    ValueName{2, "4x"},
    ValueName{3, "1x or 4x"},
    ValueName{4, "8x"},
    ValueName{8, "12x"},
    ValueName{11, "1x, 4x or 12x"},
    ValueName{15, "1x, 4x, 8x or 12x"},
    ValueName{16, "2x"},
    ValueName{18, "2x or 4x"},
    ValueName{19, "1x, 2x or 4x"},
    ValueName{255, "All supported"},
};
inline constexpr std::array kLinkSpeeds{
    ValueName{0, "Extended speed"},    ValueName{1, "2.5 Gb/s (SDR)"}, ValueName{2, "5 Gb/s (DDR)"},
    ValueName{3, "2.5 or 5 Gb/s"},     ValueName{4, "10 Gb/s (QDR)"},  ValueName{5, "2.5 or 10 Gb/s"},
    ValueName{7, "2.5, 5 or 10 Gb/s"}, ValueName{15, "All supported"},
};
inline constexpr std::array kLinkSpeedsExt{
    ValueName{0, "No extended speed"}, ValueName{1, "14.0625 Gb/s (FDR)"},    ValueName{2, "25.78125 Gb/s (EDR)"},
    ValueName{3, "FDR or EDR"},        ValueName{4, "53.125 Gb/s (HDR)"},     ValueName{6, "EDR or HDR"},
    ValueName{7, "FDR, EDR or HDR"},   ValueName{8, "106.25 Gb/s (NDR)"},     ValueName{12, "HDR or NDR"},
    ValueName{14, "EDR, HDR or NDR"},  ValueName{15, "FDR, EDR, HDR or NDR"}, ValueName{30, "Disabled"},
    ValueName{31, "All supported"},
};
// 9.7.6.1.3: a local ACK timeout of 0 means that the requester does not time out.
inline constexpr std::array kAckTimeouts{ValueName{0, "disabled"}};
// What a link may run at: without the two values that only "enabled" has.
inline constexpr std::span<const ValueName> kLinkSpeedsExtActive =
    std::span(kLinkSpeedsExt).first<kLinkSpeedsExt.size() - 2>();
inline constexpr std::array kLinkSpeedsExt2{
    ValueName{0, "None"},
    ValueName{1, "212.5 Gb/s (XDR)"},
};
// Number of data VLs.
inline constexpr std::array kVlCodes{
    ValueName{0, "No change"}, ValueName{1, "VL0"},      ValueName{2, "VL0 to 1"},
    ValueName{3, "VL0 to 3"},  ValueName{4, "VL0 to 7"}, ValueName{5, "VL0 to 14"},
};

}  // namespace qps::dissect
