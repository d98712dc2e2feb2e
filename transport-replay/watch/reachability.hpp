// ReachabilityTracker: requests for MAC addresses without an answer, or with two, and ICMP errors about RoCEv2 packets.
//
// Observations in the order of the capture go in, those that are about hosts; while somebody asks, also others that are
// no RoCE. What an attacker could feed: any number of hosts. Tables have a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/reachability_report.hpp>

#include <compare>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxAskedFor = 1024;    // hosts that are asked for
inline constexpr std::size_t kMaxAskers = 16;        // of each
inline constexpr std::size_t kMaxListeners = 4096;   // hosts to which something came
inline constexpr std::size_t kMaxRecordings = 64;    // interfaces
inline constexpr std::size_t kMaxIcmpErrors = 512;   // of pairs of hosts, kinds and codes
inline constexpr std::uint64_t kRequestsInVain = 3;  // Linux asks three times, a second apart, and gives up
inline constexpr dissect::Duration kNeighbourTime{1'000'000'000};
inline constexpr std::size_t kMaxClaims = 2048;        // hosts that answer, by who asked
inline constexpr std::uint64_t kConflictRequests = 2;  // answered twice: one may be the moment where an address moves
inline constexpr dissect::Duration kSameAnswer{200'000'000};   // to the same request: who asks again waits a second
inline constexpr dissect::Duration kSameRequest{900'000'000};  // sooner it is another recording of the same broadcast

class ReachabilityTracker {
public:
    // `in_turn`: no packet of a later time went in before. What is not may have been answered already.
    void observe(const Observation& observation, bool in_turn);
    // Whether anybody asked without an answer so far: else packets that are not about hosts matter to nobody.
    [[nodiscard]] bool any() const { return !asked_.empty(); }
    [[nodiscard]] ReachabilityReport finish();

private:
    struct AddressHash {
        using is_avalanching = void;
        std::size_t operator()(const Address& address) const { return hash_of(address); }
    };
    // One network, as far as a capture knows.
    struct Place {
        std::uint16_t file = 0;
        dissect::InterfaceId interface{};
        std::uint16_t vlan = 0;
        [[nodiscard]] auto operator<=>(const Place&) const = default;
    };
    struct Recording {
        Place place;  // of no VLAN
        dissect::Instant last{};
    };
    struct Asked {
        UnansweredNeighbour report;
        Place place;
        std::uint64_t mac = 0;  // of the asker; 0: nobody knows
    };
    // What came to a MAC address alone: from how many others, and who the first of them said to be.
    struct Listener {
        std::uint64_t sender = 0;
        Address host;
        bool several = false;
    };
    // Who answered last for an address, to one that asked.
    struct Claim {
        AddressConflict report;
        std::uint64_t mac = 0;
        dissect::Instant time{};
        dissect::FrameIndex frame{};
    };
    using ClaimKey = std::tuple<Address, Place, std::uint64_t>;  // host; place and MAC address of who asked
    [[nodiscard]] static Place place_of(const Observation& observation) {
        return {observation.file, observation.interface, observation.vlan};
    }
    [[nodiscard]] Recording* recording_of(const Place& place);
    void take_arp(const Observation& observation, bool in_turn);
    void take_discovery(const Observation& observation, dissect::Bytes message, bool in_turn);
    void take_error(const Observation& observation, bool version_6, dissect::Bytes message);
    void ask(const Observation& observation, const Address& asker, const Address& target, std::uint64_t mac);
    void speaks(const Address& host) { asked_.erase(host); }
    void hear(const Observation& observation, std::uint64_t sender, const Address& host);
    void add(const IcmpError& error);
    void claim(const Observation& observation, const Address& host, std::uint64_t mac, std::uint64_t asker);
    [[nodiscard]] std::vector<AddressConflict> conflicts() const;

    using ErrorKey = std::tuple<Address, Address, Address, bool, std::uint8_t>;
    boost::unordered_flat_map<Address, std::vector<Asked>, AddressHash> asked_;  // by target
    std::map<std::pair<Place, std::uint64_t>, Listener> listeners_;
    std::vector<Recording> recordings_;
    std::map<ErrorKey, IcmpError> errors_;
    std::map<ClaimKey, Claim> claims_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
