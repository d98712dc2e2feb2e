// The walk over messages of RDS. What an attacker could feed: extensions without end; the area they lie in has 16
// bytes.
#include <dissect/ulp/rds.hpp>
#include <dissect/ulp/walks.hpp>

#include <algorithm>
#include <array>

namespace qps::dissect {

namespace {

constexpr std::uint8_t kKnownFlags = 7;
constexpr Field kFlags = named(kRdsFields, "rdma.rds.flags");

// With its type; 0: unknown, and so is all that follows.
std::size_t length_of(RdsExtension type) {
    switch (type) {
        case RdsExtension::version:
        case RdsExtension::rdma:
        case RdsExtension::generation: return 5;
        case RdsExtension::rdma_destination: return 9;
        case RdsExtension::paths: return 3;
        case RdsExtension::none: break;
    }
    return 0;
}

bool is_version(Bytes rest) {
    const auto major = read_be<std::uint8_t>(rest, 0);
    const auto minor = read_be<std::uint8_t>(rest, 1);
    const bool reserved = read_be<std::uint8_t>(rest, 5) == 0 && read_be<std::uint16_t>(rest, 6) == 0;
    constexpr std::uint8_t kOldest = 3, kNewest = 4, kMostMinor = 15;
    const auto mask = read_be<std::uint16_t>(rest, 2);
    return major >= kOldest && major <= kNewest && minor <= kMostMinor && mask != 0 && reserved;
}

}  // namespace

bool is_rds_header(Bytes message) {
    if (message.size() < kRdsHeader || (read(message, kFlags) & ~std::uint64_t{kKnownFlags}) != 0) return false;
    constexpr std::size_t kPadding = 26;
    if (read_be<std::uint32_t>(message, kPadding) != 0) return false;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < kRdsHeader; i += 2) sum += read_be<std::uint16_t>(message, i);
    sum = (sum >> 16) + (sum & 0xffff);
    return (sum >> 16) + (sum & 0xffff) == 0xffff;
}

LayerKind rds_connect_kind(Bytes private_data) {
    if (private_data.size() >= kRdsAddressesIpv4 + kRdsRest && is_version(slice(private_data, kRdsAddressesIpv4)) &&
        read_be<std::uint32_t>(private_data, 0) != 0 && read_be<std::uint32_t>(private_data, 4) != 0)
        return kind::rds_connect;
    if (private_data.size() >= kRdsAddressesIpv6 + kRdsRest && is_version(slice(private_data, kRdsAddressesIpv6)))
        return kind::rds_connect_ipv6;
    return kind::rds_header;
}

namespace ulp {

void walk_rds(Walk& walk, const UlpHint&) {
    if (!is_rds_header(slice(walk.header(), 0, walk.left()))) return add_data(walk);
    static_cast<void>(enter(walk, kind::rds_header, kRdsFixed));
    const std::size_t data = walk.offset + kRdsExtensionArea;
    while (walk.offset < data) {
        const std::size_t length = length_of(static_cast<RdsExtension>(read_be<std::uint8_t>(walk.header(), 0)));
        if (length == 0 || walk.offset + length > data) break;
        if (enter(walk, kind::rds_extension, length).empty()) return;
    }
    if (walk.offset < data) {
        const Walk rest{walk.packet, walk.offset, data};
        add_data(rest);
    }
    walk.offset = data;
    add_data(walk);
}

void walk_rds_private(Walk& walk, const UlpHint&, LayerKind) {
    const LayerKind form = rds_connect_kind(slice(walk.header(), 0, walk.left()));
    if (form == kind::rds_header) return;
    static_cast<void>(enter(walk, form, header(form).length));
}

}  // namespace ulp

}  // namespace qps::dissect
