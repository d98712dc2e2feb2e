// HostTallies: what passive checks count while packets come, of all hosts in one, or of each host apart, so that later
// any of them can be judged alone. about() says whose packet the following look(), fail() and doubt() are about.
//
// What an attacker could feed: packets of any number of hosts. Those for which there is no room are counted together:
// still in the verdicts on the capture, but in none on a host.
#pragma once

#include <transport-replay/checks/passive/tally.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace qps::transport::conformance {

// Of one check, where anything but looking at it was seen.
struct SeenEvents {
    Passive check{};
    Events failures;
    Events doubts;
};

struct HostTally {
    Address host;                       // none: of those that are not told apart
    std::uint64_t packets = 0;          // it sent
    std::uint64_t icrc_not_judged = 0;  // of them: wrong ones
    std::uint64_t fpdus_unchecked = 0;  // it sent, whose CRC cannot be checked: of the doubts of MPA-13
    std::uint64_t failed_by_peer = 0;   // its connections that another host's NAK ended: ERR-02 looks at them for both
    std::array<std::uint64_t, kPassiveChecks> examined{};
    std::vector<SeenEvents> seen;  // by check

    void add(const HostTally& other);
    [[nodiscard]] SeenEvents& events(Passive check);
};

class HostTallies {
public:
    using Place = std::uint32_t;
    static constexpr Place kTogether = 0;  // those that are not told apart
    // What one costs at most, with the table that finds it.
    static constexpr std::size_t kHost = sizeof(HostTally) + 2 * kPassiveChecks * sizeof(SeenEvents) + 128;

    HostTallies() : hosts_(1) {}
    // Before the first packet: this host alone is told apart, or up to so many are.
    void tell_apart(const Address& device) { device_ = device; }
    void tell_apart(std::size_t most) { most_ = most; }

    // What comes now is about this host, or about those at that place.
    void about(const Address& host) {
        if ((most_ != 0 || device_) && !(hosts_[current_].host == host)) current_ = place_of(host);
    }
    void about(Place place) { current_ = place; }
    [[nodiscard]] Place current() const { return current_; }

    // A packet of this host.
    void packet(const Address& host) {
        about(host);
        ++hosts_[current_].packets;
        if (most_ != 0 && current_ == kTogether && host.space != AddressSpace::none) ++untold_;
    }
    void icrc_not_judged() { ++hosts_[current_].icrc_not_judged; }  // of that packet
    void fpdu_unchecked() { ++hosts_[current_].fpdus_unchecked; }   // looked at, and in doubt
    void look(Passive check, std::uint64_t count = 1) { hosts_[current_].examined[std::to_underlying(check)] += count; }
    void fail(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) {
        hosts_[current_].events(check).failures.add(frame, other);
    }
    void doubt(Passive check, dissect::FrameIndex frame, dissect::FrameIndex other = {}) {
        hosts_[current_].events(check).doubts.add(frame, other);
    }
    // A connection of two hosts failed; what comes then is about the first of them.
    void failed(const Address& by, const Address& peer);

    // All of them, ascending. Call it once.
    [[nodiscard]] std::vector<HostTally> take();
    [[nodiscard]] std::size_t told_apart() const { return places_.size(); }
    [[nodiscard]] bool has_room_for(std::size_t hosts) const { return most_ == 0 || hosts < most_; }
    [[nodiscard]] std::uint64_t untold() const { return untold_; }  // packets of hosts for which there was no room

private:
    struct AddressHash {
        [[nodiscard]] std::size_t operator()(const Address& address) const { return mix(hash_of(address)); }
    };
    [[nodiscard]] Place place_of(const Address& host);

    std::vector<HostTally> hosts_;  // the first: those that are not told apart
    std::unordered_map<Address, Place, AddressHash> places_;
    std::optional<Address> device_;
    std::size_t most_ = 0;
    Place current_ = kTogether;
    Place before_ = kTogether;  // the other end of a connection comes next, as often as not
    std::uint64_t untold_ = 0;
};

// By this device alone, or by all.
[[nodiscard]] std::uint64_t packets_sent(const std::vector<HostTally>& hosts, const std::optional<Address>& device);

}  // namespace qps::transport::conformance
