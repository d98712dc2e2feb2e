// Outbox: the room of a device's frames that wait to be sent, up to a batch, in the order of their commits.
//
// The rooms are made once; nothing is allocated for a frame. Frames leave from the front, so that what the system had
// no place for stays. Nothing here comes from a wire.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <array>
#include <memory>

namespace qps::transport::live {

class Outbox {
public:
    explicit Outbox(std::size_t frame_bytes)
        : frame_bytes_(frame_bytes), room_(new std::byte[kDeviceBatch * stride()]) {}

    // Empty where a whole batch waits.
    [[nodiscard]] dissect::MutableBytes reserve() {
        if (end_ == kDeviceBatch) return {};
        lent_ = true;
        return {room(end_), frame_bytes_};
    }
    // False where nothing was lent, or less than that, or it is too short for a frame.
    [[nodiscard]] bool commit(std::size_t bytes) {
        if (!std::exchange(lent_, false) || bytes > frame_bytes_ || bytes < kEthernetHeader) return false;
        lengths_[end_++] = bytes;
        return true;
    }
    [[nodiscard]] std::size_t waiting() const { return end_ - begin_; }
    [[nodiscard]] bool full() const { return end_ == kDeviceBatch; }
    // The i-th of those that wait.
    [[nodiscard]] dissect::MutableBytes frame(std::size_t i) { return {room(begin_ + i), lengths_[begin_ + i]}; }
    // The first of those that wait left. What is lent is lost where none waits any more: reserve() again.
    void leave(std::size_t count) {
        begin_ += count;
        if (begin_ < end_) return;
        begin_ = end_ = 0;
        lent_ = false;
    }

private:
    // Not a power of two, so that the beginnings of the frames do not all want the same lines of the cache.
    [[nodiscard]] std::size_t stride() const { return (frame_bytes_ + 63) / 64 * 64 + 64; }
    [[nodiscard]] std::byte* room(std::size_t i) { return room_.get() + i * stride(); }

    std::size_t frame_bytes_;
    std::unique_ptr<std::byte[]> room_;
    std::array<std::size_t, kDeviceBatch> lengths_{};
    std::size_t begin_ = 0;  // the first that waits
    std::size_t end_ = 0;    // behind the last
    bool lent_ = false;
};

}  // namespace qps::transport::live
