// The walk over what rsockets say in plain bytes: their private data. SENDs are data of the stream (where WRITEs cannot
// have an immediate) and stay data.
#include <dissect/ulp/rsockets.hpp>
#include <dissect/ulp/walks.hpp>

namespace qps::dissect {

bool is_rsockets_connect(Bytes private_data) {
    if (private_data.size() < kRsocketsConnect) return false;
    constexpr std::uint8_t kVersion = 1, kFlags = 3;
    const bool start = read_be<std::uint8_t>(private_data, 0) == kVersion &&
                       read_be<std::uint8_t>(private_data, 1) <= kFlags &&
                       read_be<std::uint16_t>(private_data, 2) != 0 && read_bits(private_data, at(4), 24) == 0;
    constexpr std::uint32_t kMostOffers = 256, kLongest = 1U << 30;
    const auto offers = read_be<std::uint32_t>(private_data, 20);
    const auto room = read_be<std::uint32_t>(private_data, 36);
    return start && offers != 0 && offers <= kMostOffers && room != 0 && room <= kLongest &&
           read_be<std::uint64_t>(private_data, 8) != 0 && read_be<std::uint64_t>(private_data, 24) != 0;
}

namespace ulp {

void walk_rsockets(Walk& walk, const UlpHint&) { add_data(walk); }

void walk_rsockets_private(Walk& walk, const UlpHint&, LayerKind) {
    if (is_rsockets_connect(slice(walk.header(), 0, walk.left())))
        static_cast<void>(enter(walk, kind::rsockets_connect, kRsocketsConnect));
}

}  // namespace ulp

}  // namespace qps::dissect
