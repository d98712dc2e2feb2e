// Endpoint to endpoint over one wire:  bench_endpoint A B NETWORK-NAMESPACE-OF-B [MESSAGES [WINDOW ACK_EVERY]]
//
// A and B are the ends of a veth, B in the namespace of that path (/proc/PID/ns/net); each is driven by a thread on a
// processor of its own. Prints WRITEs of 64 KiB at path MTU 4096, 2048 and 1024, by the ring and by AF_XDP as far as
// its frames go: rates, and the processor time that a packet costs either side, which holds on a busy machine too; then
// round trips of 8 bytes by SEND, polling, by either, and those of raw packet sockets over the same veth, in turns,
// with their ratios.
#include <dissect/base/types.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/xdp_device.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <expected>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "wire_end.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace {

using namespace qps::bench;
using namespace qps::transport;
using namespace qps::transport::live;
using qps::dissect::Instant;

constexpr std::uint32_t kMessage = 1U << 16;
constexpr Address kHere = ipv4_address(0xc0000201);
constexpr Address kThere = ipv4_address(0xc0000202);

[[noreturn]] void give_up(const std::string& sentence) {
    fmt::print(stderr, "bench_endpoint: {}\n", sentence);
    std::_Exit(1);
}

Instant now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return Instant{std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

// Of the machine, in the last minute: how much else went on.
double load() {
    double average = 0;
    static_cast<void>(getloadavg(&average, 1));
    return average;
}

struct Side {
    std::string interface;
    std::string name_space{};  // empty: where we are
    Address address{};
    unsigned processor = 0;
};

void enter(const Side& side) {
    stay_on(side.processor);
    if (side.name_space.empty()) return;
    const int descriptor = open(side.name_space.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || setns(descriptor, CLONE_NEWNET) != 0) give_up(side.name_space + " is no network namespace");
    close(descriptor);
}

// Of both sides; what a user has unless told otherwise.
verbs::AdapterSettings settings;

enum class Way : std::uint8_t { ring, xdp };
constexpr std::string_view name_of(Way way) { return way == Way::ring ? "ring" : "xdp"; }

template <class T> Device opened(std::expected<T, Problem> device) {
    if (!device) give_up(device.error().sentence);
    return std::move(*device);
}

Device open_device(Way way, const Side& side) {
    if (way == Way::ring) return opened(open_packet_ring({.interface = side.interface}));
    return opened(open_xdp_device({.interface = side.interface, .addresses = {side.address}}));
}

Endpoint open_endpoint(Way way, const Side& side, PathMtu mtu) {
    Device device = open_device(way, side);
    HostSettings host{.mac = Mac{0x0200'0000'0000 + side.address.bits[1] % 256},
                      .addresses = {{side.address, 24}},
                      .mtu = device.limits().frame_bytes - kEthernetHeader - 8,
                      .detect_duplicates = false};
    verbs::AdapterSettings adapter = settings;
    adapter.mtu = mtu;
    return Endpoint(std::move(device), {.host = host, .adapter = adapter, .seed = side.address.bits[1]}, now());
}

// What a side used while the traffic lasted.
struct Spent {
    double took = 0;
    double worked = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    ProgramCounts counts{};
};

// Until the program is done; or, of the server, until the client is. Sleeps where nothing is due.
Spent drive(Way way, const Side& side, PathMtu mtu, Program program, std::atomic<bool>& over) {
    enter(side);
    Endpoint endpoint = open_endpoint(way, side, mtu);
    if (const auto begun = program.begin(endpoint, now()); !begun) give_up(begun.error());
    double began = 0, worked = 0;
    for (bool stopped = false; !program.done();) {
        const Instant time = now();
        endpoint.arrive(time);
        program.poll(endpoint, time);
        endpoint.depart(time);
        if (began == 0 && program.counts().connections > 0) {
            began = seconds(CLOCK_MONOTONIC);
            worked = seconds(CLOCK_THREAD_CPUTIME_ID);
        }
        if (over && !std::exchange(stopped, true)) program.stop(endpoint, time);
        std::optional<Instant> due = program.poll_at();
        if (const auto at = endpoint.poll_at(); at && (!due || *at < *due)) due = at;
        constexpr std::int64_t kNap = 10'000'000;
        const std::int64_t longest = due ? std::min(static_cast<std::int64_t>(*due - time), kNap) : kNap;
        if (longest <= 0) continue;
        pollfd poller{.fd = endpoint.device().descriptor(), .events = POLLIN, .revents = 0};
        const timespec timeout{.tv_sec = 0, .tv_nsec = longest};
        static_cast<void>(ppoll(&poller, 1, &timeout, nullptr));
    }
    for (const std::string& line : program.take_lines()) fmt::print(stderr, "    {}\n", line);
    return {.took = seconds(CLOCK_MONOTONIC) - began,
            .worked = seconds(CLOCK_THREAD_CPUTIME_ID) - worked,
            .sent = endpoint.counts().packets_sent,
            .received = endpoint.counts().packets_received,
            .counts = program.counts()};
}

struct Pair {
    Spent client;
    Spent server;
};

Pair play(Way way, const Side& here, const Side& there, PathMtu mtu, Program client, Program server) {
    std::atomic<bool> over = false, never = false;
    Pair pair;
    std::thread other([&] { pair.server = drive(way, there, mtu, std::move(server), over); });
    std::thread ours([&] {
        usleep(50'000);  // the server listens by then, or the connection manager asks again
        pair.client = drive(way, here, mtu, std::move(client), never);
        over = true;
    });
    ours.join();
    other.join();
    if (pair.client.counts.failed + pair.server.counts.failed > 0) give_up("the connection failed");
    return pair;
}

Program program(std::string_view name, const ProgramRequest& request) {
    auto made = find_program(name)->make(request);
    if (!made) give_up(made.error());
    return std::move(*made);
}

double measure_writes(Way way, const Side& here, const Side& there, PathMtu mtu, std::uint64_t messages) {
    const ProgramRequest serves{.depth = 16, .verify = false};
    ProgramRequest connects{.target = there.address, .count = messages, .size = kMessage, .depth = 16, .verify = false};
    const Pair pair = play(way, here, there, mtu, program("source-write", connects), program("sink", serves));
    const double bits = static_cast<double>(messages) * kMessage * 8,
                 packets = static_cast<double>(messages * kMessage / bytes_of(mtu));
    fmt::print(
        "write device={} bytes={} mtu={} gbit_per_s={:.2f} packets_per_s={:.0f} sender_cpu_ns={:.0f} responder_cpu_ns={:.0f} "
        "acknowledgments={:.3f} extra_packets={:.4f} load={:.1f}\n",
        name_of(way), kMessage, bytes_of(mtu), bits * 1e-9 / pair.client.took, packets / pair.client.took,
        pair.client.worked / packets * 1e9, pair.server.worked / packets * 1e9,
        static_cast<double>(pair.server.sent) / packets, static_cast<double>(pair.client.sent) / packets - 1, load());
    return packets / pair.client.took;
}

// Seconds of the median round trip, 8 bytes: a SEND and one back; a WRITE and a READ behind it; a WRITE, and when it is
// done a READ.
constexpr std::array<std::string_view, 3> kRoundTrips{"send-poll", "write-poll", "write-read-poll"};

double measure_pingpong(Way way, std::string_view mode, const Side& here, const Side& there) {
    PingpongRow row;
    const auto played = std::ranges::find(kPingpongModes, mode, &PingpongMode::name);
    PingpongSettings calls{.request = {.target = there.address, .count = 20'000, .size = 8, .depth = 1},
                           .modes = {static_cast<std::size_t>(played - kPingpongModes.begin())},
                           .on_row = [&row](const PingpongRow& on_row) { row = on_row; }};
    PingpongSettings serves = calls;
    serves.request.target.reset();
    play(way, here, there, PathMtu::bytes_4096, std::move(*make_pingpong(calls)), std::move(*make_pingpong(serves)));
    return static_cast<double>(row.median) * 1e-9;
}

// Those that the machine has. Says of AF_XDP where its program runs, or why it does not.
std::vector<Way> ways_on(const Side& side) {
    XdpMode mode;
    const auto xdp = open_xdp_device({.interface = side.interface, .addresses = {side.address}}, &mode);
    if (!xdp) {
        fmt::print("xdp left out: {}\n", xdp.error().sentence);
        return {Way::ring};
    }
    fmt::print("xdp program={} queues={} frame_bytes={}\n", mode.in_driver ? "driver" : "generic", mode.queues,
               xdp->limits().frame_bytes);
    return {Way::ring, Way::xdp};
}

bool carries(Way way, const Side& side, PathMtu mtu) {
    const auto longest = path_mtu_of(open_device(way, side).limits().frame_bytes - kEthernetHeader - 8);
    return longest && *longest >= mtu;
}

double measure_raw(const Side& here, const Side& there) {
    int a = -1, b = -1;
    std::thread([&] {
        enter(there);
        b = raw_socket(there.interface);
    }).join();
    a = raw_socket(here.interface);
    const std::vector<double> times = round_trips(raw_end(a), raw_end(b));
    close(a);
    close(b);
    return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 && argc != 5 && argc != 7) {
        fmt::print(stderr, "usage: bench_endpoint A B NETWORK-NAMESPACE-OF-B [MESSAGES [WINDOW ACK_EVERY]]\n");
        return 2;
    }
    if (argc == 7) {
        settings.window = static_cast<std::uint32_t>(std::strtoul(argv[5], nullptr, 10));
        settings.ack_every = static_cast<std::uint32_t>(std::strtoul(argv[6], nullptr, 10));
    }
    const Side here{.interface = argv[1], .address = kHere, .processor = 0};
    const Side there{.interface = argv[2], .name_space = argv[3], .address = kThere, .processor = 1};
    const std::uint64_t messages = argc > 4 ? std::max(1UL, std::strtoul(argv[4], nullptr, 10)) : 20'000;
    const std::vector<Way> ways = ways_on(here);
    for (const PathMtu mtu : {PathMtu::bytes_4096, PathMtu::bytes_2048, PathMtu::bytes_1024})
        for (const Way way : ways)
            if (carries(way, here, mtu))
                measure_writes(way, here, there, mtu, mtu == PathMtu::bytes_4096 ? messages : messages / 2 + 1);
    for (int turn = 0; turn < 3; ++turn) {
        for (const std::string_view mode : kRoundTrips) {
            const double raw = measure_raw(here, there);
            fmt::print("round_trip mode={} raw_us={:.2f}", mode, raw * 1e6);
            for (const Way way : ways) {
                const double ours = measure_pingpong(way, mode, here, there);
                fmt::print(" {0}_us={1:.2f} {0}_ratio={2:.2f}", name_of(way), ours * 1e6, ours / raw);
            }
            fmt::print(" load={:.1f}\n", load());
        }
    }
}
