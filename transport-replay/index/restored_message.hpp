// A message of an open capture again as a Message: from its row and the rows of its packets, and what only its packets
// have, its address, key, immediate data and operands, from these.
//
// What an attacker could feed: files that change while they are open: what cannot be read any more is absent.
#pragma once

#include <transport-replay/index/capture_index.hpp>

namespace qps::transport {

// All but operands. How many of its packets were captured is not known any more: `packets` and `missing` stay 0.
[[nodiscard]] Message restored(const CaptureIndex& index, const MessageRow& row);

// Reads the three packets that can have operands.
void add_operands(Message& message, PacketReader& reader);

}  // namespace qps::transport
