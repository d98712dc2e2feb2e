// RateWatch: how the rates of those who send long messages go with CNPs, round-trip times and grants;
// model/rate_control.hpp says what of it is counted, and why so. Sans I/O: packets and what the tracker said of them
// are arguments.
//
// It may not cost the path of a packet what can be felt. A way of a reliable connection is followed from a CNP to it
// on, or from a request of several packets on whose PSN is a multiple of kEvery: who sends few packets costs a look at
// the PSN alone. Where kStretch packets brought no signal, it rests until a CNP comes or its PSN is a multiple of
// kRest; so does who had signals for kEnough packets.
//
// What an attacker could feed: any number of ways; each takes a place of the budget's share, and those past it are
// counted. A way takes the same memory however long it is.
#pragma once

#include <transport-replay/model/connection_map.hpp>
#include <transport-replay/model/memory_budget.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/model/paged.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/model/rate_control.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport {

struct Observation;

class RateWatch {
public:
    static constexpr std::uint32_t kEvery = 4096;
    static constexpr std::uint32_t kStretch = 2048;
    static constexpr std::uint32_t kRest = 1 << 15;
    static constexpr std::uint64_t kEnough = 1 << 18;

    explicit RateWatch(const MemoryBudget& budget = MemoryBudget{}) : most_(budget.items(Share::rates)) {}

    // A packet of a connection, after the tracker had it. Of an ACK, how long ago the request passed whose PSN it has,
    // where that is known.
    std::optional<dissect::Duration> observe(const Observation& observation, const PacketRecord& record);
    // Nothing more comes of that connection.
    void retire(ConnectionId connection);
    void add_peaks(Peaks& peaks) const;
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }  // times that a way was not followed
    // Hands everything out, by connection.
    [[nodiscard]] std::vector<RateControl> finish();

private:
    using Index = std::uint32_t;
    static constexpr Index kNone = UINT32_MAX;
    static constexpr Index kResting = 1U << 31;  // a bit of a place: so that one who rests is not touched
    static constexpr std::array<Index, 2> kNeither{kNone, kNone};
    // A request that asks for an answer, or ends its message.
    struct Sent {
        dissect::Instant time{};
        dissect::Psn psn;
        std::uint32_t message : 24 = 0;  // which of its sender's this is, by our count
        bool ends : 1 = false;           // it
        bool answered : 1 = false;
    };
    static constexpr std::size_t kMostSent = 32;  // unanswered; the oldest goes
    // What passed in a stretch of time.
    struct Step {
        std::uint64_t bytes = 0;       // of packets that follow another of their message,
        std::int64_t sending = 0;      // and the time from that one to them, ns
        std::int64_t length = 0;       // ns
        std::int64_t round_trips = 0;  // sum, ns
        std::uint32_t answers = 0;     // of which it is
        std::uint32_t packets = 0;
        std::uint32_t cnps = 0;
        std::uint32_t window = 0;  // packets under way, at most
        [[nodiscard]] double rate() const { return static_cast<double>(bytes) / static_cast<double>(sending); }
        [[nodiscard]] double round_trip() const {
            return answers == 0 ? 0 : static_cast<double>(round_trips) / answers;
        }
    };
    static constexpr std::size_t kSteps = 10;
    static constexpr std::size_t kGaps = 128;  // a power of two; five times what is compared with each other
    struct Way {
        bool used = false;
        bool signalled = false;  // in this stretch
        bool inside = false;     // of a message: the last packet did not end it
        bool counts_credits =
            false;                  // an answer granted some, and which message is the last that it may begin is known
        bool heard = false;         // a request of the other end, since its last message began
        bool granted_now = false;   // a credit came for which it waited, and no message since
        bool prompt = false;        // the first one came soon after it
        std::uint8_t kept = 0;      // steps, in a row
        std::uint8_t settling = 0;  // steps to come that are not looked at
        std::uint32_t stretch = 0;  // packets, since it began or was looked at last
        std::uint32_t message = 0;  // that began last, by our count
        std::uint32_t limit = 0;    // the last message that it may begin, by our count
        std::uint32_t waited_to = 0;  // messages up to here had to wait for a credit,
        dissect::Instant granted{};   // which came then
        dissect::Psn acknowledged;
        bool answered = false;                 // that is known
        dissect::Instant last{};               // request
        std::uint32_t compared = 0;            // packets before and after a CNP; 0: not known yet
        std::uint32_t gaps_kept = 0;           // in a row, kGaps at most
        std::uint32_t gap_at = 0;              // place of the next
        std::uint32_t since_cnp = UINT32_MAX;  // packets
        bool measures_cnp = false;             // that one is compared
        dissect::Instant step_start{};
        std::int64_t step_length = 0;  // ns; 0: not known yet
        Step step;
        std::array<Step, kSteps> steps{};
        std::array<std::uint32_t, kGaps> gap_times{};  // within messages, ns
        std::array<std::uint16_t, kGaps> gap_bytes{};  // that came at the end of each
        std::size_t oldest = 0;                        // of the unanswered
        std::size_t unanswered = 0;
        std::array<Sent, kMostSent> sent{};
        RateControl control;
    };
    static_assert(sizeof(Way) <= 2240, "with its places less than its share says");

    [[nodiscard]] Way* awake(ConnectionId connection, End from);
    [[nodiscard]] Way* woken(ConnectionId connection, End from, dissect::FrameIndex frame);
    [[nodiscard]] Way* begin(ConnectionId connection, End from, dissect::FrameIndex frame);
    void rest(Way& way);
    void take_request(const Observation& observation, const PacketRecord& record);
    std::optional<dissect::Duration> take_answer(const Observation& observation, const PacketRecord& record);
    void hear(const PacketRecord& record);
    static void begin_message(Way& way, bool send, dissect::Instant now);
    static void take_credits(Way& way, std::uint32_t completed, const Observation& observation);
    static void forget(Way& way);
    static void disturb(Way& way);
    static void pass(Way& way, dissect::Instant now);
    static void choose_length(Way& way);
    static void close_step(Way& way);
    static void compare(Way& way);
    static void take_cnp(Way& way);
    static void keep_gap(Way& way, std::uint32_t time, std::uint32_t bytes);
    [[nodiscard]] static double pace(const Way& way, std::uint32_t from);

    std::size_t most_;
    std::uint64_t left_out_ = 0;
    std::size_t awake_ = 0;  // ways
    Paged<Way> ways_;
    std::vector<Index> free_;
    ConnectionMap<std::array<Index, 2>> places_;  // of what each end sends
};

}  // namespace qps::transport
