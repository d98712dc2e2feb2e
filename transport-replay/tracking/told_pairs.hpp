// ToldPairs: queue pairs and first PSNs that programs told each other outside of RDMA, until the first request between two of them shows
// that it was so: one whose PSN is the one that was told, of 24 bits that programs draw by chance.
//
// What an attacker could feed: pairs without end; past kMost all of them are forgotten, and connections are paired by their packets.
#pragma once

#include <dissect/types.hpp>
#include <transport-replay/model/address.hpp>

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

class ToldPairs {
public:
    static constexpr std::size_t kMost = 4096;  // ends
    // Of requests from one end to another.
    struct Told {
        dissect::Qpn source{};
        dissect::Psn first;
        dissect::Psn other_first;  // of the requests that come back
    };

    // What was told of either end before counts no longer.
    void add(const ToldEnd& one, const ToldEnd& two) {
        if (ends_.size() + 2 > kMost) clear();
        forget(way(one, two));
        forget(way(two, one));
        ends_[way(one, two)] = {one.qpn, one.psn, two.psn};
        ends_[way(two, one)] = {two.qpn, two.psn, one.psn};
        for (const ToldEnd& end : {one, two}) {
            if (!end.asks) continue;
            const auto [known, fresh] = psns_.try_emplace(psn_of(end), end.qpn);
            if (!fresh && known->second != end.qpn) known->second = kSeveral;
        }
        most_ = std::max({most_, ends_.size(), psns_.size()});
        if (psns_.size() >= kMost) clear();
    }
    // What was told of the flow that a request with that PSN begins. Nothing where that proves nothing: programs that draw no PSNs begin
    // with small ones, or both ends with the same one, or several queue pairs of a host do.
    [[nodiscard]] std::optional<Told> find(const FlowKey& flow, dissect::Psn psn) const {
        const auto found = ends_.find(flow);
        if (found == ends_.end() || found->second.first != psn) return {};
        if (std::min(psn.value(), found->second.other_first.value()) < kLeastDrawn || psn == found->second.other_first) return {};
        const auto known = psns_.find(psn_of({flow.source, found->second.source, psn}));
        return known != psns_.end() && known->second == found->second.source ? std::optional(found->second) : std::nullopt;
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
    void clear() {
        ends_.clear();
        psns_.clear();
    }

    boost::unordered_flat_map<FlowKey, Told, FlowHash> ends_;
    boost::unordered_flat_map<FlowKey, dissect::Qpn, FlowHash> psns_;  // which queue pair of a host was told to begin with a PSN, ever
    std::size_t most_ = 0;
};

}  // namespace qps::transport
