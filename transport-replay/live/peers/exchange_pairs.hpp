// ExchangePairs: the queue pairs of one session over TCP: opened before it, connected to what the peer tells of its
// own, used, closed.
//
// Invariants: numbers of queue pairs here are 0 to size() - 1 on both sides; what could not be posted or completed with
// an error is a complaint, the first of which stays; nothing is posted after that.
//
// The ends of a peer are a stranger's word: an address that is no host's is refused. Who calls us can have us send to
// any address it names, but only what the user's program sends anyway.
#pragma once

#include <transport-replay/live/exchange/queue_pair_end.hpp>
#include <transport-replay/live/peers/queues.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::live::peers {

// As these programs have it, but for the timeout: theirs is 14 (67 ms), ours has patience with slow machines (268 ms).
inline constexpr std::uint8_t kExchangeTimeout = 16;
inline constexpr std::uint8_t kExchangeRetries = 7;
inline constexpr std::uint8_t kExchangeRnrTimer = 12;  // code of 9.7.5.2.8: 0.64 ms

class ExchangePairs {
public:
    // Queue pairs that take receives at once; UD ones are in RTS. The address of ours that they are told with is `gid`.
    [[nodiscard]] static verbs::Result<ExchangePairs> open(const PeerContext& context, const QueueNeeds& needs,
                                                           std::uint32_t count, dissect::Qkey qkey, const Address& gid,
                                                           std::uint64_t seed);
    void close(const PeerContext& context);

    // To the peer's: those beyond it stay unconnected. Its reads at a time and ours are `reads` at most. False: a
    // complaint.
    bool connect(const PeerContext& context, std::span<const QueuePairEnd> remote, PathMtu mtu, std::uint16_t reads);

    // Whether the way to all of them is known, which is asked for where it is not: who sends a lot at once, unreliably,
    // must not begin before. Where nobody answers: a complaint.
    bool reachable(const PeerContext& context);

    // The peer has ended the connections: what is flushed is no failure any more.
    void part() { parted_ = true; }
    // One whose connection was rejected, to be connected again. False: that is not possible.
    bool renew(const PeerContext& context, std::uint32_t number);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
    [[nodiscard]] Queues& at(std::uint32_t number) { return all_[number]; }
    [[nodiscard]] const Queues& at(std::uint32_t number) const { return all_[number]; }
    // What is told of them, without what perftest says more.
    [[nodiscard]] const std::vector<QueuePairEnd>& ends() const { return ends_; }
    [[nodiscard]] std::uint32_t outstanding() const;
    // Where UD messages of that queue pair go.
    [[nodiscard]] const verbs::UdTarget& target(std::uint32_t number) const { return targets_[number]; }

    // Hands every completion to `take(number, done)`; how many there were. Flushed ones and failures are kept back.
    template <class Take> std::size_t drain(const PeerContext& context, Take take) {
        std::size_t all = 0;
        while (const std::size_t count = context.adapter().poll_cq(cq_, batch_)) {
            all += count;
            for (const verbs::Wc& wc : std::span(batch_).first(count))
                if (const auto found = numbers_.find(static_cast<std::uint32_t>(wc.qp_num)); found != numbers_.end()) {
                    const Done done = done_of(wc);
                    if (note(found->second, done)) take(found->second, done);
                }
        }
        return all;
    }
    // False: a complaint. UD messages go to the peer's queue pair of that number.
    bool post(const PeerContext& context, std::uint32_t number, verbs::SendWr wr, std::uint32_t tag);
    bool post_receive(const PeerContext& context, std::uint32_t number, std::uint32_t slot);

    void complain(std::string why) {
        if (!complaint_) complaint_ = std::move(why);
    }
    [[nodiscard]] const std::optional<std::string>& complaint() const { return complaint_; }

private:
    bool note(std::uint32_t number, const Done& done);
    void announce(const Queues& queues, const Address& gid, std::uint64_t seed);
    [[nodiscard]] verbs::Result<void> raise(const PeerContext& context, std::uint32_t number,
                                            const QueuePairEnd& remote, PathMtu mtu, std::uint16_t reads);

    verbs::Cq cq_{};
    dissect::Qkey qkey_{};
    std::vector<Queues> all_;
    std::vector<QueuePairEnd> ends_;
    std::vector<verbs::UdTarget> targets_;
    std::vector<Srqn> srqs_;                                           // XRC: the peer's
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> numbers_;  // by queue pair number
    std::array<verbs::Wc, 64> batch_{};
    bool parted_ = false;
    std::optional<std::string> complaint_{};
};

}  // namespace qps::transport::live::peers
