// Two devices that are joined, and what the tests of every device want of them: frames to send, and patience.
#pragma once

#include <dissect/packet/build.hpp>
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/device/xdp_device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace qps::test {

using transport::live::Device;

struct Pair {
    Device a;
    Device b;
    dissect::Network network = dissect::Network::roce_v2_ipv4;
    std::string source{"\x0a\x4d\x00\x01", 4};       // address of a, in the bytes of the network
    std::string destination{"\x0a\x4d\x00\x02", 4};  // of b
    std::uint16_t source_port = 4791;
    std::uint16_t destination_port = 4791;
    bool keeps_ethernet = true;  // false: MAC addresses are made up anew
    dissect::Instant now{1'700'000'000'000'000'000};

    // An RC SEND Only from a to b, as long as that, or the longest that is shorter; its PSN is the number.
    [[nodiscard]] std::vector<std::byte> frame(std::size_t bytes, std::uint32_t number,
                                               std::uint16_t identification = 0) const;
    void send(dissect::Bytes frame);  // by a, without flush
    // What b receives until there are that many, or for a while nothing.
    [[nodiscard]] std::vector<std::vector<std::byte>> receive(std::size_t count);
};

// What is left to compare of a frame that went through.
[[nodiscard]] std::vector<std::byte> comparable(const Pair& pair, std::vector<std::byte> frame);

// Runs the test in a network namespace of its own, with two veth ends va and vb (MTU 9000) and the loopback; says why
// where it cannot.
void in_namespace(const std::function<void()>& test);
// Whether that could not be opened for lack of AF_XDP, of rights or of the kernel's; says so.
[[nodiscard]] bool without_xdp(const std::expected<transport::live::Device, transport::live::Problem>& opened);
// Runs a command line; false where it failed.
[[nodiscard]] bool run(const std::string& command);

}  // namespace qps::test
