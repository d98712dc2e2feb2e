// An RDMA peer that returns every message, on an ordinary UDP socket: no adapter, no driver, no privilege.
//   echo_peer 127.0.0.1 [CLIENTS]      and beside it: qpscope peer --via udp -a 127.0.0.2 echo 127.0.0.1
#include <transport-replay/live/device/udp_device.hpp>
#include <transport-replay/live/peers/program.hpp>

#include <chrono>
#include <iostream>

#include <arpa/inet.h>
#include <poll.h>

using namespace qps::transport;
using namespace qps::transport::live;

// The library reads no clock and never waits: time is an argument, and the caller sleeps.
qps::dissect::Instant now() {
    return qps::dissect::Instant{std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)};
}

int main(int argc, char** argv) {
    const std::string address = argc > 1 ? argv[1] : "127.0.0.1";
    auto device = open_udp_device(address);
    if (!device) return std::cerr << address << ": " << device.error().sentence << '\n', 1;
    const DeviceLimits limits = device->limits();
    const HostSettings host{.mac = Mac{limits.mac},
                            .addresses = {{ipv4_address(ntohl(inet_addr(address.c_str()))), 32}},
                            .mtu = limits.frame_bytes - kEthernetHeader,
                            .owner = AddressOwner::device};
    Endpoint endpoint(std::move(*device), {.host = host}, now());
    ProgramRequest request;  // without a target: it serves
    if (argc > 2) request.clients = std::stoull(argv[2]);
    auto program = find_program("echo")->make(request);
    if (const auto begun = program->begin(endpoint, now()); !begun) return std::cerr << begun.error() << '\n', 1;
    while (!program->done()) {
        endpoint.arrive(now());
        program->poll(endpoint, now());
        endpoint.depart(now());
        for (const std::string& line : program->take_lines()) std::cout << line << std::endl;
        pollfd frames{.fd = endpoint.device().descriptor(), .events = POLLIN, .revents = 0};
        poll(&frames, 1, 1);  // milliseconds; poll_at() of both says when a timer is due
    }
    endpoint.poll(now());
    std::cout << program->counts().messages << " messages, " << program->counts().bytes << " bytes\n";
}
