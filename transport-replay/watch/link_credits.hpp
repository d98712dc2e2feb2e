// LinkCreditTracker: what flow control packets of InfiniBand links (IBTA volume 1, 7.9.4) say of credits, and packets
// that waited for them.
//
// Flow control packets have no addresses. Each capture port of ERF, or interface, is one direction. An end says how
// many blocks it has sent (FCTBS) and up to which the other may send (FCCL), both modulo 4096: what one direction may
// still send is the other's FCCL less its own FCTBS. That two directions are of one link is proven once both counters
// went round while one never left the other's window.
//
// A wait: flow control packets in a row grant less than a packet needs, the sender sends nothing meanwhile (its FCTBS
// says so before and after), and that packet leaves right behind the first one that grants enough. Nothing is said of
// an idle sender, nor of one that was seen to send nothing at all.
//
// Observations in the order of the capture go in. What an attacker could feed: any number of directions and any values;
// tables have a bound below and a count of what is past it.
#pragma once

#include <transport-replay/model/credit_report.hpp>
#include <transport-replay/model/observation.hpp>

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxLinkDirections = 16;
inline constexpr std::size_t kMaxCreditPairs = 1024;        // of two directions and a lane
inline constexpr dissect::Duration kCreditWait{1'000'000};  // of a wait, at least
inline constexpr dissect::Duration kCreditRelease{20'000};  // from the grant to the packet, at most: a fiftieth of it
inline constexpr std::uint64_t kCreditGrants = 3;           // flow control packets that refuse, at least
inline constexpr std::uint16_t kCreditCircle = 4096, kCreditWindow = 2048;  // blocks

class LinkCreditTracker {
public:
    // Whether there were flow control packets: before, others matter to nobody.
    [[nodiscard]] bool any() const { return !directions_.empty(); }
    // Flow control packets, and packets with an LRH.
    void observe(const Observation& observation);
    // What the last flow control packet leaves to the other end; nothing where the capture has not two directions, or
    // has not heard both.
    [[nodiscard]] std::optional<std::uint16_t> left() const { return left_; }
    [[nodiscard]] CreditReport finish() const;

private:
    static constexpr std::size_t kLanes = 15;  // lane 15 is management, without flow control
    static constexpr std::size_t kRuns = 8;    // other credits in one wait

    // What an end said of a lane last, and what it sent since, at least and at most.
    struct Side {
        bool known = false;
        std::uint16_t sent = 0;
        std::uint16_t limit = 0;
        std::uint16_t least = 0;
        std::uint16_t most = 0;
    };
    struct Direction {
        std::uint16_t file = 0;
        dissect::InterfaceId interface{};
        std::uint8_t port = 0;
        std::array<Side, kLanes> lanes{};
    };
    // Flow control packets in a row that grant the same.
    struct Run {
        std::uint16_t credits = 0;
        std::uint64_t grants = 0;
        dissect::Instant first_time{}, last_time{};
        dissect::FrameIndex first{}, last{};
    };
    // A sender and who grants it credits, on a lane.
    struct Pair {
        std::uint64_t sent = 0, granted = 0;  // blocks that the counters went on
        bool contradicted = false;
        std::size_t runs = 0;  // since the sender's last packet; kRuns + 1: more than there is room for
        std::array<Run, kRuns> run{};
        std::optional<CreditStarvation> open;  // a wait that the sender's next FCTBS must confirm
        CreditStarvation found;
    };
    using PairKey = std::tuple<std::size_t, std::size_t, std::uint8_t>;  // sender, granter, lane
    [[nodiscard]] std::optional<std::size_t> direction_of(const Observation& observation);
    [[nodiscard]] Pair* pair_of(const PairKey& key);
    void take_flow_control(const Observation& observation, std::size_t direction);
    void take_packet(const Observation& observation, std::size_t direction);
    void forget(std::size_t direction, std::uint8_t lane);
    void take_sent(std::size_t direction, std::uint8_t lane, std::uint16_t sent);
    void take_limit(const Observation& observation, std::size_t direction, std::uint8_t lane, std::uint16_t limit,
                    std::uint16_t before, bool known);
    [[nodiscard]] bool related(std::size_t one, std::size_t other) const;
    static void add_run(const Observation& observation, Pair& pair, std::uint16_t credits);
    void judge(const Observation& observation, const PairKey& key, Pair& pair, std::uint16_t needed);

    std::vector<Direction> directions_;
    std::map<PairKey, Pair> pairs_;
    std::optional<std::uint16_t> left_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
