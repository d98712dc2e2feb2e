// The checks that a capture decides, of a capture that is open: its packets are decoded and analysed once more, in
// order, with what was learned of the capture as a whole. The verdicts are those of `check` on the command line.
//
// What an attacker could feed: packets that can no longer be read: they are counted, and nothing is said of them.
#pragma once

#include <transport-replay/analysis/analysis_settings.hpp>
#include <transport-replay/checks/verdict.hpp>
#include <transport-replay/index/extract.hpp>
#include <transport-replay/model/timeline.hpp>

#include <optional>
#include <vector>

namespace qps::transport {

struct CheckedCapture {
    std::vector<conformance::CheckResult> results;  // in the order of the catalogue
    std::uint64_t packets = 0;
    std::uint64_t unreadable = 0;
};

// The first `packets` of the index. `hints`: what the user says of connections. Nothing where the watch stopped it.
[[nodiscard]] std::optional<CheckedCapture> check(const CaptureIndex& index, std::uint64_t packets,
                                                  const Timeline& timeline, const UlpHints& hints,
                                                  const MemoryBudget& memory, const ExtractWatch& watch = {});

}  // namespace qps::transport
