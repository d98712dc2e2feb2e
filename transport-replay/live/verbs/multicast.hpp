// Multicast groups and the queue pairs attached to them (10.5).
//
// Only the application attaches; a packet to a group finds at most kMaxMcastAttached queue pairs, in the order in which
// they were attached. Bounds: kMaxMcastGroups, kMaxMcastAttached.
#pragma once

#include <transport-replay/live/verbs/adapter.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::verbs {

class MulticastGroups {
public:
    Result<void> attach(dissect::Qpn qp, const Address& group);
    Result<void> detach(dissect::Qpn qp, const Address& group);
    [[nodiscard]] bool attached(dissect::Qpn qp) const;  // to any group
    [[nodiscard]] std::span<const dissect::Qpn> members(const Address& group) const;
    [[nodiscard]] std::vector<Address> groups() const;  // in order

private:
    struct AddressHash {
        using is_avalanching = void;
        std::size_t operator()(const Address& address) const { return mix(hash_of(address)); }
    };
    boost::unordered_flat_map<Address, std::vector<dissect::Qpn>, AddressHash> groups_;
};

}  // namespace qps::transport::verbs
