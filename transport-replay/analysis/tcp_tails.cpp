#include <dissect/base/bytes.hpp>
#include <dissect/headers/internet.hpp>
#include <transport-replay/analysis/tcp_tails.hpp>

#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kSequence = 4, kFlags = 13, kHeader = 20;  // bytes of its header
constexpr std::uint8_t kFin = 1, kSyn = 2;

std::uint8_t flags_of(const Observation& segment) { return read_be<std::uint8_t>(segment.payload, kFlags); }

}  // namespace

TcpTails::Place TcpTails::place_of(const Observation& segment) {
    const std::uint64_t hash =
        mix(segment.flow_hash + hash_of(segment.flow.source) + std::to_underlying(segment.flow.source_qp));
    return {static_cast<std::size_t>(hash % kTails), static_cast<std::uint32_t>(hash >> 32U) | 1U};
}

void TcpTails::note(const Observation& segment) {
    if (segment.payload.size() < kHeader) return;
    const auto [at, tag] = place_of(segment);
    const bool takes_one = (flags_of(segment) & (kFin | kSyn)) != 0;
    tails_[at] = {tag,
                  read_be<std::uint32_t>(segment.payload, kSequence) + segment.payload_length + (takes_one ? 1U : 0U)};
}

bool TcpTails::continues(const Observation& segment) const {
    if (segment.payload.size() < kHeader || (flags_of(segment) & kSyn) != 0) return false;
    const auto [at, tag] = place_of(segment);
    return tails_[at].tag == tag && tails_[at].next == read_be<std::uint32_t>(segment.payload, kSequence);
}

}  // namespace qps::transport
