// CaptureTap: a device around a device that writes down every frame, with its way: as a capture of an interface has
// them.
//
// A frame is written when it is committed, before it goes out, or when it came in. Where it cannot be written,
// problem() says so: the user of the evidence wants to know that it ends. What an attacker could feed: any frame; a
// capture holds any.
#pragma once

#include <dissect/capture/writer.hpp>
#include <transport-replay/live/device/device.hpp>

#include <functional>

namespace qps::transport::live {

class CaptureTap final : public AnyDevice {
public:
    // Where the frames go: CaptureWriter::write() or SavedCapture::write() of what the caller keeps.
    using Write = std::move_only_function<std::expected<void, dissect::OutputProblem>(const dissect::Frame&)>;

    CaptureTap(Device inside, Write write) : inside_(std::move(inside)), write_(std::move(write)) {}

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override;
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override { return lent_ = inside_.reserve(now); }
    void commit(std::size_t bytes, dissect::Instant now) override;
    void flush(dissect::Instant now) override { inside_.flush(now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return inside_.poll_at(); }
    [[nodiscard]] int descriptor() const override { return inside_.descriptor(); }
    [[nodiscard]] DeviceLimits limits() const override { return inside_.limits(); }
    [[nodiscard]] DeviceCounts counts() const override { return inside_.counts(); }
    [[nodiscard]] std::optional<Problem> problem() const override { return problem_ ? problem_ : inside_.problem(); }

private:
    void record(dissect::Bytes bytes, dissect::Instant time, bool outbound);

    Device inside_;
    Write write_;
    dissect::MutableBytes lent_;
    std::uint64_t frames_ = 0;
    std::optional<Problem> problem_;
};

}  // namespace qps::transport::live
