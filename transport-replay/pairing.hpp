// Pairing: which flow answers which, from the traffic alone.
//
// An RC packet names only the queue pair it goes to. That the answers to a flow A -> B (qp) come in the flow B -> A (qp')
// shows in their PSNs: an answer bears the PSN of a request that waits for one. A PSN is 24 bits and starts at random, so
// one match is likely right and three are near certain. Where many flows of a host pair run through the same PSNs (some
// libraries begin every queue pair at 0), each answer leaves only those that have sent its PSN, until one is left.
//
// What an attacker could feed: any PSNs. The tables have bounds; past them pairing takes longer, or does not happen.
#pragma once

#include <transport-replay/address.hpp>

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
    // Requests remembered in each of two generations, of 32 bytes: the older one is forgotten when the newer one is full. A
    // flow needs one answered request to be paired, and has more to come.
    static constexpr std::size_t kMost = 1 << 19;
    // Flows of a host pair that wait for the same PSN; more of them tell nothing.
    static constexpr std::size_t kMostTogether = 128;
    using Flows = boost::container::small_vector<FlowId, 8>;

    // A request of `flow` that will be answered with this PSN.
    void expect(const FlowKey& flow, dissect::Psn psn, FlowId id);
    // Whose request this answer of `flow` may be, the older ones first. Nobody where too many wait for it.
    [[nodiscard]] Flows candidates(const FlowKey& flow, dissect::Psn psn) const;

private:
    struct Slot {
        std::uint64_t key = 0;  // 0: empty
        FlowId id{};
    };
    struct Generation {
        std::vector<Slot> slots = std::vector<Slot>(16);
        std::size_t used = 0;
        void insert(Slot slot);
        void collect(std::uint64_t key, Flows& flows) const;
    };
    Generation newer_;
    Generation older_;
};

// What is known of a flow of answers that has no partner yet.
class Candidates {
public:
    // One more answer, and who may have asked for it. The one flow that is left, once it is one. `gone` tells of flows
    // that have found their partner meanwhile.
    template <class Gone>
    [[nodiscard]] std::optional<FlowId> narrow(const WaitingRequests::Flows& possible, const Gone& gone) {
        std::vector<FlowId> left;
        for (const FlowId id : possible)
            if (!gone(id) && (left_.empty() || std::ranges::find(left_, id) != left_.end())) left.push_back(id);
        if (left.empty() && !left_.empty()) {  // the capture lacks a request: begin anew with this answer
            for (const FlowId id : possible)
                if (!gone(id)) left.push_back(id);
        }
        if (!left.empty()) left_ = std::move(left);
        if (left_.size() != 1 || gone(left_.front())) return std::nullopt;
        return left_.front();
    }

private:
    std::vector<FlowId> left_;
};

}  // namespace qps::transport
