// OwnAddresses: what we are called on the link, and that nobody else is: each address is probed before it is used (RFC
// 5227, RFC 4862), announced once it is ours, and defended.
//
//   tentative --(probed often enough)--> ready        tentative --(another has it)--> duplicate
//
// Addresses that belong to the operating system, which does all that, are ready at once and never spoken of
// (Claiming::none). A stranger can claim an address while it is tentative, and so keep us from it; a ready one is never
// given up, only defended, at most every kDefendAgain. Bound: kMaxAddresses.
#pragma once

#include <transport-replay/live/host/addresses.hpp>
#include <transport-replay/model/edges.hpp>

#include <optional>
#include <span>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxAddresses = 64;
// Shorter than the RFCs' seconds: who starts a peer waits for it. Kernels answer within a millisecond.
inline constexpr std::uint8_t kProbes = 3;
inline constexpr dissect::Duration kProbeAgain = microseconds(200'000);
inline constexpr std::uint8_t kAnnouncements = 2;  // RFC 5227, 1.1
inline constexpr dissect::Duration kAnnounceAgain = microseconds(2'000'000);
inline constexpr dissect::Duration kDefendAgain = microseconds(10'000'000);

enum class AddressState : std::uint8_t { tentative, ready, duplicate };
enum class AddressEvent : std::uint8_t { probed, claimed };

inline constexpr Machine kAddressMachine{
    std::array<std::string_view, 3>{"tentative", "ready", "duplicate"},
    std::array<std::string_view, 2>{"probed", "claimed"},
    std::array{
        Edge{AddressState::tentative, AddressEvent::probed, AddressState::ready},
        Edge{AddressState::tentative, AddressEvent::claimed, AddressState::duplicate},
    },
};
static_assert(sound(kAddressMachine));

// How an address becomes ours.
enum class Claiming : std::uint8_t { probed, announced, none };

struct OwnAddress {
    Address address;          // in the space of RoCEv2
    std::uint8_t prefix = 0;  // of IPv4 0..32, of IPv6 0..128
    AddressState state = AddressState::tentative;
    std::uint8_t probes = 0;         // still to send
    std::uint8_t announcements = 0;  // still to send
    dissect::Instant due{};
    std::optional<dissect::Instant> defended{};
};

struct Announcement {
    Address address;
    bool probe = false;  // asks whether somebody has it; else says that we do
};

class OwnAddresses {
public:
    // False: too many, no address of one host, or there already.
    bool add(const Address& address, std::uint8_t prefix, Claiming claiming, dissect::Instant now);

    // Another says or probes that it has the address. True where it was ours and is so no longer, or is disputed.
    bool claimed(const Address& address, dissect::Instant now);

    [[nodiscard]] std::span<const OwnAddress> all() const { return addresses_; }
    [[nodiscard]] const OwnAddress* find(const Address& address) const;
    // Ready to be spoken for.
    [[nodiscard]] bool ours(const Address& address) const;
    // Ours to speak from, to that destination: on its link if there is one, link-local where the destination is;
    // nullptr: none.
    [[nodiscard]] const OwnAddress* source_for(const Address& destination) const;
    [[nodiscard]] bool on_link(const Address& address) const;

    [[nodiscard]] std::optional<Announcement> due(dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> due_at() const;

private:
    std::vector<OwnAddress> addresses_;
};

}  // namespace qps::transport::live
