// Likeness: how much a message looks like a protocol.
#pragma once

#include <cstdint>

namespace qps::transport {

struct Likeness {
    std::uint8_t percent = 0;  // 0: it cannot be; from kSure on one message is enough
    bool from_active = false;  // if it is, the sender is the host, client or initiator
};
inline constexpr std::uint8_t kSure = 90;       // a magic number, or fields that random bytes have once in 2^32
inline constexpr std::uint8_t kPlausible = 50;  // several of these and no contradiction are enough

}  // namespace qps::transport
