// TCP streams put together by the court (RFC 9293), and the FPDUs of iWARP in them (RFC 5044), with and without
// markers.
//
// It reads what tests feed it: whole streams of a few MiB, not more than 2 GiB from their first byte.
#pragma once

#include <tests/court/recording.hpp>

#include <span>
#include <string>

namespace qps::court {

struct Segment {
    std::size_t frame = 0;
    std::int64_t at = 0;  // place of its first byte in the stream
    Octets data{};
    std::uint32_t identification = 0;  // of IPv4
    bool ipv4 = false;
    bool checksum_right = false;
};

// What one end sent to a port of the other.
struct Stream {
    std::string from, to;
    std::uint32_t from_port = 0, to_port = 0;
    std::uint32_t first_seq = 0;  // of the byte at 0
    bool from_its_beginning = false;
    std::vector<Segment> segments{};  // with data, as they came
    Octets bytes{};                   // from 0 to the last that came
    std::vector<bool> came{};

    [[nodiscard]] std::uint64_t missing() const;
    // The frame that brought that byte first; 0 where none did.
    [[nodiscard]] std::size_t frame_of(std::size_t place) const;
};
[[nodiscard]] std::vector<Stream> read_streams(const Recording& recording);

// What an end said to set MPA up (RFC 5044 7.1.1), at the beginning of its stream.
struct SetUp {
    bool reply = false, markers = false, crc = false, rejected = false;
    std::size_t length = 0;
};
[[nodiscard]] std::optional<SetUp> set_up_of(const Stream& stream);

struct Fpdu {
    std::size_t place = 0;  // in the stream
    Octets ulpdu{};
    bool crc_right = false;
};
struct Fpdus {
    std::vector<Fpdu> all{};
    std::size_t end = 0;  // of the last one
};
// From a place on, as far as bytes came and lengths make sense. `shift`: where markers are expected, counted from that
// many bytes before; nothing for none.
[[nodiscard]] Fpdus read_fpdus(const Stream& stream, std::size_t from, std::optional<std::uint32_t> shift);

}  // namespace qps::court
