// CaptureTap: a device around a device that writes down every frame, with its way: as a capture of an interface has
// them.
//
// A frame is written when it is committed, before it goes out, or when it came in. Where it cannot be written,
// problem() says so: the user of the evidence wants to know that it ends. What an attacker could feed: any frame; a
// capture holds any.
#pragma once

#include <dissect/capture/writer.hpp>
#include <transport-replay/live/device/device_around.hpp>

#include <functional>

namespace qps::transport::live {

class CaptureTap final : public DeviceWatch {
public:
    // Where the frames go: CaptureWriter::write() or SavedCapture::write() of what the caller keeps.
    using Write = std::move_only_function<std::expected<void, dissect::OutputProblem>(const dissect::Frame&)>;

    CaptureTap(Device inside, Write write) : DeviceWatch(std::move(inside)), write_(std::move(write)) {}

    [[nodiscard]] std::optional<Problem> problem() const override { return problem_ ? problem_ : inside_.problem(); }

private:
    void see(Way way, dissect::Bytes bytes, dissect::Instant time) override;

    Write write_;
    std::uint64_t frames_ = 0;
    std::optional<Problem> problem_;
};

}  // namespace qps::transport::live
