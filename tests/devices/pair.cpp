#include <tests/devices/pair.hpp>
#include <tests/support/catch.hpp>

#include <cstdlib>
#include <exception>
#include <thread>

#include <poll.h>
#include <sched.h>

namespace qps::test {

using namespace dissect;

std::vector<std::byte> Pair::frame(std::size_t bytes, std::uint32_t number, std::uint16_t identification) const {
    PacketSpec spec = transport_packet(Opcode{0x04}, network);
    const bool ipv6 = network == Network::roce_v2_ipv6;
    const std::size_t headers = 14U + (ipv6 ? 40 : 20) + 8 + 12 + 4;
    const auto address = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    if (ipv6) {
        set(spec, "ipv6.src", address(source));
        set(spec, "ipv6.dst", address(destination));
        set(spec, "ipv6.tclass", 0x6a);
        set(spec, "ipv6.hlim", 33);
    } else {
        set(spec, "ip.src", read_be<std::uint32_t>(address(source), 0));
        set(spec, "ip.dst", read_be<std::uint32_t>(address(destination), 0));
        set(spec, "ip.dsfield", 0x6a);
        set(spec, "ip.ttl", 33);
        set(spec, "ip.flags.df", 1);
        set(spec, "ip.id", identification);
    }
    set(spec, "udp.srcport", source_port);
    set(spec, "udp.dstport", destination_port);
    set(spec, "infiniband.bth.destqp", 0x11);
    set(spec, "infiniband.bth.psn", number);
    spec.payload.resize(bytes < headers ? 0 : (bytes - headers) / 4 * 4);
    for (std::size_t i = 0; i < spec.payload.size(); ++i) spec.payload[i] = static_cast<std::byte>(i * 7 + number);
    return build(spec);
}

void Pair::send(Bytes frame) {
    const MutableBytes room = a.reserve(now);
    REQUIRE(room.size() >= frame.size());
    std::ranges::copy(frame, room.begin());
    a.commit(frame.size(), now);
}

std::vector<std::vector<std::byte>> Pair::receive(std::size_t count) {
    constexpr int kPatience = 300;  // milliseconds without a frame
    std::vector<std::vector<std::byte>> all;
    while (all.size() < count) {
        const auto frames = b.receive(now);
        for (const auto& frame : frames) all.emplace_back(frame.bytes.begin(), frame.bytes.end());
        if (!frames.empty()) continue;
        if (b.descriptor() >= 0) {
            pollfd waiting{b.descriptor(), POLLIN, 0};
            if (poll(&waiting, 1, kPatience) <= 0) break;
        } else if (const auto next = b.poll_at()) {
            now = std::max(now, *next);
        } else {
            break;
        }
    }
    return all;
}

std::vector<std::byte> comparable(const Pair& pair, std::vector<std::byte> frame) {
    if (!pair.keeps_ethernet) frame.erase(frame.begin(), frame.begin() + 12);
    return frame;
}

bool without_xdp(const std::expected<transport::live::Device, transport::live::Problem>& opened) {
    if (opened) return false;
    const std::string& why = opened.error().sentence;
    const bool lacks = why.find("no AF_XDP") != std::string::npos || why.find("needs CAP") != std::string::npos;
    INFO(why);
    REQUIRE(lacks);
    WARN("SKIPPED: " << why);
    return true;
}

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

void in_namespace(const std::function<void()>& test) {
    std::exception_ptr thrown;
    bool made = false;
    // A namespace is of a thread, and gone with it and its sockets.
    std::thread([&] {
        made = unshare(CLONE_NEWNET) == 0 && run("sysctl -w net.ipv6.conf.default.disable_ipv6=1") &&
               run("ip link set lo up") && run("ip link add va type veth peer name vb") &&
               run("ip link set va mtu 9000 up") && run("ip link set vb mtu 9000 up");
        if (!made) return;
        try {
            test();
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
    if (!made) WARN("SKIPPED: no network namespace with a veth can be made here (that takes root and the program ip)");
}

}  // namespace qps::test
