// Datagrams: the one queue pair of a program of unreliable datagrams (UD), as rdma_cm makes them in the port space UDP.
//
// Its Q_Key is the well-known one of rdma_cm, so anybody who knows the number of the queue pair can send to it: what
// arrives is judged by what it says of itself, and an answer goes to where the packet says it came from.
#pragma once

#include <transport-replay/live/peers/link.hpp>

#include <array>

namespace qps::transport::live::peers {

inline constexpr std::uint32_t kDefaultDatagram = 100;        // bytes; as udaddy and mckey
inline constexpr std::uint64_t kDefaultDatagrams = 10;        // and how many
inline constexpr std::uint64_t kMostDatagrams = 1U << 24;     // that one client sends: a bit is kept for each
inline constexpr std::uint32_t kMostDatagramReceives = 1024;  // posted: a burst of senders that know no window
inline constexpr dissect::Duration kQuiet =
    microseconds(10'000'000);  // what is lost is lost: nobody waits longer for the next

class Datagrams {
public:
    // A queue pair that takes messages of up to the adapter's MTU.
    [[nodiscard]] std::expected<void, std::string> open(Endpoint& endpoint, dissect::Instant now);
    void close(Endpoint& endpoint, dissect::Instant now);
    [[nodiscard]] bool is_open() const { return open_; }

    [[nodiscard]] PeerContext context(Endpoint& endpoint, dissect::Instant now) {
        return {.endpoint = endpoint, .now = now, .pd = pd_, .counts = counts, .lines = lines, .held = held_};
    }
    // The next completion, or nothing. Failures are counted; they end nothing.
    [[nodiscard]] std::optional<Done> next(Endpoint& endpoint, dissect::Instant now);
    // A SEND with the queue pair's number as its immediate; counted.
    bool send(const PeerContext& context, const verbs::Sge& piece, const verbs::UdTarget& to, std::uint32_t tag);

    Queues queues;
    ProgramCounts counts;
    std::vector<std::string> lines;

private:
    verbs::Pd pd_{};
    verbs::Cq cq_{};
    std::size_t held_ = 0;
    std::array<verbs::Wc, 64> batch_{};
    std::size_t batch_size_ = 0;
    std::size_t batch_next_ = 0;
    bool open_ = false;
};

// Messages of one datagram's bytes.
[[nodiscard]] std::expected<void, std::string> sound_datagrams(const ProgramRequest& request);

}  // namespace qps::transport::live::peers
