// A handful of packets that the tests of filters ask about, each with a letter.
#pragma once

#include <dissect/base/packet.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

struct Exhibit {
    char letter;
    std::vector<std::byte> bytes;
    std::vector<std::byte> options;
    dissect::Packet packet;
};

//   W  frame 1: RC_RDMA_WRITE_ONLY over IPv4 10.0.0.1 -> 10.0.0.2, PSN 5, QP 17, 12 bytes of payload, AckReq, comment
//   N  frame 2: RC_ACKNOWLEDGE, a NAK, 10.0.0.2 -> 10.0.0.1, PSN 6, QP 18
//   T  frame 3: VXLAN: 10.1.0.1 -> 10.1.0.2 outside, 192.168.0.1 -> 192.168.0.2 inside, UDP in UDP
//   S  frame 4: UD_SEND_ONLY over IPv6 fd00::1 -> fd00::2, QP 19 from QP 16
//   A  frame 5: an ARP request
//   G  frame 6: a NodeInfo and a NodeDescription, as layers alone
[[nodiscard]] const std::vector<Exhibit>& exhibits();

// The letters of the packets that a filter lets through; an explanation if it is no filter.
[[nodiscard]] std::string passed(std::string_view filter);

// "column: message", or with "; did you mean ...?" behind it; empty if it is a filter.
[[nodiscard]] std::string complaint(std::string_view filter);

}  // namespace qps::test
