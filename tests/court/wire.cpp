#include <tests/court/wire.hpp>

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace qps::court {

namespace {

constexpr std::uint32_t kIpv4 = 0x0800, kIpv6 = 0x86dd, kRoceV1 = 0x8915, kVlan = 0x8100, kServiceVlan = 0x88a8;
constexpr std::uint32_t kUdp = 17, kRocePort = 4791;
constexpr std::size_t kBth = 12, kRdeth = 4, kDeth = 8, kIpv6Header = 40, kUdpHeader = 8;

std::string address_text(const Octets& frame, std::size_t at, bool ipv4) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (at + (ipv4 ? 4 : 16) > frame.size()) return {};
    return inet_ntop(ipv4 ? AF_INET : AF_INET6, &frame[at], text.data(), text.size());
}

// What the opcode says follows the BTH (9.3, table 38), of reliable connections.
void read_extended(const Octets& frame, Wire& wire) {
    // A reliable datagram has the RDETH first, and its requests the DETH behind that (9.8).
    const bool datagram = wire.service() == 2;
    const std::size_t at = wire.bth + kBth + (datagram ? kRdeth : 0) + (datagram && wire.read_request() ? kDeth : 0);
    const std::uint32_t operation = wire.operation();
    const bool write = wire.service() <= 1 && (operation == 6 || operation == 10 || operation == 11);
    if ((write || wire.read_request()) && at + 16 <= frame.size())
        wire.reth = Reth{std::uint64_t{number_at(frame, at, 4)} << 32U | number_at(frame, at + 4, 4),
                         number_at(frame, at + 8, 4), number_at(frame, at + 12, 4)};
    if (wire.atomic_request() && at + 12 <= frame.size())
        wire.reth = Reth{std::uint64_t{number_at(frame, at, 4)} << 32U | number_at(frame, at + 4, 4),
                         number_at(frame, at + 8, 4), 8};
    const bool answers = wire.acknowledge() || wire.atomic_response() || (wire.read_response() && operation != 14);
    if (answers && at < frame.size()) wire.syndrome = frame[at];
}

// Bytes of the headers between BTH and payload, by operation (9.3, table 38).
constexpr std::array<std::uint8_t, 32> kExtended{0,  0, 0, 4, 0, 4, 16, 0,  0,  4, 16, 20,
                                                 16, 4, 0, 4, 4, 4, 12, 28, 28, 0, 4,  4};

void read_payload(const Octets& frame, Wire& wire) {
    if (wire.service() == 3) wire.data = wire.bth + kBth + kDeth + (wire.operation() == 5 ? 4 : 0);
    else if (wire.service() <= 1) wire.data = wire.bth + kBth + kExtended[wire.operation()];
    else return;
    constexpr std::size_t kIcrc = 4;
    const std::size_t end = wire.ip + wire.length, rest = wire.data + kIcrc + (frame[wire.bth + 1] >> 4U & 3U);
    if (end > rest) wire.payload = static_cast<std::uint32_t>(end - rest);
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value & 1U ? value >> 1U ^ 0xedb88320U : value >> 1U;
        table[i] = value;
    }
    return table;
}

}  // namespace

std::optional<Network> network_of(const Octets& frame) {
    std::size_t at = 12;
    while (at + 2 <= frame.size()) {
        const std::uint32_t type = number_at(frame, at, 2);
        at += 2;
        if (type != kVlan && type != kServiceVlan) return Network{at, type};
        at += 2;
    }
    return {};
}

std::string source_of(const Octets& frame) {
    const auto network = network_of(frame);
    if (!network) return {};
    if (network->type == kIpv4) return address_text(frame, network->place + 12, true);
    return network->type == kIpv6 || network->type == kRoceV1 ? address_text(frame, network->place + 8, false) : "";
}
std::string destination_of(const Octets& frame) {
    const auto network = network_of(frame);
    if (!network) return {};
    if (network->type == kIpv4) return address_text(frame, network->place + 16, true);
    return network->type == kIpv6 || network->type == kRoceV1 ? address_text(frame, network->place + 24, false) : "";
}

void fix_checksum(Octets& frame, std::size_t ip) {
    put_number(frame, ip + 10, 2, 0);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < std::size_t{frame[ip] & 0xfU} * 4; i += 2) sum += number_at(frame, ip + i, 2);
    while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
    put_number(frame, ip + 10, 2, ~sum & 0xffffU);
}

std::uint32_t invariant_crc(const Octets& frame, std::size_t ip, std::size_t icrc) {
    static constexpr auto kTable = make_crc_table();
    Octets covered(8, 0xff);  // in the place of an LRH
    covered.insert(covered.end(), frame.begin() + static_cast<std::ptrdiff_t>(ip),
                   frame.begin() + static_cast<std::ptrdiff_t>(icrc));
    const auto mask = [&](std::size_t at) { covered[8 + at] = 0xff; };
    std::size_t bth = 0;
    if (covered[8] >> 4U == 4) {
        bth = std::size_t{covered[8] & 0xfU} * 4 + kUdpHeader;
        for (const std::size_t at :
             {std::size_t{1}, std::size_t{8}, std::size_t{10}, std::size_t{11}, bth - 2, bth - 1})
            mask(at);
    } else {
        // A GRH of RoCEv1 has no UDP header behind it.
        bth = kIpv6Header + (covered[8 + 6] == kUdp ? kUdpHeader : 0);
        covered[8] |= 0x0fU;
        for (const std::size_t at : {1U, 2U, 3U, 7U}) mask(at);
        if (bth != kIpv6Header) mask(bth - 2), mask(bth - 1);
    }
    mask(bth + 4);
    std::uint32_t crc = 0xffffffffU;
    for (const std::uint8_t octet : covered) crc = crc >> 8U ^ kTable[(crc ^ octet) & 0xffU];
    return ~crc;
}

std::optional<Wire> read_wire(const Record& record, std::size_t frame) {
    const Octets& bytes = record.bytes;
    const auto network = network_of(bytes);
    if (!network) return {};
    Wire wire{.frame = frame,
              .time = record.time,
              .from = source_of(bytes),
              .to = destination_of(bytes),
              .ip = network->place};
    wire.ipv4 = network->type == kIpv4;
    if (number_at(bytes, 12, 2) == kVlan) wire.priority = bytes[14] >> 5U;
    std::size_t udp = 0;
    if (wire.ipv4) {
        if (wire.ip + 20 > bytes.size() || bytes[wire.ip + 9] != kUdp ||
            (number_at(bytes, wire.ip + 6, 2) & 0x1fffU) != 0)
            return {};
        wire.traffic_class = bytes[wire.ip + 1];
        wire.length = number_at(bytes, wire.ip + 2, 2);
        wire.identification = number_at(bytes, wire.ip + 4, 2);
        udp = wire.ip + std::size_t{bytes[wire.ip] & 0xfU} * 4;
    } else if (network->type == kIpv6 || network->type == kRoceV1) {
        if (wire.ip + kIpv6Header > bytes.size()) return {};
        wire.traffic_class = number_at(bytes, wire.ip, 2) >> 4U & 0xffU;
        wire.length = static_cast<std::uint32_t>(kIpv6Header) + number_at(bytes, wire.ip + 4, 2);
        const std::uint8_t next = bytes[wire.ip + 6];
        if (next != (network->type == kIpv6 ? kUdp : 0x1bU)) return {};
        udp = wire.ip + kIpv6Header;
    } else {
        return {};
    }
    wire.bth = udp;
    if (network->type != kRoceV1) {
        if (udp + kUdpHeader > bytes.size() || number_at(bytes, udp + 2, 2) != kRocePort) return {};
        wire.port = number_at(bytes, udp, 2);
        wire.bth += kUdpHeader;
    }
    if (wire.bth + kBth > bytes.size()) return {};
    wire.opcode = bytes[wire.bth];
    wire.to_qp = number_at(bytes, wire.bth + 5, 3);
    wire.partition_key = number_at(bytes, wire.bth + 2, 2);
    wire.ack_request = (bytes[wire.bth + 8] & 0x80U) != 0;
    wire.psn = number_at(bytes, wire.bth + 9, 3);
    read_extended(bytes, wire);
    read_payload(bytes, wire);
    const std::size_t end = wire.ip + wire.length;
    if (end <= bytes.size() && wire.bth + kBth + 4 <= end) {
        wire.icrc = end - 4;
        const std::uint32_t crc = invariant_crc(bytes, wire.ip, end - 4);
        for (std::size_t i = 0; i < 4; ++i) wire.icrc_right &= bytes[end - 4 + i] == (crc >> 8U * i & 0xffU);
    }
    return wire;
}

std::vector<Wire> read_wires(const Recording& recording) {
    std::vector<Wire> wires;
    if (recording.link != kEthernet) return wires;
    for (std::size_t i = 0; i < recording.records.size(); ++i)
        if (auto wire = read_wire(recording.records[i], i + 1)) wires.push_back(std::move(*wire));
    return wires;
}

}  // namespace qps::court
