// Stretches of a mapped capture that threads walk side by side, each without having seen what is before it.
//
// Where a stretch begins is a guess: there stands what looks like a record with others behind it. A guess is never
// believed: only when the walk of the stretch before ends there does it count (CaptureFile::settle()), so a capture
// that carries captures costs time and nothing else.
#pragma once

#include <dissect/capture/pcap.hpp>
#include <dissect/capture/pcapng.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace qps::dissect {

// A section of a pcapng file whose interfaces are known.
struct KnownSection {
    PcapngSection section;
    std::vector<FrameOrigin> origins;
};

// What it takes to walk records that are not the first.
struct RecordView {
    std::variant<PcapHeader, KnownSection> format;
    std::int64_t first_time = 0;  // of the capture, in nanoseconds
};

struct Stretch {
    std::shared_ptr<const RecordView> view;  // nothing: the frames of the batch were read in order
    std::uint64_t start = 0;                 // offset in the file
    std::uint64_t end = 0;                   // where the next one begins
    std::uint64_t stopped = 0;  // where its walk came to an end: the next record is for who knows what is before it
    std::uint64_t round = 0;    // guesses of other rounds count for nothing
};

// The first place from `from` on where a record begins, as far as it can be told from the bytes; nothing within
// kMostGuessed bytes.
inline constexpr std::size_t kMostGuessed = std::size_t{1} << 20;
[[nodiscard]] std::optional<std::size_t> guess_record(Bytes file, std::size_t from, const RecordView& view);

// Walks records that begin in the stretch, as long as they are whole frames. Frames are numbered from 1. Throws
// std::bad_alloc.
void walk_stretch(Bytes file, Stretch& stretch, std::vector<Frame>& frames);

}  // namespace qps::dissect
