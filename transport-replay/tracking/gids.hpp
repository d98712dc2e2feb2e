// GidTracker: GIDs of InfiniBand that two LIDs send with, in turn.
//
// A port has one LID, or with an LMC up to 128 that differ in their last seven bits (IBTA volume 1, 4.1.3, 7.11.1), and
// a new one when the subnet manager gives it another: then the old one is gone. What comes from another subnet has the
// LID of the router; what has a link-local GID never does, nor what stays within its own prefix. So two LIDs that send
// in turn with one GID, within seconds, are two ports.
//
// Observations in the order of the capture go in, of native packets with a GRH. What an attacker could feed: any number
// of GIDs; a table of kMaxGids places, and a count of the packets that found none.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/reachability_report.hpp>
#include <transport-replay/tracking/timing.hpp>

#include <map>
#include <tuple>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxGids = 8192;
inline constexpr std::uint64_t kGidChanges = 3;  // there, back, and there again
inline constexpr std::uint64_t kLidsOfPort = 128;

class GidTracker {
public:
    // Whether observe() has anything to do with it.
    [[nodiscard]] static bool has_gid(const Observation& observation) {
        return observation.encapsulation == dissect::Encapsulation::native &&
               observation.flow.source.space == AddressSpace::infiniband_gid;
    }
    void observe(const Observation& observation);
    // `left_out`: packets past the bound are added to it.
    [[nodiscard]] std::vector<GidConflict> finish(std::uint64_t& left_out) const;

private:
    using Key = std::tuple<Address, std::uint16_t, dissect::InterfaceId>;  // two captures may be of two fabrics
    struct Known {
        GidConflict report;
        std::size_t now = 0;  // which of the two sent last
        dissect::FrameIndex frame{};
        dissect::Instant time{};
    };
    std::map<Key, Known> known_;
    std::uint64_t left_out_ = 0;
};

}  // namespace qps::transport
