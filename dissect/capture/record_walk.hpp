// What the walks over the capture formats have in common: the bounds, the window they walk and how a walk ends.
//
// A walk turns the whole records of a window into frames that borrow the window. It never looks outside it, so a
// mapped file (one window, the last) and a stream (many windows, each grown until a record fits) share the code.
#pragma once

#include <dissect/base/frame.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace qps::dissect {

// Longest record (pcap: captured bytes; pcapng: whole block) taken for real, in bytes. Snap lengths end at 262144
// (tcpdump, dumpcap); Wireshark draws its own line for blocks at 16 MiB too. What is longer is a damaged length.
inline constexpr std::size_t kMaxRecord = std::size_t{16} << 20;

// A batch ends at the first of: so many frames (400 KB of Frame, an L2 cache), so many bytes of records (about 1 ms of
// decoding: small enough to share evenly among workers, large enough that handing it over costs nothing).
inline constexpr std::size_t kBatchFrames = 4096;
inline constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

struct Window {
    Bytes bytes;
    std::uint64_t offset = 0;  // of bytes[0] in the uncompressed file
    std::size_t used = 0;      // bytes walked over so far: the next record starts here
    bool last = false;         // the file ends where the window ends
    // Records are left that begin at this byte or behind it, or once there are so many frames.
    std::size_t limit = SIZE_MAX;
    std::size_t most = kBatchFrames;
    // How far a walk goes at once.
    [[nodiscard]] std::size_t byte_limit() const { return std::min(used + kBatchBytes, limit); }
};

// What the walk remembers of the frames before.
struct FrameClock {
    std::uint64_t frames = 0;
    bool started = false;    // there was a frame that has a time
    std::int64_t first = 0;  // that time, in nanoseconds
};

enum class WalkEnd : std::uint8_t {
    full,     // the batch is full
    starved,  // the next record is not whole in this window, which is not the last: needs `wanted` bytes from `used` on
    ended,    // the file ends here, between two records
    damaged,  // the record at `used` cannot be read; `sentence` says why
};

struct WalkResult {
    WalkEnd end = WalkEnd::full;
    std::size_t wanted = 0;
    std::string sentence;
};

// From one time to another, in nanoseconds, held at the ends of the range.
[[nodiscard]] constexpr Duration elapsed_between(std::int64_t first, std::int64_t time) {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(time, first, &difference)) return Duration{difference};
    return Duration{first < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min()};
}

template <class T, ByteOrder order> [[nodiscard]] constexpr T read_ordered(Bytes bytes, std::size_t offset) {
    if constexpr (order == ByteOrder::little) return read_le<T>(bytes, offset);
    else return read_be<T>(bytes, offset);
}

// The link type of a LINKTYPE_ or DLT_ number found in a file: DLT_RAW is 12 or, on OpenBSD, 14.
[[nodiscard]] constexpr LinkType link_type_of(std::uint32_t number) {
    return number == 12 || number == 14 ? LinkType::raw_ip : LinkType{number};
}

}  // namespace qps::dissect
