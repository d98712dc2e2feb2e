// DeviceAround: a device around a device, which does what that one does; and one that sees every frame on its way.
//
// What an attacker could feed: any frame, which is handed on as it is.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <utility>

namespace qps::transport::live {

class DeviceAround : public AnyDevice {
public:
    explicit DeviceAround(Device inside) : inside_(std::move(inside)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override { return inside_.receive(now); }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override { return inside_.reserve(now); }
    void commit(std::size_t bytes, dissect::Instant now) override { inside_.commit(bytes, now); }
    void flush(dissect::Instant now) override { inside_.flush(now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return inside_.poll_at(); }
    [[nodiscard]] int descriptor() const override { return inside_.descriptor(); }
    [[nodiscard]] DeviceLimits limits() const override { return inside_.limits(); }
    [[nodiscard]] DeviceCounts counts() const override { return inside_.counts(); }
    [[nodiscard]] std::optional<Problem> problem() const override { return inside_.problem(); }

protected:
    Device inside_;
};

enum class Way : std::uint8_t { in, out };

// A frame is seen when it came in, or when it is committed, before it goes out.
class DeviceWatch : public DeviceAround {
public:
    using DeviceAround::DeviceAround;

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override {
        const auto frames = inside_.receive(now);
        for (const ReceivedFrame& frame : frames) see(Way::in, frame.bytes, frame.time);
        return frames;
    }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override { return lent_ = inside_.reserve(now); }
    void commit(std::size_t bytes, dissect::Instant now) override {
        const dissect::MutableBytes lent = std::exchange(lent_, dissect::MutableBytes{});
        if (bytes >= kEthernetHeader && bytes <= lent.size()) see(Way::out, lent.first(bytes), now);
        inside_.commit(bytes, now);
    }

private:
    virtual void see(Way way, dissect::Bytes frame, dissect::Instant time) = 0;

    dissect::MutableBytes lent_;
};

}  // namespace qps::transport::live
