#include <dissect/render_value.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/report/words.hpp>

#include <utility>

#include <fmt/format.h>

namespace qps::transport {

LossPlace::LossPlace(const Episodes& found, const std::vector<const Recovery*>& episodes, std::span<const CapturedHost> hosts)
    : from_(words::host(found.from())), to_(words::host(found.to())), hosts_(hosts),
      unchecked_(found.way().intact + found.way().incidents->corrupt < found.way().packets) {
    for (const Recovery* episode : episodes) switch (episode->cause) {
            case NakCause::corrupt: ++places_[{Kind::corrupt, episode->passed, episode->missed}]; break;
            case NakCause::lost_before_tap: ++places_[{Kind::before, episode->passed, episode->missed}]; break;
            case NakCause::lost_behind_tap: ++places_[{Kind::behind, episode->passed, {}}]; break;
            case NakCause::discarded_lost: ++discarded_; break;  // no loss of its own
            default: ++places_[{Kind::undecided, {}, {}}]; break;
        }
}

namespace {

std::string tap_of(HostNumber host, std::span<const CapturedHost> hosts) {
    const auto number = std::to_underlying(host);
    return number == 0 || number > hosts.size() ? "this tap" : fmt::format("the tap of {}", dissect::printable(hosts[number - 1].name));
}

}  // namespace

std::string timeouts_placed(const std::vector<const Recovery*>& episodes, std::span<const CapturedHost> hosts) {
    std::map<std::tuple<bool, HostNumber, HostNumber>, std::uint64_t> places;
    for (const Recovery* episode : episodes)
        if (episode->passed != HostNumber{} && episode->missed != HostNumber{}) ++places[{episode->missed_answer, episode->passed, episode->missed}];
    std::string out;
    for (const auto& [place, count] : places) {
        const auto& [answer, passed, missed] = place;
        out += fmt::format("; {} of them because {} lost between {} and {}", grouped(count), answer ? "the answer was" : "requests were",
                           tap_of(passed, hosts), tap_of(missed, hosts));
    }
    return out;
}

std::string LossPlace::tap(HostNumber host) const { return tap_of(host, hosts_); }

std::string LossPlace::words(const Place& place) const {
    const bool between = place.passed != HostNumber{} && place.missed != HostNumber{};
    switch (place.kind) {
        case Kind::before: return fmt::format("lost between {} and {}", between ? tap(place.passed) : from_, tap(place.missed));
        case Kind::corrupt:
            return between ? fmt::format("corrupted between {} and {}", tap(place.passed), tap(place.missed)) : fmt::format("corrupted before {}", tap(place.missed));
        case Kind::behind:
            return fmt::format("lost or reordered behind {}{}", tap(place.passed), unchecked_ ? ", or corrupted before it (ICRC not checked)" : "");
        case Kind::undecided: break;
    }
    return "undecided";
}

std::string LossPlace::text() const {
    if (places_.empty()) return {};
    if (places_.size() == 1 && discarded_ == 0) {
        const auto& [place, count] = *places_.begin();
        if (place.kind == Kind::undecided) return ", lost or late is undecided";
        return fmt::format(", {}{}", count == 1 ? "" : "all ", words(place));
    }
    std::string out;
    for (const auto& [place, count] : places_) out += fmt::format(", {} {}", grouped(count), words(place));
    if (discarded_ != 0) out += fmt::format(", {} discarded behind a lost one", grouped(discarded_));
    return out;
}

bool LossPlace::proven() const {
    for (const auto& [place, count] : places_)
        if (place.kind == Kind::behind || place.kind == Kind::undecided) return false;
    return true;
}

std::string LossPlace::anywhere() const {
    return fmt::format("Find the drops on the way from {} to {}: switch buffer and PFC drop counters of this priority, out_of_sequence and "
                       "rx_discards on the receiver (`rdma statistic`, `ethtool -S`), lossless class and ECN on every hop.",
                       from_, to_);
}

std::string LossPlace::advice(bool other_tap) const {
    if (places_.size() != 1) return anywhere();
    const Place& place = places_.begin()->first;
    if (place.kind == Kind::before && place.passed != HostNumber{})
        return fmt::format("Find the drops between {} and {}, which both captured: transmit discards where it passed (`ethtool -S`), buffer and "
                           "PFC drop counters of this priority on every switch between them, receive discards where it is missing; neither "
                           "application is their cause.",
                           tap(place.passed), tap(place.missed));
    if (place.kind == Kind::before)
        return fmt::format("Find the drops between {} and {}: its own transmit drops (`tc -s qdisc`, `ethtool -S`), then buffer and "
                           "PFC drop counters of this priority on every switch before the tap; the receiver is not their cause.",
                           from_, tap(place.missed));
    if (place.kind == Kind::behind)
        return fmt::format("Find the drops between {} and {}: buffer and PFC drop counters of this priority on every switch behind "
                           "the tap, then rx_discards and out_of_sequence on the receiver (`ethtool -S`, `rdma statistic`); {} "
                           "to tell loss from {}.",
                           tap(place.passed), to_,
                           unchecked_  ? "capture whole packets"
                           : other_tap ? "merge with the capture of the other tap (capture-duplicates), or capture at the receiver,"
                                       : "capture at the receiver",
                           unchecked_ ? "corruption" : "reordering");
    return anywhere();
}

bool is_selective(const std::vector<const Recovery*>& episodes) {
    bool shown = false;
    for (const Recovery* episode : episodes) {
        if (episode->inferred || episode->resent > std::max(episode->lost, 1U)) return false;
        const bool known = episode->cause == NakCause::lost_before_tap || episode->cause == NakCause::lost_behind_tap ||
                           episode->cause == NakCause::corrupt;
        shown = shown || (known && episode->resent != 0 && episode->end == RecoveryEnd::recovered);
    }
    return shown;
}

}  // namespace qps::transport
