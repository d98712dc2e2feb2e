// open_packet_ring(): an Ethernet interface of Linux by a raw packet socket. Frames come by a ring that the kernel
// writes and we read in place (TPACKET_V2: a frame is there at once, not with its block), and go by sendmmsg.
//
// Promiscuous; what this machine sends itself by the interface does not come back. A VLAN tag that the kernel took off
// is put back. Needs the right to open raw sockets (root, or CAP_NET_RAW).
//
// Why not a ring for sending too: measured on a veth it costs more a frame (2.1 against 1.9 us at 1100 bytes), and a
// veth hands our memory on and tells us it is free before the frame was copied. Why the queueing discipline is not
// bypassed unless asked: it makes no difference on a veth, and impairments that somebody set up there (netem) would be.
//
// What an attacker could feed: any frame. Longer ones than the slots of the ring are dropped and counted, whatever they
// say of their length; offsets are the kernel's and still checked.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <expected>
#include <string>

namespace qps::transport::live {

struct PacketRingSettings {
    std::string interface;
    std::string filter{};  // in the language of pcap-filter(7): other frames do not wake us; empty: all
    std::size_t ring_bytes = std::size_t{32} << 20;  // frames that come while we are busy: 10 ms at 25 Gbit/s
    bool promiscuous = true;
    bool receive = true;  // false: only for sending, so that what comes in costs nothing
    bool bypass_queueing = false;
};

inline constexpr std::size_t kMinRing = std::size_t{1} << 20;
inline constexpr std::size_t kMaxRing = std::size_t{1} << 30;

// Fails for: no such interface, one that is not Ethernet, no permission, a filter that does not compile.
[[nodiscard]] std::expected<Device, Problem> open_packet_ring(const PacketRingSettings& settings);

}  // namespace qps::transport::live
