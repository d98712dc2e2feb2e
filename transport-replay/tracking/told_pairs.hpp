// ToldPairs: queue pairs and first PSNs that programs told each other outside of RDMA, until the first request between
// two of them shows that it was so: one whose PSN is the one that was told, of 24 bits that programs draw by chance, or
// what else only that one has.
//
// What an attacker could feed: pairs without end; past kMost those are forgotten that nobody used for kLongestSetUp, or
// else all of them, and connections are paired by their packets.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

// What a program tells of its own end.
struct ToldEnd {
    Address address;
    dissect::Qpn qpn{};
    dissect::Psn psn;  // of its first request
    bool asks = true;  // false: it only serves (XRC targets), and its PSN is that of another queue pair
};

// What the first request of a pair has that hardly another has.
struct PairProof {
    enum class By : std::uint8_t {
        drawn_psn,   // its PSN, either way
        remote_key,  // first: the R_Key of the memory that it writes to
        wireup,   // it acknowledges a wire-up of UCX. first: the endpoint of who sends it, second: that of who gets it
        nothing,  // it comes the other way
    };
    By by = By::drawn_psn;
    std::uint64_t first = 0, second = 0;
    [[nodiscard]] bool operator==(const PairProof&) const = default;
};

class ToldPairs {
public:
    static constexpr std::size_t kMost = 32'768;  // ends
    static constexpr std::size_t kEach = 8;       // count as one of what else is asked of exchanges
    // Of requests from one end to another.
    struct Told {
        dissect::Qpn source{};
        dissect::Psn first;
        dissect::Psn other_first;  // of the requests that come back
        PairProof proof{};
        dissect::Instant time{};
    };

    // What was told of either end before counts no longer. Other proofs than PSNs are those of the first request from
    // `one` to `two`; one of the first request that comes back may have been told before.
    void add(const ToldEnd& one, const ToldEnd& two, const PairProof& proof, dissect::Instant now) {
        if (ends_.size() + 2 > kMost) make_room(now);
        const bool drawn = proof.by == PairProof::By::drawn_psn;
        const PairProof back = drawn ? proof : proof_back(one, two);
        forget(way(one, two));
        forget(way(two, one));
        ends_[way(one, two)] = {one.qpn, one.psn, two.psn, proof, now};
        ends_[way(two, one)] = {two.qpn, two.psn, one.psn, back, now};
        for (const ToldEnd& end : {one, two}) {
            if (!end.asks || !drawn) continue;
            const auto [known, fresh] = psns_.try_emplace(psn_of(end), end.qpn);
            if (!fresh && known->second != end.qpn) known->second = kSeveral;
        }
        most_ = std::max({most_, ends_.size(), psns_.size()});
        if (psns_.size() >= kMost) clear();
    }
    // What was told of the flow that a request with that PSN begins. Nothing where that proves nothing: programs that
    // draw no PSNs begin with small ones, or both ends with the same one, or several queue pairs of a host do.
    [[nodiscard]] std::optional<Told> find(const FlowKey& flow, dissect::Psn psn, dissect::Instant now) const {
        const auto found = ends_.find(flow);
        if (found == ends_.end() || found->second.first != psn || found->second.proof.by == PairProof::By::nothing)
            return {};
        if (found->second.proof.by != PairProof::By::drawn_psn)  // the request has to show it
            return now - found->second.time <= kLongestSetUp ? std::optional(found->second) : std::nullopt;
        if (std::min(psn.value(), found->second.other_first.value()) < kLeastDrawn || psn == found->second.other_first)
            return {};
        const auto known = psns_.find(psn_of({flow.source, found->second.source, psn}));
        return known != psns_.end() && known->second == found->second.source ? std::optional(found->second)
                                                                             : std::nullopt;
    }
    // It was of use, or is of none any more.
    void forget(const FlowKey& flow) {
        const auto found = ends_.find(flow);
        if (found == ends_.end()) return;
        ends_.erase(FlowKey{flow.destination, flow.source, found->second.source, {}});
        ends_.erase(flow);
    }
    [[nodiscard]] bool empty() const { return ends_.empty(); }
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    static constexpr std::uint32_t kLeastDrawn = 0x1000;  // one in 4096 of those that were drawn is smaller
    static constexpr dissect::Qpn kSeveral{UINT32_MAX};
    static FlowKey way(const ToldEnd& from, const ToldEnd& to) { return {from.address, to.address, to.qpn, {}}; }
    // The key of a host and a PSN.
    static FlowKey psn_of(const ToldEnd& end) { return {end.address, {}, dissect::Qpn{end.psn.value()}, {}}; }
    [[nodiscard]] PairProof proof_back(const ToldEnd& one, const ToldEnd& two) const {
        const auto known = ends_.find(way(two, one));
        const bool same = known != ends_.end() && known->second.source == two.qpn &&
                          known->second.proof.by != PairProof::By::drawn_psn;
        return same ? known->second.proof : PairProof{PairProof::By::nothing};
    }
    void make_room(dissect::Instant now) {
        boost::unordered::erase_if(ends_, [now](const auto& told) { return now - told.second.time > kLongestSetUp; });
        if (ends_.size() + 2 > kMost) clear();
    }
    void clear() {
        ends_.clear();
        psns_.clear();
    }

    boost::unordered_flat_map<FlowKey, Told, FlowHash> ends_;
    boost::unordered_flat_map<FlowKey, dissect::Qpn, FlowHash>
        psns_;  // which queue pair of a host was told to begin with a PSN, ever
    std::size_t most_ = 0;
};

}  // namespace qps::transport
