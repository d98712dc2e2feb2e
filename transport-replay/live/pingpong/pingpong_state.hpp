// What client and server of pingpong say to each other, and what both do alike: waiting for completions as a row says.
//
// What is read here comes from the peer: a version, a depth, a row that cannot be is nothing.
#pragma once

#include <transport-replay/live/peers/connected.hpp>
#include <transport-replay/live/peers/offer.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

namespace qps::transport::live::pingpong {

inline constexpr std::uint32_t kBegin = 0x5150'0000;  // immediate data: and the row in the lowest byte
inline constexpr std::uint32_t kEnd = 0x5150'0100;
inline constexpr std::uint32_t kReport = 16;  // bytes of the answer to kEnd

struct Announced {
    bool signaled = true;
    std::uint16_t depth = 1;
    std::uint32_t bytes = 0;
    [[nodiscard]] bool operator==(const Announced&) const = default;
};
inline constexpr std::size_t kAnnouncedBytes = 16;
void write(dissect::MutableBytes into, const Announced& announced);
[[nodiscard]] std::optional<Announced> read_announced(dissect::Bytes bytes);

void write(dissect::MutableBytes into, const ProcessorUse& use);
[[nodiscard]] std::optional<ProcessorUse> read_use(dissect::Bytes bytes);

// Queues of either side: a receive is free again when its answer completed, and of those that complete quietly a batch waits.
[[nodiscard]] peers::QueueNeeds needs_of(const Announced& announced);

// How the rows that are played now want to learn of completions. Where rows of several connections differ, polling wins.
class Attention {
public:
    void begin(PingpongWait wait) { ++(wait == PingpongWait::poll ? polling_ : waiting_); }
    void end(PingpongWait wait) { --(wait == PingpongWait::poll ? polling_ : waiting_); }
    [[nodiscard]] bool hurried() const { return polling_ > 0; }
    // Between rows nobody measures, and completions are always looked at.
    [[nodiscard]] bool look(const peers::PeerContext& context, verbs::Cq cq);

private:
    std::size_t polling_ = 0;
    std::size_t waiting_ = 0;
    bool armed_ = false;
};

// Processor time and time of a row, from its beginning on.
class Meter {
public:
    void begin(const PingpongSettings& settings, dissect::Instant now);
    [[nodiscard]] ProcessorUse use(const PingpongSettings& settings, dissect::Instant now) const;

private:
    dissect::Duration worked_{};
    dissect::Instant began_{};
};

[[nodiscard]] Program make_server(PingpongSettings settings);
[[nodiscard]] Program make_client(PingpongSettings settings);

}  // namespace qps::transport::live::pingpong
