#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/report/words.hpp>

#include <fmt/format.h>

namespace qps::transport {

LossPlace::LossPlace(const Episodes& found, const std::vector<const Recovery*>& episodes)
    : from_(words::host(found.from())), to_(words::host(found.to())),
      unchecked_(found.way().intact + found.way().corrupt < found.way().packets) {
    for (const Recovery* episode : episodes) switch (episode->cause) {
            case NakCause::corrupt: ++corrupt_; break;
            case NakCause::lost_before_tap: ++before_; break;
            case NakCause::missed_behind_tap: ++behind_; break;
            case NakCause::discarded_lost: break;  // no loss of its own
            default: ++undecided_; break;
        }
}

std::string LossPlace::text() const {
    const std::uint64_t all = before_ + behind_ + corrupt_ + undecided_;
    const std::string_view whole = all == 1 ? "" : "all ";
    const std::string before = fmt::format("lost between {} and this tap", from_);
    constexpr std::string_view kUndecided = "lost or late is undecided", kCorrupt = "corrupted before this tap";
    const std::string_view behind = unchecked_ ? "lost or reordered behind this tap, or corrupted before it (ICRC not checked)"
                                               : "lost or reordered behind this tap";
    if (all == 0) return {};
    if (before_ == all) return fmt::format(", {}{}", whole, before);
    if (behind_ == all) return fmt::format(", {}{}", whole, behind);
    if (corrupt_ == all) return fmt::format(", {}{}", whole, kCorrupt);
    if (undecided_ == all) return fmt::format(", {}", kUndecided);
    std::string out;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count != 0) out += fmt::format(", {} {}", grouped(count), what);
    };
    add(before_, before);
    add(corrupt_, kCorrupt);
    add(behind_, behind);
    add(undecided_, "undecided");
    return out;
}

std::string LossPlace::advice() const {
    if (before_ != 0 && behind_ + corrupt_ + undecided_ == 0)
        return fmt::format("Find the drops between {} and this tap: its own transmit drops (`tc -s qdisc`, `ethtool -S`), then buffer and "
                           "PFC drop counters of this priority on every switch before the tap; the receiver is not their cause.",
                           from_);
    if (behind_ != 0 && before_ + corrupt_ + undecided_ == 0)
        return fmt::format("Find the drops between this tap and {}: buffer and PFC drop counters of this priority on every switch behind "
                           "the tap, then rx_discards and out_of_sequence on the receiver (`ethtool -S`, `rdma statistic`); capture {} "
                           "to tell loss from {}.",
                           to_, unchecked_ ? "whole packets" : "at the receiver", unchecked_ ? "corruption" : "reordering");
    return fmt::format("Find the drops on the way from {} to {}: switch buffer and PFC drop counters of this priority, out_of_sequence and "
                       "rx_discards on the receiver (`rdma statistic`, `ethtool -S`), lossless class and ECN on every hop.",
                       from_, to_);
}

bool is_selective(const std::vector<const Recovery*>& episodes) {
    bool shown = false;
    for (const Recovery* episode : episodes) {
        if (episode->inferred || episode->resent > std::max(episode->lost, 1U)) return false;
        const bool known = episode->cause == NakCause::lost_before_tap || episode->cause == NakCause::missed_behind_tap ||
                           episode->cause == NakCause::corrupt;
        shown = shown || (known && episode->resent != 0 && episode->end == RecoveryEnd::recovered);
    }
    return shown;
}

}  // namespace qps::transport
