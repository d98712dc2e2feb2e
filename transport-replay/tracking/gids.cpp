#include <transport-replay/tracking/gids.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::uint64_t kLinkLocal = 0xfe80000000000000;
constexpr std::uint64_t kLastUnicast = 0xbfff;  // 4.1.3

bool stays_in_subnet(const FlowKey& flow) {
    return flow.source.bits[0] == kLinkLocal ||
           (flow.source.bits[0] != 0 && flow.source.bits[0] == flow.destination.bits[0]);
}

}  // namespace

void GidTracker::observe(const Observation& observation) {
    if (!observation.has_time || !has_gid(observation) || !stays_in_subnet(observation.flow) ||
        observation.icrc == CrcStatus::bad)
        return;
    const std::uint64_t lid = observation.link_destination & 0xffff;  // the source LID is the last of an LRH
    if (lid == 0 || lid > kLastUnicast || observation.flow.source.bits[1] == 0) return;
    const Key key{observation.flow.source, observation.file, observation.interface};
    auto found = known_.find(key);
    if (found == known_.end()) {
        if (known_.size() == kMaxGids) {
            ++left_out_;
            return;
        }
        found = known_.emplace(key, Known{}).first;
        found->second.report.gid = observation.flow.source;
        found->second.report.lids[0] = {{0, lid}, AddressSpace::infiniband_lid};
    }
    Known& known = found->second;
    GidConflict& report = known.report;
    const auto same_port = [&](const Address& one) { return (one.bits[1] ^ lid) < kLidsOfPort; };
    if (!same_port(report.lids[known.now])) {
        Address& other = report.lids[1 - known.now];
        if (other.bits[1] == 0) other = {{0, lid}, AddressSpace::infiniband_lid};
        if (!same_port(other)) return;  // a third one
        known.now = 1 - known.now;
        const bool in_turn = observation.time - known.time <= kGidTurn;
        if (in_turn) ++report.changes;
        else if (report.changes < kGidChanges) report.changes = 0;
        const auto keep = [&](std::uint64_t place, FrameIndex frame, Instant time) {
            report.frames[place] = frame, report.times[place] = time;
        };
        if (report.changes == 1) keep(0, known.frame, known.time);
        if (report.changes != 0 && report.changes < report.frames.size())
            keep(report.changes, observation.frame, observation.time);
        if (report.changes >= kGidChanges) report.last = observation.frame, report.last_time = observation.time;
    }
    known.frame = observation.frame;
    known.time = observation.time;
}

std::vector<GidConflict> GidTracker::finish(std::uint64_t& left_out) const {
    left_out += left_out_;
    std::vector<GidConflict> found;
    for (const auto& [key, known] : known_) {
        if (known.report.changes < kGidChanges) continue;
        if (found.empty() || found.back().gid != known.report.gid) found.push_back(known.report);
        else if (known.report.changes > found.back().changes) found.back() = known.report;
    }
    return found;
}

}  // namespace qps::transport
