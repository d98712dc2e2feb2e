#include <transport-replay/watch/reachability.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:0:0/96
constexpr std::size_t kIpv6Header = 40;
constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58, kUdpProtocol = 17;
constexpr std::uint16_t kRoceUdpPort = 4791;

Address ipv4_at(Bytes bytes, std::size_t at) {
    return {{0, kMapped | read_be<std::uint32_t>(bytes, at)}, AddressSpace::roce_v2};
}
Address ipv6_at(Bytes bytes, std::size_t at) {
    return {{read_be<std::uint64_t>(bytes, at), read_be<std::uint64_t>(bytes, at + 8)}, AddressSpace::roce_v2};
}
bool is_nobody(const Address& address) {
    return address.bits[0] == 0 && (address.bits[1] == 0 || address.bits[1] == kMapped);
}

Address mac_address(std::uint64_t mac) { return {{0, mac}, AddressSpace::ethernet}; }
bool is_group(std::uint64_t mac) {
    constexpr unsigned kGroupBit = 40;
    return (mac >> kGroupBit & 1U) != 0;
}
std::uint64_t mac_at(Bytes bytes, std::size_t at) { return read_be<std::uint64_t>(bytes, at) >> 16U; }

// Of neighbour discovery, where its first option is one of that type: 1 source, 2 target (RFC 4861 4.6.1). 0: there is
// none.
std::uint64_t link_layer_address(Bytes message, std::uint8_t type) {
    constexpr std::size_t kOption = 24, kLength = 8;
    if (message.size() < kOption + kLength || read_be<std::uint8_t>(message, kOption) != type ||
        read_be<std::uint8_t>(message, kOption + 1) != 1)
        return 0;
    return read_be<std::uint64_t>(message, kOption) & 0xffff'ffff'ffff;
}

// Where as much of a BTH is quoted, that it may be one: its version is 0, so is what is reserved.
bool may_be_roce(Bytes udp) {
    constexpr std::size_t kHeader = 8, kBth = 12;
    if (udp.size() < kHeader + kBth) return true;
    const Bytes bth = slice(udp, kHeader);
    const bool reserved = (read_be<std::uint8_t>(bth, 1) & 0x0fU) != 0 ||
                          (read_be<std::uint8_t>(bth, 4) & 0x3fU) != 0 || (read_be<std::uint8_t>(bth, 8) & 0x7fU) != 0;
    return !reserved && info(Opcode{read_be<std::uint8_t>(bth, 0)}).defined;
}

std::size_t header_of_ipv4(Bytes packet) { return std::size_t{4} * (read_be<std::uint8_t>(packet, 0) & 15U); }

}  // namespace

void ReachabilityTracker::observe(const Observation& observation, bool in_turn) {
    if (!observation.has_time) return;
    if (Recording* const recording = recording_of(place_of(observation)))
        recording->last = std::max(recording->last, observation.time);
    speaks(observation.flow.source);  // of ARP, nobody
    const Bytes bytes = observation.payload;
    if (!observation.about_hosts || bytes.empty()) return;
    const unsigned version = read_be<std::uint8_t>(bytes, 0) >> 4U;
    if (version == 4 && read_be<std::uint8_t>(bytes, 9) == kIcmp)
        return take_error(observation, false, slice(bytes, header_of_ipv4(bytes)));
    if (version != 6) return take_arp(observation, in_turn);
    if (read_be<std::uint8_t>(bytes, 6) != kIcmp6) return;
    const Bytes message = slice(bytes, kIpv6Header);
    take_error(observation, true, message);
    take_discovery(observation, message, in_turn);
}

// RFC 826; who has an address says so without being asked (RFC 5227), who tries one has none yet.
void ReachabilityTracker::take_arp(const Observation& observation, bool in_turn) {
    constexpr std::size_t kLength = 28;
    constexpr std::uint64_t kEthernetAndIpv4 = 0x0001'0800'0604;
    const Bytes arp = observation.payload;
    if (arp.size() < kLength || read_be<std::uint64_t>(arp, 0) >> 16U != kEthernetAndIpv4) return;
    const bool asks = read_be<std::uint16_t>(arp, 6) == 1;
    const Address sender = ipv4_at(arp, 14), target = ipv4_at(arp, 24);
    if (is_nobody(sender)) return;
    const std::uint64_t mac = mac_at(arp, 8);
    if (!asks && sender != target) claim(observation, sender, mac, mac_at(arp, 18));
    speaks(sender);
    hear(observation, mac, sender);
    if (asks && sender != target && in_turn) ask(observation, sender, target, mac);
}

// RFC 4861 4.3 and 4.4.
void ReachabilityTracker::take_discovery(const Observation& observation, Bytes message, bool in_turn) {
    constexpr std::uint8_t kSolicitation = 135, kAdvertisement = 136, kOverride = 0x20;
    constexpr std::size_t kTarget = 8, kLength = 24;
    if (message.size() < kLength) return;
    const Address sender = ipv6_at(observation.payload, 8), target = ipv6_at(message, kTarget);
    const auto type = read_be<std::uint8_t>(message, 0);
    if (type == kAdvertisement) {
        // Who is not alone with an address, or answers for others, does not override (RFC 4861 7.2.7, 7.2.8).
        const bool override = (read_be<std::uint8_t>(message, 4) & kOverride) != 0;
        if (override) claim(observation, target, link_layer_address(message, 2), observation.link_destination);
        speaks(target);
        hear(observation, link_layer_address(message, 2), target);
    } else if (type == kSolicitation && !is_nobody(sender)) {
        const std::uint64_t mac = link_layer_address(message, 1);
        speaks(sender);
        hear(observation, mac, sender);
        if (in_turn) ask(observation, sender, target, mac);
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
    const bool right =
        quoted.size() >= header + 4 && header >= 20 && read_be<std::uint8_t>(quoted, 0) >> 4U == (version_6 ? 6U : 4U);
    if (!right || protocol != kUdpProtocol || read_be<std::uint16_t>(quoted, header + 2) != kRoceUdpPort) return;
    constexpr std::uint16_t kFragmentOffset = 0x1fff;
    if (!version_6 && (read_be<std::uint16_t>(quoted, 6) & kFragmentOffset) != 0) return;  // no UDP header
    if (!may_be_roce(slice(quoted, header))) return;
    const Bytes outer = observation.payload;
    IcmpError error;
    error.reporter = version_6 ? ipv6_at(outer, 8) : ipv4_at(outer, 12);
    error.source = version_6 ? ipv6_at(quoted, 8) : ipv4_at(quoted, 12);
    error.destination = version_6 ? ipv6_at(quoted, 24) : ipv4_at(quoted, 16);
    if ((version_6 ? ipv6_at(outer, 24) : ipv4_at(outer, 16)) != error.source)
        return;  // it is told to who sent the packet
    error.too_big = version_6 ? type == kTooBig6 : code == kFragmentationNeeded;
    error.code = version_6 && error.too_big ? 0 : code;
    if (error.too_big) error.mtu = version_6 ? read_be<std::uint32_t>(message, 4) : read_be<std::uint16_t>(message, 6);
    // Of a packet that is no longer than the MTU it cannot be true (RFC 1191 3, RFC 4443 3.2); 0 is no MTU, and no
    // length.
    const std::size_t length =
        version_6 ? kIpv6Header + read_be<std::uint16_t>(quoted, 4) : read_be<std::uint16_t>(quoted, 2);
    if (error.mtu != 0 && length != 0 && error.mtu >= length) return;
    error.first = error.last = observation.frame;
    error.first_time = error.last_time = observation.time;
    error.count = 1;
    add(error);
}

ReachabilityTracker::Recording* ReachabilityTracker::recording_of(const Place& place) {
    const Place any_vlan{place.file, place.interface, 0};
    const auto found = std::ranges::find(recordings_, any_vlan, &Recording::place);
    if (found != recordings_.end()) return &*found;
    return recordings_.size() < kMaxRecordings ? &recordings_.emplace_back(Recording{any_vlan, {}}) : nullptr;
}

void ReachabilityTracker::ask(const Observation& observation, const Address& asker, const Address& target,
                              std::uint64_t mac) {
    if (!asked_.contains(target) && asked_.size() >= kMaxAskedFor) {
        ++left_out_;
        return;
    }
    const Place place = place_of(observation);
    std::vector<Asked>& askers = asked_[target];
    auto found = std::ranges::find_if(
        askers, [&](const Asked& one) { return one.report.asker == asker && one.place == place && one.mac == mac; });
    if (found == askers.end()) {
        if (askers.size() >= kMaxAskers) {
            ++left_out_;
            return;
        }
        found = askers.emplace(askers.end(), Asked{{}, place, mac});
        found->report.asker = asker;
        found->report.target = target;
        found->report.tagged = observation.pcp != kNoPcp;
        found->report.first = observation.frame;
        found->report.first_time = observation.time;
    }
    UnansweredNeighbour& report = found->report;
    if (report.requests != 0 && observation.time - report.last_time < kSameRequest) return;
    ++report.requests;
    report.last = observation.frame;
    report.last_time = observation.time;
}

void ReachabilityTracker::hear(const Observation& observation, std::uint64_t sender, const Address& host) {
    const std::uint64_t receiver = observation.link_destination;
    if (sender == 0 || receiver == 0 || sender == receiver || is_group(receiver)) return;
    const std::pair key(place_of(observation), receiver);
    const auto found = listeners_.find(key);
    if (found != listeners_.end()) found->second.several |= found->second.sender != sender;
    else if (listeners_.size() < kMaxListeners) listeners_.emplace(key, Listener{sender, host, false});
}

void ReachabilityTracker::add(const IcmpError& error) {
    const ErrorKey key{error.source, error.destination, error.reporter, error.too_big, error.code};
    if (const auto found = errors_.find(key); found != errors_.end()) {
        IcmpError& known = found->second;
        ++known.count;
        known.last = error.last;
        known.last_time = error.last_time;
        if (error.mtu != 0) known.mtu = known.mtu == 0 ? error.mtu : std::min(known.mtu, error.mtu);
    } else if (errors_.size() < kMaxIcmpErrors) {
        errors_.emplace(key, error);
    } else {
        ++left_out_;
    }
}

// An answer to one host alone. A mirror or a second tap has the same one; in another network another host asks.
void ReachabilityTracker::claim(const Observation& observation, const Address& host, std::uint64_t mac,
                                std::uint64_t asker) {
    if (mac == 0 || asker == 0 || is_group(asker) || asker == mac) return;
    const ClaimKey key{host, place_of(observation), asker};
    auto found = claims_.find(key);
    if (found == claims_.end()) {
        if (claims_.size() >= kMaxClaims) {
            ++left_out_;
            return;
        }
        found = claims_.emplace(key, Claim{}).first;
        found->second.report.host = host;
    }
    Claim& known = found->second;
    AddressConflict& report = known.report;
    const bool same_request = known.mac != 0 && known.mac != mac && observation.time >= known.time &&
                              observation.time - known.time <= kSameAnswer;
    if (same_request) {
        if (report.requests++ == 0) {
            report.macs = {mac_address(known.mac), mac_address(mac)};
            report.first = {known.frame, observation.frame};
            report.first_time = {known.time, observation.time};
        }
        report.last = observation.frame;
        report.last_time = observation.time;
    }
    known.mac = same_request ? 0 : mac;  // a third answer to the same request is no other one
    known.time = observation.time;
    known.frame = observation.frame;
}

std::vector<AddressConflict> ReachabilityTracker::conflicts() const {
    std::vector<AddressConflict> found;
    for (const auto& [key, claim] : claims_) {
        const AddressConflict& report = claim.report;
        if (report.requests < kConflictRequests) continue;
        if (found.empty() || found.back().host != report.host) found.push_back(report);
        else if (report.requests > found.back().requests) found.back() = report;
    }
    return found;
}

ReachabilityReport ReachabilityTracker::finish() {
    ReachabilityReport report;
    for (auto& [target, askers] : asked_)
        for (auto& [one, place, mac] : askers) {
            const Recording* const recording = recording_of(place);
            const auto listener = listeners_.find({place, mac});
            one.rest = recording == nullptr ? Duration{} : recording->last - one.last_time;
            one.answers_are_heard =
                listener != listeners_.end() && (listener->second.several || listener->second.host == target);
            if (one.requests >= kRequestsInVain && one.rest >= kNeighbourTime) report.neighbours.push_back(one);
        }
    // In two networks, or recorded twice: once.
    const auto who = [](const UnansweredNeighbour& one) { return std::pair{one.asker, one.target}; };
    std::ranges::sort(report.neighbours, {}, [&](const UnansweredNeighbour& one) {
        return std::tuple{who(one), !one.answers_are_heard, one.first};
    });
    const auto doubles = std::ranges::unique(report.neighbours, {}, who);
    report.neighbours.erase(doubles.begin(), doubles.end());
    for (const auto& [key, error] : errors_) report.errors.push_back(error);
    report.conflicts = conflicts();
    report.left_out = left_out_;
    return report;
}

}  // namespace qps::transport
