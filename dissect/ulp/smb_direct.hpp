// Field tables of SMB Direct (MS-SMBD) and of the SMB2 (MS-SMB2) that it carries, all little-endian. Names are
// Wireshark's where it has the field.
#pragma once

#include <dissect/ulp/smb_message.hpp>
#include <dissect/ulp/smb_names.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind smb_direct_request = kind_in(LayerFamily::smb_direct, 0);
inline constexpr LayerKind smb_direct_response = kind_in(LayerFamily::smb_direct, 1);
inline constexpr LayerKind smb_direct_data = kind_in(LayerFamily::smb_direct, 2);
inline constexpr LayerKind smb2 = kind_in(LayerFamily::smb_direct, 3);
inline constexpr LayerKind smb2_read = kind_in(LayerFamily::smb_direct, 4);
inline constexpr LayerKind smb2_write = kind_in(LayerFamily::smb_direct, 5);
inline constexpr LayerKind smb2_body = kind_in(LayerFamily::smb_direct, 6);
inline constexpr LayerKind smb2_descriptor = kind_in(LayerFamily::smb_direct, 7);
}  // namespace kind

namespace smb {
std::optional<Value> dialect(const Packet& packet, const Layer& layer);
std::optional<Value> write_count(const Packet& packet, const Layer& layer);
}  // namespace smb

inline constexpr std::array kSmbDirectRequestFields{
    row::hex("smb_direct.version.min", "Lowest supported version", at(0), 16).le(),
    row::hex("smb_direct.version.max", "Highest supported version", at(2), 16).le(),
    row::reserved(at(4), 16).le(),
    row::decimal("smb_direct.credits.requested", "Credits requested", at(6), 16).le(),
    row::decimal("smb_direct.preferred_send_size", "Preferred size of sent messages", at(8), 32).le().in("bytes"),
    row::decimal("smb_direct.max_receive_size", "Maximum receive size", at(12), 32).le().in("bytes"),
    row::decimal("smb_direct.max_fragmented_size", "Maximum size of a fragmented message", at(16), 32).le().in("bytes"),
};
static_assert(tiles(kSmbDirectRequestFields, kSmbDirectRequestLength));

inline constexpr std::array kSmbDirectResponseFields{
    row::hex("smb_direct.version.min", "Lowest supported version", at(0), 16).le(),
    row::hex("smb_direct.version.max", "Highest supported version", at(2), 16).le(),
    row::hex("smb_direct.version.negotiated", "Negotiated version", at(4), 16).le(),
    row::reserved(at(6), 16).le(),
    row::decimal("smb_direct.credits.requested", "Credits requested", at(8), 16).le(),
    row::decimal("smb_direct.credits.granted", "Credits granted", at(10), 16).le(),
    row::hex("smb_direct.status", "Status", at(12), 32).le().named(kNtStatusNames),
    row::decimal("smb_direct.max_read_write_size", "Largest transfer by RDMA", at(16), 32).le().in("bytes"),
    row::decimal("smb_direct.preferred_send_size", "Preferred size of sent messages", at(20), 32).le().in("bytes"),
    row::decimal("smb_direct.max_receive_size", "Maximum receive size", at(24), 32).le().in("bytes"),
    row::decimal("smb_direct.max_fragmented_size", "Maximum size of a fragmented message", at(28), 32).le().in("bytes"),
};
static_assert(tiles(kSmbDirectResponseFields, kSmbDirectResponseLength));

inline constexpr std::array kSmbDirectDataFields{
    row::decimal("smb_direct.credits.requested", "Credits requested", at(0), 16).le(),
    row::decimal("smb_direct.credits.granted", "Credits granted", at(2), 16).le(),
    row::hex("smb_direct.flags", "Flags", at(4), 16).le(),
    row::flag("smb_direct.flags.response_requested", "An immediate answer is requested", at(4, 0)).le().part(),
    row::reserved(at(6), 16).le(),
    row::decimal("smb_direct.remaining_length", "Bytes of the message that further fragments carry", at(8), 32)
        .le()
        .in("bytes"),
    row::decimal("smb_direct.data_offset", "Offset of the data", at(12), 32).le().in("bytes"),
    row::decimal("smb_direct.data_length", "Length of the data", at(16), 32).le().in("bytes"),
    row::bytes("rdma.smb_direct.padding", "Padding", at(20), kToEnd),
};
static_assert(tiles(kSmbDirectDataFields, kSmbDirectDataLength));

inline constexpr std::array kSmb2Fields{
    row::hex("smb2.protocol_id", "Protocol id", at(0), 32),
    row::decimal("smb2.header_len", "Length of the header", at(4), 16).le().in("bytes"),
    row::decimal("smb2.credit.charge", "Credits that it costs", at(6), 16).le(),
    row::hex("smb2.nt_status", "Status", at(8), 32).le().only_if(at(16, 0), 1, 1).named(kNtStatusNames),
    row::decimal("smb2.channel_sequence", "Channel sequence", at(8), 16).le().part().only_if(at(16, 0), 1, 0),
    row::decimal("smb2.cmd", "Command", at(12), 16).le().named(kSmb2CommandNames),
    row::decimal("smb2.credits.granted", "Credits granted", at(14), 16).le().only_if(at(16, 0), 1, 1),
    row::decimal("smb2.credits.requested", "Credits requested", at(14), 16).le().part().only_if(at(16, 0), 1, 0),
    row::hex("smb2.flags", "Flags", at(16), 32).le(),
    row::flag("smb2.flags.response", "A response", at(16, 0)).le().part(),
    row::flag("smb2.flags.async", "Asynchronous", at(16, 1)).le().part(),
    row::flag("smb2.flags.chained", "Related to the one before", at(16, 2)).le().part(),
    row::flag("smb2.flags.signature", "Signed", at(16, 3)).le().part(),
    row::flag("smb2.flags.dfs", "DFS operation", at(19, 4)).le().part(),
    row::flag("smb2.flags.replay", "Replay", at(19, 5)).le().part(),
    row::hex("smb2.chain_offset", "Offset of the next command", at(20), 32).le(),
    row::decimal("smb2.msg_id", "Message id", at(24), 64).le(),
    row::hex("smb2.aid", "Asynchronous id", at(32), 64).le().only_if(at(16, 1), 1, 1),
    row::hex("smb2.pid", "Process id", at(32), 32).le().part().only_if(at(16, 1), 1, 0),
    row::hex("smb2.tid", "Tree id", at(36), 32).le().part().only_if(at(16, 1), 1, 0),
    row::hex("smb2.sesid", "Session id", at(40), 64).le(),
    row::bytes("smb2.signature", "Signature", at(48), 128),
};
static_assert(tiles(kSmb2Fields, kSmb2HeaderLength));

inline constexpr std::array kSmb2ReadFields{
    row::hex("smb2.buffer_code", "Structure size", at(0), 16).le(),
    row::hex("smb2.read_padding", "Padding", at(2), 8).le(),
    row::hex("smb2.read_flags", "Flags", at(3), 8).le(),
    row::decimal("smb2.read_length", "Length", at(4), 32).le().in("bytes"),
    row::decimal("smb2.file_offset", "Offset in the file", at(8), 64).le().in("bytes"),
    row::bytes("rdma.smb2.file_id", "File id", at(16), 128),
    row::decimal("smb2.min_count", "Least number of bytes", at(32), 32).le().in("bytes"),
    row::hex("smb2.channel", "Channel", at(36), 32).le().named(kSmb2Channels),
    row::decimal("smb2.remaining_bytes", "Remaining bytes", at(40), 32).le().in("bytes"),
    row::decimal("smb2.channel_info_offset", "Offset of the channel's descriptors", at(44), 16).le(),
    row::decimal("smb2.channel_info_length", "Length of the channel's descriptors", at(46), 16).le().in("bytes"),
};
static_assert(tiles(kSmb2ReadFields, kSmb2ReadLength));

inline constexpr std::array kSmb2WriteFields{
    row::hex("smb2.buffer_code", "Structure size", at(0), 16).le(),
    row::hex("smb2.data_offset", "Offset of the data", at(2), 16).le(),
    row::decimal("smb2.write_length", "Length of data in this message", at(4), 32).le().in("bytes"),
    row::decimal("smb2.file_offset", "Offset in the file", at(8), 64).le().in("bytes"),
    row::bytes("rdma.smb2.file_id", "File id", at(16), 128),
    row::hex("smb2.channel", "Channel", at(32), 32).le().named(kSmb2Channels),
    row::decimal("smb2.remaining_bytes", "Bytes that go by RDMA", at(36), 32).le().in("bytes"),
    row::decimal("smb2.channel_info_offset", "Offset of the channel's descriptors", at(40), 16).le(),
    row::decimal("smb2.channel_info_length", "Length of the channel's descriptors", at(42), 16).le().in("bytes"),
    row::hex("smb2.write.flags", "Flags", at(44), 32).le(),
};
static_assert(tiles(kSmb2WriteFields, kSmb2WriteLength));

inline constexpr std::array kSmb2BodyFields{
    row::hex("smb2.buffer_code", "Structure size", at(0), 16).le(),
    row::bytes("rdma.smb2.body", "What the command carries", at(2), kToEnd),
    row::computed("smb2.dialect", "Dialect", Format::hexadecimal, &smb::dialect).of_bits(16).named(kSmb2Dialects),
    row::computed("smb2.write.count", "Bytes written", Format::decimal, &smb::write_count).in("bytes"),
};
static_assert(tiles(kSmb2BodyFields, 2));

inline constexpr std::array kSmb2DescriptorFields{
    row::hex("smb2.buffer_descriptor.offset", "Offset (virtual address)", at(0), 64).le(),
    row::hex("smb2.buffer_descriptor.token", "Token (R_Key)", at(8), 32).le(),
    row::decimal("smb2.buffer_descriptor.length", "Length", at(12), 32).le().in("bytes"),
};
static_assert(tiles(kSmb2DescriptorFields, kSmb2DescriptorLength));

inline constexpr std::array kSmbDirectHeaders{
    Header{kind::smb_direct_request, "smb_direct.negotiate_request", "SMB Direct negotiate request",
           kSmbDirectRequestLength, kSmbDirectRequestFields},
    Header{kind::smb_direct_response, "smb_direct.negotiate_response", "SMB Direct negotiate response",
           kSmbDirectResponseLength, kSmbDirectResponseFields},
    Header{kind::smb_direct_data, "smb_direct.data_message", "SMB Direct data transfer", kSmbDirectDataLength,
           kSmbDirectDataFields},
    Header{kind::smb2, "smb2", "SMB2", kSmb2HeaderLength, kSmb2Fields},
    Header{kind::smb2_read, "smb2.read", "SMB2 READ request", kSmb2ReadLength, kSmb2ReadFields},
    Header{kind::smb2_write, "smb2.write", "SMB2 WRITE request", kSmb2WriteLength, kSmb2WriteFields},
    Header{kind::smb2_body, "smb2.body", "SMB2 command", 2, kSmb2BodyFields},
    Header{kind::smb2_descriptor, "smb2.buffer_descriptor", "SMB2 buffer descriptor", kSmb2DescriptorLength,
           kSmb2DescriptorFields},
};

}  // namespace qps::dissect
