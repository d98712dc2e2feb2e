// What a tester of iWARP sends, as bytes of a TCP stream: set-up frames of MPA, FPDUs with a CRC, DDP segments with
// what RDMAP puts into them. Right, unless the caller changes a byte.
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <vector>

namespace qps::transport::conformance {

using StreamBytes = std::vector<std::byte>;

struct MpaRequest {
    std::uint8_t revision = 2;
    std::uint16_t private_bytes = 0;  // of the consumer, all 0
    bool markers = false;
};
// A request with CRCs; with room for READs, where the revision has that: IRD and ORD are kProbeDepth.
[[nodiscard]] StreamBytes mpa_request(const MpaRequest& request = {});
// A reply that has what a request has.
[[nodiscard]] StreamBytes mpa_reply(const MpaRequest& request, bool rejected);
inline constexpr std::uint16_t kProbeDepth = 4;

[[nodiscard]] StreamBytes fpdu(dissect::Bytes ulpdu);

// Places of bytes in a ULPDU.
inline constexpr std::size_t kDdpControlAt = 0, kRdmapControlAt = 1, kQueueNumberAt = 6, kMessageOffsetAt = 14;

struct ReadWanted {
    std::uint32_t sink = 0;
    std::uint64_t sink_offset = 0;
    std::uint32_t length = 0;
    std::uint32_t source = 0;
    std::uint64_t source_offset = 0;
};
[[nodiscard]] StreamBytes read_request_ulpdu(std::uint32_t msn, const ReadWanted& read = {});
[[nodiscard]] StreamBytes read_response_ulpdu(std::uint32_t sink, std::uint64_t offset, dissect::Bytes data);
[[nodiscard]] StreamBytes write_ulpdu(std::uint32_t stag, std::uint64_t offset, dissect::Bytes data);
struct TerminateReason {
    std::uint8_t layer = 0;
    std::uint8_t type = 0;
    std::uint8_t code = 0;
    [[nodiscard]] bool operator==(const TerminateReason&) const = default;
};
[[nodiscard]] StreamBytes terminate_ulpdu(const TerminateReason& reason);

// The same, with another byte there.
[[nodiscard]] StreamBytes changed(StreamBytes bytes, std::size_t at, std::uint8_t value);
[[nodiscard]] StreamBytes joined_bytes(StreamBytes first, const StreamBytes& second);

}  // namespace qps::transport::conformance
