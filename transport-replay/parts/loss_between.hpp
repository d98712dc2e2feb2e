// Where packets were lost that a responder asked for again, or for which a timer waited, as several captures of the
// same connection have it.
#pragma once

#include <transport-replay/parts/shared_connections.hpp>

#include <span>

namespace qps::transport {

// Fills Recovery::passed, missed, missed_answer and, where another capture knows better, cause, of connections that are
// told. Captures have the numbers of their places, from 1 on.
void place_losses(std::span<CapturePart> captures, const SharedConnections& shared);

}  // namespace qps::transport
