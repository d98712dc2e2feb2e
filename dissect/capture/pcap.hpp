// The pcap format: a header of 24 bytes, then records (draft-ietf-opsawg-pcap). Read in both byte orders, with micro-
// and nanoseconds, and with the longer record headers of the "modified" format (magic 0xa1b2cd34).
//
// An attacker owns every length. One above kMaxRecord or beyond the file's end is damage; one above the snap length or
// the length on the wire is odd but readable.
#pragma once

#include <dissect/capture/record_walk.hpp>

#include <optional>

namespace qps::dissect {

inline constexpr std::size_t kPcapHeader = 24;
inline constexpr std::uint32_t kPcapMagic = 0xa1b2c3d4;
inline constexpr std::uint32_t kPcapNanosecondMagic = 0xa1b23c4d;
inline constexpr std::uint32_t kPcapModifiedMagic = 0xa1b2cd34;

struct PcapHeader {
    ByteOrder order = ByteOrder::little;
    bool nanoseconds = false;
    bool modified = false;  // record headers have 24 bytes instead of 16
    LinkType link = LinkType::ethernet;
    std::uint32_t snap_length = 0;  // 0: no limit
};

// The header of a pcap file, or nothing where `bytes` (at least kPcapHeader of them) do not start with a known magic.
[[nodiscard]] std::optional<PcapHeader> read_pcap_header(Bytes bytes);

// The length of the record that begins with `start` (at least kPcapRecordStart bytes of it), or nothing where it is
// none that a record can have.
inline constexpr std::size_t kPcapRecordStart = 16;
[[nodiscard]] std::optional<std::size_t> pcap_record_length(const PcapHeader& header, Bytes start);

// Appends the frames of whole records to `frames` until one of the ends of WalkEnd.
[[nodiscard]] WalkResult walk_pcap(const PcapHeader& header, Window& window, FrameClock& timeline,
                                   std::vector<Frame>& frames);

}  // namespace qps::dissect
