// The walk over tunnels: VXLAN, GENEVE, GRE and the ERSPAN mirrors inside it.
#include <dissect/base/walk.hpp>

namespace qps::dissect {

namespace {

constexpr std::size_t kVxlanLength = 8;
constexpr std::size_t kGeneveLength = 8;
constexpr std::size_t kGreLength = 4;
constexpr std::size_t kGreOptionLength = 4;
constexpr std::size_t kErspan2Length = 8;
constexpr std::size_t kErspan3Length = 12;
constexpr std::size_t kErspan3PlatformLength = 8;

constexpr std::uint16_t kErspan2 = 0x88be;  // type I too, which has no header: told apart by the sequence number
constexpr std::uint16_t kErspan3 = 0x22eb;

// The same bit in both versions: what follows was cut by the mirror.
bool is_truncated(Bytes header) { return (read_be<std::uint8_t>(header, 2) & 4U) != 0; }

void walk_erspan2(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::erspan2, kErspan2Length);
    if (header.empty()) return;
    walk.truncated |= is_truncated(header);
    walk_ethernet(walk);
}

void walk_erspan3(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::erspan3, kErspan3Length);
    if (header.empty()) return;
    walk.truncated |= is_truncated(header);
    const auto flags = read_be<std::uint16_t>(header, 10);
    if ((flags & 1) != 0 && enter(walk, LayerKind::erspan3_platform, kErspan3PlatformLength).empty()) return;
    switch (flags >> 10 & 31) {
        case 0: return walk_ethernet(walk);
        case 2: return walk_ip(walk);
        default: return add_data(walk);
    }
}

}  // namespace

void walk_vxlan(Walk& walk) {
    if (!enter(walk, LayerKind::vxlan, kVxlanLength).empty()) walk_ethernet(walk);
}

void walk_geneve(Walk& walk) {
    const auto first = read_be<std::uint8_t>(walk.header(), 0);
    const Bytes header = enter(walk, LayerKind::geneve, kGeneveLength + std::size_t{first & 0x3fU} * 4);
    if (header.empty()) return;
    if (first >> 6 == 0) return walk_ethertype(walk, read_be<std::uint16_t>(header, 2));
    mark(walk.packet, Fault::bad_version);
    add_data(walk);
}

void walk_gre(Walk& walk) {
    constexpr std::uint16_t kChecksum = 0x8000;
    constexpr std::uint16_t kRouting = 0x4000;
    constexpr std::uint16_t kKey = 0x2000;
    constexpr std::uint16_t kSequence = 0x1000;
    constexpr std::uint16_t kVersion = 0x0007;
    const Bytes header = enter(walk, LayerKind::gre, kGreLength);
    if (header.empty()) return;
    const auto flags = read_be<std::uint16_t>(header, 0);
    const auto protocol = read_be<std::uint16_t>(header, 2);
    if ((flags & (kVersion | kRouting)) != 0) {  // PPTP or source routes (RFC 1701): neither carries RDMA
        mark(walk.packet, Fault::bad_version);
        return add_data(walk);
    }
    const std::pair<std::uint16_t, LayerKind> options[]{
        {kChecksum, LayerKind::gre_checksum}, {kKey, LayerKind::gre_key}, {kSequence, LayerKind::gre_sequence}};
    for (const auto& [bit, kind] : options)
        if ((flags & bit) != 0 && enter(walk, kind, kGreOptionLength).empty()) return;
    if (protocol == kErspan3) return walk_erspan3(walk);
    if (protocol == kErspan2 && (flags & kSequence) != 0) return walk_erspan2(walk);
    if (protocol == kErspan2) return walk_ethernet(walk);
    walk_ethertype(walk, protocol);
}

}  // namespace qps::dissect
