// Fuzzer of the host on a wire: frames, times and wishes in any order. What it says itself must be right, what it keeps
// bounded, and a neighbour that answers truthfully is never lost to what others say.
//
// The input: a byte of settings, then records: a byte of kind, and for a frame a byte of its length (in units of two).
#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/host/host.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace qps::transport;
using namespace qps::transport::live;
using namespace qps::dissect;

namespace {

constexpr Mac kOwnMac{0x0200'0000'00aa};
constexpr Mac kFriendMac{0x0200'0000'00bb};
constexpr Address kOwn = ipv4_address(0xc0000201);
constexpr Address kFriend = ipv4_address(0xc0000202);
constexpr Address kOwn6 = ipv6_address(0x2001'0db8'0000'0000, 0xa);
constexpr Address kGroup = ipv4_address(0xef01'0203);

void demand(bool holds) {
    if (!holds) std::abort();
}

// Everything the host says now; the friend answers what it is asked.
void hear(Host& host, Instant now) {
    std::array<std::byte, 2048> room{};
    std::size_t frames = 0;
    while (const std::size_t length = host.poll(now, room)) {
        demand(length >= kShortestFrame && ++frames < 10'000);
        Frame frame;
        frame.bytes = Bytes(room).first(length);
        frame.wire_length = static_cast<std::uint32_t>(length);
        Packet packet;
        decode(frame, packet);
        for (const Layer& layer : packet.layers()) demand(layer.fault == Fault::none);
        const auto arp = read_arp(packet);
        if (!arp || arp->operation != ArpOperation::request || arp->target != kFriend || arp->sender == kFriend)
            continue;
        host.process(arp_frame({kFriendMac, kOwnMac}, {ArpOperation::reply, kFriendMac, kFriend, kOwnMac, arp->sender}),
                     now);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Instant now{1'700'000'000'000'000'000};
    HostSettings settings{.mac = kOwnMac, .addresses = {{kOwn, 24}, {kOwn6, 64}}};
    settings.owner = (*data & 1) != 0 ? AddressOwner::system : AddressOwner::us;
    settings.detect_duplicates = false;
    if ((*data & 2) != 0) settings.gateway_ipv4 = kFriend;
    Host host(settings, now);
    Route route{.network = Network::roce_v2_ipv4, .source = {}, .destination = kFriend};
    static_cast<void>(host.complete(route, 0, now));
    hear(host, now);
    for (std::size_t at = 1; at < size;) {
        const std::uint8_t kind = data[at++];
        if (kind < 200) {
            if (at == size) break;
            const std::size_t length = std::min<std::size_t>(data[at] * std::size_t{2}, size - at - 1);
            const auto exact = std::make_unique<std::byte[]>(length);
            std::transform(data + at + 1, data + at + 1 + length, exact.get(),
                           [](std::uint8_t byte) { return std::byte{byte}; });
            const HostArrival arrived = host.process({exact.get(), length}, now);
            demand((arrived.disposition == FrameDisposition::roce) == (arrived.packet != nullptr));
            at += 1 + length;
        } else if (kind < 220) {
            now = now + microseconds(std::int64_t{1} << (kind - 200));
        } else if (kind < 230) {
            host.join(kGroup, now);
        } else {
            host.leave(kGroup, now);
        }
        hear(host, now);
        demand(!host.poll_at() || *host.poll_at() > now);
        demand(host.neighbours().size() <= kMaxNeighbours);
        demand(host.complete(route, 0, now) == Reach::ready);
        demand(route.destination_mac == std::to_underlying(kFriendMac));
        hear(host, now);
    }
    return 0;
}
