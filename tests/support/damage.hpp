// A device around a device that damages what passes: how a right endpoint becomes one that breaks exactly one rule.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/live/device/device.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

namespace qps::tests {

using FrameBytes = std::vector<std::byte>;
// What becomes of a frame: nothing, itself, several.
using Alter = std::function<std::vector<FrameBytes>(FrameBytes frame)>;
struct Damage {
    Alter in{};   // of what the device gets; none: as it is
    Alter out{};  // of what it sends
    // What it sends of its own once it has got something: filled by `in`. None: nothing.
    std::shared_ptr<std::vector<FrameBytes>> says{};
};

class DamagingDevice final : public transport::live::AnyDevice {
public:
    DamagingDevice(transport::live::Device inside, Damage damage)
        : inside_(std::move(inside)), damage_(std::move(damage)) {}

    [[nodiscard]] std::span<const transport::live::ReceivedFrame> receive(dissect::Instant now) override {
        frames_.clear();
        received_.clear();
        for (const auto& frame : inside_.receive(now))
            for (FrameBytes& each : altered(damage_.in, {frame.bytes.begin(), frame.bytes.end()}))
                frames_.emplace_back(std::move(each), frame.time);
        if (damage_.says && !damage_.says->empty()) {
            for (const FrameBytes& each : *damage_.says) send(each, now);
            damage_.says->clear();
            inside_.flush(now);
        }
        for (const auto& [bytes, time] : frames_) received_.push_back({bytes, time});
        return received_;
    }
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override {
        if (inside_.reserve(now).empty()) return {};
        room_.resize(transport::live::kLongestFrame);
        return room_;
    }
    void commit(std::size_t bytes, dissect::Instant now) override {
        for (const FrameBytes& each :
             altered(damage_.out, {room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(bytes)}))
            send(each, now);
    }
    void flush(dissect::Instant now) override { inside_.flush(now); }
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override { return inside_.poll_at(); }
    [[nodiscard]] int descriptor() const override { return inside_.descriptor(); }
    [[nodiscard]] transport::live::DeviceLimits limits() const override { return inside_.limits(); }
    [[nodiscard]] transport::live::DeviceCounts counts() const override { return inside_.counts(); }
    [[nodiscard]] std::optional<transport::live::Problem> problem() const override { return inside_.problem(); }

private:
    void send(const FrameBytes& frame, dissect::Instant now) {
        const dissect::MutableBytes room = inside_.reserve(now);
        if (room.size() < frame.size()) return;
        std::ranges::copy(frame, room.begin());
        inside_.commit(frame.size(), now);
    }
    static std::vector<FrameBytes> altered(const Alter& alter, FrameBytes frame) {
        if (alter) return alter(std::move(frame));
        std::vector<FrameBytes> same;
        same.push_back(std::move(frame));
        return same;
    }

    transport::live::Device inside_;
    Damage damage_;
    std::vector<std::pair<FrameBytes, dissect::Instant>> frames_;
    std::vector<transport::live::ReceivedFrame> received_;
    FrameBytes room_;
};

inline dissect::Packet decoded(const FrameBytes& frame) {
    dissect::Packet packet;
    dissect::Frame whole;
    whole.bytes = frame;
    whole.wire_length = static_cast<std::uint32_t>(frame.size());
    dissect::decode(whole, packet);
    return packet;
}

// The ICRC becomes right for what the frame says now.
inline void mend_icrc(FrameBytes& frame) {
    const dissect::Packet packet = decoded(frame);
    if (const dissect::Layer* icrc = dissect::find(packet, dissect::LayerKind::icrc);
        icrc != nullptr && packet.icrc.status == dissect::CrcStatus::bad)
        dissect::write_bits(frame, icrc->offset * 8U, 32, packet.icrc.expected);
}

// A field of a frame becomes what `value` makes of it, the ICRC right again. Nothing where the frame has no such
// header.
inline bool rewrite(FrameBytes& frame, dissect::LayerKind kind, std::string_view name,
                    const std::function<std::uint64_t(std::uint64_t)>& value) {
    const dissect::Packet packet = decoded(frame);
    const dissect::Layer* layer = dissect::find(packet, kind);
    if (layer == nullptr) return false;
    for (const dissect::Field& field : dissect::header(kind).fields) {
        if (field.name != name) continue;
        const auto was = dissect::value_of(packet, *layer, field);
        if (!was) return false;
        dissect::write_bits(frame, layer->offset * 8U + field.bit, field.width, value(was->number));
        mend_icrc(frame);
        return true;
    }
    return false;
}

}  // namespace qps::tests
