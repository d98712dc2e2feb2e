#include "wire_end.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>

namespace qps::bench {

using dissect::Instant;
using dissect::MutableBytes;
using transport::live::Device;
using transport::live::kLongestFrame;

namespace {

constexpr int kRounds = 20'000;

}  // namespace

double seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void stay_on(unsigned processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor % std::max(std::thread::hardware_concurrency(), 1U), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

void fill(MutableBytes frame) {
    std::ranges::fill(frame.first(12), std::byte{0xff});
    frame[12] = std::byte{8};
    frame[13] = std::byte{0};
}

void send(Device& device, std::size_t bytes) {
    MutableBytes room = device.reserve(Instant{});
    while (room.empty()) room = device.reserve(Instant{});
    fill(room);
    device.commit(bytes, Instant{});
}

int raw_socket(const std::string& interface) {
    const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    constexpr int kOne = 1;
    setsockopt(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &kOne, sizeof(kOne));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        fmt::print(stderr, "{}: no raw socket\n", interface);
        std::exit(1);
    }
    return socket;
}

End raw_end(int socket) {
    return {[socket] {
                std::array<std::byte, kSmall> frame{};
                fill(frame);
                static_cast<void>(!::send(socket, frame.data(), frame.size(), 0));
            },
            [socket] {
                std::array<std::byte, kLongestFrame> frame;
                return recv(socket, frame.data(), frame.size(), 0) > 0;
            }};
}

End device_end(Device& device) {
    return {[&device] {
                send(device, kSmall);
                device.flush(Instant{});
            },
            [&device] { return !device.receive(Instant{}).empty(); }};
}

std::vector<double> round_trips(const End& here, const End& there) {
    constexpr double kLost = 0.1;  // seconds
    std::atomic<bool> done = false;
    std::thread echo([&] {
        stay_on(1);
        while (!done)
            if (there.receive()) there.send();
    });
    stay_on(0);
    std::vector<double> times;
    for (int i = 0; i < kRounds; ++i) {
        const double began = seconds(CLOCK_MONOTONIC);
        here.send();
        while (!here.receive() && seconds(CLOCK_MONOTONIC) - began < kLost) {
        }
        times.push_back(seconds(CLOCK_MONOTONIC) - began);
    }
    done = true;
    echo.join();
    std::ranges::sort(times);
    return times;
}

}  // namespace qps::bench
