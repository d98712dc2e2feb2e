// Field tables of the Sockets Direct Protocol (IBTA volume 1, annex A4; OFED's sdp.h): the hello messages in the
// private data of CM, the header of every message (BSDH), and what follows it where memory is offered, was moved, or
// buffers change.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind sdp_base = kind_in(LayerFamily::sdp, 0);
inline constexpr LayerKind sdp_hello = kind_in(LayerFamily::sdp, 1);
inline constexpr LayerKind sdp_hello_ack = kind_in(LayerFamily::sdp, 2);
inline constexpr LayerKind sdp_source = kind_in(LayerFamily::sdp, 3);
inline constexpr LayerKind sdp_moved = kind_in(LayerFamily::sdp, 4);
inline constexpr LayerKind sdp_buffer = kind_in(LayerFamily::sdp, 5);
}  // namespace kind

namespace sdp {

inline constexpr std::uint64_t kHello = 0, kHelloAck = 1, kWriteCompleted = 5, kReadCompleted = 6, kChangeBuffer = 11,
                               kChangeBufferAck = 12, kSourceAvailable = 0xfe;
inline constexpr std::array kMessages{
    ValueName{0, "Hello"},           ValueName{1, "HelloAck"},       ValueName{2, "DisConn"},
    ValueName{3, "AbortConn"},       ValueName{4, "SendSm"},         ValueName{5, "RdmaWrCompl"},
    ValueName{6, "RdmaRdCompl"},     ValueName{7, "ModeChange"},     ValueName{8, "SrcAvailCancel"},
    ValueName{9, "SinkAvailCancel"}, ValueName{10, "SinkCancelAck"}, ValueName{11, "ChRcvBuf"},
    ValueName{12, "ChRcvBufAck"},    ValueName{13, "SuspComm"},      ValueName{14, "SuspCommAck"},
    ValueName{0xfd, "SinkAvail"},    ValueName{0xfe, "SrcAvail"},    ValueName{0xff, "Data"},
};
inline constexpr std::size_t kBase = 16;
inline constexpr std::array kBaseFields{
    row::hex("infiniband_sdp.bsdh.mid", "Message", at(0), 8).named(kMessages),
    row::hex("infiniband_sdp.bsdh.flags", "Flags", at(1), 8),
    row::flag("infiniband_sdp.bsdh.reqpipe", "Pipelined mode is asked for", at(1, 5)).part(),
    row::flag("infiniband_sdp.bsdh.oobpend", "Urgent data is pending", at(1, 6)).part(),
    row::flag("infiniband_sdp.bsdh.oobpres", "Urgent data is present", at(1, 7)).part(),
    row::decimal("infiniband_sdp.bsdh.bufs", "Receive buffers of the sender", at(2), 16),
    row::decimal("infiniband_sdp.bsdh.len", "Length of the message", at(4), 32).in("bytes"),
    row::hex("infiniband_sdp.bsdh.mseq", "Message sequence number", at(8), 32),
    row::hex("infiniband_sdp.bsdh.mseqack", "Acknowledged sequence number", at(12), 32),
};
static_assert(tiles(kBaseFields, kBase));

inline constexpr std::array kVersions{ValueName{4, "IPv4"}, ValueName{6, "IPv6"}};
inline constexpr std::array kCommonFields{
    row::hex("infiniband_sdp.hh.majv", "Major version", at(0), 4),
    row::hex("infiniband_sdp.hh.minv", "Minor version", at(0, 4), 4),
    row::hex("infiniband_sdp.hh.ipv", "IP version", at(1), 4).named(kVersions),
    row::hex("infiniband_sdp.hh.cap", "Capabilities", at(1, 4), 4),
    row::flag("infiniband_sdp.hh.cap_extmaxadverts", "Many advertisements at a time", at(1, 6)).part(),
    row::flag("infiniband_sdp.hh.cap_invalidate", "Remote invalidation", at(1, 7)).part(),
};
inline constexpr std::size_t kHelloLength = 50;
inline constexpr std::array kHelloFields = joined(
    kCommonFields,
    std::array{
        row::hex("", "Reserved", at(2), 8),
        row::hex("infiniband_sdp.hh.maxadverts", "Advertisements at a time, at most", at(3), 8),
        row::decimal("infiniband_sdp.hh.desremrcvsz", "Receive buffers asked of the other side", at(4), 32).in("bytes"),
        row::decimal("infiniband_sdp.hh.localrcvsz", "Receive buffers of the sender", at(8), 32).in("bytes"),
        row::decimal("infiniband_sdp.hh.localport", "Port of the sender", at(12), 16),
        row::hex("", "Reserved", at(14), 16),
        row::ipv6("infiniband_sdp.hh.src_ip", "Address of the sender, an IPv4 address at its end", at(16)),
        row::ipv6("infiniband_sdp.hh.dst_ip", "Address of the receiver, an IPv4 address at its end", at(32)),
        row::hex("infiniband_sdp.hh.extmaxadverts", "Advertisements at a time, where there are many", at(48), 16),
    });
static_assert(tiles(kHelloFields, kHelloLength));
inline constexpr std::size_t kHelloAckLength = 8;
inline constexpr std::array kHelloAckFields =
    joined(kCommonFields,
           std::array{
               row::hex("", "Reserved", at(2), 8),
               row::hex("rdma.sdp.hah.maxadverts", "Advertisements at a time, at most", at(3), 8),
               row::decimal("rdma.sdp.hah.actrcvsz", "Receive buffers that the sender has", at(4), 32).in("bytes"),
           });
static_assert(tiles(kHelloAckFields, kHelloAckLength));

inline constexpr std::array kSourceFields{
    row::decimal("rdma.sdp.srcavail.len", "Length of the memory", at(0), 32).in("bytes"),
    row::hex("rdma.sdp.srcavail.r_key", "R_Key of the memory", at(4), 32),
    row::hex("rdma.sdp.srcavail.va", "Address of the memory", at(8), 64),
};
static_assert(tiles(kSourceFields, 16));
inline constexpr std::array kMovedFields{
    row::decimal("rdma.sdp.moved", "Bytes that were moved by RDMA", at(0), 32).in("bytes")};
static_assert(tiles(kMovedFields, 4));
inline constexpr std::array kBufferFields{
    row::decimal("rdma.sdp.buffer", "Length of receive buffers", at(0), 32).in("bytes")};
static_assert(tiles(kBufferFields, 4));

inline constexpr std::array kSdpHeaders{
    Header{kind::sdp_base, "infiniband_sdp.bsdh", "SDP", kBase, kBaseFields},
    Header{kind::sdp_hello, "infiniband_sdp.hh", "SDP hello", kHelloLength, kHelloFields},
    Header{kind::sdp_hello_ack, "infiniband_sdp.hah", "SDP hello answered", kHelloAckLength, kHelloAckFields},
    Header{kind::sdp_source, "infiniband_sdp.srcah", "SDP memory offered", 16, kSourceFields},
    Header{kind::sdp_moved, "rdma.sdp.completion", "SDP data moved", 4, kMovedFields},
    Header{kind::sdp_buffer, "rdma.sdp.buffers", "SDP buffers", 4, kBufferFields},
};

// Private data begins with a hello of that message that agrees with itself.
[[nodiscard]] bool is_hello(Bytes private_data, std::uint64_t message);

}  // namespace sdp

}  // namespace qps::dissect
