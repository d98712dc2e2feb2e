// XdpProgram: what the kernel runs for every frame that an interface receives, and that decides which of them go to
// AF_XDP sockets: RoCEv2 and RoCEv1 to our addresses. All others are passed on, so that the system keeps its network.
//
// A few dozen instructions, assembled here, so that neither a compiler for BPF nor a file beside the program is needed.
// They look at Ethernet with up to two VLAN tags, then IPv4 without options and fragments, IPv6 without extension
// headers or a GRH; what is built otherwise is passed on. The program is attached by a descriptor (a link of BPF): it
// leaves the interface with the process, however that ends.
#pragma once

#include <dissect/capture/descriptor.hpp>
#include <transport-replay/model/address.hpp>

#include <expected>
#include <span>
#include <string>

namespace qps::transport::live {

inline constexpr unsigned kMaxXdpQueues = 64;        // receive queues of an interface that can have a socket
inline constexpr std::size_t kMaxXdpAddresses = 64;  // compared in turn for every frame; what goes to more is passed on

class XdpProgram {
public:
    // For RoCE to these addresses (IPv4 as ::ffff:a.b.c.d); without one, for every frame. The error is a sentence.
    [[nodiscard]] static std::expected<XdpProgram, std::string> load(std::span<const Address> addresses);
    // Frames of that queue go to that socket. Those of queues without one are passed on.
    [[nodiscard]] std::expected<void, std::string> direct(unsigned queue, int socket);
    // In the driver where it can, else before the network stack of the system.
    [[nodiscard]] std::expected<void, std::string> attach(unsigned interface_index);
    [[nodiscard]] bool in_driver() const { return in_driver_; }

private:
    dissect::Descriptor sockets_;  // the map from queues to sockets
    dissect::Descriptor program_;
    dissect::Descriptor link_;
    bool in_driver_ = false;
};

}  // namespace qps::transport::live
