#include <transport-replay/live/host/memberships.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

namespace {

// Everybody is in these (RFC 3376, 6; RFC 3810, 6); nor is what never leaves an interface reported.
bool reported(const Address& group) {
    if (family_of(group) == Family::ipv4) return group != kAllHosts4;
    constexpr std::uint64_t kLinkScope = 2;
    return group != kAllNodes && (group.bits[0] >> 48U & 0xf) >= kLinkScope;
}

}  // namespace

Memberships::Group* Memberships::find(const Address& group) {
    const auto found = std::ranges::find(groups_, in_space(group, AddressSpace::roce_v2), &Group::address);
    return found == groups_.end() ? nullptr : &*found;
}

bool Memberships::join(const Address& group, Instant now) {
    if (!is_multicast_group(group)) return false;
    Group* known = find(group);
    if (known == nullptr) {
        if (groups_.size() == kMaxGroups) return false;
        groups_.push_back({in_space(group, AddressSpace::roce_v2), group_mac(group)});
        known = &groups_.back();
    }
    if (known->members++ != 0) return true;
    known->record = GroupRecord::to_exclude;
    known->reports = reported(group) ? kRobustness : 0;
    known->due = now;
    return true;
}

void Memberships::leave(const Address& group, Instant now) {
    Group* known = find(group);
    if (known == nullptr || known->members == 0) return;
    --known->members;
    if (known->members != 0) return;
    known->record = GroupRecord::to_include;
    known->reports = kRobustness;
    known->due = now;
    if (!reported(group)) groups_.erase(groups_.begin() + (known - groups_.data()));
}

bool Memberships::joined(const Address& group) const {
    const Address plain = in_space(group, AddressSpace::roce_v2);
    return std::ranges::any_of(groups_, [&](const Group& each) { return each.members != 0 && each.address == plain; });
}

bool Memberships::listens_to(Mac mac) const {
    return std::ranges::any_of(groups_, [&](const Group& each) { return each.members != 0 && each.mac == mac; });
}

std::vector<Mac> Memberships::macs() const {
    std::vector<Mac> macs;
    for (const Group& group : groups_)
        if (group.members != 0 && std::ranges::find(macs, group.mac) == macs.end()) macs.push_back(group.mac);
    return macs;
}

QueryVersion Memberships::version_of(Family family, Instant now) const {
    const auto& until = older_until_[std::to_underlying(family)];
    return until && now < *until ? QueryVersion::older : QueryVersion::current;
}

// The same for the same host and group: spread without a random number.
Duration Memberships::delay(const Address& group, Duration within) const {
    const auto limit = static_cast<std::uint64_t>(std::clamp(within, Duration{0}, kLongestAnswer));
    return limit == 0 ? Duration{0}
                      : Duration{static_cast<std::int64_t>(mix(hash_of(group) ^ std::to_underlying(own_)) % limit)};
}

void Memberships::queried(const GroupQuery& query, Instant now) {
    const Family family = family_of(query.group);
    if (query.version == QueryVersion::older) older_until_[std::to_underlying(family)] = now + kOlderQuerier;
    for (Group& group : groups_) {
        if (group.members == 0 || family_of(group.address) != family || !reported(group.address)) continue;
        if (!is_unspecified(query.group) && query.group != group.address) continue;
        const Instant at = now + delay(group.address, query.answer_within);
        if (group.reports != 0 && group.due <= at) continue;  // says so earlier anyway
        if (group.reports == 0) {
            group.reports = 1;
            group.record = GroupRecord::is_exclude;
        }
        group.due = at;
    }
}

std::optional<GroupReport> Memberships::due(Instant now) {
    const auto next =
        std::ranges::find_if(groups_, [now](const Group& group) { return group.reports != 0 && group.due <= now; });
    if (next == groups_.end()) return std::nullopt;
    const GroupReport report{version_of(family_of(next->address), now), next->record, next->address};
    next->due = now + kReportAgain;
    if (--next->reports == 0 && next->members == 0) groups_.erase(next);
    return report;
}

std::optional<Instant> Memberships::due_at() const {
    std::optional<Instant> at;
    for (const Group& group : groups_)
        if (group.reports != 0 && (!at || group.due < *at)) at = group.due;
    return at;
}

}  // namespace qps::transport::live
