// A capture as records, read and written by the court itself: pcap of either byte order and resolution, pcapng.
//
// The court shares no code with the analyser whose findings it judges, so that one mistake cannot hide in both. It
// reads what tests feed it and no more: nothing compressed; what is damaged ends the reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace qps::court {

using Octets = std::vector<std::uint8_t>;

struct Record {
    std::int64_t time = 0;   // ns since 1970
    std::uint32_t wire = 0;  // bytes on the wire
    Octets bytes;            // as far as captured
};

inline constexpr std::uint32_t kEthernet = 1;  // link type

struct Recording {
    std::uint32_t link = kEthernet;
    std::vector<Record> records;  // the first is frame 1
    std::uint32_t gigabits{};     // a second, of the link, as a user tells the program; 0 where nobody does
};

// Nothing where it is no capture that the court reads, or one of several link types.
[[nodiscard]] std::optional<Recording> read_recording(const std::filesystem::path& path);
// pcap with nanoseconds.
[[nodiscard]] Octets pcap_of(const Recording& recording);

// Big-endian numbers of frames. The caller has checked the length.
[[nodiscard]] std::uint32_t number_at(const Octets& bytes, std::size_t at, std::size_t octets);
void put_number(Octets& bytes, std::size_t at, std::size_t octets, std::uint32_t value);

}  // namespace qps::court
