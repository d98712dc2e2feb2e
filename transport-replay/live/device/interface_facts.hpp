// What the system says of a network interface, where the way that frames take does not: its MTU, its MAC address, its
// speed, its name.
//
// Asked once, when a device is opened. What is not told stays 0 or empty; nothing here comes from a wire.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <string>

struct sockaddr;

namespace qps::transport::live {

struct InterfaceFacts {
    std::size_t mtu = 0;    // of IP, without the Ethernet header
    std::uint64_t mac = 0;  // 48 bits
    dissect::BitsPerSecond speed{};
};

[[nodiscard]] InterfaceFacts facts_of_interface(const std::string& name);

// How many queues frames come by; 0 where the driver does not tell.
[[nodiscard]] std::size_t receive_queues_of(const std::string& name);

// The interface that has the IPv4 or IPv6 address; empty where none has.
[[nodiscard]] std::string interface_with(const sockaddr& address);

}  // namespace qps::transport::live
