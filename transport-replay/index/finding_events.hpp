// The events of a finding, one by one: the packets at which what it counts happened. A finding names a few packets that prove it;
// episodes of the timeline and rows of the index tell of the others.
//
// What an attacker could feed: events by the million: the first kMostEvents are told.
#pragma once

#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/model/finding.hpp>

#include <functional>
#include <vector>

namespace qps::transport {

struct Timeline;

inline constexpr std::size_t kMostEvents = std::size_t{1} << 20;

// In order, each once; a finding whose events nothing tells of has those packets that prove it.
[[nodiscard]] std::vector<dissect::FrameIndex> finding_events(const Finding& finding, const Timeline& timeline, const CaptureIndex& index,
                                                              const std::function<bool()>& stop = {});
// Of all findings of that id. `stop` is asked now and then; true: what is returned is not all.
[[nodiscard]] std::vector<dissect::FrameIndex> finding_events(std::string_view id, const Timeline& timeline, const CaptureIndex& index,
                                                              const std::function<bool()>& stop = {});

}  // namespace qps::transport
