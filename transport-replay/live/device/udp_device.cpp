#include <dissect/base/icrc.hpp>
#include <dissect/capture/descriptor.hpp>
#include <transport-replay/evidence/internet_checksum.hpp>
#include <transport-replay/live/device/datagram_headers.hpp>
#include <transport-replay/live/device/identification.hpp>
#include <transport-replay/live/device/interface_facts.hpp>
#include <transport-replay/live/device/outbox.hpp>
#include <transport-replay/live/device/udp_device.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr int kReceiveBuffer =
    16 << 20;  // bytes of datagrams that come while we are busy, the kernel's overhead included
constexpr int kSocketSendBuffer = 4 << 20;  // bytes: some batches of the longest frames
constexpr Duration kResendAfter{20'000};    // until what the system had no room for is tried again
constexpr std::size_t kIcrcBytes = 4;
constexpr std::size_t kBth = 12;

std::string socket_error_text(int error) { return std::generic_category().message(error); }

// Room for the two numbers that go with a datagram: traffic class and hops.
struct alignas(cmsghdr) Control {
    std::array<std::byte, 2 * CMSG_SPACE(sizeof(int))> bytes;
};

// What recvmmsg and sendmmsg want of a batch.
struct Messages {
    std::array<mmsghdr, kDeviceBatch> headers{};
    std::array<iovec, kDeviceBatch> pieces{};
    std::array<sockaddr_storage, kDeviceBatch> names{};
    std::array<Control, kDeviceBatch> control{};

    // Ready to receive into `room`, or to send it to names[i].
    msghdr& arm(std::size_t i, MutableBytes room, std::size_t name_length) {
        pieces[i] = {room.data(), room.size()};
        headers[i] = {};
        msghdr& message = headers[i].msg_hdr;
        message.msg_name = &names[i];
        message.msg_namelen = static_cast<socklen_t>(name_length);
        message.msg_iov = &pieces[i];
        message.msg_iovlen = 1;
        message.msg_control = control[i].bytes.data();
        message.msg_controllen = control[i].bytes.size();
        return message;
    }
};

void set(const Descriptor& socket, int level, int name, int value) {
    static_cast<void>(setsockopt(socket.number(), level, name, &value, sizeof(value)));
}

SocketAddress address_in(const sockaddr_storage& storage) {
    SocketAddress address;
    if (storage.ss_family == AF_INET6) {
        const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(storage);
        std::memcpy(address.bytes.data(), &ipv6.sin6_addr, 16);
        address.port = ntohs(ipv6.sin6_port);
    } else {
        const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(storage);
        std::memcpy(address.bytes.data() + 12, &ipv4.sin_addr, 4);
        address.port = ntohs(ipv4.sin_port);
    }
    return address;
}

// Traffic class and hops of a datagram, whichever the kernel told.
void read_control(msghdr& message, SocketEnds& ends) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
        int value = 0;
        if (item->cmsg_len == CMSG_LEN(1))
            value = *reinterpret_cast<const std::uint8_t*>(CMSG_DATA(item));  // IP_TOS is one byte
        else
            std::memcpy(&value, CMSG_DATA(item),
                        std::min(sizeof(value), static_cast<std::size_t>(item->cmsg_len - CMSG_LEN(0))));
        const bool ipv6 = item->cmsg_level == IPPROTO_IPV6;
        if (item->cmsg_type == (ipv6 ? IPV6_TCLASS : IP_TOS)) ends.traffic_class = static_cast<std::uint8_t>(value);
        else if (item->cmsg_type == (ipv6 ? IPV6_HOPLIMIT : IP_TTL)) ends.hops = static_cast<std::uint8_t>(value);
    }
}

struct UdpState {
    explicit UdpState(std::size_t frame_bytes)
        : room(new std::byte[kDeviceBatch * kLongestFrame]), outbox(frame_bytes), longest(frame_bytes) {}

    std::string name;
    Descriptor socket;
    bool ipv6 = false;
    sockaddr_storage bound{};  // whence we send; of IPv6 with its scope
    SocketAddress local;
    std::unique_ptr<std::byte[]> room;  // of a batch of received frames
    std::array<ReceivedFrame, kDeviceBatch> received;
    Outbox outbox;
    std::size_t longest;  // that its interface carries: IP packets do not become fragments
    Messages in;
    std::size_t unarmed = kDeviceBatch;  // of `in`: those before it are used up
    Messages out;
    std::optional<Instant> retry;
    DeviceCounts counts;

    [[nodiscard]] std::size_t before_payload() const { return headers_before_payload(ipv6); }
    [[nodiscard]] std::byte* slot(std::size_t i) const { return room.get() + i * kLongestFrame; }
    void configure() const;
    [[nodiscard]] bool put_on(msghdr& message, MutableBytes frame);
    [[nodiscard]] bool take_off(MutableBytes frame, std::size_t i);
    void correct(MutableBytes frame, const CarriedDatagram& datagram) const;
    [[nodiscard]] std::size_t prepare();
};

// Identification 0 goes with IP_PMTUDISC_DO on a socket that is not connected.
void UdpState::configure() const {
    if (ipv6) {
        set(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        set(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
        set(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
    } else {
        set(socket, IPPROTO_IP, IP_RECVTOS, 1);
        set(socket, IPPROTO_IP, IP_RECVTTL, 1);
        set(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
    }
    set(socket, SOL_SOCKET, SO_RCVBUF, kReceiveBuffer);
    set(socket, SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBuffer);  // beyond the system's limit, where we may
    set(socket, SOL_SOCKET, SO_SNDBUF, kSocketSendBuffer);
    set(socket, SOL_SOCKET, SO_SNDBUFFORCE, kSocketSendBuffer);
}

// Headers before a datagram whose payload is in its place; false where the frame would be too long.
bool UdpState::put_on(msghdr& message, MutableBytes frame) {
    if ((message.msg_flags & MSG_TRUNC) != 0) return false;
    SocketEnds ends{.ipv6 = ipv6, .source = {}, .destination = local};
    ends.source = address_in(*static_cast<const sockaddr_storage*>(message.msg_name));
    read_control(message, ends);
    write_headers(ends, frame);
    if (ipv6) return true;
    static_cast<void>(
        find_identification(frame.subspan(kEthernetHeader)));  // where there is none, the ICRC is wrong and stays so
    seal_ipv4_header(frame.subspan(kEthernetHeader, ip_header(false)));
    return true;
}

// The kernel sends other headers than the frame has: the ICRC changes by what that changes of it.
void UdpState::correct(MutableBytes frame, const CarriedDatagram& datagram) const {
    if (datagram.end - datagram.payload < kBth + kIcrcBytes) return;
    const MutableBytes as_sent = frame.subspan(datagram.ip, datagram.end - datagram.ip);
    // Of a frame with VLAN tags this is not its beginning, but what is before the IP header does not go out.
    const MutableBytes whole = frame.subspan(datagram.ip - kEthernetHeader, as_sent.size() + kEthernetHeader);
    SocketEnds ends = datagram.ends;
    ends.source = local;
    const IcrcCoverage coverage = ipv6 ? IcrcCoverage::roce_v2_ipv6 : IcrcCoverage::roce_v2_ipv4;
    const std::uint32_t before = invariant_crc(coverage, as_sent.first(as_sent.size() - kIcrcBytes));
    write_headers(ends, whole);
    const std::uint32_t after = invariant_crc(coverage, as_sent.first(as_sent.size() - kIcrcBytes));
    const std::size_t icrc = as_sent.size() - kIcrcBytes;
    write_bits(as_sent, icrc * 8, 32, read_be<std::uint32_t>(as_sent, icrc) ^ before ^ after);
}

// The i-th message to send of a frame; false where no socket can send that.
bool UdpState::take_off(MutableBytes frame, std::size_t i) {
    const auto datagram = datagram_in(frame);
    if (!datagram || datagram->ends.ipv6 != ipv6) return false;
    const bool as_it_says =
        datagram->ends.source == local &&
        (ipv6 || read_be<std::uint32_t>(frame, datagram->ip + 4) == 0x4000);  // identification 0, "don't fragment"
    if (!as_it_says) correct(frame, *datagram);
    out.names[i] = bound;  // family, and the scope of a link-local address
    const SocketAddress& to = datagram->ends.destination;
    if (ipv6) {
        auto& where = reinterpret_cast<sockaddr_in6&>(out.names[i]);
        std::memcpy(&where.sin6_addr, to.bytes.data(), 16);
        where.sin6_port = htons(to.port);
    } else {
        auto& where = reinterpret_cast<sockaddr_in&>(out.names[i]);
        std::memcpy(&where.sin_addr, to.bytes.data() + 12, 4);
        where.sin_port = htons(to.port);
    }
    msghdr& message = out.arm(i, frame.subspan(datagram->payload, datagram->end - datagram->payload),
                              ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    const int values[] = {datagram->ends.traffic_class, std::max<int>(datagram->ends.hops, 1)};
    const int types[] = {ipv6 ? IPV6_TCLASS : IP_TOS, ipv6 ? IPV6_HOPLIMIT : IP_TTL};
    for (std::size_t k = 0; k < 2 && item != nullptr; ++k, item = CMSG_NXTHDR(&message, item)) {
        item->cmsg_level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
        item->cmsg_type = types[k];
        item->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(item), &values[k], sizeof(int));
    }
    return true;
}

class UdpDevice final : public AnyDevice {
public:
    explicit UdpDevice(std::unique_ptr<UdpState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override {
        UdpState& state = *state_;
        // Polling finds nothing most times, and what is armed stays so.
        for (std::size_t i = 0; i < state.unarmed; ++i)
            state.in.arm(i, {state.slot(i) + state.before_payload(), kLongestFrame - state.before_payload()},
                         sizeof(sockaddr_storage));
        const int came = recvmmsg(state.socket.number(), state.in.headers.data(), kDeviceBatch, MSG_DONTWAIT, nullptr);
        state.unarmed = static_cast<std::size_t>(std::max(came, 0));
        std::size_t count = 0;
        for (std::size_t i = 0; i < state.unarmed; ++i) {
            const MutableBytes frame(
                state.slot(i),
                std::min<std::size_t>(state.before_payload() + state.in.headers[i].msg_len, kLongestFrame));
            if (!state.put_on(state.in.headers[i].msg_hdr, frame)) {
                ++state.counts.dropped;
                continue;
            }
            state.received[count++] = {frame, now};
            state.counts.received_bytes += frame.size();
        }
        state.counts.received += count;
        return {state.received.data(), count};
    }
    [[nodiscard]] MutableBytes reserve(Instant now) override {
        if (state_->outbox.full()) flush(now);
        return state_->outbox.reserve();
    }
    void commit(std::size_t bytes, Instant now) override {
        UdpState& state = *state_;
        if (!state.outbox.commit(bytes)) ++state.counts.refused;
        if (state.outbox.full()) flush(now);
    }
    void flush(Instant now) override {
        UdpState& state = *state_;
        state.retry.reset();
        while (state.outbox.waiting() > 0) {
            // Those before the first that cannot be sent at all go together.
            std::size_t ready = 0;
            while (ready < state.outbox.waiting() && state.take_off(state.outbox.frame(ready), ready)) ++ready;
            if (ready == 0) {
                ++state.counts.refused;
                state.outbox.leave(1);
                continue;
            }
            const int sent =
                sendmmsg(state.socket.number(), state.out.headers.data(), static_cast<unsigned>(ready), MSG_DONTWAIT);
            if (sent > 0) {
                for (std::size_t i = 0; i < static_cast<std::size_t>(sent); ++i)
                    state.counts.sent_bytes += state.outbox.frame(i).size();
                state.counts.sent += static_cast<std::size_t>(sent);
                state.outbox.leave(static_cast<std::size_t>(sent));
            } else if (errno == EAGAIN || errno == ENOBUFS) {
                state.retry = now + kResendAfter;
                return;
            } else if (errno != EINTR) {
                ++state.counts.refused;
                state.outbox.leave(1);
            }
        }
    }
    [[nodiscard]] std::optional<Instant> poll_at() const override { return state_->retry; }
    [[nodiscard]] int descriptor() const override { return state_->socket.number(); }
    [[nodiscard]] DeviceLimits limits() const override {
        return {.frame_bytes = state_->longest,
                .resolves_addresses = true,
                .udp_source_port = state_->local.port,
                .mac = mac_for(state_->local)};
    }
    [[nodiscard]] DeviceCounts counts() const override {
        DeviceCounts counts = state_->counts;
        constexpr std::size_t kDrops = 8, kNumbers = 9;  // of SO_MEMINFO
        std::array<std::uint32_t, kNumbers> memory{};
        socklen_t length = sizeof(memory);
        if (getsockopt(state_->socket.number(), SOL_SOCKET, SO_MEMINFO, memory.data(), &length) == 0)
            counts.dropped += memory[kDrops];
        return counts;
    }
    [[nodiscard]] std::optional<Problem> problem() const override { return std::nullopt; }

private:
    std::unique_ptr<UdpState> state_;
};

}  // namespace

std::expected<Device, Problem> open_udp_device(const std::string& address, std::uint16_t port) {
    const auto fail = [&](std::string sentence) { return std::unexpected(Problem{address, std::move(sentence)}); };
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0 || found == nullptr)
        return fail("not an IPv4 or IPv6 address");
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, &freeaddrinfo);

    const std::size_t mtu = facts_of_interface(interface_with(*found->ai_addr)).mtu;
    auto state = std::make_unique<UdpState>(
        mtu == 0 ? kLongestFrame : std::clamp(mtu + kEthernetHeader, kShortestFrame, kLongestFrame));
    state->name = address;
    state->ipv6 = found->ai_family == AF_INET6;
    std::memcpy(&state->bound, found->ai_addr, found->ai_addrlen);
    state->local = address_in(state->bound);
    if (state->local.bytes == SocketAddress{}.bytes)
        return fail("wildcard address: expected an address of this machine");
    state->socket =
        Descriptor(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP), true);
    if (state->socket.number() < 0) return fail(socket_error_text(errno));
    if (bind(state->socket.number(), found->ai_addr, found->ai_addrlen) != 0)
        return fail(
            errno == EADDRINUSE
                ? fmt::format(
                      "UDP port {0} is in use: `ss -lunp 'sport = :{0}'` names the program, or none where the kernel's RoCE has it",
                      port)
                : socket_error_text(errno));
    state->configure();
    return Device(UdpDevice(std::move(state)));
}

}  // namespace qps::transport::live
