#include <tests/court/context.hpp>

#include <fmt/format.h>

namespace qps::court {

namespace {

std::string dotted(const Octets& bytes, std::size_t at) {
    return fmt::format("{}.{}.{}.{}", bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
}
std::uint32_t moved(std::uint32_t psn, std::uint32_t offset) {
    return psn + static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int16_t>(offset)));
}

std::optional<Delivery> read(const Record& record, std::size_t frame) {
    constexpr std::size_t kIp = 14, kUdp = 34, kPds = 42, kHeader = 12, kAckCc = 32, kSes = 12;
    const Octets& bytes = record.bytes;
    if (bytes.size() < kPds + kHeader || number_at(bytes, 12, 2) != 0x0800 || bytes[kIp] != 0x45 ||
        bytes[kIp + 9] != 17)
        return {};
    if (number_at(bytes, kUdp + 2, 2) != 4793) return {};
    Delivery found{.frame = frame, .time = record.time, .from = dotted(bytes, kIp + 12), .to = dotted(bytes, kIp + 16)};
    found.entropy = number_at(bytes, kUdp, 2);
    found.trimmed = number_at(bytes, kUdp + 4, 2) + 20 > number_at(bytes, kIp + 2, 2);
    const std::uint32_t first = number_at(bytes, kPds, 2);
    found.type = first >> 11U;
    found.flags = first & 0x7fU;
    if (!found.request() && !found.ack() && !found.nack() && found.type != 11) return {};
    found.psn = number_at(bytes, kPds + 4, 4);
    found.source = number_at(bytes, kPds + 8, 2);
    found.target = found.opens() ? 0 : number_at(bytes, kPds + 10, 2);
    if (found.nack()) found.code = bytes[kPds + 2];
    if (found.ack()) found.answered = moved(found.psn, number_at(bytes, kPds + 2, 2));
    std::size_t ses = kPds + kHeader;
    if (found.type == 13 || found.type == 14) ses += 4;
    if (found.type == 8 && bytes.size() >= kPds + 24) {
        found.sack_base = moved(found.psn, number_at(bytes, kPds + 14, 2));
        found.sack = std::uint64_t{number_at(bytes, kPds + 16, 4)} << 32U | number_at(bytes, kPds + 20, 4);
        ses = kPds + kAckCc;
    }
    const std::uint32_t form = first >> 7U & 15U;
    const bool response = form >= 4 && form <= 6 && (found.request() || found.type == 7 || found.type == 8);
    if (response && bytes.size() >= ses + kSes) found.return_code = bytes[ses + 1] & 0x3fU;
    return found;
}

}  // namespace

std::vector<Delivery> read_deliveries(const Recording& recording) {
    std::vector<Delivery> all;
    for (std::size_t i = 0; i < recording.records.size(); ++i)
        if (auto one = read(recording.records[i], i + 1)) all.push_back(std::move(*one));
    return all;
}

}  // namespace qps::court
