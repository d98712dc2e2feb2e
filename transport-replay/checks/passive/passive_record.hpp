// PassiveRecord: all that the passive suite saw of a capture, or of some of its pairs of hosts, before anything is
// concluded. A value: records of parts merge into that of the whole, whatever their order and number. judge() concludes
// with the whole Timeline.
#pragma once

#include <transport-replay/checks/passive/host_tallies.hpp>
#include <transport-replay/checks/passive/watched.hpp>
#include <transport-replay/checks/profile.hpp>

#include <optional>
#include <span>
#include <vector>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::conformance {

struct PassiveRecord {
    std::vector<HostTally> hosts;  // ascending; each once
    WatchedConnections watched;
    std::uint64_t unwatched = 0;  // packets of connections that there was no room to watch
    std::uint64_t untold = 0;     // packets of hosts that there was no room to tell apart: they cannot be judged alone
};

// Gives every connection another number: `numbers` has them by those that they have, which count from 1.
void renumber(PassiveRecord& record, std::span<const std::uint32_t> numbers);
// Of the same capture; connections were numbered across them. At least one.
[[nodiscard]] PassiveRecord merge(std::vector<PassiveRecord> records);
// Whether it is in order, and names no connection past the last of so many: as any is, unless it was read from a file.
[[nodiscard]] bool is_sound(const PassiveRecord& record, std::size_t connections);

// A result for each check of the catalogue that a capture can decide, in its order; of this host alone, if there is
// one.
[[nodiscard]] std::vector<CheckResult> judge(const PassiveRecord& record, const Timeline& timeline,
                                             const Profile& profile, const std::optional<Address>& device = {});

// The checks that it decides.
[[nodiscard]] bool is_decided_passively(const CheckRow& check);

}  // namespace qps::transport::conformance
