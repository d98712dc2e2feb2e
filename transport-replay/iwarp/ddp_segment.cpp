#include <dissect/ulp/iwarp.hpp>
#include <transport-replay/iwarp/ddp_segment.hpp>

#include <bit>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kStag = named(kDdpTaggedFields, "iwarp_ddp.stag");
constexpr Field kOffset = named(kDdpTaggedFields, "iwarp_ddp.tagged_offset");
constexpr Field kSequence = named(kDdpUntaggedFields, "iwarp_ddp.msn");
constexpr Field kMessageOffset = named(kDdpUntaggedFields, "iwarp_ddp.mo");
constexpr Field kInvalidate = named(kRdmapInvalidateFields, "iwarp_rdma.inval_stag");
constexpr Field kSinkStag = named(kRdmapReadRequestFields, "iwarp_rdma.sinkstag");
constexpr Field kSinkOffset = named(kRdmapReadRequestFields, "iwarp_rdma.sinkto");
constexpr Field kReadLength = named(kRdmapReadRequestFields, "iwarp_rdma.rdmardsz");
constexpr Field kSourceStag = named(kRdmapReadRequestFields, "iwarp_rdma.srcstag");
constexpr Field kSourceOffset = named(kRdmapReadRequestFields, "iwarp_rdma.srcto");
constexpr Field kOperation = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.opcode");
constexpr Field kIdentifier = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.request_identifier");
constexpr Field kRemoteStag = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.remote_stag");
constexpr Field kRemoteOffset = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.remote_tagged_offset");
constexpr Field kSwap = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.swap_data");
constexpr Field kCompare = named(kRdmapAtomicRequestFields, "iwarp_rdma.atomic.compare_data");
constexpr Field kAnswered = named(kRdmapAtomicResponseFields, "iwarp_rdma.atomic.original_request_identifier");
constexpr Field kOriginal = named(kRdmapAtomicResponseFields, "iwarp_rdma.atomic.original_remote_data_value");

constexpr std::uint32_t kAtomicBytes = 8;

}  // namespace

std::optional<DdpSegment> ddp_segment(Bytes ulpdu, std::size_t length) {
    const auto heading = mpa::heading(ulpdu, length);
    if (!heading || ulpdu.size() < heading->length()) return std::nullopt;
    DdpSegment segment{.heading = *heading};
    if (heading->tagged) {
        segment.stag = static_cast<std::uint32_t>(read(ulpdu, kStag));
        segment.offset = read(ulpdu, kOffset);
    } else {
        segment.msn = static_cast<std::uint32_t>(read(ulpdu, kSequence));
        segment.mo = static_cast<std::uint32_t>(read(ulpdu, kMessageOffset));
        if (heading->opcode == std::to_underlying(RdmapOpcode::send_invalidate) ||
            heading->opcode == std::to_underlying(RdmapOpcode::send_solicited_invalidate))
            segment.invalidate = static_cast<Rkey>(read(ulpdu.subspan(1), kInvalidate));
    }
    segment.payload = ulpdu.subspan(heading->length());
    segment.length = static_cast<std::uint32_t>(length - heading->length());
    return segment;
}

std::optional<ReadRequest> read_request(Bytes payload) {
    if (payload.size() < header(kind::rdmap_read_request).length) return std::nullopt;
    return ReadRequest{{read(payload, kSourceOffset), static_cast<Rkey>(read(payload, kSourceStag)),
                        static_cast<std::uint32_t>(read(payload, kReadLength))},
                       static_cast<Rkey>(read(payload, kSinkStag)),
                       read(payload, kSinkOffset)};
}

ReadRequest turned(const ReadRequest& request) {
    const auto key = [](Rkey one) { return static_cast<Rkey>(std::byteswap(std::to_underlying(one))); };
    return {{std::byteswap(request.source.address), key(request.source.key), std::byteswap(request.source.length)},
            key(request.sink),
            std::byteswap(request.sink_offset)};
}

std::optional<AtomicRequest> atomic_request(Bytes payload) {
    if (payload.size() < header(kind::rdmap_atomic_request).length) return std::nullopt;
    return AtomicRequest{static_cast<std::uint8_t>(read(payload, kOperation)),
                         static_cast<std::uint32_t>(read(payload, kIdentifier)),
                         {read(payload, kRemoteOffset), static_cast<Rkey>(read(payload, kRemoteStag)), kAtomicBytes},
                         {read(payload, kSwap), read(payload, kCompare)}};
}

std::optional<AtomicResponse> atomic_response(Bytes payload) {
    if (payload.size() < header(kind::rdmap_atomic_response).length) return std::nullopt;
    return AtomicResponse{static_cast<std::uint32_t>(read(payload, kAnswered)), read(payload, kOriginal)};
}

}  // namespace qps::transport
