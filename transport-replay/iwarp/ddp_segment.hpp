// DdpSegment: what the following of iWARP needs of one ULPDU, that is of a DDP segment with its RDMAP headers.
#pragma once

#include <dissect/ulp/fpdu.hpp>
#include <transport-replay/model/observation.hpp>

#include <optional>

namespace qps::transport {

struct DdpSegment {
    dissect::mpa::Heading heading{};
    std::uint32_t stag = 0;  // tagged
    std::uint64_t offset = 0;
    std::uint32_t msn = 0;  // untagged
    std::uint32_t mo = 0;
    std::optional<dissect::Rkey> invalidate{};
    dissect::Bytes payload{};  // behind the DDP header, as far as captured
    std::uint32_t length = 0;
};
// Nothing where its headers were not captured, or no sender of RDMAP makes such a segment.
[[nodiscard]] std::optional<DdpSegment> ddp_segment(dissect::Bytes ulpdu, std::size_t length);

// What is in the payload of some.
struct ReadRequest {
    RemoteAccess source{};
    dissect::Rkey sink{};
    std::uint64_t sink_offset = 0;
};
[[nodiscard]] std::optional<ReadRequest> read_request(dissect::Bytes payload);
// The same where its sender writes all fields least significant byte first, as some of the first implementations did.
[[nodiscard]] ReadRequest turned(const ReadRequest& request);

struct AtomicRequest {
    std::uint8_t operation = 0;
    std::uint32_t identifier = 0;
    RemoteAccess target{};
    AtomicOperands operands{};
};
[[nodiscard]] std::optional<AtomicRequest> atomic_request(dissect::Bytes payload);

struct AtomicResponse {
    std::uint32_t identifier = 0;
    std::uint64_t original = 0;
};
[[nodiscard]] std::optional<AtomicResponse> atomic_response(dissect::Bytes payload);

}  // namespace qps::transport
