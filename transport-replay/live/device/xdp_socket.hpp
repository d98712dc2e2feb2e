// XdpSocket: an AF_XDP socket on one queue of an interface, with the memory that its frames lie in and the four rings
// that pass their places to and fro (libxdp).
//
// The memory is chunks of one size, a frame in each. What is received belongs to the kernel but for what is lent to us
// until the next receive(); what is sent belongs to us but for what was handed over and is not completed.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/live/device/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <xdp/xsk.h>

namespace qps::transport::live {

struct XdpSocketSettings {
    unsigned queue = 0;
    std::uint32_t received = 0;     // chunks for frames received, a power of two; 0: it only sends
    std::uint32_t sent = 0;         // likewise for frames to send; 0: it only receives
    std::uint32_t chunk_bytes = 0;  // a power of two, at most a page
    std::uint32_t frame_bytes = 0;  // the longest frame; what is received leaves the kernel's headroom free before it
};

class XdpSocket {
public:
    explicit XdpSocket(const XdpSocketSettings& settings) : settings_(settings) {}
    XdpSocket(const XdpSocket&) = delete;
    XdpSocket& operator=(const XdpSocket&) = delete;
    ~XdpSocket();

    // 0, or the error of the system.
    [[nodiscard]] int open(const char* interface);
    [[nodiscard]] int number() const { return xsk_socket__fd(socket_); }

    // Frames into that, at most kDeviceBatch; those that were given before are the kernel's again. `unfit`: counts
    // those of a length that no frame has.
    [[nodiscard]] std::size_t receive(std::span<ReceivedFrame> frames, dissect::Instant now, std::uint64_t& unfit);

    // Room for the next frame; empty where none is free.
    [[nodiscard]] dissect::MutableBytes reserve();
    // The room that reserve() gave, if it was not committed or given up.
    [[nodiscard]] dissect::MutableBytes lent();
    // The room's first `bytes` are a frame.
    void commit(std::size_t bytes);
    // What was lent is not used.
    void give_up();
    [[nodiscard]] std::size_t committed() const { return committed_count_; }
    // Those committed go out. How many of them the interface would not have: it is down or gone.
    struct Sending {
        std::size_t refused = 0;
        bool down = false;
        bool waiting = false;  // the system has some of them still to take
    };
    [[nodiscard]] Sending send();
    // There are frames that the system did not take when they were sent.
    [[nodiscard]] bool waiting() const { return settings_.sent > 0 && not_taken() > 0; }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
    // That the kernel had no place for.
    [[nodiscard]] std::uint64_t dropped() const;

private:
    [[nodiscard]] int make_memory();
    void reap();
    [[nodiscard]] bool urge();
    [[nodiscard]] std::uint32_t not_taken() const;
    void count_taken();

    XdpSocketSettings settings_;
    std::byte* memory_ = nullptr;
    std::size_t memory_bytes_ = 0;
    xsk_umem* area_ = nullptr;
    xsk_socket* socket_ = nullptr;
    xsk_ring_prod fill_{};
    xsk_ring_cons completed_{};
    xsk_ring_cons received_{};
    xsk_ring_prod sending_{};

    std::array<std::uint64_t, kDeviceBatch> lent_{};  // chunks of frames received that are borrowed
    std::uint32_t lent_count_ = 0;
    std::vector<std::uint64_t> rooms_;  // places of frames to send that are free; the last is lent where room_is_lent_
    bool room_is_lent_ = false;
    std::array<xdp_desc, kDeviceBatch> committed_{};
    std::uint32_t committed_count_ = 0;
    std::uint32_t counted_ = 0;  // of the ring of frames to send: up to where they are counted
    std::uint64_t sent_ = 0;
    std::uint64_t sent_bytes_ = 0;
};

}  // namespace qps::transport::live
