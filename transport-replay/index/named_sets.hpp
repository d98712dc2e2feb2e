// Sets of packets that only the whole capture tells, by name in a display filter: `rdma.message == 17`, the packets of
// a message and of its answer; `rdma.finding == go-back-n-loss`, the events of findings. Before a filter is compiled
// they become what every packet can answer: numbers of frames.
//
// What an attacker could feed: nothing that is not in the filter; sets are as large as kMostEvents.
#pragma once

#include <dissect/filter/filter_error.hpp>
#include <transport-replay/index/capture_index.hpp>

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

struct Renamed;
struct Timeline;

// Whether the filter names one.
[[nodiscard]] bool names_sets(std::string_view filter);
// The findings that it names as an earlier release called them, each once; they mean those of today.
[[nodiscard]] std::vector<const Renamed*> old_names_in(std::string_view filter);
// The same filter without them, every character in its place, for who only wants to know whether it is a filter.
// Errors: what stands behind the name of a set is no member of it that there could be.
[[nodiscard]] std::expected<std::string, dissect::FilterError> without_sets(std::string_view filter);
// With the frames of this capture in their place. One that without_sets() takes. It may read all rows for each set:
// `stop` is asked now and then; true: what is returned is no answer.
[[nodiscard]] std::string with_frames(std::string_view filter, const CaptureIndex& index, const Timeline& timeline,
                                      const std::function<bool()>& stop = {});

// Whether the packet of a frame, one of the same connection, belongs to a message whose first request has that PSN: as
// a request, a response, or what completed it. The frame is none before the message's first, none behind its last or
// its answer.
[[nodiscard]] bool belongs_to(const MessageRow& message, dissect::Psn first, dissect::FrameIndex frame,
                              const PacketRow& packet);

// The packets of a message, counted from 1 in the order in which messages ended: its requests, what answered them, and
// what completed it. None where there is no such message.
[[nodiscard]] std::vector<dissect::FrameIndex> message_packets(const CaptureIndex& index, std::uint64_t message);

}  // namespace qps::transport
