// Field tables of communication management (chapter 12; A11 for IP addresses in private data, A14 for XRC).
//
// Each message is the 232 bytes after the common header, private data included. Names are Wireshark's where it has the
// field, its oddities too: the local communication ID of a REQ is infiniband.cm.req itself, DREP is called drsp, and
// the remote QPN of a DREQ bears the prefix of a REQ. The primary and alternate path of a REQ, and a LAP, hold a packet
// rate after 6 reserved bits; Wireshark 4.0 shifts that word by 8 bits, we do not.
#pragma once

#include <dissect/mad/names.hpp>

namespace qps::dissect {

inline constexpr std::size_t kCmMessageLength = 232;               // 13.4.2: what the common header leaves of 256
inline constexpr std::uint64_t kIpCmServicePrefix = 0x0000000001;  // upper 40 bits of an RDMA IP CM service id (A11.6)
inline constexpr std::uint64_t kMappedIpv4Prefix =
    0x0000'0000'0000'ffff;  // bits 32 to 95 of an IPv4-mapped GID (A17.4.2)

// 12.6.5, table 106.
inline constexpr std::array kCmReqFields{
    row::hex("infiniband.cm.req", "Local communication ID", at(0), 32),
    row::reserved(at(4), 8),
    row::hex("infiniband.cm.req.vendorid", "Vendor ID", at(5), 24),
    row::hex("infiniband.cm.req.serviceid", "Service ID", at(8), 64),
    row::hex("infiniband.cm.req.serviceid.prefix", "Prefix of the RDMA IP CM service", at(8), 40)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::decimal("infiniband.cm.req.serviceid.protocol", "IP protocol", at(13), 8)
        .named(kIpCmProtocols)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::decimal("infiniband.cm.req.serviceid.dport", "Destination port", at(14), 16)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::guid("infiniband.cm.req.localcaguid", "Local CA GUID", at(16)),
    row::reserved(at(24), 32),
    row::hex("infiniband.cm.req.localqkey", "Local Q_Key", at(28), 32),
    row::decimal("infiniband.cm.req.localqpn", "Local QPN", at(32), 24),
    row::decimal("infiniband.cm.req.responderres", "Responder resources", at(35), 8),
    row::decimal("infiniband.cm.req.localeecn", "Local EECN", at(36), 24),
    row::decimal("infiniband.cm.req.initdepth", "Initiator depth", at(39), 8),
    row::decimal("infiniband.cm.req.remoteeecn", "Remote EECN", at(40), 24),
    row::exponent("infiniband.cm.req.remoteresptout", "Remote CM response timeout", at(43), 5),
    row::decimal("infiniband.cm.req.transpsvctype", "Transport service type", at(43, 5), 2).named(kTransportServices),
    row::flag("infiniband.cm.req.e2eflowctrl", "End-to-end flow control", at(43, 7)),
    row::decimal("infiniband.cm.req.startpsn", "Starting PSN", at(44), 24),
    row::exponent("infiniband.cm.req.localresptout", "Local CM response timeout", at(47), 5),
    row::decimal("infiniband.cm.req.retrcount", "Retry count", at(47, 5), 3),
    row::hex("infiniband.cm.req.pkey", "Partition key", at(48), 16),
    row::decimal("infiniband.cm.req.pppmtu", "Path packet payload MTU", at(50), 4).named(kMtuCodes),
    row::flag("infiniband.cm.req.rdcexist", "RDC exists", at(50, 4)),
    row::decimal("infiniband.cm.req.rnrretrcount", "RNR retry count", at(50, 5), 3).named(kRnrRetries),
    row::decimal("infiniband.cm.req.maxcmretr", "Max CM retries", at(51), 4),
    row::flag("infiniband.cm.req.srq", "Shared receive queue", at(51, 4)),
    row::decimal("infiniband.cm.req.ext_transport", "Extended transport type", at(51, 5), 3).named(kExtendedTransports),
    row::decimal("infiniband.cm.req.prim_locallid", "Primary local port LID", at(52), 16),
    row::decimal("infiniband.cm.req.prim_remotelid", "Primary remote port LID", at(54), 16),
    row::ipv6("infiniband.cm.req.prim_localgid", "Primary local port GID", at(56)),
    row::ipv4("infiniband.cm.req.prim_localgid_ipv4", "IPv4 address of the primary local port GID", at(68))
        .part()
        .only_if(at(60), 64, kMappedIpv4Prefix),
    row::ipv6("infiniband.cm.req.prim_remotegid", "Primary remote port GID", at(72)),
    row::ipv4("infiniband.cm.req.prim_remotegid_ipv4", "IPv4 address of the primary remote port GID", at(84))
        .part()
        .only_if(at(76), 64, kMappedIpv4Prefix),
    row::hex("infiniband.cm.req.prim_flowlabel", "Primary flow label", at(88), 20),
    row::hex("infiniband.cm.req.prim_reserved0", "Reserved", at(90, 4), 6),
    row::decimal("infiniband.cm.req.prim_pktrate", "Primary packet rate", at(91, 2), 6).named(kRates),
    row::decimal("infiniband.cm.req.prim_tfcclass", "Primary traffic class", at(92), 8),
    row::decimal("infiniband.cm.req.prim_hoplim", "Primary hop limit", at(93), 8),
    row::decimal("infiniband.cm.req.prim_sl", "Primary SL", at(94), 4),
    row::flag("infiniband.cm.req.prim_subnetlocal", "Primary subnet local", at(94, 4)),
    row::hex("infiniband.cm.req.prim_reserved1", "Reserved", at(94, 5), 3),
    row::exponent("infiniband.cm.req.prim_localacktout", "Primary local ACK timeout", at(95), 5).named(kAckTimeouts),
    row::hex("infiniband.cm.req.prim_reserved2", "Reserved", at(95, 5), 3),
    row::decimal("infiniband.cm.req.alt_locallid", "Alternate local port LID", at(96), 16),
    row::decimal("infiniband.cm.req.alt_remotelid", "Alternate remote port LID", at(98), 16),
    row::ipv6("infiniband.cm.req.alt_localgid", "Alternate local port GID", at(100)),
    row::ipv6("infiniband.cm.req.alt_remotegid", "Alternate remote port GID", at(116)),
    row::hex("infiniband.cm.req.alt_flowlabel", "Alternate flow label", at(132), 20),
    row::hex("infiniband.cm.req.alt_reserved0", "Reserved", at(134, 4), 6),
    row::decimal("infiniband.cm.req.alt_pktrate", "Alternate packet rate", at(135, 2), 6).named(kRates),
    row::decimal("infiniband.cm.req.alt_tfcclass", "Alternate traffic class", at(136), 8),
    row::decimal("infiniband.cm.req.alt_hoplim", "Alternate hop limit", at(137), 8),
    row::decimal("infiniband.cm.req.alt_sl", "Alternate SL", at(138), 4),
    row::flag("infiniband.cm.req.alt_subnetlocal", "Alternate subnet local", at(138, 4)),
    row::hex("infiniband.cm.req.alt_reserved1", "Reserved", at(138, 5), 3),
    row::exponent("infiniband.cm.req.alt_localacktout", "Alternate local ACK timeout", at(139), 5).named(kAckTimeouts),
    row::flag("infiniband.cm.req.sap", "Suggest alternate path supported", at(139, 5)),
    row::reserved(at(139, 6), 2),
    row::bytes("infiniband.cm.req.private", "Private data", at(140), 736),
};
static_assert(tiles(kCmReqFields, kCmMessageLength));

// 12.6.6, table 107.
inline constexpr std::array kCmMraFields{
    row::hex("infiniband.cm.mra.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.mra.remotecommid", "Remote communication ID", at(4), 32),
    row::decimal("infiniband.cm.mra.msgmra", "Message MRAed", at(8), 2).named(kMessagesMraed),
    row::reserved(at(8, 2), 6),
    row::exponent("infiniband.cm.mra.servicetimeout", "Service timeout", at(9), 5),
    row::reserved(at(9, 5), 3),
    row::bytes("infiniband.cm.mra.private", "Private data", at(10), 1776),
};
static_assert(tiles(kCmMraFields, kCmMessageLength));

// 12.6.7, table 108.
inline constexpr std::array kCmRejFields{
    row::hex("infiniband.cm.rej.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.rej.remotecommid", "Remote communication ID", at(4), 32),
    row::decimal("infiniband.cm.rej.msgrej", "Message rejected", at(8), 2).named(kMessagesRejected),
    row::hex("infiniband.cm.rej.reserved0", "Reserved", at(8, 2), 6),
    row::decimal("infiniband.cm.rej.rejinfolen", "Reject information length", at(9), 7).in("bytes"),
    row::hex("infiniband.cm.rej.reserved1", "Reserved", at(9, 7), 1),
    row::decimal("infiniband.cm.rej.reason", "Reason", at(10), 16).named(kCmRejectReasons),
    row::bytes("infiniband.cm.rej.ari", "Additional reject information", at(12), 576),
    row::bytes("infiniband.cm.rej.private", "Private data", at(84), 1184),
};
static_assert(tiles(kCmRejFields, kCmMessageLength));

// 12.6.8, table 110. The vendor ID is spread over the bytes that follow QPN, EECN and PSN. XRC: the QPN is in the EECN
// (A14).
inline constexpr std::array kCmRepFields{
    row::hex("infiniband.cm.rep", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.rep.remotecommid", "Remote communication ID", at(4), 32),
    row::hex("infiniband.cm.rep.localqkey", "Local Q_Key", at(8), 32),
    row::decimal("infiniband.cm.rep.localqpn", "Local QPN", at(12), 24),
    row::hex("infiniband.cm.rep.vendoridh", "Vendor ID, high byte", at(15), 8),
    row::decimal("infiniband.cm.rep.localeecn", "Local EE context number", at(16), 24),
    row::hex("infiniband.cm.rep.vendoridm", "Vendor ID, middle byte", at(19), 8),
    row::decimal("infiniband.cm.rep.startpsn", "Starting PSN", at(20), 24),
    row::hex("infiniband.cm.rep.vendoridl", "Vendor ID, low byte", at(23), 8),
    row::decimal("infiniband.cm.rep.respres", "Responder resources", at(24), 8),
    row::decimal("infiniband.cm.rep.initdepth", "Initiator depth", at(25), 8),
    row::exponent("infiniband.cm.rep.tgtackdelay", "Target ACK delay", at(26), 5),
    row::decimal("infiniband.cm.rep.failoveracc", "Failover accepted", at(26, 5), 2).named(kFailoverCodes),
    row::flag("infiniband.cm.rep.e2eflowctrl", "End-to-end flow control", at(26, 7)),
    row::decimal("infiniband.cm.rep.rnrretrcount", "RNR retry count", at(27), 3).named(kRnrRetries),
    row::flag("infiniband.cm.rep.srq", "Shared receive queue", at(27, 3)),
    row::hex("infiniband.cm.rep.reserved", "Reserved", at(27, 4), 4),
    row::guid("infiniband.cm.rep.localcaguid", "Local CA GUID", at(28)),
    row::bytes("infiniband.cm.rep.private", "Private data", at(36), 1568),
};
static_assert(tiles(kCmRepFields, kCmMessageLength));

// 12.6.9, table 111.
inline constexpr std::array kCmRtuFields{
    row::hex("infiniband.cm.rtu.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.rtu.remotecommid", "Remote communication ID", at(4), 32),
    row::bytes("infiniband.cm.rtu.private", "Private data", at(8), 1792),
};
static_assert(tiles(kCmRtuFields, kCmMessageLength));

// 12.6.10, table 112.
inline constexpr std::array kCmDreqFields{
    row::hex("infiniband.cm.dreq.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.dreq.remotecommid", "Remote communication ID", at(4), 32),
    row::decimal("infiniband.cm.req.remoteqpneecn", "Remote QPN or EECN", at(8), 24),
    row::reserved(at(11), 8),
    row::bytes("infiniband.cm.dreq.private", "Private data", at(12), 1760),
};
static_assert(tiles(kCmDreqFields, kCmMessageLength));

// 12.6.11, table 113.
inline constexpr std::array kCmDrepFields{
    row::hex("infiniband.cm.drsp.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.drsp.remotecommid", "Remote communication ID", at(4), 32),
    row::bytes("infiniband.cm.drsp.private", "Private data", at(8), 1792),
};
static_assert(tiles(kCmDrepFields, kCmMessageLength));

// 12.11.1, table 119.
inline constexpr std::array kCmSidrReqFields{
    row::hex("infiniband.cm.sidr_req.requestid", "Request ID", at(0), 32),
    row::hex("infiniband.cm.sidr_req.pkey", "Partition key", at(4), 16),
    row::reserved(at(6), 16),
    row::hex("infiniband.cm.sidr_req.serviceid", "Service ID", at(8), 64),
    row::hex("infiniband.cm.sidr_req.serviceid.prefix", "Prefix of the RDMA IP CM service", at(8), 40)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::decimal("infiniband.cm.sidr_req.serviceid.protocol", "IP protocol", at(13), 8)
        .named(kIpCmProtocols)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::decimal("infiniband.cm.sidr_req.serviceid.dport", "Destination port", at(14), 16)
        .part()
        .only_if(at(8), 40, kIpCmServicePrefix),
    row::bytes("infiniband.cm.sidr_req.private", "Private data", at(16), 1728),
};
static_assert(tiles(kCmSidrReqFields, kCmMessageLength));

// 12.11.2, table 120. The vendor ID is split as in a REP.
inline constexpr std::array kCmSidrRepFields{
    row::hex("infiniband.cm.sidr_rep.requestid", "Request ID", at(0), 32),
    row::decimal("infiniband.cm.sidr_rep.status", "Status", at(4), 8).named(kSidrStatus),
    row::decimal("infiniband.cm.sidr_rep.addinfolen", "Additional information length", at(5), 8).in("bytes"),
    row::hex("infiniband.cm.sidr_rep.vendoridh", "Vendor ID, high bytes", at(6), 16),
    row::decimal("infiniband.cm.sidr_rep.qpn", "QPN", at(8), 24),
    row::hex("infiniband.cm.sidr_rep.vendoridl", "Vendor ID, low byte", at(11), 8),
    row::hex("infiniband.cm.sidr_rep.serviceid", "Service ID", at(12), 64),
    row::hex("infiniband.cm.sidr_rep.qkey", "Q_Key", at(20), 32),
    row::bytes("infiniband.cm.sidr_rep.addinfo", "Additional information", at(24), 576),
    row::bytes("infiniband.cm.sidr_rep.private", "Private data", at(96), 1088),
};
static_assert(tiles(kCmSidrRepFields, kCmMessageLength));

// 12.8.1, table 115.
inline constexpr std::array kCmLapFields{
    row::hex("infiniband.cm.lap.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.lap.remotecommid", "Remote communication ID", at(4), 32),
    row::reserved(at(8), 32),
    row::decimal("infiniband.cm.lap.remoteqpneecn", "Remote QPN or EECN", at(12), 24),
    row::exponent("infiniband.cm.lap.remoteresptout", "Remote CM response timeout", at(15), 5),
    row::reserved(at(15, 5), 3),
    row::reserved(at(16), 32),
    row::decimal("infiniband.cm.lap.alt_locallid", "Alternate local port LID", at(20), 16),
    row::decimal("infiniband.cm.lap.alt_remotelid", "Alternate remote port LID", at(22), 16),
    row::ipv6("infiniband.cm.lap.alt_localgid", "Alternate local port GID", at(24)),
    row::ipv6("infiniband.cm.lap.alt_remotegid", "Alternate remote port GID", at(40)),
    row::hex("infiniband.cm.lap.alt_flowlabel", "Alternate flow label", at(56), 20),
    row::reserved(at(58, 4), 4),
    row::decimal("infiniband.cm.lap.alt_tfcclass", "Alternate traffic class", at(59), 8),
    row::decimal("infiniband.cm.lap.alt_hoplim", "Alternate hop limit", at(60), 8),
    row::reserved(at(61), 2),
    row::decimal("infiniband.cm.lap.alt_pktrate", "Alternate packet rate", at(61, 2), 6).named(kRates),
    row::decimal("infiniband.cm.lap.alt_sl", "Alternate SL", at(62), 4),
    row::flag("infiniband.cm.lap.alt_subnetlocal", "Alternate subnet local", at(62, 4)),
    row::reserved(at(62, 5), 3),
    row::exponent("infiniband.cm.lap.alt_localacktout", "Alternate local ACK timeout", at(63), 5).named(kAckTimeouts),
    row::reserved(at(63, 5), 3),
    row::bytes("infiniband.cm.lap.private", "Private data", at(64), 1344),
};
static_assert(tiles(kCmLapFields, kCmMessageLength));

// 12.8.2, table 116.
inline constexpr std::array kCmAprFields{
    row::hex("infiniband.cm.apr.localcommid", "Local communication ID", at(0), 32),
    row::hex("infiniband.cm.apr.remotecommid", "Remote communication ID", at(4), 32),
    row::decimal("infiniband.cm.apr.addinfolen", "Additional information length", at(8), 8).in("bytes"),
    row::decimal("infiniband.cm.apr.status", "Status", at(9), 8).named(kAprStatus),
    row::reserved(at(10), 16),
    row::bytes("infiniband.cm.apr.addinfo", "Additional information", at(12), 576),
    row::bytes("infiniband.cm.apr.private", "Private data", at(84), 1184),
};
static_assert(tiles(kCmAprFields, kCmMessageLength));

// A11.6: the RDMA IP CM service's header at the start of the private data of a REQ or a SIDR_REQ. An IPv4 address is
// in the last 4 of 16 bytes. The consumer's own private data follows to the end of the message.
inline constexpr std::size_t kIpCmHeaderLength = 36;
inline constexpr std::array kCmIpPrivateFields{
    row::decimal("infiniband.cm.req.ip_cm.majv", "Major version", at(0), 4),
    row::decimal("infiniband.cm.req.ip_cm.minv", "Minor version", at(0, 4), 4),
    row::decimal("infiniband.cm.req.ip_cm.ipv", "IP version", at(1), 4),
    row::hex("infiniband.cm.req.ip_cm.reserved", "Reserved", at(1, 4), 4),
    row::decimal("infiniband.cm.req.ip_cm.sport", "Source port", at(2), 16),
    row::ipv6("infiniband.cm.req.ip_cm.sip6", "Source IP address", at(4)).only_if(at(1), 4, 6),
    row::ipv4("infiniband.cm.req.ip_cm.sip4", "Source IP address", at(16)).part().only_if(at(1), 4, 4),
    row::ipv6("infiniband.cm.req.ip_cm.dip6", "Destination IP address", at(20)).only_if(at(1), 4, 6),
    row::ipv4("infiniband.cm.req.ip_cm.dip4", "Destination IP address", at(32)).part().only_if(at(1), 4, 4),
    row::bytes("infiniband.cm.req.ip_cm.private", "Private data of the consumer", at(36), kToEnd),
};
static_assert(tiles(kCmIpPrivateFields, kIpCmHeaderLength));

// REQ and REP need a presence name of their own: infiniband.cm.req and infiniband.cm.rep are fields (and always there).
inline constexpr std::array kCmHeaders{
    Header{LayerKind::cm_req, "infiniband.cm.request", "CM Request for Communication (REQ)", kCmMessageLength,
           kCmReqFields},
    Header{LayerKind::cm_mra, "infiniband.cm.mra", "CM Message Receipt Acknowledgment (MRA)", kCmMessageLength,
           kCmMraFields},
    Header{LayerKind::cm_rej, "infiniband.cm.rej", "CM Reject (REJ)", kCmMessageLength, kCmRejFields},
    Header{LayerKind::cm_rep, "infiniband.cm.reply", "CM Reply to Request for Communication (REP)", kCmMessageLength,
           kCmRepFields},
    Header{LayerKind::cm_rtu, "infiniband.cm.rtu", "CM Ready To Use (RTU)", kCmMessageLength, kCmRtuFields},
    Header{LayerKind::cm_dreq, "infiniband.cm.dreq", "CM Request for Communication Release (DREQ)", kCmMessageLength,
           kCmDreqFields},
    Header{LayerKind::cm_drep, "infiniband.cm.drsp", "CM Reply to Request for Communication Release (DREP)",
           kCmMessageLength, kCmDrepFields},
    Header{LayerKind::cm_sidr_req, "infiniband.cm.sidr_req", "CM Service ID Resolution Request (SIDR_REQ)",
           kCmMessageLength, kCmSidrReqFields},
    Header{LayerKind::cm_sidr_rep, "infiniband.cm.sidr_rep", "CM Service ID Resolution Response (SIDR_REP)",
           kCmMessageLength, kCmSidrRepFields},
    Header{LayerKind::cm_lap, "infiniband.cm.lap", "CM Load Alternate Path (LAP)", kCmMessageLength, kCmLapFields},
    Header{LayerKind::cm_apr, "infiniband.cm.apr", "CM Alternate Path Response (APR)", kCmMessageLength, kCmAprFields},
    Header{LayerKind::cm_ip_private, "infiniband.cm.req.ip_cm", "RDMA IP CM Service Private Data", kIpCmHeaderLength,
           kCmIpPrivateFields},
};

}  // namespace qps::dissect
