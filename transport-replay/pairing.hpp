// Pairing: which flow answers which, from the traffic alone.
//
// An RC packet names only the queue pair it goes to. That the answers to a flow A -> B (qp) come in the flow B -> A (qp')
// shows in their PSNs: an answer bears the PSN of a request that waits for one. A PSN is 24 bits and starts at random, so
// one match is likely right and three are near certain; where flows of a host pair run through the same PSNs, nothing is
// decided until they differ.
#pragma once

#include <transport-replay/address.hpp>

#include <cstdint>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

enum class FlowId : std::uint32_t {};

// Requests of flows that have no partner yet, by hosts and PSN.
class WaitingRequests {
public:
    // Requests remembered at most; past it all are forgotten and it begins anew: a flow
    // needs one answered request to be paired, and has more to come.
    static constexpr std::size_t kMost = 1 << 18;

    // A request of `flow` that will be answered with this PSN.
    void expect(const FlowKey& flow, dissect::Psn psn, FlowId id);
    // Whose request this answer of `flow` is: nothing where nobody or more than one flow waits for it.
    [[nodiscard]] std::optional<FlowId> answered_by(const FlowKey& flow, dissect::Psn psn) const;

private:
    struct Key {
        Address requester;
        Address responder;
        dissect::Psn psn;
        [[nodiscard]] bool operator==(const Key&) const = default;
    };
    struct Hash {
        using is_avalanching = void;
        [[nodiscard]] std::size_t operator()(const Key& key) const;
    };
    struct Waiting {
        FlowId id{};
        bool ambiguous = false;
    };
    boost::unordered_flat_map<Key, Waiting, Hash> waiting_;
};

}  // namespace qps::transport
