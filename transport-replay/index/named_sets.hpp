// Sets of packets that only the whole capture tells, by name in a display filter: `rdma.message == 17`, the packets of
// a message and of its answer; `rdma.finding == go-back-n-loss`, the events of findings.
//
// What an attacker could feed: nothing that is not in the filter; sets are as large as kMostEvents.
#pragma once

#include <dissect/filter/filter.hpp>
#include <dissect/filter/named_set.hpp>
#include <transport-replay/index/capture_index.hpp>

#include <functional>
#include <vector>

namespace qps::transport {

struct Renamed;
struct Timeline;

// For who only wants to know whether a filter is one: sets in it are empty.
[[nodiscard]] const dissect::SetReader& set_names();
// The sets of this capture; both are borrowed. It may read all rows for each set: `stop` is asked now and then; true:
// what is compiled is no answer.
[[nodiscard]] dissect::SetReader sets_of(const CaptureIndex& index, const Timeline& timeline,
                                         std::function<bool()> stop = {});
// The findings that it names as an earlier release called them, each once; they mean those of today.
[[nodiscard]] std::vector<const Renamed*> old_names_in(const dissect::Filter& filter);

// Whether the packet of a frame, one of the same connection, belongs to a message whose first request has that PSN: as
// a request, a response, or what completed it. The frame is none before the message's first, none behind its last or
// its answer.
[[nodiscard]] bool belongs_to(const MessageRow& message, dissect::Psn first, dissect::FrameIndex frame,
                              const PacketRow& packet);

// The packets of a message, counted from 1 in the order in which messages ended: its requests, what answered them, and
// what completed it. None where there is no such message.
[[nodiscard]] std::vector<dissect::FrameIndex> message_packets(const CaptureIndex& index, std::uint64_t message);

}  // namespace qps::transport
