// Messages of UCX and of libfabric's rxm and rxd, made to order.
#pragma once

#include <tests/support/wire_bytes.hpp>

#include <string_view>

namespace qps::tests {

constexpr std::uint64_t kUcxNear = 0x7f48'd8dc'b000, kUcxFar = 0x7f5b'a137'3000;  // endpoints are pointers

[[nodiscard]] inline WireBytes little() { return {.bytes = {}, .little = true}; }
[[nodiscard]] inline WireBytes ucx_active(std::uint8_t id) { return little().put(id); }

// As connections open: `maps` bytes before the address, which newer versions have.
[[nodiscard]] inline Octets ucx_wireup(std::uint8_t type = 3, std::uint64_t from = kUcxNear, std::uint64_t to = kUcxFar,
                                       std::size_t maps = 0) {
    WireBytes wire = little();
    wire.put(type).put(std::uint8_t{0}).put(std::uint16_t{0}).put(from).put(to).zeros(maps);
    wire.put(std::uint8_t{0x20}).put(std::uint64_t{0x8f0b'60c3'5a84'e5a3}).put(std::uint16_t{0x00ff});
    return wire.bytes;
}

[[nodiscard]] inline Octets ucx_datagram_head(std::uint32_t what, std::uint16_t psn, std::uint16_t ack) {
    return little().put(what).put(psn).put(ack).bytes;
}

// CREQ or CREP, of a host named "b".
[[nodiscard]] inline Octets ucx_connection(std::uint8_t type) {
    const bool asks = type == 1;
    WireBytes wire = little();
    wire.add(asks ? ucx_datagram_head(0x20ffffff, 1, 0) : ucx_datagram_head(0x22000000, 2, 1));
    wire.put(type).zeros(3).put(std::uint8_t{0x18}).zeros(15).put(std::uint8_t{'b'}).zeros(15).put(std::uint32_t{346});
    if (asks) wire.put(std::uint8_t{0x58}).zeros(19);
    return wire.bytes;
}

struct RxmMessage {
    std::uint8_t type = 0;  // eager
    std::uint8_t op = 1;    // tagged
    std::uint64_t size = 100;
    std::uint64_t tag = 0x4711;
    Octets data = Octets(100);
    std::uint8_t control_version = 4;
    std::uint8_t version = 3;
};
[[nodiscard]] inline Octets rxm_message(const RxmMessage& said) {
    WireBytes wire = little();
    wire.put(said.control_version)
        .put(said.type)
        .put(std::uint16_t{0})
        .put(std::uint32_t{0})
        .put(std::uint64_t{5})
        .put(std::uint64_t{6});
    wire.put(std::uint8_t{2}).zeros(3).put(std::uint32_t{4096});  // of a segment: the middle, its offset
    wire.put(said.version).put(std::uint8_t{0}).put(said.op).put(std::uint8_t{0}).put(std::uint32_t{1});
    wire.put(said.size).put(std::uint64_t{9}).put(said.tag).add(said.data);
    return wire.bytes;
}
[[nodiscard]] inline Octets rxm_rendezvous(std::uint64_t length, std::uint8_t count = 1) {
    WireBytes wire = little();
    wire.put(std::uint64_t{0x7000}).put(length).put(std::uint64_t{0xbeef}).zeros(72).put(count).zeros(7);
    return wire.bytes;
}

[[nodiscard]] inline WireBytes rxd_base(std::uint8_t type, std::uint16_t flags = 0, std::uint32_t peer = 1,
                                        std::uint64_t sequence = 7) {
    return little().put(std::uint8_t{2}).put(type).put(flags).put(peer).put(sequence);
}
[[nodiscard]] inline Octets rxd_ready_to_send() {
    WireBytes wire = rxd_base(9, 0, 0, 0);
    wire.put(std::uint64_t{1})
        .put(std::uint64_t{0x80fe})
        .put(std::uint64_t{0x1100'77fe'ff00'5450})
        .put(std::uint32_t{0x25})
        .zeros(44);
    return wire.bytes;
}

}  // namespace qps::tests
