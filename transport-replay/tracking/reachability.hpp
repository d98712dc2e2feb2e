// ReachabilityTracker: requests for MAC addresses that nobody answers, and ICMP errors about RoCEv2 packets.
//
// Observations in the order of the capture go in, those that are about hosts. What an attacker could feed: any number of hosts. Tables have
// a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/reachability_report.hpp>

#include <map>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxAskedFor = 1024;  // hosts that are asked for
inline constexpr std::size_t kMaxAskers = 16;        // of each
inline constexpr std::size_t kMaxAnswered = 4096;    // hosts that were answered
inline constexpr std::size_t kMaxIcmpErrors = 512;   // of pairs of hosts, kinds and codes
inline constexpr std::uint64_t kRequestsInVain = 3;  // Linux asks three times, a second apart, and gives up
inline constexpr dissect::Duration kNeighbourTime{1'000'000'000};
inline constexpr dissect::Duration kSameRequest{100'000'000};  // sooner it is another recording of the same broadcast

class ReachabilityTracker {
public:
    // Only of observations that are about hosts.
    void observe(const Observation& observation);
    // `now`: the latest time of any packet.
    [[nodiscard]] ReachabilityReport finish(dissect::Instant now);

private:
    struct AddressHash {
        using is_avalanching = void;
        std::size_t operator()(const Address& address) const { return hash_of(address); }
    };
    void take_arp(const Observation& observation);
    void take_discovery(const Observation& observation, dissect::Bytes message);
    void take_error(const Observation& observation, bool version_6, dissect::Bytes message);
    void ask(const Observation& observation, const Address& asker, const Address& target);
    void speaks(const Address& host) { asked_.erase(host); }
    void answered(const Address& asker);
    void add(const IcmpError& error);

    using ErrorKey = std::tuple<Address, Address, Address, bool, std::uint8_t>;
    boost::unordered_flat_map<Address, std::vector<UnansweredNeighbour>, AddressHash> asked_;  // by target
    boost::unordered_flat_set<Address, AddressHash> answered_;
    std::map<ErrorKey, IcmpError> errors_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
