// Field tables of rsockets (librdmacm): what both sides show of their memory in the private data of the connection
// manager. Its messages have no header: their meaning is in the immediate of WRITEs, data that is written is the stream
// itself.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect {

namespace kind {
inline constexpr LayerKind rsockets_connect = kind_in(LayerFamily::rsockets, 0);
inline constexpr LayerKind rsockets_offer = kind_in(LayerFamily::rsockets, 1);
}  // namespace kind

inline constexpr std::array kRsocketsConnectFields{
    row::decimal("rdma.rsockets.version", "Version", at(0), 8),
    row::hex("rdma.rsockets.flags", "Flags", at(1), 8),
    row::flag("rdma.rsockets.flags.iomap", "Has an I/O map", at(1, 6)).part(),
    row::flag("rdma.rsockets.flags.big_endian", "Reads offers in network byte order", at(1, 7)).part(),
    row::decimal("rdma.rsockets.credits", "Messages that may be sent", at(2), 16),
    row::reserved(at(4), 24),
    row::decimal("rdma.rsockets.iomap_size", "Size of the I/O map", at(7), 8),
    row::hex("rdma.rsockets.offers.address", "Where offers of memory go", at(8), 64),
    row::hex("rdma.rsockets.offers.r_key", "Key of the memory for offers", at(16), 32),
    row::decimal("rdma.rsockets.offers.count", "Offers that have room", at(20), 32),
    row::hex("rdma.rsockets.data.address", "Where data goes first", at(24), 64),
    row::hex("rdma.rsockets.data.r_key", "Key of the memory for data", at(32), 32),
    row::decimal("rdma.rsockets.data.length", "Room for data", at(36), 32).in("bytes"),
};
inline constexpr std::size_t kRsocketsConnect = 40;
static_assert(tiles(kRsocketsConnectFields, kRsocketsConnect));

// An offer of memory, in the byte order of who gets it: nearly always little-endian.
inline constexpr std::array kRsocketsOfferFields{
    row::hex("rdma.rsockets.offer.address", "Where data may go next", at(0), 64).le(),
    row::hex("rdma.rsockets.offer.r_key", "Key of that memory", at(8), 32).le(),
    row::decimal("rdma.rsockets.offer.length", "Room there", at(12), 32).le().in("bytes"),
};
inline constexpr std::size_t kRsocketsOffer = 16;
static_assert(tiles(kRsocketsOfferFields, kRsocketsOffer));

inline constexpr std::array kRsocketsHeaders{
    Header{kind::rsockets_connect, "rdma.rsockets", "rsockets connection", kRsocketsConnect, kRsocketsConnectFields},
    Header{kind::rsockets_offer, "rdma.rsockets.offer", "rsockets offer of memory", kRsocketsOffer,
           kRsocketsOfferFields},
};

// Immediates: what the three highest bits say a message is (librdmacm).
enum class RsocketsOp : std::uint8_t { data = 0, credits = 4, iomap = 6, control = 7 };
inline constexpr unsigned kRsocketsOpShift = 29;
inline constexpr std::uint32_t kRsocketsRest = (1U << kRsocketsOpShift) - 1;
enum class RsocketsControl : std::uint32_t { disconnect, keep_alive, shutdown };

[[nodiscard]] bool is_rsockets_connect(Bytes private_data);

}  // namespace qps::dissect
