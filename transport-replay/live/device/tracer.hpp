// Tracer: a device around a device that tells every frame as one line (dissect/packet/notation.hpp), with its time and
// its way.
//
// The line is made in a string that is used again. What an attacker could feed: any frame; the notation is bounded.
#pragma once

#include <transport-replay/live/device/device.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace qps::transport::live {

enum class Way : std::uint8_t { in, out };

class Tracer final : public AnyDevice {
public:
    // The line has no line end and is borrowed during the call.
    using Sink = std::move_only_function<void(Way, dissect::Instant, std::string_view line)>;

    Tracer(Device inside, Sink trace) : inside_(std::move(inside)), sink_(std::move(trace)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override;
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override { return lent_ = inside_.reserve(now); }
    void commit(std::size_t bytes, dissect::Instant now) override;
    void flush(dissect::Instant now) override { inside_.flush(now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return inside_.poll_at(); }
    [[nodiscard]] int descriptor() const override { return inside_.descriptor(); }
    [[nodiscard]] DeviceLimits limits() const override { return inside_.limits(); }
    [[nodiscard]] DeviceCounts counts() const override { return inside_.counts(); }
    [[nodiscard]] std::optional<Problem> problem() const override { return inside_.problem(); }

private:
    void trace(Way way, dissect::Bytes bytes, dissect::Instant time);

    Device inside_;
    Sink sink_;
    dissect::MutableBytes lent_;
    std::string line_;
};

}  // namespace qps::transport::live
