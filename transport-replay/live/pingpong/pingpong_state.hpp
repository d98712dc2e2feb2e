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
inline constexpr std::uint32_t kShortReport = 16;  // bytes of the answer to kEnd, of or for an earlier version
inline constexpr std::uint32_t kReport = 24;
inline constexpr std::uint32_t kBeginBytes = 4;  // of kBegin of a row over TCP
// What nobody uses of a processor in a row, and no row lasts: a thousand processors for eleven days. A peer that says
// more is wrong.
inline constexpr dissect::Duration kMostReported{1'000'000'000'000'000'000};

struct Announced {
    bool signaled = true;
    std::uint16_t depth = 1;
    std::uint32_t bytes = 0;
    bool long_report = true;
    [[nodiscard]] bool operator==(const Announced&) const = default;
};
inline constexpr std::size_t kAnnouncedBytes = 16;
void write(dissect::MutableBytes into, const Announced& announced);
[[nodiscard]] std::optional<Announced> read_announced(dissect::Bytes bytes);

enum class Served : std::uint8_t { yes, no_address, cannot_listen };
// Behind the offer in a reply.
struct Extension {
    bool there = false;  // the server knows all modes of this table, and long reports
    Served sockets = Served::no_address;
    std::uint16_t port = 0;
    std::uint64_t token = 0;
    [[nodiscard]] bool operator==(const Extension&) const = default;
};
inline constexpr std::size_t kExtensionBytes = 16;
void write(dissect::MutableBytes into, const Extension& extension);
// Of all private data of a reply; not there where that has none, or a version of which nothing is known.
[[nodiscard]] Extension read_extension(dissect::Bytes said);

// What a server says beside its reply.
struct Lent {
    peers::Offer offer{};
    Extension extension{};
};
inline constexpr std::size_t kLentBytes = peers::kOfferBytes + kExtensionBytes;
void write(dissect::MutableBytes into, const Lent& lent);

// A report of as many bytes as there are.
void write(dissect::MutableBytes into, const ProcessorUse& use);
[[nodiscard]] std::optional<ProcessorUse> read_use(dissect::Bytes bytes);

// Queues of either side: a receive is free again when its answer completed, and of those that complete quietly a batch
// waits.
[[nodiscard]] peers::QueueNeeds needs_of(const Announced& announced);

// How the rows that are played now want to learn of completions. Where rows of several connections differ, polling
// wins.
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
    ProcessorTime used_{};
    dissect::Instant began_{};
};

[[nodiscard]] Program make_server(PingpongSettings settings);
[[nodiscard]] Program make_client(PingpongSettings settings);

}  // namespace qps::transport::live::pingpong
