#include <transport-replay/live/verbs/multicast.hpp>

#include <algorithm>

namespace qps::transport::verbs {

using namespace dissect;

Result<void> MulticastGroups::attach(Qpn qp, const Address& group) {
    if (!is_multicast(group)) return std::unexpected(VerbsError::invalid_request);
    const auto found = groups_.find(group);
    if (found == groups_.end() && groups_.size() >= kMaxMcastGroups) return std::unexpected(VerbsError::too_many);
    std::vector<Qpn>& members = found == groups_.end() ? groups_[group] : found->second;
    if (std::ranges::find(members, qp) != members.end()) return {};  // once is enough
    if (members.size() >= kMaxMcastAttached) return std::unexpected(VerbsError::too_many);
    members.push_back(qp);
    return {};
}

Result<void> MulticastGroups::detach(Qpn qp, const Address& group) {
    const auto found = groups_.find(group);
    if (found == groups_.end() || std::erase(found->second, qp) == 0)
        return std::unexpected(VerbsError::unknown_handle);
    if (found->second.empty()) groups_.erase(found);
    return {};
}

bool MulticastGroups::attached(Qpn qp) const {
    return std::ranges::any_of(groups_,
                               [&](const auto& row) { return std::ranges::find(row.second, qp) != row.second.end(); });
}

std::span<const Qpn> MulticastGroups::members(const Address& group) const {
    const auto found = groups_.find(group);
    return found == groups_.end() ? std::span<const Qpn>{} : std::span<const Qpn>(found->second);
}

std::vector<Address> MulticastGroups::groups() const {
    std::vector<Address> all;
    for (const auto& [group, members] : groups_) all.push_back(group);
    std::ranges::sort(all);
    return all;
}

}  // namespace qps::transport::verbs
