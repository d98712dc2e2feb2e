// open_udp_device(): RoCEv2 by an ordinary UDP socket: no rights needed, loopback and containers included.
//
// Above it there are whole Ethernet frames like everywhere. Of a frame to send it takes the headers off and hands their
// meaning to the kernel: destination, traffic class with its ECN bits, hops; a frame of anything but UDP is refused. To
// a datagram received it puts them on. Frames go out from the address and port it is bound to, with "don't fragment"
// and identification 0 (as Linux sends of a socket that is not connected); where a frame says otherwise its ICRC is
// corrected by the difference, so that a right one stays right and a wrong one wrong. The identification of a frame
// received follows from its ICRC (identification.hpp); MAC addresses are made of IP addresses.
//
// What an attacker could feed: any datagram, from any address, of any length; longer ones than a frame may be are
// dropped.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <expected>
#include <string>

namespace qps::transport::live {

inline constexpr std::uint16_t kRocePort = 4791;

// `address`: one of this machine's, IPv4 or IPv6 ("10.0.0.1", "::1", "fe80::1%eth0"). Fails for: no address, one
// that stands for all, one that is not this machine's, a port that is taken.
[[nodiscard]] std::expected<Device, Problem> open_udp_device(const std::string& address,
                                                             std::uint16_t port = kRocePort);

}  // namespace qps::transport::live
