// The packets at which what a finding counts happened, one by one: its events, its episodes when they were noticed, and
// the rows of the index that its mark names. A finding names a few packets that prove it; these are all of them.
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

// In order, each once. `stop` is asked now and then; true: what is returned is not all.
[[nodiscard]] std::vector<dissect::FrameIndex> event_frames(const Finding& finding, const Timeline& timeline,
                                                            const CaptureIndex& index,
                                                            const std::function<bool()>& stop = {});
// Of all findings of that id.
[[nodiscard]] std::vector<dissect::FrameIndex> event_frames(std::string_view id, const Timeline& timeline,
                                                            const CaptureIndex& index,
                                                            const std::function<bool()>& stop = {});

}  // namespace qps::transport
