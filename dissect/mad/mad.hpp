// Management datagrams (chapter 13): the common header, RMPP, and the walk over them.
//
// A MAD is 256 bytes by C13-3. Everything in it is the sender's word: RMPP lengths, record sizes and segment numbers
// are bounded by those 256 bytes and by kMaxLayers before they are used.
#pragma once

#include <dissect/mad/names.hpp>

namespace qps::dissect {

inline constexpr std::size_t kMadLength = 256;  // C13-3
inline constexpr std::size_t kMadHeaderLength = 24;
inline constexpr std::size_t kRmppHeaderLength = 12;
inline constexpr std::uint8_t kMadBaseVersion = 1;  // 13.4.3; Omni-Path has 0x80 and another layout

// 13.4.4.
enum class ManagementClass : std::uint8_t {
    subnet_lid_routed = 0x01,
    subnet_administration = 0x03,
    performance = 0x04,
    device_management = 0x06,
    communication = 0x07,
    first_vendor = 0x09,
    last_vendor = 0x0f,
    device_administration = 0x10,
    boot_information = 0x12,
    congestion_control = 0x21,
    first_vendor_rmpp = 0x30,
    last_vendor_rmpp = 0x4f,
    subnet_directed = 0x81,
};

namespace mad_computed {
std::optional<Value> attribute(const Packet&, const Layer&);  // its name by kMadAttributes
std::optional<Value> data(const Packet&, const Layer&);       // what follows the common header, as far as captured
}  // namespace mad_computed

// 13.4.2. A directed-route SMP has its direction in the status and its hops in the class specific field (14.2.1.2).
inline constexpr std::uint64_t kDirectedClass = 0x81;
inline constexpr std::array kMadFields{
    row::decimal("infiniband.mad.baseversion", "Base version", at(0), 8),
    row::hex("infiniband.mad.mgmtclass", "Management class", at(1), 8).named(kManagementClasses),
    row::decimal("infiniband.mad.classversion", "Class version", at(2), 8),
    row::hex("infiniband.mad.method", "Method", at(3), 8).named(kMethods),
    row::hex("infiniband.mad.status", "Status", at(4), 16),
    row::flag("infiniband.smpdirected.d", "Direction: set on the way back", at(4))
        .part()
        .only_if(at(1), 8, kDirectedClass),
    row::hex("infiniband.smpdirected.smpstatus", "Status without the direction", at(4, 1), 15)
        .part()
        .only_if(at(1), 8, kDirectedClass),
    row::decimal("infiniband.mad.status.sa", "Status of subnet administration", at(4), 8)
        .named(kSaStatusCodes)
        .part()
        .only_if(at(1), 8, 0x03),
    row::decimal("infiniband.mad.status.code", "Invalid field", at(5, 3), 3).named(kMadStatusCodes).part(),
    row::flag("infiniband.mad.status.redirect", "Redirection required", at(5, 6)).part(),
    row::flag("infiniband.mad.status.busy", "Busy: MAD discarded", at(5, 7)).part(),
    row::hex("infiniband.mad.classspecific", "Class specific", at(6), 16),
    row::decimal("infiniband.smpdirected.hoppointer", "Hop pointer", at(6), 8).part().only_if(at(1), 8, kDirectedClass),
    row::decimal("infiniband.smpdirected.hopcount", "Hop count", at(7), 8).part().only_if(at(1), 8, kDirectedClass),
    row::hex("infiniband.mad.transactionid", "Transaction ID", at(8), 64),
    row::hex("infiniband.mad.attributeid", "Attribute ID", at(16), 16),
    row::computed("infiniband.mad.attribute", "Attribute", Format::text, mad_computed::attribute),
    row::reserved(at(18), 16),
    row::hex("infiniband.mad.attributemodifier", "Attribute modifier", at(20), 32),
    row::computed("infiniband.mad.data", "All after the common header", Format::bytes, mad_computed::data),
};
static_assert(tiles(kMadFields, kMadHeaderLength));

// 13.6.2.1. The response time has 5 bits and the flags 3; Wireshark 4.0 reads 4 and 4.
inline constexpr std::uint8_t kRmppData = 1;
inline constexpr std::uint8_t kRmppAck = 2;
inline constexpr std::array kRmppFields{
    row::decimal("infiniband.rmpp.rmppversion", "RMPP version", at(0), 8),
    row::decimal("infiniband.rmpp.rmpptype", "RMPP type", at(1), 8).named(kRmppTypes),
    row::exponent("infiniband.rmpp.rresptime", "Response time", at(2), 5),
    row::hex("infiniband.rmpp.rmppflags", "RMPP flags", at(2, 5), 3),
    row::flag("infiniband.rmpp.rmppflags.last", "Last segment", at(2, 5)).part(),
    row::flag("infiniband.rmpp.rmppflags.first", "First segment", at(2, 6)).part(),
    row::flag("infiniband.rmpp.rmppflags.active", "RMPP active", at(2, 7)).part(),
    row::decimal("infiniband.rmpp.rmppstatus", "RMPP status", at(3), 8).named(kRmppStatus),
    row::hex("infiniband.rmpp.data1", "RMPP data 1", at(4), 32),
    row::decimal("infiniband.rmpp.segmentnumber", "Segment number", at(4), 32).part().only_if(at(1), 8, kRmppData),
    row::decimal("infiniband.rmpp.segmentnumber", "Segment number", at(4), 32).part().only_if(at(1), 8, kRmppAck),
    row::hex("infiniband.rmpp.data2", "RMPP data 2", at(8), 32),
    row::decimal("infiniband.rmpp.payloadlength", "Payload length, class headers included", at(8), 32)
        .part()
        .only_if(at(1), 8, kRmppData)
        .in("bytes"),
    row::decimal("infiniband.rmpp.newwindowlast", "New window last", at(8), 32).part().only_if(at(1), 8, kRmppAck),
};
static_assert(tiles(kRmppFields, kRmppHeaderLength));

// The parts of a MAD nobody explains: attributes that are only named, partial records, reserved bytes that are not
// zero.
inline constexpr std::array kMadDataFields{
    row::bytes("infiniband.mad.undecoded.bytes", "Bytes", at(0), kToEnd),
};
static_assert(tiles(kMadDataFields, 0));

inline constexpr std::array kCommonMadHeaders{
    Header{LayerKind::mad, "infiniband.mad", "Management Datagram", kMadHeaderLength, kMadFields},
    Header{LayerKind::rmpp, "infiniband.rmpp", "Reliable Multi-Packet Transaction Protocol", kRmppHeaderLength,
           kRmppFields},
    Header{LayerKind::mad_data, "infiniband.mad.undecoded", "Management Data", 0, kMadDataFields},
};

// Appends the layers of a management datagram that starts at `offset` of packet.frame.bytes; `captured` bytes of it
// were captured, `length` were on the wire.
void walk_mad(Packet& packet, std::uint32_t offset, std::uint32_t captured, std::uint32_t length);

}  // namespace qps::dissect
