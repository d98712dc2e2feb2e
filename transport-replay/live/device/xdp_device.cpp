#include <transport-replay/live/device/interface_facts.hpp>
#include <transport-replay/live/device/packet_ring.hpp>
#include <transport-replay/live/device/xdp_device.hpp>
#include <transport-replay/live/device/xdp_program.hpp>
#include <transport-replay/live/device/xdp_socket.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::size_t kTag = 4, kMostTags = 2;
constexpr std::size_t kRingBytes = std::size_t{4} << 20;  // of the ring beside: few frames come by it
constexpr std::size_t kOthersAtOnce = kDeviceBatch / 4;   // of these in a batch, so that they hold up nothing
constexpr std::uint32_t kRooms = 512;       // frames to send, those among them that the kernel has not completed
constexpr std::size_t kLeastOfQueue = 512;  // frames that can wait on each of many queues
constexpr std::size_t kLargestChunk = std::size_t{1} << 14;  // where pages are larger than that
constexpr Duration kSendAgain{20'000};                       // until what the system had no room for is tried again
constexpr Duration kSendAgainDown{1'000'000};                // where the interface is down
constexpr int kTries = 20;                                   // to get a queue
constexpr useconds_t kBetweenTries = 10'000;

std::string why(int error, unsigned queue) {
    switch (error) {
        case EPERM:
        case EACCES: return "AF_XDP needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF";
        case EBUSY: return fmt::format("another program has an AF_XDP socket on its queue {}", queue);
        case EAFNOSUPPORT:
        case EPROTONOSUPPORT:
        case ENOPROTOOPT:
        case EOPNOTSUPP: return "this kernel has no AF_XDP";
        case ENOBUFS: return "no memory for AF_XDP: the limit of locked memory (ulimit -l) is too low";
        default:
            return fmt::format("no AF_XDP socket on its queue {}: {}", queue, std::generic_category().message(error));
    }
}

// The interface sends frames of its MTU, and their tags.
bool too_long(Bytes frame, std::size_t mtu) {
    std::size_t tags = 0;
    while (tags < kMostTags && frame.size() >= kEthernetHeader + kTag * (tags + 1)) {
        const auto type = read_be<std::uint16_t>(frame, 2 * ETH_ALEN + kTag * tags);
        if (type != ETH_P_8021Q && type != ETH_P_8021AD) break;
        ++tags;
    }
    return frame.size() > mtu + kEthernetHeader + kTag * tags;
}

struct XdpState {
    XdpState(std::string name, Device ring) : interface(std::move(name)), others(std::move(ring)) {}

    std::string interface;
    unsigned interface_index = 0;
    std::size_t mtu = 0;
    std::size_t frame_bytes = 0;
    Device others;  // what the program passes on
    std::vector<std::unique_ptr<XdpSocket>> sockets;
    std::optional<XdpProgram> program;  // after the sockets, so that it goes first
    Descriptor watch;                   // all of them for poll(2)

    std::array<ReceivedFrame, kDeviceBatch> received;
    std::span<const ReceivedFrame> waiting;  // of the ring beside, given by it and not yet by us
    std::size_t turn = 0;                    // which socket is looked at first
    std::optional<Instant> retry;
    DeviceCounts counts;  // without what sockets and ring count
    std::optional<Problem> problem;

    [[nodiscard]] std::expected<void, Problem> fail(std::string sentence) const {
        return std::unexpected(Problem{interface, std::move(sentence)});
    }
    [[nodiscard]] int open_socket(const XdpSocketSettings& settings);
    [[nodiscard]] std::expected<void, Problem> open_sockets(const XdpSettings& settings);
    [[nodiscard]] std::expected<void, Problem> attach(const std::vector<Address>& addresses);
    [[nodiscard]] std::expected<void, Problem> watch_all();
    void take_others(Instant now, std::size_t& count);
};

// Each has its own memory; the first one sends, too.
std::expected<void, Problem> XdpState::open_sockets(const XdpSettings& settings) {
    const std::size_t page = static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 2048L));
    const std::size_t chunk = std::min(page, kLargestChunk);
    frame_bytes = std::clamp(mtu + kEthernetHeader + kTag * kMostTags, kShortestFrame,
                             std::min(chunk - XDP_PACKET_HEADROOM, kLongestFrame));
    const std::size_t queues =
        settings.receive ? std::clamp<std::size_t>(receive_queues_of(interface), 1, kMaxXdpQueues) : 1;
    const std::size_t frames = std::clamp(std::bit_floor(settings.frames), kMinXdpFrames, kMaxXdpFrames);
    const std::size_t each =
        queues == 1 ? frames : std::max(std::bit_floor(frames / queues), std::min(frames, kLeastOfQueue));
    for (unsigned queue = 0; queue < queues; ++queue) {
        const XdpSocketSettings wanted{.queue = queue,
                                       .received = settings.receive ? static_cast<std::uint32_t>(each) : 0,
                                       .sent = queue == 0 ? kRooms : 0,
                                       .chunk_bytes = static_cast<std::uint32_t>(chunk),
                                       .frame_bytes = static_cast<std::uint32_t>(frame_bytes)};
        if (const int error = open_socket(wanted); error != 0) return fail(why(error, queue));
    }
    return {};
}

// The kernel frees the queue of a socket that was closed a moment later (xp_release_deferred()).
int XdpState::open_socket(const XdpSocketSettings& settings) {
    int error = 0;
    for (int tries = 0; tries < kTries; ++tries) {
        auto socket = std::make_unique<XdpSocket>(settings);
        error = socket->open(interface.c_str());
        if (error == 0) sockets.push_back(std::move(socket));
        if (error != EBUSY) break;
        usleep(kBetweenTries);
    }
    return error;
}

std::expected<void, Problem> XdpState::attach(const std::vector<Address>& addresses) {
    auto loaded = XdpProgram::load(addresses);
    if (!loaded) return fail(std::move(loaded.error()));
    for (unsigned queue = 0; queue < sockets.size(); ++queue)
        if (auto directed = loaded->direct(queue, sockets[queue]->number()); !directed)
            return fail(std::move(directed.error()));
    if (auto attached = loaded->attach(interface_index); !attached) return fail(std::move(attached.error()));
    program = std::move(*loaded);
    return {};
}

std::expected<void, Problem> XdpState::watch_all() {
    watch = Descriptor(epoll_create1(EPOLL_CLOEXEC), true);
    const auto add = [this](int descriptor) {
        epoll_event event{.events = EPOLLIN, .data = {}};
        return epoll_ctl(watch.number(), EPOLL_CTL_ADD, descriptor, &event) == 0;
    };
    bool watched = add(others.descriptor());
    for (const auto& socket : sockets) watched = watched && add(socket->number());
    if (!watched) return fail(std::generic_category().message(errno));
    return {};
}

void XdpState::take_others(Instant now, std::size_t& count) {
    if (waiting.empty()) waiting = others.receive(now);
    const auto now_given = waiting.first(std::min(waiting.size(), kOthersAtOnce));
    waiting = waiting.subspan(now_given.size());
    for (const ReceivedFrame& frame : now_given) {
        if (frame.bytes.size() <= frame_bytes) received[count++] = {frame.bytes, now};
        else ++counts.dropped;
    }
}

class XdpDevice final : public AnyDevice {
public:
    explicit XdpDevice(std::unique_ptr<XdpState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override {
        XdpState& state = *state_;
        std::size_t count = 0;
        state.take_others(now, count);
        for (std::size_t i = 0; i < state.sockets.size(); ++i) {
            XdpSocket& socket = *state.sockets[(state.turn + i) % state.sockets.size()];
            count += socket.receive(std::span(state.received).subspan(count), now, state.counts.dropped);
        }
        ++state.turn;
        for (std::size_t i = 0; i < count; ++i) state.counts.received_bytes += state.received[i].bytes.size();
        state.counts.received += count;
        return {state.received.data(), count};
    }
    [[nodiscard]] MutableBytes reserve(Instant now) override {
        XdpSocket& socket = *state_->sockets.front();
        if (socket.committed() == kDeviceBatch) flush(now);
        MutableBytes room = socket.reserve();
        if (room.empty() && socket.waiting()) {
            flush(now);
            room = socket.reserve();
        }
        if (room.empty() && !state_->retry) state_->retry = now + kSendAgain;
        return room;
    }
    void commit(std::size_t bytes, Instant now) override {
        XdpState& state = *state_;
        XdpSocket& socket = *state.sockets.front();
        const MutableBytes room = socket.lent();
        if (room.empty() || bytes < kEthernetHeader || bytes > room.size() || too_long(room.first(bytes), state.mtu)) {
            socket.give_up();
            ++state.counts.refused;
            return;
        }
        socket.commit(bytes);
        if (socket.committed() == kDeviceBatch) flush(now);
    }
    void flush(Instant now) override {
        XdpState& state = *state_;
        state.retry.reset();
        XdpSocket& socket = *state.sockets.front();
        if (socket.committed() == 0 && !socket.waiting()) return;
        const XdpSocket::Sending sending = socket.send();
        state.counts.refused += sending.refused;
        if (sending.waiting) state.retry = now + (sending.down ? kSendAgainDown : kSendAgain);
        if (!sending.down) return;
        std::array<char, IF_NAMESIZE> name{};
        if (if_indextoname(state.interface_index, name.data()) == nullptr)
            state.problem = Problem{state.interface, "the interface is gone"};
    }
    [[nodiscard]] std::optional<Instant> poll_at() const override {
        return state_->waiting.empty() ? state_->retry : kAtOnce;
    }
    [[nodiscard]] int descriptor() const override { return state_->watch.number(); }
    [[nodiscard]] DeviceLimits limits() const override {
        DeviceLimits limits = state_->others.limits();
        limits.frame_bytes = state_->frame_bytes;
        return limits;
    }
    [[nodiscard]] DeviceCounts counts() const override {
        DeviceCounts counts = state_->counts;
        counts.dropped += state_->others.counts().dropped;
        for (const auto& socket : state_->sockets) counts.dropped += socket->dropped();
        counts.sent = state_->sockets.front()->sent();
        counts.sent_bytes = state_->sockets.front()->sent_bytes();
        return counts;
    }
    [[nodiscard]] std::optional<Problem> problem() const override {
        return state_->problem ? state_->problem : state_->others.problem();
    }

private:
    std::unique_ptr<XdpState> state_;
};

}  // namespace

std::expected<Device, Problem> open_xdp_device(const XdpSettings& settings, XdpMode* mode) {
    auto ring = open_packet_ring({.interface = settings.interface,
                                  .filter = settings.filter,
                                  .ring_bytes = kRingBytes,
                                  .receive = settings.receive});
    if (!ring) return std::unexpected(std::move(ring.error()));
    auto state = std::make_unique<XdpState>(settings.interface, std::move(*ring));
    state->interface_index = if_nametoindex(settings.interface.c_str());
    state->mtu = facts_of_interface(settings.interface).mtu;
    if (auto opened = state->open_sockets(settings); !opened) return std::unexpected(std::move(opened.error()));
    if (settings.receive)
        if (auto attached = state->attach(settings.addresses); !attached)
            return std::unexpected(std::move(attached.error()));
    if (auto watched = state->watch_all(); !watched) return std::unexpected(std::move(watched.error()));
    if (mode != nullptr)
        *mode = {.in_driver = state->program && state->program->in_driver(), .queues = state->sockets.size()};
    return Device(XdpDevice(std::move(state)));
}

}  // namespace qps::transport::live
