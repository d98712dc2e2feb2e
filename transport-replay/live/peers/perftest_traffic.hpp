// PerftestTraffic: the messages of one size of a perftest program: whose turn it is, how many, how fast. Counting
// alone: what is posted, and with which memory, is perftest.cpp's.
//
// Bandwidth: as many under way on each queue pair as `depth`. Latency: strictly in turns; who begins is the client, in
// ib_write_lat the server; READs and ATOMICs have no turns, one is under way.
//
// Ours: the peer moves nothing here but by what arrives.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/live/exchange/perftest_session.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace qps::transport::live::peers {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// What this side does.
struct PerftestPart {
    bool sends = false;            // anything at all
    bool receives = false;         // messages, or bytes that it sees written
    bool turns = false;            // one for one
    bool begins = false;           // has the first turn
    std::uint64_t iterations = 0;  // of a queue pair; kNoLimit: until the peer goes on
    std::optional<dissect::Duration> duration{};
    std::uint32_t depth = 1;
    dissect::Duration gap{};  // between what is sent, on whatever queue pair
};

struct Latencies {
    dissect::Duration least{std::numeric_limits<std::int64_t>::max()};
    dissect::Duration most{};
    dissect::Duration all{};
    std::uint64_t count = 0;
    void add(dissect::Duration each);
};

class PerftestTraffic {
public:
    void begin(const PerftestPart& part, std::uint32_t queue_pairs, dissect::Instant now);
    [[nodiscard]] bool may_send(std::uint32_t queue_pair, dissect::Instant now) const;
    void sent(std::uint32_t queue_pair, dissect::Instant now);
    void completed(std::uint32_t queue_pair, dissect::Instant now);
    void received(dissect::Instant now);  // also before begin(): who had to say so first may have been heard later
    // Whether all is done that is this side's to do; `peer_went_on`: no more will come.
    [[nodiscard]] bool through(dissect::Instant now, bool peer_went_on) const;
    // Forgets this size.
    void end();

    [[nodiscard]] const PerftestPart& part() const { return part_; }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t sent_on(std::uint32_t queue_pair) const { return pairs_[queue_pair].sent; }
    [[nodiscard]] std::uint64_t received() const { return received_; }
    [[nodiscard]] std::uint64_t outstanding() const { return sent_ - completed_; }
    [[nodiscard]] const Latencies& latencies() const { return latencies_; }
    // From the first to the last that happened.
    [[nodiscard]] dissect::Duration took() const;
    // When through() may change its mind without anything happening.
    [[nodiscard]] std::optional<dissect::Instant> due(dissect::Instant now) const;

private:
    struct Pair {
        std::uint64_t sent = 0;
        std::uint64_t completed = 0;
    };
    void note(dissect::Instant now);
    [[nodiscard]] bool timed() const;
    [[nodiscard]] dissect::Instant deadline() const;
    [[nodiscard]] bool complete() const;

    PerftestPart part_{};
    std::vector<Pair> pairs_;
    std::uint64_t sent_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t received_ = 0;
    dissect::Instant begun_{};
    std::optional<dissect::Instant> first_{};
    dissect::Instant last_{};
    std::optional<dissect::Instant> last_sent_{};
    Latencies latencies_{};
};

}  // namespace qps::transport::live::peers
