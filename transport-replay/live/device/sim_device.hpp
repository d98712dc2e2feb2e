// SimDevice: one end of a simulated link (sim_link.hpp) as a device, under virtual time.
//
// Both ends share the link; one thread drives both. A send queue holds what the line takes kSendAhead to send; then
// reserve() lends nothing until poll_at(). Nothing here comes from a wire. Frames that nobody receives are bounded by
// kMaxInbox.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/device/outbox.hpp>
#include <transport-replay/live/sim_link.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace qps::transport::live {

inline constexpr dissect::Duration kSendAhead = microseconds(10);
inline constexpr std::size_t kMaxInbox = 1U << 16;  // frames that arrived and wait, of one end: far above a window

// The link and what arrived at its ends. Also for looking at the recording of its tap.
struct SimWire {
    SimLink link;
    std::array<std::deque<Delivery>, 2> inbox{};
    std::array<std::uint64_t, 2> overflowed{};
};

class SimDevice final : public AnyDevice {
public:
    SimDevice(std::shared_ptr<SimWire> wire, End end, std::size_t frame_bytes = kLongestFrame);

    [[nodiscard]] std::span<const ReceivedFrame> receive(dissect::Instant now) override;
    [[nodiscard]] dissect::MutableBytes reserve(dissect::Instant now) override;
    void commit(std::size_t bytes, dissect::Instant now) override;
    void flush(dissect::Instant now) override;
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const override;
    [[nodiscard]] int descriptor() const override { return -1; }
    [[nodiscard]] DeviceLimits limits() const override;
    [[nodiscard]] DeviceCounts counts() const override;
    [[nodiscard]] std::optional<Problem> problem() const override { return std::nullopt; }

private:
    [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(end_); }

    std::shared_ptr<SimWire> wire_;
    End end_;
    std::size_t frame_bytes_;
    std::vector<Delivery> lent_;  // what the received frames borrow from
    std::vector<ReceivedFrame> received_;
    Outbox outbox_;
    std::optional<dissect::Instant> room_at_;  // when the send queue has room again, if it was full
    DeviceCounts counts_;
};

[[nodiscard]] std::shared_ptr<SimWire> make_wire(const LinkSettings& link, const TapSettings& tap,
                                                 dissect::Instant start);

}  // namespace qps::transport::live
