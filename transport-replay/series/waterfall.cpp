#include <transport-replay/series/waterfall.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport::series {

using namespace dissect;

namespace {

// The parts of one message, packet by packet in the order of the capture.
class Parting {
public:
    Parting(const MessageRow& message, WaterfallRow& row) : message_(message), row_(row) {}

    void take(const PacketRow& packet, FrameIndex frame) {
        row_.time.to = std::max(row_.time.to, packet.time());
        if (packet.from() != message_.requester()) {
            if (answers(packet)) extend(MessagePart::response, packet, frame);
            return;
        }
        const bool again = packet.has(Mark::retransmission) || packet.has(Mark::duplicated);
        if (again && begins_round(packet) && packet.time() > last_)
            row_.parts.push_back({MessagePart::wait, last_, packet.time(), frame});
        extend(again ? MessagePart::retransmission : MessagePart::request, packet, frame);
        asked_ = packet.time();
    }
    // What answered it, which may be an ACK of a later message.
    void end(const PacketRow& answer, FrameIndex frame) {
        const bool responded = row_.parts.size() > 1 && row_.parts.back().part == MessagePart::response;
        const Instant until = responded ? row_.parts.back().from : answer.time();
        row_.time.to = std::max(row_.time.to, answer.time());
        if (until > asked_) row_.parts.push_back({MessagePart::responder, asked_, until, frame});
    }

private:
    static bool answers(const PacketRow& packet) {
        if (packet.kind() == ObservationKind::stream) return packet.payload_length() != 0;
        if (packet.kind() != ObservationKind::transport) return false;
        const Verb verb = info(packet.opcode()).verb;
        return verb == Verb::read_response || verb == Verb::atomic_acknowledge;
    }
    // What was sent again goes on while its PSNs do.
    [[nodiscard]] bool begins_round(const PacketRow& packet) const {
        if (row_.parts.empty() || row_.parts.back().part != MessagePart::retransmission) return !row_.parts.empty();
        if (packet.kind() == ObservationKind::transport) return !psn_.before(packet.psn());
        return static_cast<std::int32_t>(packet.tcp_sequence() - sequence_) <= 0;
    }
    // What follows packets of its kind belongs to them.
    void extend(MessagePart part, const PacketRow& packet, FrameIndex frame) {
        const Instant time = packet.time();
        if (!row_.parts.empty() && row_.parts.back().part == part)
            row_.parts.back().to = std::max(row_.parts.back().to, time);
        else row_.parts.push_back({part, time, time, frame});
        last_ = std::max(last_, time);
        psn_ = packet.psn();
        sequence_ = packet.tcp_sequence();
    }

    const MessageRow& message_;
    WaterfallRow& row_;
    Instant asked_{};  // when the last request packet was
    Instant last_{};   // likewise, or the last response
    Psn psn_;
    std::uint32_t sequence_ = 0;  // of TCP and Ultra Ethernet
};

}  // namespace

Waterfall::Waterfall(std::vector<Extent> extents) : extents_(std::move(extents)) {
    if (!std::ranges::is_sorted(extents_, {}, &Extent::from)) std::ranges::stable_sort(extents_, {}, &Extent::from);
    until_.reserve(extents_.size());
    for (const Extent& extent : extents_)
        until_.push_back(until_.empty() ? extent.to : std::max(until_.back(), extent.to));
}

Waterfall::Chosen Waterfall::choose(const Range& part, WaterfallOrder order, std::size_t most) const {
    Chosen chosen;
    const auto longer = [](const Extent& a, const Extent& b) {
        return std::tuple(b.to - b.from, a.from, a.message) < std::tuple(a.to - a.from, b.from, b.message);
    };
    std::vector<Extent>& kept = chosen.extents;
    for (auto at = static_cast<std::size_t>(std::ranges::lower_bound(until_, part.from) - until_.begin());
         at < extents_.size() && extents_[at].from < part.to; ++at) {
        const Extent& extent = extents_[at];
        if (extent.to < part.from) continue;
        ++chosen.all;
        if (kept.size() < most) {
            kept.push_back(extent);
            if (order == WaterfallOrder::latency) std::ranges::push_heap(kept, longer);
        } else if (order == WaterfallOrder::latency && most != 0 && longer(extent, kept.front())) {
            std::ranges::pop_heap(kept, longer);
            kept.back() = extent;
            std::ranges::push_heap(kept, longer);
        }
    }
    if (order == WaterfallOrder::latency) std::ranges::sort_heap(kept, longer);
    return chosen;
}

WaterfallRow Waterfall::row(const CaptureIndex& index, const Extent& extent) const {
    const MessageRow& message = index.messages[extent.message];
    WaterfallRow row{extent.message, {extent.from, extent.from}, {}, false};
    Parting parting(message, row);
    const PacketRow& first = index.row(message.first_frame());
    const PacketRow& last = index.row(message.last_frame());
    const FrameIndex end = message.answer_frame().value_or(message.last_frame());
    std::size_t looked = 0;
    for (std::uint64_t frame = std::to_underlying(message.first_frame()); frame <= std::to_underlying(end); ++frame) {
        if (row.cut = ++looked > kMostLooked; row.cut) break;
        const PacketRow& packet = index.row(FrameIndex{frame});
        if (packet.connection() != message.connection() || packet.has(Mark::timeless) || packet.has(Mark::mirror_copy))
            continue;
        if (carries(message, first, last, packet)) parting.take(packet, FrameIndex{frame});
    }
    if (const auto answer = message.answer_frame(); answer && index.has(*answer))
        parting.end(index.row(*answer), *answer);
    return row;
}

std::optional<Waterfall> waterfall(const CaptureIndex& index, const Scope& scope, const Stop& stop) {
    std::vector<Waterfall::Extent> extents;
    if (scope.all_connections()) extents.reserve(index.messages.size());
    const auto take = [&](const MessageRow& message, std::uint64_t at) {
        if (!scope.has(message)) return;
        const auto from = time_of(index, message.first_frame());
        const auto to = time_of(index, message.answer_frame().value_or(message.last_frame()));
        if (from && to) extents.push_back({*from, std::max(*from, *to), at});
    };
    if (!scan(index.messages, 0, index.messages.size(), stop, take)) return std::nullopt;
    return Waterfall(std::move(extents));
}

}  // namespace qps::transport::series
