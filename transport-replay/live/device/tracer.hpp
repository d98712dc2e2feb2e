// Tracer: a device around a device that tells every frame as one line (dissect/packet/notation.hpp), with its time and
// its way.
//
// The line is made in a string that is used again. What an attacker could feed: any frame; the notation is bounded.
#pragma once

#include <transport-replay/live/device/device_around.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace qps::transport::live {

class Tracer final : public DeviceWatch {
public:
    // The line has no line end and is borrowed during the call.
    using Sink = std::move_only_function<void(Way, dissect::Instant, std::string_view line)>;

    Tracer(Device inside, Sink trace) : DeviceWatch(std::move(inside)), sink_(std::move(trace)) {}

private:
    void see(Way way, dissect::Bytes bytes, dissect::Instant time) override;

    Sink sink_;
    std::string line_;
};

}  // namespace qps::transport::live
