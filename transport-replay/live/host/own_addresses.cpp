#include <transport-replay/live/host/own_addresses.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

bool OwnAddresses::add(const Address& address, std::uint8_t prefix, Claiming claiming, Instant now) {
    const Address plain = in_space(address, AddressSpace::roce_v2);
    const std::uint8_t longest = family_of(plain) == Family::ipv4 ? 32 : 128;
    if (addresses_.size() == kMaxAddresses || find(plain) != nullptr || prefix > longest) return false;
    if (is_unspecified(plain) || is_multicast_group(plain) || is_broadcast(plain, plain, prefix)) return false;
    OwnAddress own{plain, prefix};
    own.due = now;
    if (claiming == Claiming::probed) own.probes = kProbes;
    else own.state = AddressState::ready;
    own.announcements = claiming == Claiming::none ? 0 : kAnnouncements;
    addresses_.push_back(own);
    return true;
}

bool OwnAddresses::claimed(const Address& address, Instant now) {
    const auto own = std::ranges::find(addresses_, address, &OwnAddress::address);
    if (own == addresses_.end()) return false;
    if (const auto next = step(kAddressMachine, own->state, AddressEvent::claimed)) {
        own->state = *next;
        own->probes = 0;
        own->announcements = 0;
        return true;
    }
    if (own->state != AddressState::ready || (own->defended && *own->defended + kDefendAgain > now)) return true;
    own->defended = now;
    own->announcements = std::max(own->announcements, std::uint8_t{1});
    own->due = now;
    return true;
}

const OwnAddress* OwnAddresses::find(const Address& address) const {
    const auto own = std::ranges::find(addresses_, in_space(address, AddressSpace::roce_v2), &OwnAddress::address);
    return own == addresses_.end() ? nullptr : &*own;
}

bool OwnAddresses::ours(const Address& address) const {
    const OwnAddress* own = find(address);
    return own != nullptr && own->state == AddressState::ready;
}

bool OwnAddresses::on_link(const Address& address) const {
    if (family_of(address) == Family::ipv6 && is_link_local(address)) return true;
    return std::ranges::any_of(addresses_,
                               [&](const OwnAddress& own) { return same_prefix(own.address, address, own.prefix); });
}

const OwnAddress* OwnAddresses::source_for(const Address& destination) const {
    const OwnAddress* best = nullptr;
    const auto rank = [&](const OwnAddress& own) {
        const bool near = same_prefix(own.address, destination, own.prefix);
        return (is_link_local(own.address) == is_link_local(destination) ? 256 : 0) + (near ? 512 + own.prefix : 0);
    };
    for (const OwnAddress& own : addresses_) {
        if (own.state != AddressState::ready || family_of(own.address) != family_of(destination)) continue;
        if (best == nullptr || rank(own) > rank(*best)) best = &own;
    }
    return best;
}

std::optional<Announcement> OwnAddresses::due(Instant now) {
    for (OwnAddress& own : addresses_) {
        if (own.state == AddressState::duplicate || own.due > now) continue;
        if (own.probes != 0) {
            --own.probes;
            own.due = now + kProbeAgain;
            return Announcement{own.address, true};
        }
        if (const auto next = step(kAddressMachine, own.state, AddressEvent::probed)) own.state = *next;
        if (own.announcements == 0) continue;
        --own.announcements;
        own.due = now + kAnnounceAgain;
        return Announcement{own.address, false};
    }
    return std::nullopt;
}

std::optional<Instant> OwnAddresses::due_at() const {
    std::optional<Instant> at;
    for (const OwnAddress& own : addresses_) {
        if (own.state == AddressState::duplicate) continue;
        if (own.state == AddressState::ready && own.announcements == 0) continue;
        if (!at || own.due < *at) at = own.due;
    }
    return at;
}

}  // namespace qps::transport::live
