#include <dissect/packet/render_value.hpp>
#include <transport-replay/findings/loss_place.hpp>
#include <transport-replay/model/losses.hpp>
#include <transport-replay/report/words.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

namespace {

constexpr FactRow kPlace{"place", Unit::text, "where all of them were lost"};
constexpr FactRow kPlaces{"places", Unit::list, "where they were lost, with how many"};
constexpr FactRow kBeforeTap{"lost_before_tap", Unit::count,
                             "loss events between the sender and the tap, or between two taps"};
constexpr FactRow kBehindTap{"lost_behind_tap", Unit::count,
                             "loss events behind the tap; reordering is not excluded there"};
constexpr FactRow kCorruptedBeforeTap{"corrupted_before_tap", Unit::count,
                                      "loss events of packets whose ICRC was wrong at the tap"};
constexpr FactRow kPlaceUndecided{
    "place_undecided", Unit::count,
    "loss events of which the capture does not tell where, or whether the packet was only late"};
constexpr FactRow kDiscarded{"discarded_behind_lost", Unit::count,
                             "loss events of packets that were discarded behind a lost one"};
constexpr FactRow kPassedTap{"passed_tap", Unit::text, "the last tap that the lost packets passed"};
constexpr FactRow kMissedTap{"missed_tap", Unit::text, "the first tap that they did not pass"};
constexpr FactRow kUnchecked{"icrc_unchecked", Unit::flag,
                             "the ICRC of packets that passed the tap could not be checked"};
constexpr std::array kFacts{&kPlace,          &kPlaces,    &kBeforeTap, &kBehindTap, &kCorruptedBeforeTap,
                            &kPlaceUndecided, &kDiscarded, &kPassedTap, &kMissedTap, &kUnchecked};

constexpr std::string_view kAnywhere =
    "Find the drops on the way from {requester:host} to {responder:host}: switch buffer and PFC drop counters of this priority, out_of_sequence and "
    "rx_discards on the receiver (`rdma statistic`, `ethtool -S`), lossless class and ECN on every hop.";
constexpr std::string_view kBetweenTaps =
    "Find the drops between {passed_tap} and {missed_tap}, which both captured: transmit discards where it passed (`ethtool -S`), buffer and "
    "PFC drop counters of this priority on every switch between them, receive discards where it is missing; neither application is their cause.";
constexpr std::string_view kBefore =
    "Find the drops between {requester:host} and {missed_tap}: its own transmit drops (`tc -s qdisc`, `ethtool -S`), then buffer and "
    "PFC drop counters of this priority on every switch before the tap; the receiver is not their cause.";
constexpr std::string_view kBehind =
    "Find the drops between {passed_tap} and {responder:host}: buffer and PFC drop counters of this priority on every switch behind "
    "the tap, then rx_discards and out_of_sequence on the receiver (`ethtool -S`, `rdma statistic`); "
    "[icrc_unchecked?capture whole packets to tell loss from corruption|[other_tap?merge with the capture of the other tap (capture-duplicates), or ]capture at "
    "the receiver[other_tap?,] to tell loss from reordering].";

}  // namespace

std::span<const FactRow* const> loss_place_facts() { return kFacts; }

LossPlace::LossPlace(const Episodes& found, const std::vector<const Recovery*>& episodes,
                     std::span<const CapturedHost> hosts)
    : from_(words::host(found.from())),
      hosts_(hosts),
      unchecked_(found.way().intact + found.way().incidents->corrupt < found.way().packets) {
    for (const Recovery* episode : episodes) switch (episode->cause) {
            case NakCause::corrupt: ++places_[{Kind::corrupt, episode->passed, episode->missed, {}}]; break;
            case NakCause::lost_before_tap: ++places_[{Kind::before, episode->passed, episode->missed, {}}]; break;
            case NakCause::lost_behind_tap: ++places_[{Kind::behind, episode->passed, {}, {}}]; break;
            case NakCause::discarded_lost: ++discarded_; break;  // no loss of its own
            default: ++places_[{Kind::undecided, {}, {}, episode->left}]; break;
        }
}

namespace {

std::string tap_of(HostNumber host, std::span<const CapturedHost> hosts) {
    const auto number = std::to_underlying(host);
    return number == 0 || number > hosts.size()
               ? "this tap"
               : fmt::format("the tap of {}", dissect::printable(hosts[number - 1].name));
}

}  // namespace

std::vector<std::string> timeouts_placed(const std::vector<const Recovery*>& episodes,
                                         std::span<const CapturedHost> hosts) {
    std::map<std::tuple<bool, HostNumber, HostNumber>, std::uint64_t> places;
    for (const Recovery* episode : episodes)
        if (episode->passed != HostNumber{} && episode->missed != HostNumber{})
            ++places[{episode->missed_answer, episode->passed, episode->missed}];
    std::vector<std::string> out;
    for (const auto& [place, count] : places) {
        const auto& [answer, passed, missed] = place;
        out.push_back(fmt::format("{} of them because {} lost between {} and {}", grouped(count),
                                  answer ? "the answer was" : "requests were", tap_of(passed, hosts),
                                  tap_of(missed, hosts)));
    }
    return out;
}

namespace {

bool is_anything(PsnDispositions left) { return left.empty() || left == kAllDispositions; }

// "lost before this tap or late"; what nothing at all is known of is lost or late.
std::string left_words(PsnDispositions left) {
    constexpr std::array<std::string_view, kDispositionNames.size()> kWords{
        "lost before this tap", "lost behind this tap", "corrupted", "late",
        "late behind this tap", "missed by the capture"};
    if (is_anything(left)) return "lost or late";
    std::vector<std::string> words;
    for (std::size_t i = 0; i < kWords.size(); ++i)
        if (left.has(static_cast<PsnDisposition>(i))) words.emplace_back(kWords[i]);
    std::string text = words.front();
    for (std::size_t i = 1; i < words.size(); ++i) text += (i + 1 == words.size() ? " or " : ", ") + words[i];
    return text;
}

}  // namespace

std::string LossPlace::tap(HostNumber host) const { return tap_of(host, hosts_); }

std::string LossPlace::words(const Place& place) const {
    const bool between = place.passed != HostNumber{} && place.missed != HostNumber{};
    switch (place.kind) {
        case Kind::before:
            return fmt::format("lost between {} and {}", between ? tap(place.passed) : from_, tap(place.missed));
        case Kind::corrupt:
            return between ? fmt::format("corrupted between {} and {}", tap(place.passed), tap(place.missed))
                           : fmt::format("corrupted before {}", tap(place.missed));
        case Kind::behind:
            return fmt::format("lost or reordered behind {}{}", tap(place.passed),
                               unchecked_ ? ", or corrupted before it (ICRC not checked)" : "");
        case Kind::undecided: break;
    }
    return is_anything(place.left) ? "undecided" : left_words(place.left) + " (undecided)";
}

Facts LossPlace::facts() const {
    std::array<std::uint64_t, 4> of_kind{};
    for (const auto& [place, count] : places_) of_kind[static_cast<std::size_t>(place.kind)] += count;
    const auto events = [&](Kind kind) { return nonzero(of_kind[static_cast<std::size_t>(kind)]); };
    Facts facts{{kBeforeTap, events(Kind::before)},
                {kBehindTap, events(Kind::behind)},
                {kCorruptedBeforeTap, events(Kind::corrupt)},
                {kPlaceUndecided, events(Kind::undecided)},
                {kDiscarded, nonzero(discarded_)},
                {kUnchecked, unchecked_}};
    if (places_.empty()) return facts;
    if (places_.size() == 1) {
        facts.emplace_back(kPassedTap, tap(places_.begin()->first.passed));
        facts.emplace_back(kMissedTap, tap(places_.begin()->first.missed));
    }
    if (places_.size() == 1 && discarded_ == 0) {
        const auto& [place, count] = *places_.begin();
        facts.emplace_back(kPlace, place.kind == Kind::undecided
                                       ? left_words(place.left) + " is undecided"
                                       : fmt::format("{}{}", count == 1 ? "" : "all ", words(place)));
        return facts;
    }
    std::vector<std::string> places;
    for (const auto& [place, count] : places_) places.push_back(fmt::format("{} {}", grouped(count), words(place)));
    if (discarded_ != 0) places.push_back(fmt::format("{} discarded behind a lost one", grouped(discarded_)));
    facts.emplace_back(kPlaces, std::move(places));
    return facts;
}

bool LossPlace::proven() const {
    for (const auto& [place, count] : places_)
        if (place.kind == Kind::behind || place.kind == Kind::undecided) return false;
    return true;
}

std::string_view LossPlace::advice() const {
    if (places_.size() != 1) return kAnywhere;
    switch (const Place& place = places_.begin()->first; place.kind) {
        case Kind::before: return place.passed != HostNumber{} ? kBetweenTaps : kBefore;
        case Kind::behind: return kBehind;
        default: return kAnywhere;
    }
}

bool is_selective(const Way& way, const std::vector<const Recovery*>& episodes) {
    if (lacks_a_part(way)) return false;  // the rest of a go-back may be what it lacks
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
