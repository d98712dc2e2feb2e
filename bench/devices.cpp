// What a device costs, between two ends of one wire:  bench_devices A B FRAME_BYTES FRAMES
//
// A and B are the ends of a veth; both are driven from this program, each by a thread on a processor of its own. Prints the rate of
// frames from A to B through PacketRing, with the processor time of the sending side, and the round trip of 60 bytes, in
// polling mode: first of raw packet sockets alone (recv and send), then of PacketRing and of PcapDevice.
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace {

using namespace qps::transport::live;
using qps::dissect::Instant;
using qps::dissect::MutableBytes;

constexpr std::size_t kSmall = 60;
constexpr int kRounds = 20'000;

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

// To everybody, of the type of IPv4, so that no switch minds.
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

template <class T>
Device opened(std::expected<T, Problem> device) {
    if (device) return std::move(*device);
    fmt::print(stderr, "bench_devices: {}: {}\n", device.error().device, device.error().sentence);
    std::exit(1);
}

Device ring(const std::string& interface) { return opened(PacketRing::open({.interface = interface})); }

void measure_rate(const std::string& a, const std::string& b, std::size_t bytes, std::size_t frames) {
    Device sender = ring(a), receiver = ring(b);
    std::atomic<bool> done = false;
    std::size_t received = 0;
    std::thread other([&] {
        stay_on(1);
        while (!done) received += receiver.receive(Instant{}).size();
    });
    stay_on(0);
    const double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (std::size_t i = 0; i < frames; ++i) send(sender, bytes);
    sender.flush(Instant{});
    const double took = seconds(CLOCK_MONOTONIC) - began, work = seconds(CLOCK_THREAD_CPUTIME_ID) - worked;
    usleep(50'000);
    done = true;
    other.join();
    const auto count = static_cast<double>(frames);
    fmt::print("rate bytes={} frames_per_s={:.0f} gbit_per_s={:.2f} cpu_ns={:.0f} received={} dropped={}\n", bytes, count / took,
               count * static_cast<double>(bytes) * 8e-9 / took, work / count * 1e9, received, receiver.counts().dropped);
}

struct End {
    std::function<void()> send;
    std::function<bool()> receive;
};

void measure_round_trip(const char* name, const End& here, const End& there) {
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
    fmt::print("round_trip {} median_us={:.2f} p90_us={:.2f}\n", name, times[times.size() / 2] * 1e6, times[times.size() * 9 / 10] * 1e6);
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
        fmt::print(stderr, "bench_devices: {}: no raw socket\n", interface);
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

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: bench_devices A B FRAME_BYTES FRAMES\n");
        return 2;
    }
    const std::string a = argv[1], b = argv[2];
    measure_rate(a, b, std::clamp<std::size_t>(std::strtoul(argv[3], nullptr, 10), kSmall, kLongestFrame),
                 std::strtoul(argv[4], nullptr, 10));
    const int here = raw_socket(a), there = raw_socket(b);
    measure_round_trip("raw sockets", raw_end(here), raw_end(there));
    close(here);
    close(there);
    {
        Device ring_a = ring(a), ring_b = ring(b);
        measure_round_trip("PacketRing", device_end(ring_a), device_end(ring_b));
    }
    Device pcap_a = opened(PcapDevice::open(a, "")), pcap_b = opened(PcapDevice::open(b, ""));
    measure_round_trip("PcapDevice", device_end(pcap_a), device_end(pcap_b));
}
