// open_xdp_device(): an Ethernet interface by AF_XDP. RoCE to our addresses goes from the driver, or from before the
// network stack, into memory of ours; frames that we send go past the stack too. Copy mode: every driver that runs XDP
// programs does, a veth included.
//
// RoCE that we get is not seen by the system, nor by captures on the interface. Everything else is the system's as
// before, and a packet ring beside the sockets copies it for us: ARP, neighbour discovery, ping, RoCE to groups. Within
// one of the two ways frames keep their order, and all frames to one queue pair take the same.
//
// A frame has to fit into one chunk of memory behind what the kernel keeps free before it: 3840 bytes where pages have
// 4096, so that the path MTU is 2048 at most; limits() says it. Interfaces with several receive queues have a socket
// for each. A VLAN tag that the hardware or the sender's kernel took off is not there for XDP (packet rings put it
// back, this cannot): ethtool -K NAME rxvlan off. Queueing disciplines (netem) are not on the way of frames sent.
//
// Needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF, and an interface whose queues no other AF_XDP socket has and that has
// no other XDP program. What an attacker could feed: any frame; places and lengths are the kernel's and still checked.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/model/address.hpp>

#include <expected>
#include <string>
#include <vector>

namespace qps::transport::live {

struct XdpSettings {
    std::string interface;
    std::vector<Address> addresses{};  // ours; none: every frame is, and the system gets nothing
    std::string filter{};              // of the ring beside, in the language of pcap-filter(7)
    std::size_t frames = 4096;         // that can wait for us, on all queues together; a power of two
    bool receive = true;               // false: only for sending; nothing is attached to the interface
};

inline constexpr std::size_t kMinXdpFrames = 64;
inline constexpr std::size_t kMaxXdpFrames = std::size_t{1} << 16;

// How it does that.
struct XdpMode {
    bool in_driver = false;  // the program runs in the driver; else before the network stack, which costs a copy more
    std::size_t queues = 0;
};

// `mode`, where given, says how. Fails where open_packet_ring() does, where the rights are missing, where the kernel or
// the driver cannot, and where another program has AF_XDP sockets or an XDP program there.
[[nodiscard]] std::expected<Device, Problem> open_xdp_device(const XdpSettings& settings, XdpMode* mode = nullptr);

}  // namespace qps::transport::live
