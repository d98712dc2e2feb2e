// How messages ended that nobody answered, as only the end of their connection tells: its requester gave up for one of
// them and the others went with it, a NAK ended all, or it just waited.
#pragma once

#include <transport-replay/tracking/tracker.hpp>

#include <span>

namespace qps::transport {

void name_statuses(std::span<EndedMessage> messages, const Tracked& tracked);

}  // namespace qps::transport
