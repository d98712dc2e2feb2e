// Ultra Ethernet packets made to order: headers behind UDP port 4793, with a CRC over addresses, UDP header and all
// behind.
#pragma once

#include <dissect/headers/internet.hpp>
#include <dissect/packet/build.hpp>
#include <dissect/ulp/crc32c.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ses.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace qps::tests {

struct UetHeader {
    dissect::LayerKind kind{};
    std::vector<std::pair<std::string_view, std::uint64_t>> fields{};
};

struct UetWay {
    bool back = false;               // from 192.0.2.2 to 192.0.2.1
    std::uint16_t entropy = 0xc001;  // the source port
    std::uint8_t ecn = 2;            // ECT(0)
    std::uint8_t dscp = 0;
};

[[nodiscard]] inline dissect::PacketSpec uet_datagram(const UetWay& way, std::vector<std::byte> bytes,
                                                      bool v6 = false) {
    using namespace dissect;
    PacketSpec spec;
    const LayerKind network = v6 ? LayerKind::ipv6 : LayerKind::ipv4;
    spec.headers = {{LayerKind::ethernet}, {network}, {LayerKind::udp}};
    constexpr std::uint64_t kMac = 0x020000000000, kFirst = 0xc0000201, kSecond = 0xc0000202;
    set(spec, "eth.src", kMac + (way.back ? 2 : 1));
    set(spec, "eth.dst", kMac + (way.back ? 1 : 2));
    std::vector<std::byte> first(16), second(16);
    first[0] = second[0] = std::byte{0x20};
    first[1] = second[1] = std::byte{0x01};
    first[2] = second[2] = std::byte{0x0d};
    first[3] = second[3] = std::byte{0xb8};
    first[15] = std::byte{1};
    second[15] = std::byte{2};
    set(spec, "ip.src", way.back ? kSecond : kFirst);
    set(spec, "ip.dst", way.back ? kFirst : kSecond);
    set(spec, "ip.dsfield.ecn", way.ecn);
    set(spec, "ip.dsfield.dscp", way.dscp);
    set(spec, "ipv6.src", Bytes(way.back ? second : first));
    set(spec, "ipv6.dst", Bytes(way.back ? first : second));
    set(spec, "ipv6.tclass.ecn", way.ecn);
    set(spec, "udp.srcport", way.entropy);
    set(spec, "udp.dstport", kUltraPort);
    spec.payload = std::move(bytes);
    return spec;
}

// Fills in the four bytes at the end: least significant byte first.
inline void seal(dissect::PacketSpec& spec) {
    using namespace dissect;
    constexpr std::size_t kCrcLength = 4;
    spec.payload.resize(spec.payload.size() + kCrcLength);
    const std::vector<std::byte> frame = build(spec);
    const std::size_t addresses = spec.headers[1].kind == LayerKind::ipv4 ? 14 + 12 : 14 + 8;
    const std::uint32_t crc = crc32c(slice(frame, addresses, frame.size() - kCrcLength - addresses));
    write_bits(spec.payload, (spec.payload.size() - kCrcLength) * 8, 32, crc);
}

[[nodiscard]] inline dissect::PacketSpec uet_packet(const UetWay& way, const std::vector<UetHeader>& headers,
                                                    std::vector<std::byte> payload = {}, bool with_crc = true,
                                                    bool v6 = false) {
    using namespace dissect;
    PacketSpec spec = uet_datagram(way, std::move(payload), v6);
    std::erase_if(spec.headers[2].settings,
                  [](const FieldSetting& setting) { return setting.field->name == "udp.dstport"; });
    for (const UetHeader& each : headers) {
        HeaderSpec made{each.kind};
        for (const auto& [field, value] : each.fields) set(made, field, value);
        spec.headers.push_back(made);
    }
    if (with_crc) seal(spec);
    return spec;
}

}  // namespace qps::tests
