// Pairing: which flow answers which, from the traffic alone.
//
// An RC packet names only the queue pair it goes to. That the answers to a flow A -> B (qp) come in the flow B -> A
// (qp') shows in their PSNs: an answer bears the PSN of a request that waits for one. A PSN is 24 bits and starts at
// random, so one match is likely right and three are near certain. Where many flows of a host pair run through the same
// PSNs (some libraries begin every queue pair at 0), each answer leaves only those that have sent its PSN, until one is
// left; and where several stay, the one whose requests were answered much sooner than those of the others were, or
// after much the same time each.
//
// What an attacker could feed: any PSNs. The tables have bounds; past them pairing takes longer, or does not happen.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/large_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace qps::transport {

enum class FlowId : std::uint32_t {};  // a flow without partner, as the tracker numbers them

// Requests of flows that have no partner yet, by a hash of hosts and PSN: who finds flows looks whether they fit.
class WaitingRequests {
public:
    // `most`: requests remembered in each of two generations, of 32 bytes: the older one is forgotten when the newer
    // one is full. A flow needs one answered request to be paired, and has more to come.
    explicit WaitingRequests(std::size_t most) : most_(most) {}
    // Flows of a host pair that wait for the same PSN; more of them tell nothing.
    static constexpr std::size_t kMostTogether = 128;
    struct Asked {
        FlowId id{};
        dissect::Instant time{};  // of the request, when it was sent last
    };
    using Flows = boost::container::small_vector<Asked, 8>;

    // A request of `flow` that will be answered with this PSN.
    void expect(const FlowKey& flow, dissect::Psn psn, FlowId id, dissect::Instant time);
    // Whose request this answer of `flow` may be, the older ones first. Nobody where too many wait for it.
    [[nodiscard]] Flows candidates(const FlowKey& flow, dissect::Psn psn) const;

    // How many were ever remembered, until one is forgotten: then as many as there may be.
    [[nodiscard]] std::size_t most_remembered() const { return most_remembered_; }
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    struct Slot {
        std::uint32_t key = 0;  // 0: empty
        FlowId id{};
        dissect::Instant time{};
    };
    static_assert(sizeof(Slot) == 16);
    struct Generation {
        using Slots = std::vector<Slot, LargeBlocks<Slot>>;
        Slots slots = Slots(16);
        std::size_t used = 0;
        void insert(Slot slot);
        void collect(std::uint32_t key, Flows& flows) const;
    };
    std::size_t most_;
    std::size_t most_remembered_ = 0;
    Generation newer_;
    Generation older_;
};

// What is known of a flow of answers that has no partner yet.
class Candidates {
public:
    struct Choice {
        FlowId id{};
        bool by_time = false;  // others are possible, and less likely
    };
    // One more answer, and who may have asked for it. The flow that is left, or by far the likeliest, once it is one.
    [[nodiscard]] std::optional<Choice> narrow(const WaitingRequests::Flows& possible, dissect::Instant time);
    // Of those that are left and may have asked.
    template <class May> [[nodiscard]] std::optional<Choice> narrow_to(May may) {
        const std::size_t before = left_.size();
        std::erase_if(left_, [&](const Candidate& candidate) { return !may(candidate.id); });
        return left_.size() == before ? std::nullopt : decided();
    }
    template <class Use> void each(Use use) const {
        for (const Candidate& candidate : left_) use(candidate.id);
    }

private:
    struct Candidate {
        FlowId id{};
        dissect::Duration least{};  // from request to answer
        dissect::Duration most{};
        [[nodiscard]] dissect::Duration spread() const;
    };
    [[nodiscard]] std::optional<Choice> decided();
    std::vector<Candidate> left_;
    std::uint32_t answers_ = 0;
};

}  // namespace qps::transport
