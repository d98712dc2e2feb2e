// What a TCP segment of an open capture carries of iWARP, in words: the RDMAP messages that begin or go on in it.
//
// A row keeps none of it: the segment is read and decoded again. What an attacker could feed: a segment of many FPDUs;
// kMostNamed of them are named.
#pragma once

#include <transport-replay/index/capture_index.hpp>

#include <string>

namespace qps::transport::series {

inline constexpr std::size_t kMostNamed = 4;  // a line has room for no more

struct SegmentContent {
    std::string words;        // "SEND, MSN 3"; empty: nothing that can be read
    bool responds = false;    // what it begins with is the response of a READ or an atomic
    bool terminates = false;  // it has a TERMINATE (RFC 5040 4.8)
};
[[nodiscard]] SegmentContent segment_of(const CaptureIndex& index, dissect::FrameIndex frame);

// The message sequence number of a SEND, a READ or an atomic, where its first segment carries only one of its kind;
// WRITEs have none.
[[nodiscard]] std::optional<std::uint32_t> msn_of(const CaptureIndex& index, const MessageRow& message);

}  // namespace qps::transport::series
