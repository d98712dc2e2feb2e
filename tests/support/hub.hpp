// A hub: what one port sends, all others have at once. Every frame is kept for a look at it, and anybody may put one
// in.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace qps::tests {

using WireBytes = std::vector<std::byte>;

struct Hub {
    std::vector<std::deque<WireBytes>> inboxes{};
    std::function<void(std::size_t port, dissect::Bytes frame)> watch{};  // every frame that a port sends

    void put(std::size_t port, dissect::Bytes frame) { inboxes[port].emplace_back(frame.begin(), frame.end()); }
};

class HubDevice final : public transport::live::AnyDevice {
public:
    HubDevice(std::shared_ptr<Hub> hub, std::uint64_t mac)
        : hub_(std::move(hub)), port_(hub_->inboxes.size()), mac_(mac) {
        hub_->inboxes.emplace_back();
    }
    [[nodiscard]] std::size_t port() const { return port_; }

    [[nodiscard]] std::span<const transport::live::ReceivedFrame> receive(dissect::Instant now) override {
        auto& inbox = hub_->inboxes[port_];
        lent_.clear();
        frames_.clear();
        for (; !inbox.empty() && lent_.size() < transport::live::kDeviceBatch; inbox.pop_front()) {
            const std::size_t bytes = inbox.front().size();
            if (bytes < transport::live::kEthernetHeader || bytes > transport::live::kLongestFrame) ++counts_.dropped;
            else lent_.push_back(std::move(inbox.front()));
        }
        for (const WireBytes& frame : lent_) frames_.push_back({frame, now});
        counts_.received += frames_.size();
        return frames_;
    }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant /*now*/) override { return room_; }
    void commit(std::size_t bytes, dissect::Instant /*now*/) override {
        const dissect::Bytes frame = dissect::Bytes(room_).first(bytes);
        if (hub_->watch) hub_->watch(port_, frame);
        for (std::size_t port = 0; port < hub_->inboxes.size(); ++port)
            if (port != port_) hub_->put(port, frame);
        ++counts_.sent;
    }
    void flush(dissect::Instant /*now*/) override {}
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override {
        return hub_->inboxes[port_].empty() ? std::nullopt : std::optional(transport::live::kAtOnce);
    }
    [[nodiscard]] int descriptor() const override { return -1; }
    [[nodiscard]] transport::live::DeviceLimits limits() const override {
        return {.frame_bytes = transport::live::kLongestFrame, .mac = mac_};
    }
    [[nodiscard]] transport::live::DeviceCounts counts() const override { return counts_; }
    [[nodiscard]] std::optional<transport::live::Problem> problem() const override { return std::nullopt; }

private:
    std::shared_ptr<Hub> hub_;
    std::size_t port_;
    std::uint64_t mac_;
    std::vector<WireBytes> lent_;
    std::vector<transport::live::ReceivedFrame> frames_;
    WireBytes room_ = WireBytes(transport::live::kLongestFrame);
    transport::live::DeviceCounts counts_;
};

}  // namespace qps::tests
