// Ultra Ethernet as the court reads it: Ethernet, IPv4, UDP port 4793, and of the packet delivery sublayer what has
// contexts. Nothing else.
#pragma once

#include <tests/court/hearing.hpp>

namespace qps::court {

struct Delivery {
    std::size_t frame = 0;  // from 1
    std::int64_t time = 0;
    std::string from, to;
    std::uint32_t type = 0, flags = 0, code = 0;
    std::uint32_t psn = 0;                 // of an ACK the cumulative one
    std::uint32_t answered = 0;            // of an ACK
    std::uint32_t source = 0, target = 0;  // contexts; 0: not named
    std::uint32_t entropy = 0;
    std::uint32_t sack_base = 0;
    std::uint64_t sack = 0;
    std::optional<std::uint32_t> return_code{};  // of a response
    bool trimmed = false;

    [[nodiscard]] bool request() const { return type == 2 || type == 3 || type == 13 || type == 14; }
    [[nodiscard]] bool ack() const { return type >= 7 && type <= 9; }
    [[nodiscard]] bool nack() const { return (type == 10 || type == 12) && (flags & 0x08U) == 0; }
    [[nodiscard]] bool again() const { return (flags & 0x10U) != 0; }
    [[nodiscard]] bool opens() const { return !ack() && !nack() && (flags & 0x04U) != 0; }
    [[nodiscard]] bool names_packet() const { return ack() && (flags & 0x08U) == 0; }
};
[[nodiscard]] std::vector<Delivery> read_deliveries(const Recording& recording);

}  // namespace qps::court
