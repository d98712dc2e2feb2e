#include <transport-replay/live/device/xdp_socket.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr int kSendBuffer = 4 << 20;  // bytes: what the kernel copied of us and nobody took yet
constexpr int kUrges = 8;  // calls for one batch: each sends 32 frames and more (TX_BATCH_SIZE of net/xdp/xsk.c)
// Frames to send do not all begin at the same place of a page, or they all want the same lines of the cache. There is
// room for that, since frames received leave as much before them.
constexpr std::size_t kLine = 64, kBeginnings = 4;

}  // namespace

int XdpSocket::make_memory() {
    memory_bytes_ = std::size_t{settings_.received + settings_.sent} * settings_.chunk_bytes;
    void* mapped =
        mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mapped == MAP_FAILED) return errno;
    memory_ = static_cast<std::byte*>(mapped);
    const xsk_umem_config config{.fill_size = std::max(settings_.received, 1U),
                                 .comp_size = std::max(settings_.sent, 1U),
                                 .frame_size = settings_.chunk_bytes,
                                 .frame_headroom = 0,
                                 .flags = 0};
    return -xsk_umem__create(&area_, memory_, memory_bytes_, &fill_, &completed_, &config);
}

int XdpSocket::open(const char* interface) {
    if (const int error = make_memory(); error != 0) return error;
    xsk_socket_config config{};
    config.rx_size = settings_.received;
    config.tx_size = settings_.sent;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP;
    const int status =
        xsk_socket__create(&socket_, interface, settings_.queue, area_, settings_.received > 0 ? &received_ : nullptr,
                           settings_.sent > 0 ? &sending_ : nullptr, &config);
    if (status != 0) {
        socket_ = nullptr;
        return -status;
    }
    static_cast<void>(fcntl(number(), F_SETFD, FD_CLOEXEC));
    static_cast<void>(setsockopt(number(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof(kSendBuffer)));
    std::uint32_t at = 0;
    if (settings_.received > 0 && xsk_ring_prod__reserve(&fill_, settings_.received, &at) != settings_.received)
        return ENOBUFS;
    for (std::uint32_t i = 0; i < settings_.received; ++i)
        *xsk_ring_prod__fill_addr(&fill_, at + i) = std::uint64_t{i} * settings_.chunk_bytes;
    xsk_ring_prod__submit(&fill_, settings_.received);
    for (std::uint32_t i = settings_.sent; i-- > 0;)
        rooms_.push_back(std::uint64_t{settings_.received + i} * settings_.chunk_bytes + i % kBeginnings * kLine);
    return 0;
}

XdpSocket::~XdpSocket() {
    if (socket_ != nullptr) xsk_socket__delete(socket_);
    if (area_ != nullptr) xsk_umem__delete(area_);
    if (memory_ != nullptr) munmap(memory_, memory_bytes_);
}

std::size_t XdpSocket::receive(std::span<ReceivedFrame> frames, Instant now, std::uint64_t& unfit) {
    std::uint32_t at = 0;
    // The ring has a place for every chunk, so that they all fit.
    if (lent_count_ > 0 && xsk_ring_prod__reserve(&fill_, lent_count_, &at) == lent_count_) {
        for (std::uint32_t i = 0; i < lent_count_; ++i) *xsk_ring_prod__fill_addr(&fill_, at + i) = lent_[i];
        xsk_ring_prod__submit(&fill_, std::exchange(lent_count_, 0));
    }
    std::size_t given = 0;
    const std::size_t room = std::min(frames.size(), lent_.size() - lent_count_);
    const std::uint32_t count = xsk_ring_cons__peek(&received_, static_cast<std::uint32_t>(room), &at);
    for (std::uint32_t i = 0; i < count; ++i) {
        const xdp_desc& place = *xsk_ring_cons__rx_desc(&received_, at + i);
        const std::uint64_t chunk = place.addr / settings_.chunk_bytes * settings_.chunk_bytes;
        if (chunk >= std::uint64_t{settings_.received} * settings_.chunk_bytes)
            continue;  // none of those that the kernel was given
        lent_[lent_count_++] = chunk;
        if (place.len < kEthernetHeader || place.len > settings_.frame_bytes ||
            place.addr - chunk + place.len > settings_.chunk_bytes) {
            ++unfit;
            continue;
        }
        frames[given++] = {Bytes(memory_ + place.addr, place.len), now};
    }
    if (count > 0) xsk_ring_cons__release(&received_, count);
    return given;
}

MutableBytes XdpSocket::reserve() {
    if (rooms_.empty()) reap();
    if (rooms_.empty() || committed_count_ == kDeviceBatch) return {};
    room_is_lent_ = true;
    return lent();
}

MutableBytes XdpSocket::lent() {
    return room_is_lent_ ? MutableBytes(memory_ + rooms_.back(), settings_.frame_bytes) : MutableBytes();
}

void XdpSocket::give_up() { room_is_lent_ = false; }

void XdpSocket::commit(std::size_t bytes) {
    if (!std::exchange(room_is_lent_, false)) return;
    committed_[committed_count_++] = {.addr = rooms_.back(), .len = static_cast<std::uint32_t>(bytes), .options = 0};
    rooms_.pop_back();
}

// The rooms of frames that the kernel is done with.
void XdpSocket::reap() {
    std::uint32_t at = 0;
    const std::uint32_t count = xsk_ring_cons__peek(&completed_, settings_.sent, &at);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint64_t place = *xsk_ring_cons__comp_addr(&completed_, at + i);
        if (room_is_lent_) std::swap(place, rooms_.back());  // the one that is lent stays the last
        rooms_.push_back(place);
    }
    if (count > 0) xsk_ring_cons__release(&completed_, count);
}

std::uint32_t XdpSocket::not_taken() const {
    return *sending_.producer - std::atomic_ref(*sending_.consumer).load(std::memory_order_acquire);
}

// What the kernel took it sends, or drops as an interface drops.
void XdpSocket::count_taken() {
    const std::uint32_t taken = std::atomic_ref(*sending_.consumer).load(std::memory_order_acquire);
    for (; counted_ != taken; ++counted_) {
        ++sent_;
        sent_bytes_ += xsk_ring_prod__tx_desc(&sending_, counted_)->len;
    }
}

// Copy mode sends within this call alone. False where the interface is down or gone.
bool XdpSocket::urge() {
    for (int i = 0; i < kUrges && not_taken() > 0; ++i) {
        if (sendto(number(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0 || errno == EAGAIN || errno == EINTR) continue;
        if (errno != EBUSY && errno != ENOBUFS) return false;
        reap();
    }
    return true;
}

XdpSocket::Sending XdpSocket::send() {
    Sending sending;
    reap();
    // Where those of an earlier time did not go, no more are put behind them: they would go when they are of no use any
    // more.
    if (not_taken() > 0) sending.down = !urge();
    std::uint32_t at = 0;
    if (sending.down || xsk_ring_prod__reserve(&sending_, committed_count_, &at) != committed_count_) {
        sending.refused = committed_count_;
        for (std::uint32_t i = 0; i < committed_count_; ++i) rooms_.push_back(committed_[i].addr);
    } else {
        for (std::uint32_t i = 0; i < committed_count_; ++i) *xsk_ring_prod__tx_desc(&sending_, at + i) = committed_[i];
        xsk_ring_prod__submit(&sending_, committed_count_);
        sending.down = !urge();
    }
    committed_count_ = 0;
    room_is_lent_ = false;
    count_taken();
    sending.waiting = not_taken() > 0;
    return sending;
}

std::uint64_t XdpSocket::dropped() const {
    xdp_statistics statistics{};
    socklen_t length = sizeof(statistics);
    if (getsockopt(number(), SOL_XDP, XDP_STATISTICS, &statistics, &length) != 0) return 0;
    return statistics.rx_dropped + statistics.rx_ring_full;
}

}  // namespace qps::transport::live
