// ToldPairs: queue pairs and first PSNs that programs told each other outside of RDMA, until the first request between two of them shows
// that it was so: one whose PSN is the one that was told, of 24 bits that programs draw by chance.
//
// What an attacker could feed: pairs without end; past kMost all of them are forgotten, and connections are paired by their packets.
#pragma once

#include <transport-replay/model/address.hpp>

#include <dissect/types.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

// What a program tells of its own end.
struct ToldEnd {
    Address address;
    dissect::Qpn qpn{};
    dissect::Psn psn;  // of its first request
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

    void add(const ToldEnd& one, const ToldEnd& two) {
        if (ends_.size() + 2 > kMost) ends_.clear();
        ends_[way(one, two)] = {one.qpn, one.psn, two.psn};
        ends_[way(two, one)] = {two.qpn, two.psn, one.psn};
        most_ = std::max(most_, ends_.size());
    }
    // What was told of the flow that a request with that PSN begins. Once: who uses queue pairs anew tells it anew.
    [[nodiscard]] std::optional<Told> take(const FlowKey& flow, dissect::Psn psn) {
        const auto found = ends_.find(flow);
        if (found == ends_.end() || found->second.first != psn) return {};
        const Told told = found->second;
        ends_.erase(found);
        ends_.erase(FlowKey{flow.destination, flow.source, told.source, {}});
        return told;
    }
    [[nodiscard]] bool empty() const { return ends_.empty(); }
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    static FlowKey way(const ToldEnd& from, const ToldEnd& to) { return {from.address, to.address, to.qpn, {}}; }

    boost::unordered_flat_map<FlowKey, Told, FlowHash> ends_;
    std::size_t most_ = 0;
};

}  // namespace qps::transport
