// QualityTracker: what is wrong with the capture itself, so that nobody takes it for what happened on the network: cut
// packets, copies of a mirror, clocks that jump, conversations of which one side is missing, drops of the recorder.
//
// RepetitionWindow tells the same datagram seen again from one that was sent again, packet by packet, in the order of
// the capture and from the past alone. Of packets in different sets nothing depends on each other: threads may share
// them out. Its key is what a copy shares: flow, PSN, opcode, length of the payload, UDP source port, ICRC and IP
// identification; a tap is an interface and a hop count. A packet that the first tap has seen for the n-th time was
// sent n times; a second tap that then sees it for the n-th time sees a copy.
//
// What an attacker could feed: anything; the window is a table of fixed size whose entries displace each other, so at
// worst copies are not recognised, and that is counted.
#pragma once

#include <transport-replay/model/capture_quality.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/observation.hpp>
#include <transport-replay/tracking/flow_table.hpp>
#include <transport-replay/tracking/quality_sums.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <array>
#include <memory>
#include <set>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMirrorWays = 4;  // taps of a packet, or packets of the same hash
inline constexpr int kMirrorSetBits = 14;
inline constexpr std::size_t kMirrorSets = 1 << kMirrorSetBits;  // 65536 packets: 2 ms of 32 million packets a second
inline constexpr std::size_t kMaxFaulty = 1 << 12;     // malformed packets that are told from their copies: of 48 bytes
inline constexpr std::uint32_t kSystematicShare = 26;  // of the last 64 packets: 40 %, where a mirror makes 50 %
inline constexpr std::uint64_t kClockSamples = 16;     // below, round times may be chance: 10^-16 for digits

enum class Repetition : std::uint8_t {
    none,
    other_tap,   // another tap saw the same transmission
    same_bytes,  // this tap saw the same datagram again, IP identification included: mirrored on the way in and out, or
                 // doubled by the network; a sender that retransmits counts its identification on
    ambiguous,  // this tap saw it again, and nothing tells a copy from a retransmission (IPv6, identification 0, no IP)
    perhaps_other_tap,  // likewise, as long after its original as another tap's clock would say of all packets of its
                        // way
};

// What a packet shares with its copies, and where and when it was recorded.
struct Recorded {
    std::uint64_t hash = 0;  // Observation::packet_hash
    dissect::Instant time{};
    std::uint16_t interface = 0;  // the low bits
    std::uint16_t ip_id = 0;
    std::uint8_t hops = 0;
    [[nodiscard]] static Recorded of(const Observation& observation) {
        return {.hash = observation.packet_hash,
                .time = observation.time,
                .interface = static_cast<std::uint16_t>(observation.interface),
                .ip_id = observation.ip_id,
                .hops = observation.hops};
    }
};

// What the window says of a packet.
struct Met {
    dissect::Duration distance{};  // to the original that it repeats
    Repetition repetition = Repetition::none;
    bool displaces = false;  // an entry that was lost before its time
    [[nodiscard]] bool anything() const { return repetition != Repetition::none || displaces; }
};

class RepetitionWindow {
public:
    // In the order of the capture, every RDMA packet once. Packets of different shares may be observed side by side,
    // once begin() was called.
    [[nodiscard]] Met observe(const Recorded& packet);
    void begin() {
        if (sets_.use_count() != 1) own();
    }
    // Which of so many shares has that packet.
    [[nodiscard]] static std::size_t share_of(std::uint64_t hash, std::size_t shares) {
        return set_of(hash) * shares >> kMirrorSetBits;
    }
    // Asks for the line that observe() will want: the window is larger than the fast caches.
    void prefetch(std::uint64_t hash) const {
        if (sets_) __builtin_prefetch(&(*sets_)[set_of(hash)]);
    }

private:
    // A packet in 16 bytes. Its key is the 48 bits of the hash that do not say the set, its time nanoseconds modulo
    // 2^48, or 78 hours.
    struct Entry {
        std::uint64_t key : 48 = 0;
        std::uint64_t interface : 16 = 0;  // the low bits
        std::uint64_t time : 48 = 0;
        std::uint64_t hops : 8 = 0;
        std::uint64_t seen : 8 = 0;  // by this tap; 0: empty
    };
    struct alignas(64) Set {  // a cache line
        std::array<Entry, kMirrorWays> entries;
    };
    [[nodiscard]] static std::size_t set_of(std::uint64_t hash) { return hash >> (64 - kMirrorSetBits); }

    using Sets = std::array<Set, kMirrorSets>;
    [[nodiscard]] static std::shared_ptr<Sets> empty_sets();
    void own();

    // A megabyte, from the first packet on, of which a short capture touches little; copies of the window share it
    // until one of them is told of a packet. They are one thread's.
    std::shared_ptr<Sets> sets_;
};

class QualityTracker {
public:
    explicit QualityTracker(const MemoryBudget& budget = MemoryBudget{}) : budget_(budget) {}
    // What the packet repeats: main trackers may use this instead of a window of their own.
    // `timed`: its time is of the same clock as that of the packets before.
    Repetition observe(const Observation& observation, bool timed = true);
    // The same where another window was told of it, of the packets that is_numbered().
    Repetition observe(const Observation& observation, bool timed, const Met& met);
    // Instead of observe() for each packet of a batch: what was counted of all of them, of which `start` is the first.
    // Then for each of them that is RDMA take(), and take_fault() where it has one.
    void take(const ContentSums& contents, const ClockSums& clock, dissect::FrameIndex start, const HeardPairs& pairs);
    // What a window said of it, in the order of the capture.
    Repetition take(const Met& met);
    void take_fault(const Observation& observation, Repetition repetition);
    // Whether it is a fault of its sender, or of the network.
    [[nodiscard]] static bool is_faulty(const Observation& observation);

    [[nodiscard]] bool is_mirror_duplicate(Repetition repetition) const;
    // Whether the capture is full of copies of the same tap (kSystematicShare).
    [[nodiscard]] bool systematic() const;
    // Each file is another tap's, with a clock and a beginning of its own.
    void expect_clocks_by_file() { clocks_by_file_ = true; }
    [[nodiscard]] bool expects_clocks_by_file() const { return clocks_by_file_; }
    // Instead of observe(): another tap than the one that is followed recorded it.
    void leave_out(const Observation& observation);
    // How long after its original the last repetition came.
    [[nodiscard]] dissect::Duration last_distance() const { return last_distance_; }
    // Hands everything out: the tracker is then as new. `drops` is what the capture file says once it is read.
    [[nodiscard]] CaptureQuality finish(const dissect::Drops& drops = {});

    // Asks for the lines that observe() will want of a packet that comes soon.
    void prefetch(const Observation& observation) const {
        window_.prefetch(observation.packet_hash);
        pair_index_.prefetch(observation.hosts_hash);
    }

private:
    void take_contents(const Observation& observation, Repetition repetition);
    void take_pair(const HeardPair& pair);
    [[nodiscard]] HeardPair* pair_of(const HeardPair& like);

    CaptureQuality quality_;
    ContentSums contents_;
    ClockSums clock_;
    RepetitionWindow window_;
    std::uint64_t history_ = 0;  // a bit a packet: same_bytes
    dissect::Duration last_distance_{};
    MemoryBudget budget_;
    FlowTable pair_index_;  // by hash of hosts
    std::vector<HeardPair> pairs_;
    std::set<std::uint64_t> faulty_;  // hashes of malformed packets
    std::uint16_t file_ = 0;          // of the last packet
    bool clocks_by_file_ = false;
};

}  // namespace qps::transport
