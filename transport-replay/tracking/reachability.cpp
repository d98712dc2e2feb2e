#include <transport-replay/tracking/reachability.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:0:0/96
constexpr std::size_t kIpv6Header = 40;
constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58, kUdp = 17;
constexpr std::uint16_t kRoce = 4791;

Address ipv4_at(Bytes bytes, std::size_t at) { return {{0, kMapped | read_be<std::uint32_t>(bytes, at)}, AddressSpace::roce_v2}; }
Address ipv6_at(Bytes bytes, std::size_t at) {
    return {{read_be<std::uint64_t>(bytes, at), read_be<std::uint64_t>(bytes, at + 8)}, AddressSpace::roce_v2};
}
bool is_nobody(const Address& address) { return address.bits[0] == 0 && (address.bits[1] == 0 || address.bits[1] == kMapped); }
bool is_multicast(const Address& address) { return address.bits[0] >> 56U == 0xff; }

std::size_t header_of_ipv4(Bytes packet) { return std::size_t{4} * (read_be<std::uint8_t>(packet, 0) & 15U); }

}  // namespace

void ReachabilityTracker::observe(const Observation& observation) {
    const Bytes bytes = observation.payload;
    if (bytes.empty() || !observation.has_time) return;
    const unsigned version = read_be<std::uint8_t>(bytes, 0) >> 4U;
    if (version == 4 && read_be<std::uint8_t>(bytes, 9) == kIcmp) return take_error(observation, false, slice(bytes, header_of_ipv4(bytes)));
    if (version != 6) return take_arp(observation);
    if (read_be<std::uint8_t>(bytes, 6) != kIcmp6) return;
    const Bytes message = slice(bytes, kIpv6Header);
    take_error(observation, true, message);
    take_discovery(observation, message);
}

// RFC 826; who has an address says so without being asked (RFC 5227), who tries one has none yet.
void ReachabilityTracker::take_arp(const Observation& observation) {
    constexpr std::size_t kLength = 28;
    constexpr std::uint64_t kEthernetAndIpv4 = 0x0001'0800'0604;
    const Bytes arp = observation.payload;
    if (arp.size() < kLength || read_be<std::uint64_t>(arp, 0) >> 16U != kEthernetAndIpv4) return;
    const bool asks = read_be<std::uint16_t>(arp, 6) == 1;
    const Address sender = ipv4_at(arp, 14), target = ipv4_at(arp, 24);
    if (is_nobody(sender)) return;
    speaks(sender);
    if (asks && sender != target) return ask(observation, sender, target);
    if (!asks) answered(target);
}

// RFC 4861 4.3 and 4.4.
void ReachabilityTracker::take_discovery(const Observation& observation, Bytes message) {
    constexpr std::uint8_t kSolicitation = 135, kAdvertisement = 136;
    constexpr std::size_t kTarget = 8, kLength = 24;
    if (message.size() < kLength) return;
    const Address sender = ipv6_at(observation.payload, 8), receiver = ipv6_at(observation.payload, 24), target = ipv6_at(message, kTarget);
    const auto type = read_be<std::uint8_t>(message, 0);
    if (type == kAdvertisement) {
        speaks(target);
        if (!is_multicast(receiver)) answered(receiver);
    } else if (type == kSolicitation && !is_nobody(sender)) {
        speaks(sender);
        ask(observation, sender, target);
    }
}

void ReachabilityTracker::take_error(const Observation& observation, bool version_6, Bytes message) {
    constexpr std::uint8_t kUnreachable = 3, kFragmentationNeeded = 4, kUnreachable6 = 1, kTooBig6 = 2;
    constexpr std::size_t kQuoted = 8;
    const auto type = read_be<std::uint8_t>(message, 0), code = read_be<std::uint8_t>(message, 1);
    if (version_6 ? type != kUnreachable6 && type != kTooBig6 : type != kUnreachable) return;
    const Bytes quoted = slice(message, kQuoted);
    const std::size_t header = version_6 ? kIpv6Header : header_of_ipv4(quoted);
    const auto protocol = read_be<std::uint8_t>(quoted, version_6 ? 6 : 9);
    const bool right = quoted.size() >= header + 4 && header >= 20 && read_be<std::uint8_t>(quoted, 0) >> 4U == (version_6 ? 6U : 4U);
    if (!right || protocol != kUdp || read_be<std::uint16_t>(quoted, header + 2) != kRoce) return;
    const Bytes outer = observation.payload;
    IcmpError error;
    error.reporter = version_6 ? ipv6_at(outer, 8) : ipv4_at(outer, 12);
    error.source = version_6 ? ipv6_at(quoted, 8) : ipv4_at(quoted, 12);
    error.destination = version_6 ? ipv6_at(quoted, 24) : ipv4_at(quoted, 16);
    if ((version_6 ? ipv6_at(outer, 24) : ipv4_at(outer, 16)) != error.source) return;  // it is told to who sent the packet
    error.too_big = version_6 ? type == kTooBig6 : code == kFragmentationNeeded;
    error.code = version_6 && error.too_big ? 0 : code;
    if (error.too_big) error.mtu = version_6 ? read_be<std::uint32_t>(message, 4) : read_be<std::uint16_t>(message, 6);
    error.first = error.last = observation.frame;
    error.count = 1;
    add(error);
}

void ReachabilityTracker::ask(const Observation& observation, const Address& asker, const Address& target) {
    if (!asked_.contains(target) && asked_.size() >= kMaxAskedFor) {
        ++left_out_;
        return;
    }
    std::vector<UnansweredNeighbour>& askers = asked_[target];
    auto found = std::ranges::find(askers, asker, &UnansweredNeighbour::asker);
    if (found == askers.end()) {
        if (askers.size() >= kMaxAskers) {
            ++left_out_;
            return;
        }
        found = askers.emplace(askers.end());
        found->asker = asker;
        found->target = target;
        found->first = observation.frame;
        found->first_time = observation.time;
    }
    if (found->requests != 0 && observation.time - found->last_time < kSameRequest) return;
    ++found->requests;
    found->last = observation.frame;
    found->last_time = observation.time;
}

void ReachabilityTracker::answered(const Address& asker) {
    if (answered_.size() < kMaxAnswered) answered_.insert(asker);
}

void ReachabilityTracker::add(const IcmpError& error) {
    const ErrorKey key{error.source, error.destination, error.reporter, error.too_big, error.code};
    if (const auto found = errors_.find(key); found != errors_.end()) {
        IcmpError& known = found->second;
        ++known.count;
        known.last = error.last;
        if (error.mtu != 0) known.mtu = known.mtu == 0 ? error.mtu : std::min(known.mtu, error.mtu);
    } else if (errors_.size() < kMaxIcmpErrors) {
        errors_.emplace(key, error);
    } else {
        ++left_out_;
    }
}

ReachabilityReport ReachabilityTracker::finish(Instant now) {
    ReachabilityReport report;
    for (auto& [target, askers] : asked_)
        for (UnansweredNeighbour& one : askers) {
            one.rest = now - one.last_time;
            one.answers_are_heard = answered_.contains(one.asker);
            if (one.requests >= kRequestsInVain && one.rest >= kNeighbourTime) report.neighbours.push_back(one);
        }
    std::ranges::sort(report.neighbours, {}, [](const UnansweredNeighbour& one) { return std::pair{one.asker, one.target}; });
    for (const auto& [key, error] : errors_) report.errors.push_back(error);
    report.left_out = left_out_;
    return report;
}

}  // namespace qps::transport
