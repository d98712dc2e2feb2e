// What sink, source and memory say beside a request and a reply: formats of our own, documented for other
// implementations.
//
// Offer: memory that a server lends. Private data of the reply (REP) of sink and memory; and the answer of memory to
// any SEND.
//
//    0  4  "QPSo"
//    4  1  version, 1
//    5  1  what is allowed: bit 0 READ, bit 1 WRITE, bit 2 atomics, bit 3 FLUSH
//    6  2  slots: parts of equal size that the region has (sink: WRITE n goes into slot n modulo slots); 1: it is one
//    piece 8  8  address
//   16  8  length in bytes
//   24  4  key
//   28  4  0
//
// Announcement: what a source will do. Private data of the request (REQ), behind the header of the RDMA IP CM service.
// A sink that gets none takes SENDs of up to its own size.
//
//    0  4  "QPSa"
//    4  1  version, 1
//    5  1  how: 0 SEND, 1 WRITE, 2 WRITE with immediate
//    6  2  messages under way at most
//    8  4  bytes of a message
//   12  4  0
//
// Everything is big-endian. Both come from strangers: lengths are checked by who uses them, versions here.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/types.hpp>
#include <transport-replay/live/cm/connection_values.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport::live::peers {

inline constexpr std::uint8_t kMayRead = 1, kMayWrite = 2, kMayDoAtomics = 4, kMayFlush = 8;
inline constexpr std::size_t kOfferBytes = 32;
inline constexpr std::size_t kAnnouncementBytes = 16;

struct Offer {
    std::uint8_t allowed = 0;
    std::uint16_t slots = 1;
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    dissect::Rkey key{};
    [[nodiscard]] bool operator==(const Offer&) const = default;
};
void write(dissect::MutableBytes into, const Offer& offer);
// Nothing where the bytes are no offer, or have no slot.
[[nodiscard]] std::optional<Offer> read_offer(dissect::Bytes bytes);

enum class Way : std::uint8_t { send, write, write_with_imm };
struct Announcement {
    Way way = Way::send;
    std::uint16_t depth = 1;
    std::uint32_t bytes = 0;
    [[nodiscard]] bool operator==(const Announcement&) const = default;
};
void write(dissect::MutableBytes into, const Announcement& announcement);
[[nodiscard]] std::optional<Announcement> read_announcement(dissect::Bytes bytes);

template <class T> [[nodiscard]] CmPrivateBytes private_bytes(const T& value, std::size_t size) {
    std::array<std::byte, kMostPrivateBytes> bytes{};
    write(dissect::MutableBytes(bytes).first(size), value);
    return CmPrivateBytes(dissect::Bytes(bytes).first(size));
}

}  // namespace qps::transport::live::peers
