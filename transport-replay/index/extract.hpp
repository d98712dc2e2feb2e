// Extract: chosen packets of an index as a capture file of their own, as they were captured: bytes, times, interfaces,
// options; with the comments that somebody has written meanwhile.
//
// Interfaces keep the numbers they have in their file. Of several files, interfaces of the same number, link type and
// speed count as one, which pieces of a ring have; the first name stays.
//
// What an attacker could feed: files that change while we read; packets that are gone are counted and left out.
#pragma once

#include <transport-replay/evidence/anonymizer.hpp>
#include <transport-replay/index/capture_index.hpp>
#include <transport-replay/index/row_set.hpp>

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace qps::transport {

// Both ends belong to it. What lies past the end of the capture is nothing.
struct FrameRange {
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    [[nodiscard]] bool operator==(const FrameRange&) const = default;
};

struct AllFrames {};
// Ranges are written in their order.
using Chosen = std::variant<AllFrames, RowSet, std::vector<FrameRange>>;

// UTF-8, by packet. Takes the place of the first comment of the record, or is added where it has none; an empty text
// takes that comment away.
using Comments = std::map<dissect::FrameIndex, std::string>;

// Packets leave with other addresses, keys and names, and without payload: no comments, options and names of interfaces
// either.
struct Disguise {
    Pseudonyms& pseudonyms;
    PayloadMode payload = PayloadMode::zero;
};

struct Extraction {
    std::string path;  // ".pcap" at its end: nanosecond pcap, which has no comments and interfaces; else pcapng
    Chosen chosen;
    Comments comments{};
    std::optional<Disguise> disguise{};
};

// Asked and told in the calling thread, every few thousand packets. Functions may be empty.
struct ExtractWatch {
    std::function<bool()> stopped{};  // true: nothing is written, what was at that path stays
    std::function<void(std::uint64_t done, std::uint64_t all)> progressed{};
};

struct Extracted {
    std::uint64_t written = 0;
    std::uint64_t unreadable = 0;  // chosen, but not to be read any more
    bool stopped = false;
};

[[nodiscard]] std::uint64_t count(const Chosen& chosen, const CaptureIndex& index);
// Calls each(frame) in their order, until it returns false.
void for_each_chosen(const Chosen& chosen, const CaptureIndex& index,
                     const std::function<bool(dissect::FrameIndex)>& each);

// Errors are a sentence without a full stop: the path is one of the files of the index, a full disk, a frame that the
// format cannot hold. The file is then as it was before.
[[nodiscard]] std::expected<Extracted, std::string> extract(const CaptureIndex& index, const Extraction& wanted,
                                                            const ExtractWatch& watch = {});

}  // namespace qps::transport
