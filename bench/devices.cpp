// What a device costs, between two ends of one wire:  bench_devices A B FRAME_BYTES FRAMES
//
// A and B are the ends of a veth; both are driven from this program, each by a thread on a processor of its own. Prints
// the rate of frames from A to B through a packet ring and through AF_XDP, with the processor time of the sending side,
// and the round trip of 60 bytes, in polling mode: first of raw packet sockets alone (recv and send), then of
// the packet ring, AF_XDP and libpcap.
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/pcap_device.hpp>
#include <transport-replay/live/device/xdp_device.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "wire_end.hpp"
#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace qps::bench;
using namespace qps::transport::live;
using qps::dissect::Instant;

Device opened(std::expected<Device, Problem> device) {
    if (device) return std::move(*device);
    fmt::print(stderr, "bench_devices: {}: {}\n", device.error().device, device.error().sentence);
    std::exit(1);
}

Device ring(const std::string& interface) { return opened(open_packet_ring({.interface = interface})); }

// Of every frame, so that the system sees none meanwhile. Nothing where the machine has no AF_XDP.
std::optional<Device> xdp(const std::string& interface, XdpMode& mode) {
    auto device = open_xdp_device({.interface = interface}, &mode);
    if (device) return std::move(*device);
    fmt::print("AF_XDP left out: {}: {}\n", device.error().device, device.error().sentence);
    return std::nullopt;
}

std::string name_of(const XdpMode& mode) { return mode.in_driver ? "AF_XDP (driver)" : "AF_XDP (before the stack)"; }

void measure_rate(const std::string& name, Device sender, Device receiver, std::size_t bytes, std::size_t frames) {
    if (bytes > sender.limits().frame_bytes) {
        fmt::print("rate {} bytes={} left out: frames have at most {} bytes\n", name, bytes,
                   sender.limits().frame_bytes);
        return;
    }
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
    fmt::print("rate {} bytes={} frames_per_s={:.0f} gbit_per_s={:.2f} cpu_ns={:.0f} received={} dropped={}\n", name,
               bytes, count / took, count * static_cast<double>(bytes) * 8e-9 / took, work / count * 1e9, received,
               receiver.counts().dropped);
}

void measure_round_trip(const std::string& name, const End& here, const End& there) {
    const std::vector<double> times = round_trips(here, there);
    fmt::print("round_trip {} median_us={:.2f} p90_us={:.2f}\n", name, times[times.size() / 2] * 1e6,
               times[times.size() * 9 / 10] * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: bench_devices A B FRAME_BYTES FRAMES\n");
        return 2;
    }
    const std::string a = argv[1], b = argv[2];
    const std::size_t bytes = std::clamp<std::size_t>(std::strtoul(argv[3], nullptr, 10), kSmall, kLongestFrame);
    const std::size_t frames = std::strtoul(argv[4], nullptr, 10);
    measure_rate("packet ring", ring(a), ring(b), bytes, frames);
    XdpMode mode;
    if (auto xdp_a = xdp(a, mode), xdp_b = xdp(b, mode); xdp_a && xdp_b) {
        const std::string name = name_of(mode);
        measure_rate(name, std::move(*xdp_a), std::move(*xdp_b), bytes, frames);
    }
    const int here = raw_socket(a), there = raw_socket(b);
    measure_round_trip("raw sockets", raw_end(here), raw_end(there));
    close(here);
    close(there);
    {
        Device ring_a = ring(a), ring_b = ring(b);
        measure_round_trip("packet ring", device_end(ring_a), device_end(ring_b));
    }
    if (auto xdp_a = xdp(a, mode), xdp_b = xdp(b, mode); xdp_a && xdp_b) {
        const std::string name = name_of(mode);
        Device here_device = std::move(*xdp_a), there_device = std::move(*xdp_b);
        measure_round_trip(name, device_end(here_device), device_end(there_device));
    }
    Device pcap_a = opened(open_pcap_device(a, "")), pcap_b = opened(open_pcap_device(b, ""));
    measure_round_trip("libpcap", device_end(pcap_a), device_end(pcap_b));
}
