#include <dissect/ulp/crc32c.hpp>
#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/conformance/iwarp/iwarp_bytes.hpp>

#include <string_view>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

constexpr std::uint8_t kMarkersBit = 0x80, kCrcBit = 0x40, kRejectedBit = 0x20, kEnhancedBit = 0x10;
constexpr std::uint8_t kTaggedBit = 0x80, kLastBit = 0x40, kDdpVersion = 1, kRdmapVersion = 0x40;
constexpr std::uint8_t kEnhancedRevision = 2;
constexpr std::size_t kDepthBytes = 4;

void append(StreamBytes& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::byte>(value >> 8 * i));
}
void append(StreamBytes& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

StreamBytes set_up(std::string_view key, const MpaRequest& request, std::uint8_t more_flags) {
    const bool enhanced = request.revision >= kEnhancedRevision;
    StreamBytes made;
    append(made, std::as_bytes(std::span(key)));
    append(made,
           static_cast<std::uint64_t>((request.markers ? kMarkersBit : 0) | kCrcBit | (enhanced ? kEnhancedBit : 0) |
                                      more_flags),
           1);
    append(made, request.revision, 1);
    append(made, request.private_bytes + (enhanced ? kDepthBytes : 0), 2);
    if (enhanced) {
        append(made, kProbeDepth, 2);
        append(made, kProbeDepth, 2);
    }
    made.resize(made.size() + request.private_bytes);
    return made;
}

StreamBytes tagged(RdmapOpcode opcode, std::uint32_t stag, std::uint64_t offset, Bytes data) {
    StreamBytes made;
    append(made, kTaggedBit | kLastBit | kDdpVersion, 1);
    append(made, static_cast<std::uint64_t>(kRdmapVersion | std::to_underlying(opcode)), 1);
    append(made, stag, 4);
    append(made, offset, 8);
    append(made, data);
    return made;
}

StreamBytes untagged(RdmapOpcode opcode, std::uint32_t queue, std::uint32_t msn) {
    StreamBytes made;
    append(made, kLastBit | kDdpVersion, 1);
    append(made, static_cast<std::uint64_t>(kRdmapVersion | std::to_underlying(opcode)), 1);
    append(made, 0, 4);
    append(made, queue, 4);
    append(made, msn, 4);
    append(made, 0, 4);
    return made;
}

}  // namespace

StreamBytes mpa_request(const MpaRequest& request) { return set_up("MPA ID Req Frame", request, 0); }
StreamBytes mpa_reply(const MpaRequest& request, bool rejected) {
    return set_up("MPA ID Rep Frame", request, rejected ? kRejectedBit : 0);
}

StreamBytes fpdu(Bytes ulpdu) {
    StreamBytes made;
    append(made, ulpdu.size(), 2);
    append(made, ulpdu);
    while (made.size() % 4 != 0) append(made, 0, 1);
    append(made, crc32c(made), 4);
    return made;
}

StreamBytes read_request_ulpdu(std::uint32_t msn, const ReadWanted& read) {
    StreamBytes made = untagged(RdmapOpcode::read_request, 1, msn);
    append(made, read.sink, 4);
    append(made, read.sink_offset, 8);
    append(made, read.length, 4);
    append(made, read.source, 4);
    append(made, read.source_offset, 8);
    return made;
}

StreamBytes read_response_ulpdu(std::uint32_t sink, std::uint64_t offset, Bytes data) {
    return tagged(RdmapOpcode::read_response, sink, offset, data);
}
StreamBytes write_ulpdu(std::uint32_t stag, std::uint64_t offset, Bytes data) {
    return tagged(RdmapOpcode::write, stag, offset, data);
}

StreamBytes terminate_ulpdu(const TerminateReason& reason) {
    StreamBytes made = untagged(RdmapOpcode::terminate, 2, 1);
    append(made, static_cast<std::uint64_t>(reason.layer << 4 | reason.type), 1);
    append(made, reason.code, 1);
    append(made, 0, 2);
    return made;
}

StreamBytes changed(StreamBytes bytes, std::size_t at, std::uint8_t value) {
    if (at < bytes.size()) bytes[at] = static_cast<std::byte>(value);
    return bytes;
}

StreamBytes joined_bytes(StreamBytes first, const StreamBytes& second) {
    append(first, second);
    return first;
}

}  // namespace qps::transport::conformance
