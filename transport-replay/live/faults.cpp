#include <dissect/base/ethertypes.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/faults.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kEtherTypeOffset = 12, kTagLength = 4;
constexpr int kMaxTags = 2;  // 802.1ad
constexpr std::uint64_t kCongestionExperienced = 3;

}  // namespace

Disposition Dispositions::draw(End from, const std::optional<PacketIdentity>& packet) {
    const LinkFaults& chances = chances_[static_cast<std::size_t>(from)];
    Disposition disposition;
    disposition.lost = draws_.chance(chances.loss);
    disposition.duplicated = draws_.chance(chances.duplication);
    disposition.reordered = draws_.chance(chances.reordering);
    disposition.corrupted = draws_.chance(chances.corruption);
    disposition.marked = draws_.chance(chances.marking);
    if (packet) meet_exactly(from, *packet, disposition);
    return disposition;
}

void Dispositions::meet_exactly(End from, const PacketIdentity& packet, Disposition& disposition) {
    for (std::size_t i = 0; i < exact_.size(); ++i) {
        const ExactFault& exact = exact_[i];
        if (exact.from != from || exact.psn != packet.psn || exact.response != packet.response) continue;
        if (exact.destination_qp && *exact.destination_qp != packet.destination_qp) continue;
        if (++seen_[i] != exact.transmission) continue;
        switch (exact.kind) {
            case FaultKind::loss: disposition.lost = true; break;
            case FaultKind::duplication: disposition.duplicated = true; break;
            case FaultKind::reordering:
                disposition.reordered = true;
                disposition.later_by = exact.later_by;
                break;
            case FaultKind::corruption: disposition.corrupted = true; break;
            case FaultKind::marking: disposition.marked = true; break;
        }
    }
}

bool mark_congestion(MutableBytes frame) {
    std::size_t type_at = kEtherTypeOffset;
    auto type = read_be<std::uint16_t>(frame, type_at);
    for (int tags = 0; tags < kMaxTags && ethertype::is_tag(type); ++tags)
        type = read_be<std::uint16_t>(frame, type_at += kTagLength);
    if (type != ethertype::ipv4 && type != ethertype::ipv6) return false;
    const std::size_t network = type_at + 2;
    const std::size_t bit = network * 8 + (type == ethertype::ipv4 ? 14 : 10);
    if (read_bits(frame, bit, 2) == 0) return false;
    write_bits(frame, bit, 2, kCongestionExperienced);
    if (type == ethertype::ipv6) return true;
    seal_ipv4_header(frame.subspan(network));
    return true;
}

void flip_bit(MutableBytes covered, std::uint64_t bit) {
    const auto at = static_cast<std::size_t>(bit);
    write_bits(covered, at, 1, read_bits(covered, at, 1) ^ 1);
}

}  // namespace qps::transport
