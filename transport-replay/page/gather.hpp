// What a report shows, gathered from the rows of an open capture instead of a second reading.
#pragma once

#include <functional>
#include <memory>

namespace qps::dissect {
struct Packet;
}

namespace qps::transport {

class CaptureIndex;

namespace page {

class Collector;
struct EvidencePacket;

// The words that a list of packets has for it.
[[nodiscard]] EvidencePacket words_of(const dissect::Packet& packet);

// False: `stopped` said so, and the collector has only some of it.
[[nodiscard]] bool gather(Collector& collector, const std::shared_ptr<const CaptureIndex>& index,
                          const std::function<bool()>& stopped = {});

}  // namespace page
}  // namespace qps::transport
