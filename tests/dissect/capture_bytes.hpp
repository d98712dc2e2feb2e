// Capture files put together by hand, right or wrong, and what a CaptureFile makes of them.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

using dissect::ByteOrder;
using dissect::Bytes;
using Content = std::vector<std::byte>;

// Numbers in one byte order, one after the other.
class Maker {
public:
    explicit Maker(ByteOrder order = ByteOrder::little) : order_(order) {}
    Maker& u16(std::uint64_t value) { return number(value, 2); }
    Maker& u32(std::uint64_t value) { return number(value, 4); }
    Maker& u64(std::uint64_t value) { return number(value, 8); }
    Maker& add(Bytes bytes);
    Maker& text(std::string_view text);
    Maker& pad();  // to a multiple of four
    // An option of pcapng.
    Maker& option(std::uint16_t code, Bytes value);
    // A block of pcapng around `body`.
    Maker& block(std::uint32_t type, const Content& body);
    [[nodiscard]] ByteOrder order() const { return order_; }
    [[nodiscard]] const Content& content() const { return content_; }

private:
    Maker& number(std::uint64_t value, std::size_t width);
    ByteOrder order_;
    Content content_;
};

// `length` bytes that differ from frame to frame.
[[nodiscard]] Content frame_bytes(std::size_t length, unsigned seed);

void pcap_header(Maker& out, std::uint32_t magic = 0xa1b2c3d4, std::uint32_t network = 1,
                 std::uint32_t snap_length = 65535);
void pcap_record(Maker& out, std::uint32_t seconds, std::uint32_t fraction, Bytes frame, std::uint32_t wire_length);

void section(Maker& out);
struct InterfaceBlock {
    std::uint16_t link = 1;
    std::uint32_t snap_length = 0;
    Content options = {};
};
void interface_block(Maker& out, const InterfaceBlock& interface = {});
void packet_block(Maker& out, std::uint32_t interface, std::uint64_t ticks, Bytes frame, std::uint32_t wire_length,
                  const Content& options = {});

// Small files with three frames of 10, 0 and 7 bytes.
[[nodiscard]] Content small_pcap(ByteOrder order = ByteOrder::little, std::uint32_t magic = 0xa1b2c3d4);
[[nodiscard]] Content small_pcapng(ByteOrder order = ByteOrder::little);

[[nodiscard]] Content gzipped(Bytes content);
[[nodiscard]] Content zstd_compressed(Bytes content);
[[nodiscard]] Content joined(const Content& first, const Content& second);
[[nodiscard]] Bytes prefix(const Content& content, std::size_t length);

// A frame with bytes of its own.
struct Seen {
    dissect::Frame frame;
    Content bytes;
    Content options;
    std::string comment;
    [[nodiscard]] std::int64_t time() const { return static_cast<std::int64_t>(frame.time); }
    [[nodiscard]] std::int64_t elapsed() const { return static_cast<std::int64_t>(frame.elapsed); }
    bool operator==(const Seen& other) const;
};

struct Reading {
    std::vector<Seen> frames;
    dissect::InputProblem problem;
    std::vector<dissect::Interface> interfaces;
    dissect::Drops drops;
    dissect::SkippedBlocks skipped;
    std::size_t largest_storage = 0;  // capacity of the one batch that was used
};

// Everything that can be read; `problem` of the opening where that failed.
[[nodiscard]] Reading read_all(std::expected<dissect::CaptureFile, dissect::InputProblem> file);
[[nodiscard]] Reading read_bytes(Bytes content, std::size_t piece = 0);

}  // namespace qps::test
