#include <transport-replay/checks/passive/host_tallies.hpp>

#include <algorithm>

namespace qps::transport::conformance {

SeenEvents& HostTally::events(Passive check) {
    const auto at = std::ranges::lower_bound(seen, check, {}, &SeenEvents::check);
    if (at != seen.end() && at->check == check) return *at;
    return *seen.insert(at, SeenEvents{.check = check, .failures = {}, .doubts = {}});
}

void HostTally::add(const HostTally& other) {
    packets += other.packets;
    icrc_not_judged += other.icrc_not_judged;
    fpdus_unchecked += other.fpdus_unchecked;
    failed_by_peer += other.failed_by_peer;
    for (std::size_t check = 0; check < examined.size(); ++check) examined[check] += other.examined[check];
    for (const SeenEvents& each : other.seen) {
        SeenEvents& own = events(each.check);
        own.failures.add(each.failures);
        own.doubts.add(each.doubts);
    }
}

// A device alone is judged by what others did to it, too; of all, that is counted with those others.
void Tallies::add(const HostTally& host) {
    for (std::size_t check = 0; check < host.examined.size(); ++check) all_[check].examined += host.examined[check];
    if (device_) (*this)[Passive::err_02].examined += host.failed_by_peer;
    for (const SeenEvents& each : host.seen) {
        (*this)[each.check].failures.add(each.failures);
        (*this)[each.check].doubts.add(each.doubts);
    }
}

HostTallies::Place HostTallies::place_of(const Address& host) {
    if (host.space == AddressSpace::none || (device_ && !is_same_host(host, *device_))) return kTogether;
    const Place last = before_;
    before_ = current_;
    if (hosts_[last].host == host) return last;
    if (const auto found = places_.find(host); found != places_.end()) return found->second;
    if (!device_ && places_.size() >= most_) return kTogether;
    const auto place = static_cast<Place>(hosts_.size());
    hosts_.emplace_back().host = host;
    places_.emplace(host, place);
    return place;
}

void HostTallies::failed(const Address& by, const Address& peer) {
    about(peer);
    if (!is_same_host(by, peer)) ++hosts_[current_].failed_by_peer;
    about(by);
    look(Passive::err_02);
}

std::vector<HostTally> HostTallies::take() {
    std::ranges::sort(hosts_, {}, &HostTally::host);
    return std::move(hosts_);
}

std::uint64_t packets_sent(const std::vector<HostTally>& hosts, const std::optional<Address>& device) {
    std::uint64_t packets = 0;
    for (const HostTally& host : hosts)
        if (!device || is_same_host(host.host, *device)) packets += host.packets;
    return packets;
}

}  // namespace qps::transport::conformance
