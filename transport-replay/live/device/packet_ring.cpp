#include <dissect/capture/descriptor.hpp>
#include <transport-replay/live/device/interface_facts.hpp>
#include <transport-replay/live/device/outbox.hpp>
#include <transport-replay/live/device/packet_ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <pcap/pcap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kTag = 4;          // bytes of a VLAN tag
constexpr std::size_t kAddresses = 12;   // of the two MAC addresses, before the tag
constexpr std::size_t kTags = 2 * kTag;  // a frame as long as the MTU may have two tags besides (802.1ad)
constexpr std::size_t kSlotOverhead =
    128;                                  // the kernel's headers before the frame: 52 bytes, alignment, room for a tag
constexpr std::size_t kBlock = 1U << 18;  // bytes the kernel must find in one piece
constexpr std::uint16_t kNothing = 0;     // the protocol of a socket that receives nothing
constexpr unsigned kLooksAtInterface =
    4096;                               // empty receives from one look to the next whether the interface still exists
constexpr int kSendBuffer = 4 << 20;    // bytes: some batches of the longest frames with the kernel's overhead
constexpr Duration kSendAgain{20'000};  // until what the system had no room for is tried again

// As the kernel lays out a slot: its header, then where the frame came from.
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT * TPACKET_ALIGNMENT;
}

std::string system_says(int error) { return std::generic_category().message(error); }

// The mapped ring, unmapped with its owner.
struct Mapping {
    std::byte* bytes = nullptr;
    std::size_t length = 0;
    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (bytes != nullptr) munmap(bytes, length);
    }
};

template <class T> bool set(const Descriptor& socket, int level, int name, const T& value) {
    return setsockopt(socket.number(), level, name, &value, sizeof(value)) == 0;
}

ifreq request_for(const std::string& interface) {
    ifreq request{};
    interface.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
    return request;
}

struct RingState {
    explicit RingState(std::size_t longest) : outbox(longest), frame_bytes(longest) {}

    std::string interface;
    unsigned interface_index = 0;
    Descriptor socket;
    Mapping ring;
    std::size_t slot_bytes = 0;
    std::size_t slots = 0;
    std::size_t slots_per_block = 0;
    std::size_t next = 0;  // the slot that is filled next
    std::size_t lent = 0;  // slots before it whose frames are borrowed
    unsigned empty = 0;    // receives in turn that found nothing
    std::array<ReceivedFrame, kDeviceBatch> received;
    Outbox outbox;
    std::size_t frame_bytes;
    std::array<mmsghdr, kDeviceBatch> messages{};
    std::array<iovec, kDeviceBatch> pieces{};
    std::uint64_t mac = 0;
    BitsPerSecond link_speed{};
    std::optional<Instant> retry;
    mutable DeviceCounts counts;
    std::optional<Problem> problem;

    [[nodiscard]] std::unexpected<Problem> fail(std::string sentence) const {
        return std::unexpected(Problem{interface, std::move(sentence)});
    }
    [[nodiscard]] std::expected<void, Problem> set_up(const PacketRingSettings& settings);
    [[nodiscard]] std::expected<void, Problem> make_ring(std::size_t bytes);
    [[nodiscard]] std::expected<void, Problem> filter(const std::string& expression);
    [[nodiscard]] std::expected<void, Problem> bind_to_interface(std::uint16_t protocol, bool promiscuous);
    [[nodiscard]] std::byte* slot(std::size_t i) const {
        return ring.bytes + i / slots_per_block * kBlock + i % slots_per_block * slot_bytes;
    }
    [[nodiscard]] bool taken(std::byte* slot, Instant now, ReceivedFrame& frame);
    void give_back();
    void look_at_interface();
};

// Nothing is received before bind_to_interface(), so no frame comes by without the filter.
std::expected<void, Problem> RingState::set_up(const PacketRingSettings& settings) {
    constexpr int kVersion = TPACKET_V2, kOne = 1;
    if (!set(socket, SOL_PACKET, PACKET_VERSION, kVersion) ||
        !set(socket, SOL_PACKET, PACKET_RESERVE, static_cast<int>(kTag)))
        return fail(system_says(errno));
    static_cast<void>(
        set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, kOne));  // older kernels: the frames are told by their type
    if (!set(socket, SOL_SOCKET, SO_SNDBUFFORCE, kSendBuffer))
        static_cast<void>(set(socket, SOL_SOCKET, SO_SNDBUF, kSendBuffer));
    if (settings.bypass_queueing) static_cast<void>(set(socket, SOL_PACKET, PACKET_QDISC_BYPASS, kOne));
    for (std::size_t i = 0; i < kDeviceBatch; ++i) {
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    if (!settings.receive) return bind_to_interface(kNothing, false);
    if (!settings.filter.empty())
        if (auto filtered = filter(settings.filter); !filtered) return filtered;
    if (auto made = make_ring(settings.ring_bytes); !made) return made;
    return bind_to_interface(ETH_P_ALL, settings.promiscuous);
}

std::expected<void, Problem> RingState::make_ring(std::size_t bytes) {
    slot_bytes = aligned(frame_bytes + kSlotOverhead);
    slots_per_block = kBlock / slot_bytes;
    const std::size_t blocks = std::clamp(bytes, kMinRing, kMaxRing) / kBlock;
    slots = blocks * slots_per_block;
    const tpacket_req request{.tp_block_size = static_cast<unsigned>(kBlock),
                              .tp_block_nr = static_cast<unsigned>(blocks),
                              .tp_frame_size = static_cast<unsigned>(slot_bytes),
                              .tp_frame_nr = static_cast<unsigned>(slots)};
    if (!set(socket, SOL_PACKET, PACKET_RX_RING, request))
        return fail(fmt::format("no ring for its frames: {}", system_says(errno)));
    ring.length = blocks * kBlock;
    void* mapped = mmap(nullptr, ring.length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket.number(), 0);
    if (mapped == MAP_FAILED) return fail(fmt::format("no ring for its frames: {}", system_says(errno)));
    ring.bytes = static_cast<std::byte*>(mapped);
    return {};
}

std::expected<void, Problem> RingState::filter(const std::string& expression) {
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> compiler(
        pcap_open_dead(DLT_EN10MB, static_cast<int>(kLongestFrame)), &pcap_close);
    bpf_program program{};
    if (!compiler) return fail("out of memory");
    if (pcap_compile(compiler.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
        return fail(fmt::format("invalid capture filter '{}': {}", expression, pcap_geterr(compiler.get())));
    // The instructions of libpcap are those of the kernel under another name.
    static_assert(sizeof(bpf_insn) == sizeof(sock_filter));
    const sock_fprog attached{static_cast<unsigned short>(program.bf_len),
                              reinterpret_cast<sock_filter*>(program.bf_insns)};
    const bool attaches = set(socket, SOL_SOCKET, SO_ATTACH_FILTER, attached);
    const int error = errno;
    pcap_freecode(&program);
    if (!attaches) return fail(fmt::format("invalid capture filter '{}': {}", expression, system_says(error)));
    return {};
}

std::expected<void, Problem> RingState::bind_to_interface(std::uint16_t protocol, bool promiscuous) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(protocol);
    address.sll_ifindex = static_cast<int>(interface_index);
    if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return fail(system_says(errno));
    packet_mreq membership{};
    membership.mr_ifindex = static_cast<int>(interface_index);
    membership.mr_type = PACKET_MR_PROMISC;
    if (promiscuous && !set(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership))
        return fail(fmt::format("cannot set promiscuous mode: {}", system_says(errno)));
    return {};
}

// Slots go back in their order; after that the kernel may write them.
void RingState::give_back() {
    for (; lent > 0; --lent) {
        auto* header = reinterpret_cast<tpacket2_hdr*>(slot((next + slots - lent) % slots));
        std::atomic_ref(header->tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
    }
}

// The frame of a slot that is ours; false where it is none for us.
bool RingState::taken(std::byte* slot, Instant now, ReceivedFrame& frame) {
    const auto* header = reinterpret_cast<const tpacket2_hdr*>(slot);
    const auto* from = reinterpret_cast<const sockaddr_ll*>(slot + aligned(sizeof(tpacket2_hdr)));
    if (from->sll_pkttype == PACKET_OUTGOING) return false;
    std::size_t offset = header->tp_mac, length = header->tp_snaplen;
    const bool tagged = (header->tp_status & TP_STATUS_VLAN_VALID) != 0;
    const std::size_t whole = header->tp_len + (tagged ? kTag : 0);
    if (length < header->tp_len || length < kEthernetHeader || whole > frame_bytes || offset < kTag ||
        offset + length > slot_bytes) {
        ++counts.dropped;
        return false;
    }
    if (tagged) {  // the addresses move to the front, into the room that PACKET_RESERVE left
        const std::uint16_t protocol =
            (header->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header->tp_vlan_tpid : std::uint16_t{ETH_P_8021Q};
        std::memmove(slot + offset - kTag, slot + offset, kAddresses);
        offset -= kTag;
        length += kTag;
        const MutableBytes tag(slot + offset + kAddresses, kTag);
        write_bits(tag, 0, 16, protocol);
        write_bits(tag, 16, 16, header->tp_vlan_tci);
    }
    frame = {Bytes(slot + offset, length), now};
    return true;
}

// An interface that is down may come up again; one that is gone does not. The error that waits is taken, or poll(2)
// never sleeps.
void RingState::look_at_interface() {
    int error = 0;
    socklen_t length = sizeof(error);
    static_cast<void>(getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &length));
    std::array<char, IF_NAMESIZE> name{};
    if (if_indextoname(interface_index, name.data()) == nullptr) problem = Problem{interface, "the interface is gone"};
}

class PacketRing final : public AnyDevice {
public:
    explicit PacketRing(std::unique_ptr<RingState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override {
        RingState& state = *state_;
        state.give_back();
        std::size_t count = 0;
        while (count < kDeviceBatch && state.lent < state.slots) {  // no slots where it only sends
            std::byte* slot = state.slot(state.next);
            auto* header = reinterpret_cast<tpacket2_hdr*>(slot);
            if ((std::atomic_ref(header->tp_status).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) break;
            if (state.taken(slot, now, state.received[count]))
                state.counts.received_bytes += state.received[count++].bytes.size();
            if (++state.next == state.slots) state.next = 0;
            ++state.lent;
        }
        state.counts.received += count;
        if (count > 0) state.empty = 0;
        else if (++state.empty % kLooksAtInterface == 0) state.look_at_interface();
        return {state.received.data(), count};
    }
    [[nodiscard]] MutableBytes reserve(Instant now) override {
        if (state_->outbox.full()) flush(now);
        return state_->outbox.reserve();
    }
    void commit(std::size_t bytes, Instant now) override {
        if (!state_->outbox.commit(bytes)) ++state_->counts.refused;
        if (state_->outbox.full()) flush(now);
    }
    void flush(Instant now) override {
        RingState& state = *state_;
        state.retry.reset();
        while (const std::size_t waiting = state.outbox.waiting()) {
            for (std::size_t i = 0; i < waiting; ++i) {
                const MutableBytes frame = state.outbox.frame(i);
                state.pieces[i] = {frame.data(), frame.size()};
            }
            const int sent =
                sendmmsg(state.socket.number(), state.messages.data(), static_cast<unsigned>(waiting), MSG_DONTWAIT);
            if (sent > 0) {
                for (std::size_t i = 0; i < static_cast<std::size_t>(sent); ++i)
                    state.counts.sent_bytes += state.pieces[i].iov_len;
                state.counts.sent += static_cast<std::size_t>(sent);
                state.outbox.leave(static_cast<std::size_t>(sent));
            } else if (errno == EAGAIN || errno == ENOBUFS) {
                state.retry = now + kSendAgain;
                return;
            } else if (errno != EINTR) {
                if (errno == ENXIO || errno == ENODEV) state.look_at_interface();
                ++state.counts.refused;
                state.outbox.leave(1);
            }
        }
    }
    [[nodiscard]] std::optional<Instant> poll_at() const override { return state_->retry; }
    [[nodiscard]] int descriptor() const override { return state_->socket.number(); }
    [[nodiscard]] DeviceLimits limits() const override {
        return {.frame_bytes = state_->frame_bytes, .mac = state_->mac, .link_speed = state_->link_speed};
    }
    // The kernel's counters begin at zero again each time they are read.
    [[nodiscard]] DeviceCounts counts() const override {
        tpacket_stats statistics{};
        socklen_t length = sizeof(statistics);
        if (getsockopt(state_->socket.number(), SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0)
            state_->counts.dropped += statistics.tp_drops;
        return state_->counts;
    }
    [[nodiscard]] std::optional<Problem> problem() const override { return state_->problem; }

private:
    std::unique_ptr<RingState> state_;
};

}  // namespace

std::expected<Device, Problem> open_packet_ring(const PacketRingSettings& settings) {
    const auto fail = [&](std::string sentence) {
        return std::unexpected(Problem{settings.interface, std::move(sentence)});
    };
    Descriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), true);
    if (socket.number() < 0) return fail(errno == EPERM ? "raw frames need CAP_NET_RAW" : system_says(errno));
    ifreq request = request_for(settings.interface);
    if (settings.interface.size() >= sizeof(request.ifr_name) || ioctl(socket.number(), SIOCGIFINDEX, &request) != 0)
        return fail("no such interface");
    const auto index = static_cast<unsigned>(request.ifr_ifindex);
    if (ioctl(socket.number(), SIOCGIFMTU, &request) != 0) return fail(system_says(errno));
    const auto mtu = static_cast<std::size_t>(std::max(request.ifr_mtu, 0));
    if (ioctl(socket.number(), SIOCGIFHWADDR, &request) != 0) return fail(system_says(errno));
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER && request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
        return fail("not an Ethernet interface");

    auto state = std::make_unique<RingState>(std::clamp(mtu + kEthernetHeader + kTags, kShortestFrame, kLongestFrame));
    state->interface = settings.interface;
    state->link_speed = facts_of_interface(settings.interface).speed;
    state->interface_index = index;
    for (int i = 0; i < ETH_ALEN; ++i)
        state->mac = state->mac << 8 | static_cast<std::uint8_t>(request.ifr_hwaddr.sa_data[i]);
    state->socket = std::move(socket);
    if (auto ready = state->set_up(settings); !ready) return std::unexpected(std::move(ready.error()));
    return Device(PacketRing(std::move(state)));
}

}  // namespace qps::transport::live
