// NcclChannel: one way of a connection of NCCL: what the receiver offered, and the messages that its sender wrote
// there, each ended by a WRITE with immediate. Offers are numbered by the receiver, so the same number is the same
// place in the work of all ranks.
//
// Bounded by who owns it (NcclEvents). What an attacker could feed: offers that nothing follows (the oldest are
// forgotten), messages nobody offered (they have no number), times that go back (a message never ends before it began).
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/collectives/nccl_offer.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport {

struct NcclOffered {
    dissect::Instant time{};
    dissect::Instant arrived{};  // acknowledged; `time` until it is
    dissect::FrameIndex frame{};
    std::uint64_t index = 0;
    dissect::Psn psn;
    bool fresh = false;  // nothing that was offered before was still waited for: the receiver began anew
};

struct NcclMessage {
    dissect::Instant begin{};  // first packet
    dissect::Instant end{};    // last packet
    dissect::FrameIndex frame{};
    std::uint64_t index = 0;  // of its offer; 0: not seen
    std::uint64_t bytes = 0;
    std::uint64_t sample = 0;  // of the first bytes of its data; 0: none
    bool ended = false;
};

// How many events all channels of a capture may still keep.
struct NcclEvents {
    static constexpr std::uint32_t kMost = 1 << 16;  // of at most 56 bytes: 3.5 MiB
    std::uint32_t left = kMost;
    std::uint64_t left_out = 0;
    [[nodiscard]] bool take() {
        if (left == 0) return ++left_out, false;
        return --left, true;
    }
};

class NcclChannel {
public:
    static constexpr std::size_t kMostPending = 256;  // offers at once: 32 requests of eight

    void offer(const NcclOffer& offer, dissect::Instant time, dissect::FrameIndex frame, dissect::Psn psn,
               NcclEvents& events);
    // The sender has all offers up to that PSN.
    void acknowledge(dissect::Psn psn, dissect::Instant time);
    // The first packet of a message; where it is kept, or nothing. One that was offered elsewhere is none of this
    // channel.
    [[nodiscard]] bool waits_for(std::uint64_t address) const;
    [[nodiscard]] std::optional<std::uint32_t> begin(std::uint64_t address, dissect::Instant time,
                                                     dissect::FrameIndex frame, NcclEvents& events);
    void add(std::uint32_t message, dissect::Bytes payload, std::uint32_t bytes, dissect::Instant time);
    void end(std::uint32_t message);

    [[nodiscard]] const std::vector<NcclOffered>& offers() const { return offers_; }
    [[nodiscard]] const std::vector<NcclMessage>& messages() const { return messages_; }
    [[nodiscard]] std::optional<std::uint32_t> sender() const {
        return sender_;
    }  // rank; nothing: offers contradict each other
    [[nodiscard]] std::uint64_t size() const { return size_; }  // the most that an offer takes
    [[nodiscard]] bool counted() const {
        return counted_ >= kFewestCounted;
    }  // its offers are numbered one after the other

private:
    friend struct PrivateMembers;  // parts/private_members.hpp
    static constexpr std::uint32_t kFewestCounted = 3;
    struct Pending {
        std::uint64_t address = 0;
        std::uint64_t index = 0;
    };

    std::vector<NcclOffered> offers_;
    std::vector<NcclMessage> messages_;
    std::vector<Pending> pending_;
    std::size_t arrived_ = 0;  // offers that were acknowledged
    std::uint32_t open_ = 0;   // messages that have not ended
    std::uint32_t counted_ = 0;
    std::uint64_t newest_ = 0;
    std::uint64_t size_ = 0;
    std::optional<std::uint32_t> sender_;
    bool contradicted_ = false;
};

}  // namespace qps::transport
