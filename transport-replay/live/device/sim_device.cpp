#include <transport-replay/live/device/outbox.hpp>
#include <transport-replay/live/device/packet_facts.hpp>
#include <transport-replay/live/device/sim_device.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::array<std::uint64_t, 2> kMacs{0x0200'0000'0001,
                                             0x0200'0000'0002};  // locally administered; those of Route

class SimDevice final : public AnyDevice {
public:
    SimDevice(std::shared_ptr<SimWire> wire, End end, std::size_t frame_bytes)
        : wire_(std::move(wire)),
          end_(end),
          frame_bytes_(std::clamp(frame_bytes, kShortestFrame, kLongestFrame)),
          outbox_(frame_bytes_) {
        lent_.reserve(kDeviceBatch);
        received_.reserve(kDeviceBatch);
    }

    [[nodiscard]] std::span<const ReceivedFrame> receive(Instant now) override {
        while (auto delivery = wire_->link.receive(now)) {
            const auto to = static_cast<std::size_t>(delivery->to);
            if (wire_->inbox[to].size() >= kMaxInbox) ++wire_->overflowed[to];
            else wire_->inbox[to].push_back(std::move(*delivery));
        }
        lent_.clear();
        received_.clear();
        std::deque<Delivery>& inbox = wire_->inbox[index()];
        while (!inbox.empty() && lent_.size() < kDeviceBatch) {
            const std::size_t bytes = inbox.front().bytes.size();
            if (bytes >= kEthernetHeader && bytes <= frame_bytes_) {
                lent_.push_back(std::move(inbox.front()));
                received_.push_back({lent_.back().bytes, now});
                counts_.received_bytes += bytes;
            } else {
                ++counts_.dropped;
            }
            inbox.pop_front();
        }
        counts_.received += received_.size();
        return received_;
    }

    [[nodiscard]] MutableBytes reserve(Instant now) override {
        if (outbox_.full()) flush(now);
        room_at_.reset();
        const Instant free = wire_->link.free_at(end_);
        if (free <= now + kSendAhead) return outbox_.reserve();
        room_at_ = free + nanoseconds(-static_cast<std::int64_t>(kSendAhead));
        return {};
    }

    void commit(std::size_t bytes, Instant now) override {
        if (!outbox_.commit(bytes)) ++counts_.refused;
        if (outbox_.full()) flush(now);
    }

    void flush(Instant now) override {
        for (; outbox_.waiting() > 0; outbox_.leave(1)) {
            const MutableBytes frame = outbox_.frame(0);
            const PacketFacts facts = facts_of(frame);
            const PacketIdentity identity =
                facts.identity.value_or(PacketIdentity{.psn = Psn{}, .destination_qp = kMulticastQpn});
            wire_->link.send(end_,
                             {.bytes = {frame.begin(), frame.end()},
                              .psn = identity.psn,
                              .destination_qp = identity.destination_qp,
                              .response = identity.response,
                              .covered_from = facts.covered_from,
                              .covered_to = facts.covered_to},
                             now);
            ++counts_.sent;
            counts_.sent_bytes += frame.size();
        }
    }

    [[nodiscard]] std::optional<Instant> poll_at() const override {
        if (!wire_->inbox[index()].empty()) return kAtOnce;
        const std::optional<Instant> arrival =
            wire_->link.next_arrival();  // at either end: the other's is a call for nothing
        if (!arrival || !room_at_) return arrival ? arrival : room_at_;
        return std::min(*arrival, *room_at_);
    }

    [[nodiscard]] DeviceLimits limits() const override {
        return {.frame_bytes = frame_bytes_, .mac = kMacs[index()], .link_speed = wire_->link.speed()};
    }

    [[nodiscard]] DeviceCounts counts() const override {
        DeviceCounts counts = counts_;
        counts.dropped += wire_->overflowed[index()];
        return counts;
    }
    [[nodiscard]] int descriptor() const override { return -1; }
    [[nodiscard]] std::optional<Problem> problem() const override { return std::nullopt; }

private:
    [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(end_); }

    std::shared_ptr<SimWire> wire_;
    End end_;
    std::size_t frame_bytes_;
    std::vector<Delivery> lent_;  // what the received frames borrow from
    std::vector<ReceivedFrame> received_;
    Outbox outbox_;
    std::optional<Instant> room_at_;  // when the send queue has room again, if it was full
    DeviceCounts counts_;
};

}  // namespace

std::shared_ptr<SimWire> make_wire(const LinkSettings& link, const TapSettings& tap, Instant start) {
    return std::make_shared<SimWire>(SimWire{SimLink(link, tap, start)});
}

Device open_sim_device(std::shared_ptr<SimWire> wire, End end, std::size_t frame_bytes) {
    return SimDevice(std::move(wire), end, frame_bytes);
}

}  // namespace qps::transport::live
