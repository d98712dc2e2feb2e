#include <tests/court/datagram.hpp>

namespace qps::court {

std::vector<Datagram> datagrams(const Hearing& hearing) {
    constexpr std::size_t kHeaders = 12 + 8, kWhole = 256;  // BTH and DETH; of a MAD
    std::vector<Datagram> out;
    for (const Wire& wire : hearing.wires()) {
        const Octets& bytes = hearing.recording().records[wire.frame - 1].bytes;
        const std::size_t mad = wire.bth + kHeaders;
        if (wire.to_qp > 1 || mad + kWhole > bytes.size()) continue;
        out.push_back(
            {.wire = &wire,
             .bytes = &bytes,
             .place = mad,
             .management_class = bytes[mad + 1],
             .method = bytes[mad + 3],
             .status = number_at(bytes, mad + 4, 2),
             .attribute = number_at(bytes, mad + 16, 2),
             .transaction = std::uint64_t{number_at(bytes, mad + 8, 4)} << 32U | number_at(bytes, mad + 12, 4)});
    }
    return out;
}

std::vector<Message> messages(const Hearing& hearing) {
    constexpr std::uint32_t kCommunication = 0x07;
    std::vector<Message> out;
    for (const Datagram& mad : datagrams(hearing))
        if (mad.management_class == kCommunication) out.push_back({mad});
    return out;
}

}  // namespace qps::court
