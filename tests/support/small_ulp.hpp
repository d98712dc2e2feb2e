// Messages of RDS, IPoIB, rsockets and LNet, made to order.
#pragma once

#include <dissect/base/bytes.hpp>
#include <tests/support/wire_bytes.hpp>

#include <initializer_list>
#include <span>

namespace qps::tests {

// The checksum of IP over these bytes, which have zeros in its place.
[[nodiscard]] inline std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += dissect::read_be<std::uint16_t>(bytes, i);
    while (sum > 0xffff) sum = (sum >> 16) + (sum & 0xffff);
    return static_cast<std::uint16_t>(~sum);
}
inline void set_be16(Octets& bytes, std::size_t offset, std::uint16_t value) {
    bytes[offset] = static_cast<std::byte>(value >> 8);
    bytes[offset + 1] = static_cast<std::byte>(value);
}

struct RdsSpec {
    std::uint64_t sequence = 1, ack = 0;
    std::uint32_t length = 100;
    std::uint16_t source = 5000, destination = 6000;
    std::uint8_t flags = 2, credit = 0;
    Octets extensions{};
};
[[nodiscard]] inline Octets rds_message(const RdsSpec& spec, std::size_t data) {
    WireBytes wire;
    wire.put(spec.sequence)
        .put(spec.ack)
        .put(spec.length)
        .put(spec.source)
        .put(spec.destination)
        .put(spec.flags)
        .put(spec.credit)
        .zeros(6);
    wire.add(spec.extensions).zeros(16 - spec.extensions.size());
    set_be16(wire.bytes, 30, internet_checksum(wire.bytes));
    return wire.zeros(data).bytes;
}

// IPv4 in IPoIB: 10.0.0.1 to 10.0.0.2.
[[nodiscard]] inline Octets ipoib_ipv4(std::uint8_t protocol, const Octets& inside, bool back = false) {
    WireBytes wire;
    wire.put(std::uint8_t{0x45})
        .put(std::uint8_t{0})
        .put(static_cast<std::uint16_t>(20 + inside.size()))
        .put(std::uint32_t{0});
    wire.put(std::uint8_t{64}).put(protocol).put(std::uint16_t{0});
    wire.put(std::uint32_t{back ? 0x0a000002U : 0x0a000001U}).put(std::uint32_t{back ? 0x0a000001U : 0x0a000002U});
    set_be16(wire.bytes, 10, internet_checksum(wire.bytes));
    WireBytes whole;
    whole.put(std::uint16_t{0x0800}).put(std::uint16_t{0}).add(wire.bytes).add(inside);
    return whole.bytes;
}
[[nodiscard]] inline Octets ping(bool answer, std::uint16_t sequence) {
    WireBytes wire;
    wire.put(static_cast<std::uint8_t>(answer ? 0 : 8)).zeros(3).put(std::uint16_t{77}).put(sequence).zeros(56);
    return wire.bytes;
}
[[nodiscard]] inline Octets udp_datagram(std::uint16_t source, std::uint16_t destination, std::size_t data) {
    WireBytes wire;
    wire.put(source).put(destination).put(static_cast<std::uint16_t>(8 + data)).put(std::uint16_t{0}).zeros(data);
    return wire.bytes;
}
[[nodiscard]] inline Octets ipoib_arp(bool reply) {
    WireBytes wire;
    wire.put(std::uint16_t{0x0806}).put(std::uint16_t{0});
    wire.put(std::uint16_t{32}).put(std::uint16_t{0x0800}).put(std::uint8_t{20}).put(std::uint8_t{4});
    wire.put(static_cast<std::uint16_t>(reply ? 2 : 1));
    wire.put(std::uint32_t{0x80'000123})
        .put(std::uint64_t{0xfe80'0000'0000'0000})
        .put(std::uint64_t{0x0002'c903'0001'0001});
    wire.put(std::uint32_t{0x0a000001}).zeros(20).put(std::uint32_t{0x0a000002});
    return wire.bytes;
}

// o2iblnd: the first header with its length right, then the body.
[[nodiscard]] inline Octets lnet_message(std::uint8_t type, const Octets& body, bool little = true,
                                         std::uint8_t credits = 0) {
    WireBytes wire{.bytes = {}, .little = little};
    constexpr std::uint64_t kNid1 = 0x0005'0000'0a00'0001,
                            kNid2 = 0x0005'0000'0a00'0002;  // 10.0.0.1@o2ib, 10.0.0.2@o2ib
    wire.put(std::uint32_t{0x0be91b91}).put(std::uint16_t{0x12}).put(type).put(credits);
    wire.put(static_cast<std::uint32_t>(48 + body.size())).put(std::uint32_t{0});
    wire.put(kNid1).put(std::uint64_t{0x1111}).put(kNid2).put(std::uint64_t{0x2222});
    return wire.add(body).bytes;
}
// The header of LNet itself, with what belongs to the kind of message.
[[nodiscard]] inline Octets lnet_header(std::uint32_t kind, std::uint32_t payload, std::uint64_t handle,
                                        const Octets& rest, bool little = true) {
    WireBytes wire{.bytes = {}, .little = little};
    wire.put(std::uint64_t{0x0005'0000'0a00'0002}).put(std::uint64_t{0x0005'0000'0a00'0001});
    wire.put(std::uint32_t{12345}).put(std::uint32_t{54321}).put(kind).put(payload);
    wire.put(std::uint64_t{0x99}).put(handle).add(rest);
    wire.bytes.resize(72);
    return wire.bytes;
}
[[nodiscard]] inline Octets lnet_put_rest(bool little = true) {
    WireBytes wire{.bytes = {}, .little = little};
    return wire.put(std::uint64_t{0xabcdef}).put(std::uint64_t{7}).put(std::uint32_t{8}).put(std::uint32_t{0}).bytes;
}
[[nodiscard]] inline Octets lnet_get_rest(std::uint32_t room, bool little = true) {
    WireBytes wire{.bytes = {}, .little = little};
    return wire.put(std::uint64_t{0xabcdef}).put(std::uint32_t{28}).put(std::uint32_t{0}).put(room).bytes;
}
[[nodiscard]] inline Octets lnet_memory(std::uint32_t key, std::uint32_t length, std::uint64_t address,
                                        bool little = true) {
    WireBytes wire{.bytes = {}, .little = little};
    return wire.put(key).put(std::uint32_t{1}).put(length).put(address).bytes;
}
[[nodiscard]] inline Octets joined(std::initializer_list<Octets> parts) {
    WireBytes wire;
    for (const Octets& part : parts) wire.add(part);
    return wire.bytes;
}
template <class T> [[nodiscard]] Octets octets_of(T value, bool little = true) {
    WireBytes wire{.bytes = {}, .little = little};
    return wire.put(value).bytes;
}

// 40 bytes of private data of rsockets.
[[nodiscard]] inline Octets rsockets_private() {
    WireBytes wire;
    wire.put(std::uint8_t{1}).put(std::uint8_t{0}).put(std::uint16_t{384}).zeros(3).put(std::uint8_t{0});
    wire.put(std::uint64_t{0x7f00'0000'1000}).put(std::uint32_t{0x1234}).put(std::uint32_t{2});
    wire.put(std::uint64_t{0x7f00'0010'0000}).put(std::uint32_t{0x5678}).put(std::uint32_t{1 << 16});
    return wire.bytes;
}

}  // namespace qps::tests
