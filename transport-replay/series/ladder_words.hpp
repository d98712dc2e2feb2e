// Words and tones of the lines of a ladder: what a packet is, what a message is and what became of it.
#pragma once

#include <transport-replay/index/capture_index.hpp>

#include <string>

namespace qps::transport::series {

// What a line is about: its colour. A NAK, and whatever else refuses, ends or cuts off: TERMINATE, a packet that a
// switch trimmed.
enum class LadderTone : std::uint8_t { request, response, acknowledgment, retransmission, nak, notification };

[[nodiscard]] LadderTone ladder_tone(const CaptureIndex& index, dissect::FrameIndex packet);
// "NAK, PSN sequence error, PSN 11": the packet is read again where its row does not tell.
[[nodiscard]] std::string ladder_words(const CaptureIndex& index, dissect::FrameIndex packet);
// "RDMA WRITE, 16 KiB, 2 packets retransmitted": of a message by its place in the index; of upper protocols with the
// operation that it is of.
[[nodiscard]] std::string ladder_words(const CaptureIndex& index, std::uint64_t message);

}  // namespace qps::transport::series
