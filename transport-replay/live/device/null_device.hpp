// NullDevice: takes every frame and forgets it; nothing comes. For who looks at what goes through a device around it.
#pragma once

#include <transport-replay/live/device/device.hpp>

namespace qps::transport::live {

class NullDevice final : public AnyDevice {
public:
    // `resolves_addresses`: see DeviceLimits.
    explicit NullDevice(bool resolves_addresses = false)
        : room_(new std::byte[kLongestFrame]), resolves_addresses_(resolves_addresses) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant) override { return {}; }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant) override {
        lent_ = true;
        return {room_.get(), kLongestFrame};
    }
    void commit(std::size_t bytes, dissect::Instant) override {
        if (!std::exchange(lent_, false) || bytes < kEthernetHeader || bytes > kLongestFrame) {
            ++counts_.refused;
            return;
        }
        ++counts_.sent;
        counts_.sent_bytes += bytes;
    }
    void flush(dissect::Instant) override {}
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return std::nullopt; }
    [[nodiscard]] int descriptor() const override { return -1; }
    [[nodiscard]] DeviceLimits limits() const override {
        return {.frame_bytes = kLongestFrame, .resolves_addresses = resolves_addresses_};
    }
    [[nodiscard]] DeviceCounts counts() const override { return counts_; }
    [[nodiscard]] std::optional<Problem> problem() const override { return std::nullopt; }

private:
    std::unique_ptr<std::byte[]> room_;
    bool resolves_addresses_;
    bool lent_ = false;
    DeviceCounts counts_;
};

}  // namespace qps::transport::live
