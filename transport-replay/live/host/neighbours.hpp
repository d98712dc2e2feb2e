// Neighbours: which MAC address belongs to an address of the link: the cache of ARP and neighbour discovery, and when
// to ask.
//
//   find(address, now)      used by every packet: the MAC address, or that it is being asked for, or that nobody
//   answers answered(), unsolicited()      what the wire said: in answer to us, or unasked due(now)                the
//   next question to send
//
// After RFC 4861, 7.3, for both families: a neighbour that was asked for and does not answer is unreachable for a
// while; one that is used is asked again, by unicast, before its entry is too old, and traffic goes on meanwhile.
//
// What is said unasked is never believed where it contradicts: it is a reason to ask (broadcast), at most once a
// second. Of the answers the one that agrees with what was known wins; another counts once the old one kept silent
// until the next question. Unasked words create entries only in their own half of the cache, and evict nothing: a flood
// of them changes no neighbour that is in use. Bound: kMaxNeighbours.
#pragma once

#include <transport-replay/live/host/addresses.hpp>
#include <transport-replay/model/edges.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxNeighbours = 1024;  // a large subnet's peers; some 100 KiB
inline constexpr std::size_t kMaxUnsolicited = 256;  // of them, those that nobody here ever asked for

inline constexpr dissect::Duration kReachableTime = microseconds(30'000'000);  // RFC 4861, 10
inline constexpr dissect::Duration kAskAgain = microseconds(1'000'000);        // RetransTimer
inline constexpr std::uint8_t kMaxQuestions = 3;  // MAX_MULTICAST_SOLICIT, MAX_UNICAST_SOLICIT
inline constexpr dissect::Duration kUnreachableTime =
    microseconds(3'000'000);                                           // as long as asking took; then asked anew
inline constexpr dissect::Duration kInUse = microseconds(60'000'000);  // used so recently: never given up for another
inline constexpr dissect::Duration kForgetTime = microseconds(600'000'000);  // unused for so long: forgotten

enum class NeighbourState : std::uint8_t {
    none,
    asking,       // no MAC address yet
    reachable,    // verified
    stale,        // not verified, or long ago: used, and asked when it is
    verifying,    // used, and asked by unicast
    doubted,      // used, and everybody is asked: somebody said otherwise, or it did not answer
    unreachable,  // nobody answered
};

enum class NeighbourEvent : std::uint8_t {
    wanted,        // a packet is to go there
    answered,      // to a question of ours
    unsolicited,   // unasked, and nothing contradicts
    contradicted,  // unasked, another MAC address
    aged,
    gave_up,  // asked often enough
    forgotten,
};

inline constexpr Machine kNeighbourMachine{
    std::array<std::string_view, 7>{"none", "asking", "reachable", "stale", "verifying", "doubted", "unreachable"},
    std::array<std::string_view, 7>{"wanted", "answered", "unsolicited", "contradicted", "aged", "gave_up",
                                    "forgotten"},
    std::array{
        Edge{NeighbourState::none, NeighbourEvent::wanted, NeighbourState::asking},
        Edge{NeighbourState::none, NeighbourEvent::unsolicited, NeighbourState::stale},
        Edge{NeighbourState::asking, NeighbourEvent::answered, NeighbourState::reachable},
        Edge{NeighbourState::asking, NeighbourEvent::unsolicited, NeighbourState::stale},
        Edge{NeighbourState::asking, NeighbourEvent::gave_up, NeighbourState::unreachable},
        Edge{NeighbourState::reachable, NeighbourEvent::contradicted, NeighbourState::doubted},
        Edge{NeighbourState::reachable, NeighbourEvent::aged, NeighbourState::stale},
        Edge{NeighbourState::stale, NeighbourEvent::wanted, NeighbourState::verifying},
        Edge{NeighbourState::stale, NeighbourEvent::contradicted, NeighbourState::doubted},
        Edge{NeighbourState::stale, NeighbourEvent::forgotten, NeighbourState::none},
        Edge{NeighbourState::verifying, NeighbourEvent::answered, NeighbourState::reachable},
        Edge{NeighbourState::verifying, NeighbourEvent::contradicted, NeighbourState::doubted},
        Edge{NeighbourState::verifying, NeighbourEvent::gave_up, NeighbourState::doubted},
        Edge{NeighbourState::doubted, NeighbourEvent::answered, NeighbourState::reachable},
        Edge{NeighbourState::doubted, NeighbourEvent::gave_up, NeighbourState::unreachable},
        Edge{NeighbourState::unreachable, NeighbourEvent::unsolicited, NeighbourState::stale},
        Edge{NeighbourState::unreachable, NeighbourEvent::aged, NeighbourState::none},
    },
};
static_assert(sound(kNeighbourMachine));

enum class Resolution : std::uint8_t { resolved, resolving, unreachable };

struct Neighbour {
    Resolution resolution = Resolution::resolving;
    Mac mac{};  // where resolved
};

// A question to send: to everybody (broadcast, or the solicited-node group), or to the MAC address that it had.
struct Question {
    Address target;
    std::optional<Mac> to;
};

struct NeighbourCounts {
    std::uint64_t asked = 0;
    std::uint64_t resolved = 0;
    std::uint64_t unreachable = 0;   // gave up asking
    std::uint64_t contradicted = 0;  // told another MAC address, unasked
    std::uint64_t refused = 0;       // no room: all others are in use
};

class Neighbours {
public:
    Neighbours();
    Neighbours(Neighbours&&) noexcept;
    Neighbours& operator=(Neighbours&&) noexcept;
    ~Neighbours();

    // Of an address on the link (its space is RoCEv2's); asks where it is not known.
    [[nodiscard]] Neighbour find(const Address& address, dissect::Instant now);

    // An ARP reply, or an advertisement that says it was asked for. Where nobody asked, it is as if told.
    void answered(const Address& address, Mac mac, dissect::Instant now);
    // An announcement: of use only for who is known already.
    void announced(const Address& address, Mac mac, dissect::Instant now);
    // Who asked us, and so will be asked: worth an entry.
    void asked_us(const Address& address, Mac mac, dissect::Instant now);

    // The next question that is due, which then counts as asked. Poll until there is none.
    [[nodiscard]] std::optional<Question> due(dissect::Instant now);
    [[nodiscard]] std::optional<dissect::Instant> due_at() const;

    [[nodiscard]] NeighbourState state_of(const Address& address) const;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] const NeighbourCounts& counts() const { return counts_; }

private:
    struct Entry {
        NeighbourState state = NeighbourState::none;
        std::uint8_t questions = 0;
        bool unsolicited = false;  // nobody here ever asked for it
        Mac mac{};
        std::optional<Mac> claimed{};  // of doubted: what another than the old one answered
        dissect::Instant due{};        // next question, or next change of its own
        dissect::Instant used{};       // last wanted
    };
    struct Table;  // by address

    void take(Entry& entry, NeighbourEvent event, dissect::Instant now);
    void learn(Entry& entry, Mac mac, dissect::Instant now);
    void schedule(Entry& entry, dissect::Instant at);
    [[nodiscard]] bool make_room(dissect::Instant now);
    void come_due(const Address& address, Entry& entry, dissect::Instant now);
    void collect(dissect::Instant now);

    std::unique_ptr<Table> table_;
    std::vector<Question> questions_;  // due and not yet sent; at most one a neighbour
    std::size_t unsolicited_ = 0;
    std::optional<dissect::Instant> due_at_;  // never later than the first that is due
    NeighbourCounts counts_;
};

}  // namespace qps::transport::live
