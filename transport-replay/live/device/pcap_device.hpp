// open_pcap_device(): an Ethernet interface through libpcap, where there are no raw packet sockets of Linux.
// Promiscuous, immediate, and only what comes in. A frame is copied on its way in and a system call on its way out, so
// a packet ring is the faster one.
//
// Needs the right to capture. What an attacker could feed: any frame; longer ones than limits().frame_bytes are
// dropped.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <expected>
#include <string>

namespace qps::transport::live {

// `filter`: in the language of pcap-filter(7); empty: all frames. Fails for: no such interface, one that is not
// Ethernet, no permission, a filter that libpcap refuses.
[[nodiscard]] std::expected<Device, Problem> open_pcap_device(const std::string& interface, const std::string& filter);

}  // namespace qps::transport::live
