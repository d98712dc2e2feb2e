// CopyFilter: takes away what other taps recorded of packets that the capture has already, by what learn_taps() found
// in all of it.
//
// Recordings with a label of their own are told by it, in whatever order they come. Where only the time tells them
// apart, packets wait for their copies in a table of fixed size. What only the tap with the later clock recorded has
// nobody that waits for it: the sender's count of datagrams (IPv4's identification) tells whose it is, and it is left
// out like the rest of that tap. Where it does not count, a request that stands between copies while the first tap is
// far beyond it may be such a one: nothing follows from it.
//
// What an attacker could feed: packets that displace each other before their copy comes; it is then followed as a
// packet of its own, and that is counted.
#pragma once

#include <transport-replay/model/capture_traits.hpp>

#include <array>
#include <optional>
#include <vector>

namespace qps::transport {

class CopyFilter {
public:
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 21;  // packets, of 16 bytes
    static constexpr std::size_t kSetSize = 8;

    CopyFilter() = default;
    explicit CopyFilter(const CaptureTraits& traits);
    enum class Copy : std::uint8_t {
        no,
        perhaps,  // or its sender sent it again
        yes,
    };
    // In the order of the capture, every packet once.
    [[nodiscard]] Copy look(const Observation& observation);
    [[nodiscard]] bool is_copy(const Observation& observation) { return look(observation) == Copy::yes; }
    // All are followed.
    [[nodiscard]] bool knows_nothing() const { return other_taps_.empty() && twice_.empty(); }
    // Whether it is known of any packets that they are copies.
    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] std::uint64_t displaced() const { return displaced_; }
    // Packets whose copy did not come, as far as the table has them: one of the taps alone recorded them.
    [[nodiscard]] bool any_alone() const;

private:
    struct Waiting {
        std::uint64_t key : 63 = 0;  // 0: nobody
        std::uint64_t met : 1 = 0;   // its copy came
        dissect::Instant time{};
    };
    struct alignas(64) Set {
        std::array<Waiting, kSetSize> waiting;
    };
    // How far each tap's recording of a flow has come, in the sender's count of datagrams.
    struct Passed {
        std::uint16_t ip_id = 0;
        dissect::Instant time{};
    };
    struct Heads {
        std::uint64_t flow = 0;  // 0: nobody
        std::uint32_t first = 0, second = 0;
        bool second_began = false;        // a copy came
        std::array<Passed, 32> newest{};  // of the first tap, in a ring
        std::uint32_t recorded = 0;
        std::optional<dissect::Instant> first_time, second_time;  // of these, by PSN
    };
    static constexpr std::size_t kHeads = 1024, kHeadPlaces = 4;  // places that a flow may have

    [[nodiscard]] static std::uint64_t place_of(const Observation& observation, bool counted);
    [[nodiscard]] const Heads* known_heads(std::uint64_t place) const;
    [[nodiscard]] bool is_counted(const Observation& observation) const;
    [[nodiscard]] Heads& heads_of(const Observation& observation, std::uint16_t count, bool counted);
    [[nodiscard]] bool follows_second_tap(const Observation& observation, dissect::Duration apart, bool copy);
    [[nodiscard]] Copy of_second_tap(const Heads& heads, const Observation& observation, dissect::Duration apart) const;
    [[nodiscard]] bool is_other_tap(const Observation& observation, std::uint64_t way) const;
    [[nodiscard]] Copy came_before(const Observation& observation, const RecordedTwice& twice);

    std::vector<OtherTap> other_taps_;
    std::vector<RecordedTwice> twice_;
    std::vector<Set> sets_;
    std::vector<Heads> heads_;
    std::uint64_t displaced_ = 0;
    bool active_ = false;
};

}  // namespace qps::transport
