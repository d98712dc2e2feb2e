// TenantWatch: learns from a whole capture whether two virtual networks, VNIs or VLANs, that use the same addresses and
// queue pair numbers are two tenants: then a second reading keeps their flows apart from the first packet on, where one
// reading alone takes a flow that begins near the other one for more of it.
//
// One flow over several links, both sides of a router and a mirror that takes tags off look alike at first. Of two
// tenants each goes on by itself: in each network hardly a PSN is left out, PSNs of the one come in the other, too, in
// packets that are no copies, and both go on beside each other.
//
// What an attacker could feed: any flows in any networks; a bounded number of them is looked at.
#pragma once

#include <transport-replay/model/capture_traits.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class TenantWatch {
public:
    static constexpr std::size_t kMostFlows = 512;
    static constexpr std::size_t kMostNetworks = 4;  // of a flow

    // Whether it wants to see a packet of that network: all of them from where a second network comes.
    [[nodiscard]] bool wants(NetworkId network) {
        if (!network_) network_ = network;
        several_ |= *network_ != network;
        return several_;
    }
    // In the order of the capture.
    void observe(const Observation& observation);
    // HostsHash::both of hosts that are two tenants', sorted.
    [[nodiscard]] std::vector<std::uint64_t> tenants() const;

private:
    static constexpr std::size_t kKept = 64;
    struct Request {
        std::uint64_t hash = 0;  // Observation::packet_hash; 0: none
        dissect::Psn psn;
    };
    // The requests of a flow in one network.
    struct Stream {
        NetworkId network{};
        dissect::Psn next;
        std::uint32_t slack = 0;     // PSNs that the last READ may take behind `next`
        std::uint32_t requests = 0;  // that were not sent before
        std::uint32_t skipped = 0;   // PSNs
        std::uint32_t shared = 0;  // of those requests: with a PSN that another network had just had of another packet
        std::uint32_t copied = 0;  // or of the same one
        std::uint32_t beside = 0;  // since another network had the flow
        std::array<Request, kKept> last{};  // in a ring, by PSN
        [[nodiscard]] const Request& at(dissect::Psn psn) const { return last[psn.value() % kKept]; }
        [[nodiscard]] bool goes_on_alone() const;
    };
    struct Flow {
        std::uint64_t hosts = 0;
        std::vector<Stream> streams;
    };
    boost::unordered_flat_map<std::uint64_t, Flow> flows_;  // by FlowHash
    std::optional<NetworkId> network_;
    bool several_ = false;
};

[[nodiscard]] bool are_tenants(const std::vector<std::uint64_t>& tenants, const FlowKey& flow);

// The packet as one of a flow of its network, where its hosts are two tenants'. Once more changes nothing.
void take_tenant(const CaptureTraits& traits, Observation& observation);

}  // namespace qps::transport
