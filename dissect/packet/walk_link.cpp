// The walk over link layers: Ethernet, VLAN, MAC control, MPLS, ERF.
#include <dissect/base/ethertypes.hpp>
#include <dissect/base/walk.hpp>
#include <dissect/headers/infiniband_link.hpp>
#include <dissect/lldp/lldp.hpp>
#include <dissect/omni_path/omni_path.hpp>

#include <algorithm>
#include <limits>

namespace qps::dissect {

namespace {

constexpr std::size_t kEthernetLength = 14;
constexpr std::size_t kVlanLength = 4;
constexpr std::size_t kMplsLength = 4;
constexpr std::size_t kArpLength = 28;
constexpr std::uint16_t kFirstEtherType = 0x0600;  // below: the length of an 802.3 frame

constexpr std::size_t kErfLength = 16;
constexpr std::size_t kErfExtensionLength = 8;
constexpr std::size_t kErfEthernetPadLength = 2;
constexpr std::size_t kMostPreamble =
    std::numeric_limits<decltype(Frame::preamble)>::max();  // a header that never ends

// On Ethernet a small number is no type, but the length of an 802.3 frame.
void walk_type_or_length(Walk& walk, std::uint16_t number) {
    if (number < kFirstEtherType && number < walk.left()) walk.end = walk.offset + number;
    walk_ethertype(walk, number);
}

void walk_vlan(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::vlan, kVlanLength);
    if (!header.empty()) walk_type_or_length(walk, read_be<std::uint16_t>(header, 2));
}

}  // namespace

void walk_ethernet(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::ethernet, kEthernetLength);
    if (!header.empty()) walk_type_or_length(walk, read_be<std::uint16_t>(header, 12));
}

void walk_ethertype(Walk& walk, std::uint16_t type) {
    switch (type) {
        case ethertype::ipv4: return walk_ipv4(walk);
        case ethertype::ipv6: return walk_ipv6(walk);
        case ethertype::roce1: return walk_roce1(walk);
        case ethertype::customer_tag:
        case ethertype::service_tag:
        case ethertype::old_service_tag: return walk_vlan(walk);
        case ethertype::mpls:
        case ethertype::mpls_upstream: return walk_mpls(walk);
        case ethertype::mac_control: return walk_mac_control(walk);
        case ethertype::lldp: return walk_lldp(walk);
        case ethertype::cnm: return walk_cnm(walk);
        case ethertype::bridged: return walk_ethernet(walk);
        case ethertype::arp:
            if (walk.left() >= kArpLength) {
                static_cast<void>(enter(walk, LayerKind::arp, kArpLength));
                return;
            }
            break;
        default: break;
    }
    add_data(walk);
}

void walk_mac_control(Walk& walk) {
    constexpr std::size_t kOpcodeLength = 2;
    constexpr std::size_t kPauseLength = 2;
    constexpr std::size_t kPfcLength = 18;
    const Bytes header = enter(walk, LayerKind::mac_control, kOpcodeLength);
    if (header.empty()) return;
    switch (read_be<std::uint16_t>(header, 0)) {
        case 0x0001: static_cast<void>(enter(walk, LayerKind::mac_pause, kPauseLength)); break;
        case 0x0101: static_cast<void>(enter(walk, LayerKind::mac_pfc, kPfcLength)); break;
        default: add_data(walk);
    }
}

// What follows the label stack has no type: the first nibble tells IP; zero is a pseudo-wire control word (RFC 4385)
// before an Ethernet frame.
void walk_mpls(Walk& walk) {
    for (bool bottom = false; !bottom;) {
        const Bytes label = enter(walk, LayerKind::mpls, kMplsLength);
        if (label.empty()) return;
        bottom = (read_be<std::uint8_t>(label, 2) & 1) != 0;
    }
    const int nibble = read_be<std::uint8_t>(walk.header(), 0) >> 4;
    if (nibble == 4 || nibble == 6) return walk_ip(walk);
    if (nibble != 0 || walk.left() < kMplsLength + kEthernetLength) return add_data(walk);
    if (!enter(walk, LayerKind::mpls_control_word, kMplsLength).empty()) walk_ethernet(walk);
}

// ERF: a 16-byte header, extension headers while their top bit says so, then by record type. The wire length in the
// header counts only the packet itself, that of the capture all of it.
void walk_erf(Walk& walk) {
    const Bytes header = enter(walk, LayerKind::erf, kErfLength);
    if (header.empty()) return;
    const auto type_byte = read_be<std::uint8_t>(header, 8);
    for (bool more = (type_byte & 0x80) != 0; more;) {
        const Bytes extension = enter(walk, LayerKind::erf_extension, kErfExtensionLength);
        if (extension.empty()) return;
        more = (read_be<std::uint8_t>(extension, 0) & 0x80) != 0;
    }
    const int type = type_byte & 0x7f;
    const bool ethernet = type == 2 || type == 11 || type == 16 || type == 20;
    if (ethernet && enter(walk, LayerKind::erf_ethernet_pad, kErfEthernetPadLength).empty()) return;
    walk.packet.frame.preamble = static_cast<std::uint16_t>(std::min<std::size_t>(walk.offset, kMostPreamble));
    walk.end = walk.offset + read_be<std::uint16_t>(header, 14);
    if (ethernet) return walk_ethernet(walk);
    if (type == 21) return walk_lrh(walk);
    if (type == 25 && walk.left() >= kFlowControl)
        return static_cast<void>(enter(walk, kind::flow_control, kFlowControl));
    if (type == 28) return walk_opa_snc(walk);
    if (type == 29) return walk_opa_9b(walk);
    add_data(walk);
}

}  // namespace qps::dissect
