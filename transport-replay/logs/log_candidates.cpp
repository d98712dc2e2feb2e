// Which connections of a capture a line of a log may be about: hosts, queue pairs and errors that fit, weighed.
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

using dissect::Duration;
using dissect::Instant;

namespace {

// Both hosts say more than a queue pair number, which other hosts have too; the error decides among equals.
constexpr int kHostWeight = 4;
constexpr int kQueuePairWeight = 6;
constexpr int kErrorWeight = 3;

// How often what the line complains of happened to each connection, and when, as far as episodes were kept.
struct Fit {
    std::uint64_t count = 0;
    std::vector<Instant> times;
};
using Fits = std::map<ConnectionId, Fit>;

std::uint8_t nak_code(Complaint complaint) {
    constexpr std::uint8_t kInvalidRequest = 1;
    constexpr std::uint8_t kRemoteAccess = 2;
    constexpr std::uint8_t kRemoteOperation = 3;
    if (complaint == Complaint::remote_access || complaint == Complaint::own_access) return kRemoteAccess;
    return complaint == Complaint::remote_operation ? kRemoteOperation : kInvalidRequest;
}

void add_recoveries(Fits& fits, const Timeline& timeline, RecoveryKind kind) {
    for (const Recovery& episode : timeline.recoveries)
        if (const auto fit = fits.find(episode.connection); fit != fits.end() && episode.kind == kind) {
            fit->second.times.push_back(episode.resumed_time);
            fit->second.times.push_back(episode.time.end());
        }
}

Fits fits_of(Complaint complaint, const Timeline& timeline) {
    Fits fits;
    const auto count = [&](auto of) {
        for (const Connection& connection : timeline.connections)
            if (const std::uint64_t number = of(connection.ways[0]) + of(connection.ways[1]); number != 0)
                fits[connection.uid] = {number, {}};
    };
    const auto count_refused = [&](auto fitting) {
        for (const Fatality& fatality : timeline.fatalities)
            if (fitting(fatality)) {
                ++fits[fatality.connection].count;
                fits[fatality.connection].times.push_back(fatality.time);
            }
    };
    switch (complaint) {
        case Complaint::retries_exceeded:
            count([](const Way& way) { return way.incidents->recovery(RecoveryKind::timeout).triggers; });
            add_recoveries(fits, timeline, RecoveryKind::timeout);
            break;
        case Complaint::rnr_retries_exceeded:
            count([](const Way& way) { return way.incidents->rnr_naks; });
            add_recoveries(fits, timeline, RecoveryKind::rnr_nak);
            break;
        case Complaint::remote_access:
        case Complaint::remote_invalid_request:
        case Complaint::remote_operation:
        case Complaint::own_invalid_request:
        case Complaint::own_access:
            count_refused([&](const Fatality& fatality) { return fatality.nak_code == nak_code(complaint); });
            break;
        case Complaint::local:  // of the responder, whose peer was refused
        case Complaint::queue_pair_error: count_refused([](const Fatality&) { return true; }); break;
        case Complaint::flushed:
            for (const Connection& connection : timeline.connections)
                if (connection.failed) fits[connection.uid].count = 1;
            break;
        case Complaint::bad_response:
        case Complaint::other:
        case Complaint::port:
        case Complaint::rejected:
        case Complaint::unreachable: break;
    }
    return fits;
}

// Whether a capture shows what the line complains of where it happened.
bool shows_on_wire(Complaint complaint) {
    switch (complaint) {
        case Complaint::retries_exceeded:
        case Complaint::rnr_retries_exceeded:
        case Complaint::remote_access:
        case Complaint::remote_invalid_request:
        case Complaint::remote_operation:
        case Complaint::own_invalid_request:
        case Complaint::own_access:
        case Complaint::flushed:
        case Complaint::rejected:
        case Complaint::unreachable: return true;
        default: return false;
    }
}

std::string fit_text(Complaint complaint, std::uint64_t count) {
    switch (complaint) {
        case Complaint::retries_exceeded: return counted(count, "timeout");
        case Complaint::rnr_retries_exceeded: return counted(count, "RNR NAK");
        case Complaint::flushed: return "it failed";
        case Complaint::local:
        case Complaint::queue_pair_error: return "a request was refused";
        default: return fmt::format("refused: {}", nak_text(nak_code(complaint)));
    }
}

bool same_host(const Address& named, const Address& seen) {
    const bool lid = named.space == AddressSpace::infiniband_lid;
    return named.bits == seen.bits && lid == (seen.space == AddressSpace::infiniband_lid);
}

// From the line to the nearest of what happened; where nothing is known to have happened, to the life of the
// connection.
Duration distance_to(const LineMoment& moment, const Fit* fit, Instant first, Instant last) {
    if (fit != nullptr && !fit->times.empty()) {
        Duration least = magnitude(moment.time - fit->times.front());
        for (const Instant time : fit->times) least = std::min(least, magnitude(moment.time - time));
        return least;
    }
    if (moment.time < first) return first - moment.time;
    return moment.time > last ? moment.time - last : Duration{};
}

// Clocks of hosts and of taps differ by parts of a second: what is so near is equally near.
std::int64_t seconds_of(Duration distance) {
    return static_cast<std::int64_t>(distance) / dissect::kNanosecondsPerSecond;
}

std::string distance_text(const LineMoment& moment, const Fit& fit) {
    if (fit.times.empty()) return {};
    const auto nearest = std::ranges::min(fit.times, {}, [&](Instant time) { return magnitude(moment.time - time); });
    return fmt::format(", {} {} the line", duration_text(magnitude(moment.time - nearest)),
                       nearest <= moment.time ? "before" : "after");
}

struct Weighed {
    Candidate candidate;
    int weight = 0;
    std::int64_t seconds = 0;  // from the line
    std::uint64_t fits = 0;
};

// What of its two ends a line names.
struct Named {
    int weight = 0;
    std::vector<std::string> reasons;
};

template <class Ends> Named named_of(const LogLine& line, const Ends& ends) {
    Named named;
    std::vector<std::string> hosts;
    for (const auto& end : ends) {
        if (std::ranges::any_of(line.addresses,
                                [&](const Address& address) { return same_host(address, end.address); }))
            hosts.push_back(text(end.address));
        if (end.qpn && std::ranges::find(line.qpns, *end.qpn) != line.qpns.end()) {
            named.reasons.push_back(fmt::format("QP {} of {}", std::to_underlying(*end.qpn), text(end.address)));
            named.weight += kQueuePairWeight;
        }
    }
    named.weight += kHostWeight * static_cast<int>(hosts.size());
    if (!hosts.empty())
        named.reasons.insert(named.reasons.begin(),
                             hosts.size() == 2 ? "both hosts" : fmt::format("host {}", hosts[0]));
    return named;
}

Weighed weigh(const LogLine& line, const Connection& connection, const Fits& fits,
              const std::optional<LineMoment>& moment) {
    Named named = named_of(line, connection.ends);
    Weighed weighed{{.connection = connection.uid, .reasons = {}, .named = named.weight != 0}, named.weight, 0, 0};
    const auto found = fits.find(connection.uid);
    const Fit* fit = found == fits.end() ? nullptr : &found->second;
    if (!line.complaint) {
    } else if (fit != nullptr) {
        // A local error is nothing to look for in all connections.
        const bool alone = line.addresses.empty() && line.qpns.empty() && shows_on_wire(*line.complaint);
        if (weighed.weight != 0 || alone) weighed.weight += kErrorWeight;
        weighed.fits = fit->count;
        named.reasons.push_back(fit_text(*line.complaint, fit->count) +
                                (moment ? distance_text(*moment, *fit) : std::string()));
    } else if (shows_on_wire(*line.complaint)) {
        named.reasons.emplace_back("but that error was not captured");
    }
    if (moment)
        weighed.seconds = seconds_of(distance_to(*moment, fit, connection.first_time(), connection.last_time()));
    weighed.candidate.reasons = fmt::format("{}", fmt::join(named.reasons, "; "));
    return weighed;
}

bool is_outcome_of(const LogLine& line, const CmAttempt& attempt) {
    if (line.complaint == Complaint::unreachable) return attempt.outcome == CmOutcome::no_answer;
    if (line.complaint != Complaint::rejected || !attempt.rejection) return false;
    return !line.reject_reason || *line.reject_reason == attempt.rejection->reason;
}

std::string outcome_text(const CmAttempt& attempt) {
    return attempt.rejection ? rejection_text(attempt) : std::string("the REQ was not answered");
}

}  // namespace

std::optional<LineMoment> moment_of(const LogTime& time, const Timeline& timeline) {
    constexpr std::int64_t kSecond = dissect::kNanosecondsPerSecond;
    constexpr Duration kFar{3600 * kSecond};  // before or after the capture
    if (time.clock == LogClock::boot || !timeline.first || !timeline.last) return std::nullopt;
    const auto outside = [&](Instant at) {
        return at < *timeline.first ? *timeline.first - at : at > *timeline.last ? at - *timeline.last : Duration{};
    };
    LineMoment moment{time.time, {}};
    if (time.clock == LogClock::local) {
        // The zone that brings it closest to the packets, a whole number of hours before others: a quarter of an hour
        // counts little.
        constexpr std::int64_t kQuarter = 900 * kSecond;
        constexpr std::int64_t kMostQuarters = 14 * 4;
        const auto rank = [&](std::int64_t quarters) {
            return std::tuple(outside(time.time + Duration{quarters * kQuarter}), quarters % 4 != 0,
                              std::abs(quarters));
        };
        std::int64_t best = 0;
        for (std::int64_t quarters = -kMostQuarters; quarters <= kMostQuarters; ++quarters)
            if (rank(quarters) < rank(best)) best = quarters;
        moment = {time.time + Duration{best * kQuarter}, Duration{best * kQuarter}};
    }
    return outside(moment.time) > kFar ? std::nullopt : std::optional(moment);
}

std::string text(const LineMoment& moment, const Timeline& timeline) {
    const Instant first = timeline.first.value_or(moment.time);
    std::string text = moment.time < first ? fmt::format("{} before the capture", duration_text(first - moment.time))
                                           : fmt::format("{} into the capture", duration_text(moment.time - first));
    if (moment.shift != Duration{})
        text += fmt::format(" (local time, moved by {}{})", moment.shift < Duration{} ? "-" : "+",
                            duration_text(magnitude(moment.shift)));
    return text;
}

std::vector<Candidate> candidates_for(const LogLine& line, const Timeline& timeline, std::optional<LineMoment> moment) {
    const Fits fits = line.complaint ? fits_of(*line.complaint, timeline) : Fits{};
    std::vector<Weighed> all;
    for (const Connection& connection : timeline.connections)
        if (Weighed weighed = weigh(line, connection, fits, moment); weighed.weight != 0)
            all.push_back(std::move(weighed));
    std::ranges::sort(all, [](const Weighed& a, const Weighed& b) {
        return std::tuple(-a.weight, a.seconds, ~a.fits, a.candidate.connection) <
               std::tuple(-b.weight, b.seconds, ~b.fits, b.candidate.connection);
    });
    std::vector<Candidate> candidates;
    for (Weighed& weighed : all) {
        weighed.candidate.weight = weighed.weight;
        candidates.push_back(std::move(weighed.candidate));
    }
    return candidates;
}

std::vector<AttemptCandidate> attempt_candidates_for(const LogLine& line, const Timeline& timeline,
                                                     std::optional<LineMoment> moment) {
    struct Row {
        int weight;
        std::int64_t seconds;
        AttemptCandidate candidate;
    };
    const bool names_any = !line.addresses.empty() || !line.qpns.empty();
    std::vector<Row> rows;
    for (const CmAttempt& attempt : timeline.cm.attempts) {
        if (!is_outcome_of(line, attempt)) continue;
        Named named = named_of(line, std::array{attempt.active, attempt.passive});
        if (names_any && named.weight == 0) continue;
        named.reasons.push_back(outcome_text(attempt));
        const Duration distance = moment ? magnitude(moment->time - attempt.last_time) : Duration{};
        rows.push_back(
            {named.weight, seconds_of(distance), {attempt.uid, fmt::format("{}", fmt::join(named.reasons, "; "))}});
    }
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
        return std::tuple(-a.weight, a.seconds, a.candidate.attempt) <
               std::tuple(-b.weight, b.seconds, b.candidate.attempt);
    });
    std::vector<AttemptCandidate> candidates;
    for (Row& row : rows) candidates.push_back(std::move(row.candidate));
    return candidates;
}

}  // namespace qps::transport
