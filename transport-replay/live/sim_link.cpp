#include <transport-replay/live/sim_link.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kWireOverhead = 24;                // preamble 8, frame check sequence 4, gap 12 (802.3)
constexpr std::uint64_t kTapSalt = 0x9e37'79b9'7f4a'7c15;  // the tap's numbers are not the network's

std::int64_t count(Instant time) { return static_cast<std::int64_t>(time); }
std::int64_t count(Duration time) { return static_cast<std::int64_t>(time); }

Duration serialisation(std::size_t bytes, BitsPerSecond speed) {
    const auto bits_per_second = static_cast<std::uint64_t>(speed);
    if (bits_per_second == 0) return {};
    constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
    return nanoseconds(
        static_cast<std::int64_t>((bytes + kWireOverhead) * 8 * kNanosecondsPerSecond / bits_per_second));
}

}  // namespace

SimLink::SimLink(const LinkSettings& settings, const TapSettings& tap, Instant start)
    : settings_(settings),
      tap_(tap),
      tap_start_(start + tap.starts),
      network_(settings.seed, settings.a_to_b, settings.b_to_a, settings.exact),
      tapping_(settings.seed ^ kTapSalt),
      free_at_{start, start} {}

Disposition SimLink::send(End from, const Shipment& shipment, Instant now) {
    Disposition disposition =
        network_.draw(from, PacketIdentity{shipment.psn, shipment.destination_qp, shipment.response});
    const bool early = network_.draws().chance(0.5);  // whether what happens, happens before the middle
    const std::uint64_t extra = network_.draws().below(static_cast<std::uint64_t>(count(settings_.reorder_delay)));
    const std::size_t covered_to = std::min(shipment.covered_to, shipment.bytes.size());
    const std::size_t covered = covered_to - std::min(covered_to, shipment.covered_from);
    const std::uint64_t bit = network_.draws().below(covered * 8);

    const Instant departure =
        std::max(now, free_at_[index(from)]) + serialisation(shipment.bytes.size(), settings_.speed);
    free_at_[index(from)] = departure;
    Instant arrival = departure + settings_.delay;
    if (disposition.reordered)
        arrival = arrival + (disposition.later_by != Duration{} ? disposition.later_by
                                                                : nanoseconds(static_cast<std::int64_t>(extra) + 1));

    Shipment arriving = shipment;
    disposition.marked = disposition.marked && mark_congestion(arriving.bytes);
    disposition.corrupted = disposition.corrupted && covered > 0;
    if (disposition.corrupted) flip_bit(MutableBytes(arriving.bytes).subspan(shipment.covered_from, covered), bit);
    if (from == End::a && shipment.bytes.size() > settings_.longest) disposition.lost = true;
    if (under_way_.size() + 2 > kMaxUnderWay) disposition.lost = overflowed_ = true;
    if (disposition.lost) disposition.duplicated = disposition.corrupted = false;
    observe_passing(from, shipment, arriving, departure, arrival, early, disposition);
    if (disposition.lost) return disposition;
    if (disposition.duplicated)
        under_way_.emplace(std::pair(arrival + nanoseconds(1), shipped_++),
                           Delivery{other(from), arrival, arriving.bytes});
    under_way_.emplace(std::pair(arrival, shipped_++), Delivery{other(from), arrival, std::move(arriving.bytes)});
    return disposition;
}

// Before faults happen the tap sees what was sent; after them what arrives, as often as it arrives.
void SimLink::observe_passing(End from, const Shipment& sent, const Shipment& arriving, Instant departure,
                              Instant arrival, bool early, Disposition& disposition) {
    if (!(from == End::a ? tap_.sees_a_to_b : tap_.sees_b_to_a)) return;
    const bool middle = tap_.place == TapPlace::middle;
    const bool at_sender = (tap_.place == TapPlace::end_a) == (from == End::a) && !middle;
    const bool before = at_sender || (middle && !early);
    const Duration half = nanoseconds(count(settings_.delay) / 2);
    const Instant reached_middle = arrival + nanoseconds(-count(half));
    const Instant time = at_sender ? departure : !middle ? arrival : before ? departure + half : reached_middle;
    if (before) return record(sent.bytes, time, disposition);
    if (disposition.lost) return;
    record(arriving.bytes, time, disposition);
    if (disposition.duplicated) record(arriving.bytes, time + nanoseconds(1), disposition);
}

void SimLink::record(const std::vector<std::byte>& bytes, Instant time, Disposition& disposition) {
    const bool missed = tapping_.chance(tap_.loss) || count(time) < count(tap_start_);
    for (int copy = 0; copy < (tap_.twice ? 2 : 1); ++copy) {
        if (missed || recording_.size() >= kMaxRecorded) {
            overflowed_ = overflowed_ || !missed;
            ++tap_counts_.missed;
            return;
        }
        const std::size_t kept =
            tap_.snap_length == 0 ? bytes.size() : std::min<std::size_t>(tap_.snap_length, bytes.size());
        const Bytes part = slice(bytes, 0, kept);
        const Instant stamp = copy == 0 ? time : time + kMirrorDelay;
        recording_.emplace(stamp, CapturedFrame{stamp, static_cast<std::uint32_t>(bytes.size()),
                                                std::vector<std::byte>(part.begin(), part.end())});
        ++disposition.recorded;
        ++tap_counts_.recorded;
        if (copy > 0) ++tap_counts_.mirrored;
    }
}

std::optional<Instant> SimLink::next_arrival() const {
    if (under_way_.empty()) return std::nullopt;
    return under_way_.begin()->first.first;
}

std::optional<Delivery> SimLink::receive(Instant now) {
    if (under_way_.empty() || under_way_.begin()->first.first > now) return std::nullopt;
    auto node = under_way_.extract(under_way_.begin());
    Delivery delivery = std::move(node.mapped());
    delivery.time = node.key().first;
    return delivery;
}

std::vector<CapturedFrame> SimLink::take_recording() {
    std::vector<CapturedFrame> frames;
    frames.reserve(recording_.size());
    for (auto& [time, frame] : recording_) frames.push_back(std::move(frame));
    recording_.clear();
    return frames;
}

}  // namespace qps::transport
