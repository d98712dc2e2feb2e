#include <transport-replay/collectives/nccl_offer.hpp>

#include <array>

namespace qps::transport {

using namespace dissect;

namespace {

// Where the fields of an entry lie (NCCL, transport/net_ib: what is written to the sender's FIFO). The address is
// first, then the size.
struct Layout {
    std::uint32_t entry;  // bytes
    bool wide;            // the size has 64 bits
    std::size_t requests, tag, index;
};
constexpr std::array kLayouts{
    Layout{32, false, 16, 20, 24},  // one rkey: 2.12 to 2.18
    Layout{64, false, 20, 24, 32},  // two: 2.19 to 2.22
    Layout{64, true, 32, 36, 40},   // four: 2.23 and later
};
constexpr std::size_t kSize = 8;
constexpr std::uint32_t kMostRanks = 1 << 20;
constexpr std::uint64_t kMostOffers = std::uint64_t{1} << 48;

}  // namespace

std::optional<NcclOffer> nccl_offer(Bytes payload, std::uint32_t length) {
    if (length == 0 || length > kMostNcclOffer) return std::nullopt;
    for (const Layout& layout : kLayouts) {
        if (length % layout.entry != 0 || payload.size() < layout.index + sizeof(std::uint64_t)) continue;
        const NcclOffer offer{
            .address = read_le<std::uint64_t>(payload, 0),
            .size = layout.wide ? read_le<std::uint64_t>(payload, kSize) : read_le<std::uint32_t>(payload, kSize),
            .sender = read_le<std::uint32_t>(payload, layout.tag),
            .index = read_le<std::uint64_t>(payload, layout.index),
        };
        const std::uint32_t requests = read_le<std::uint32_t>(payload, layout.requests);
        if (requests == 0 || requests > kMostNcclRequests || requests * layout.entry != length) continue;
        if (offer.address == 0 || offer.index == 0 || offer.index >= kMostOffers || offer.sender >= kMostRanks)
            continue;
        return offer;
    }
    return std::nullopt;
}

}  // namespace qps::transport
