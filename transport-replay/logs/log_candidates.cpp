// Which connections of a capture a line of a log may be about: hosts, queue pairs and errors that fit, weighed.
#include <transport-replay/logs/log_candidates.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qps::transport {

namespace {

// Both hosts say more than a queue pair number, which other hosts have too; the error decides among equals.
constexpr int kHostWeight = 4;
constexpr int kQueuePairWeight = 6;
constexpr int kErrorWeight = 3;

// How often what the line complains of happened to each connection.
using Fits = std::map<ConnectionId, std::uint64_t>;

std::uint8_t nak_code(Complaint complaint) {
    constexpr std::uint8_t kInvalidRequest = 1;
    constexpr std::uint8_t kRemoteAccess = 2;
    constexpr std::uint8_t kRemoteOperation = 3;
    if (complaint == Complaint::remote_access) return kRemoteAccess;
    return complaint == Complaint::remote_operation ? kRemoteOperation : kInvalidRequest;
}

Fits fits_of(Complaint complaint, const Timeline& timeline) {
    Fits fits;
    const auto count = [&](auto of) {
        for (const Connection& connection : timeline.connections)
            if (const std::uint64_t number = of(connection.ways[0]) + of(connection.ways[1]); number != 0) fits[connection.uid] = number;
    };
    switch (complaint) {
        case Complaint::retries_exceeded: count([](const Way& way) { return way.incidents->recovery(RecoveryKind::timeout).triggers; }); break;
        case Complaint::rnr_retries_exceeded: count([](const Way& way) { return way.incidents->rnr_naks; }); break;
        case Complaint::remote_access:
        case Complaint::remote_invalid_request:
        case Complaint::remote_operation:
            for (const Fatality& fatality : timeline.fatalities)
                if (fatality.nak_code == nak_code(complaint)) ++fits[fatality.connection];
            break;
        case Complaint::flushed:
            for (const Connection& connection : timeline.connections)
                if (connection.failed) fits[connection.uid] = 1;
            break;
        case Complaint::local: break;
    }
    return fits;
}

std::string fit_text(Complaint complaint, std::uint64_t count) {
    switch (complaint) {
        case Complaint::retries_exceeded: return counted(count, "timeout");
        case Complaint::rnr_retries_exceeded: return counted(count, "RNR NAK");
        case Complaint::flushed: return "it failed";
        default: return fmt::format("refused: {}", nak_text(nak_code(complaint)));
    }
}

bool same_host(const Address& named, const Address& seen) {
    const bool lid = named.space == AddressSpace::infiniband_lid;
    return named.bits == seen.bits && lid == (seen.space == AddressSpace::infiniband_lid);
}

struct Weighed {
    Candidate candidate;
    int weight = 0;
    std::uint64_t fits = 0;
};

Weighed weigh(const LogLine& line, const Connection& connection, const Fits& fits) {
    Weighed weighed{{connection.uid, {}}, 0, 0};
    std::vector<std::string> reasons;
    std::vector<std::string> hosts;
    for (const Endpoint& end : connection.ends) {
        if (std::ranges::any_of(line.addresses, [&](const Address& address) { return same_host(address, end.address); }))
            hosts.push_back(text(end.address));
        if (end.qpn && std::ranges::find(line.qpns, *end.qpn) != line.qpns.end()) {
            reasons.push_back(fmt::format("QP {} of {}", std::to_underlying(*end.qpn), text(end.address)));
            weighed.weight += kQueuePairWeight;
        }
    }
    weighed.weight += kHostWeight * static_cast<int>(hosts.size());
    if (!hosts.empty()) reasons.insert(reasons.begin(), hosts.size() == 2 ? "both hosts" : fmt::format("host {}", hosts[0]));
    if (!line.complaint) {
    } else if (const auto fit = fits.find(connection.uid); fit != fits.end()) {
        if (weighed.weight != 0 || (line.addresses.empty() && line.qpns.empty())) weighed.weight += kErrorWeight;
        weighed.fits = fit->second;
        reasons.push_back(fit_text(*line.complaint, fit->second));
    } else if (*line.complaint != Complaint::local) {
        reasons.emplace_back("but that error was not captured");
    }
    weighed.candidate.reasons = fmt::format("{}", fmt::join(reasons, "; "));
    return weighed;
}

}  // namespace

std::vector<Candidate> candidates_for(const LogLine& line, const Timeline& timeline) {
    const Fits fits = line.complaint ? fits_of(*line.complaint, timeline) : Fits{};
    std::vector<Weighed> all;
    for (const Connection& connection : timeline.connections)
        if (Weighed weighed = weigh(line, connection, fits); weighed.weight != 0) all.push_back(std::move(weighed));
    std::ranges::sort(all, [](const Weighed& a, const Weighed& b) {
        return std::tuple(-a.weight, ~a.fits, a.candidate.connection) < std::tuple(-b.weight, ~b.fits, b.candidate.connection);
    });
    std::vector<Candidate> candidates;
    for (Weighed& weighed : all) candidates.push_back(std::move(weighed.candidate));
    return candidates;
}

}  // namespace qps::transport
