// Messages of SDP, made to order.
#pragma once

#include <tests/support/wire_bytes.hpp>

namespace qps::tests {

[[nodiscard]] inline Octets sdp_message(std::uint8_t message, const Octets& body) {
    WireBytes wire;
    wire.put(message).put(std::uint8_t{1}).put(std::uint16_t{20}).put(static_cast<std::uint32_t>(16 + body.size()));
    return wire.put(std::uint32_t{7}).put(std::uint32_t{6}).add(body).bytes;
}

// From 10.0.0.1 to 10.0.0.2.
[[nodiscard]] inline Octets sdp_hello() {
    WireBytes hello;
    hello.put(std::uint8_t{0x22}).put(std::uint8_t{0x41}).put(std::uint8_t{0}).put(std::uint8_t{1});
    hello.put(std::uint32_t{32768}).put(std::uint32_t{16384}).put(std::uint16_t{5001}).put(std::uint16_t{0});
    hello.zeros(12).put(std::uint32_t{0x0a000001}).zeros(12).put(std::uint32_t{0x0a000002}).put(std::uint16_t{3});
    return sdp_message(0, hello.bytes);
}
[[nodiscard]] inline Octets sdp_hello_ack() {
    WireBytes hello;
    hello.put(std::uint8_t{0x22})
        .put(std::uint8_t{0x41})
        .put(std::uint8_t{0})
        .put(std::uint8_t{2})
        .put(std::uint32_t{65536});
    return sdp_message(1, hello.bytes);
}

}  // namespace qps::tests
