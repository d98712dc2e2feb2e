// A RoCEv2 frame over IPv4, written byte by byte: what bench_generate puts into its captures.
//
// Every ICRC is right, computed here from the masking rules of A17.3 and not by the library under test. Reads nothing
// from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qps::bench {

enum class BthOpcode : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_only = 0x04,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    acknowledge = 0x11,
    send_only_invalidate = 0x17,
};

// What differs from one frame to the next.
struct FrameFields {
    std::uint32_t source = 0;  // IPv4
    std::uint32_t destination = 0;
    std::uint16_t source_port = 0;
    std::uint16_t identification = 0;  // of IP: counts on, in retransmissions too
    BthOpcode opcode{};
    std::uint32_t queue_pair = 0;  // it is for
    std::uint32_t psn = 0;
    bool ack_request = false;
    std::uint64_t address = 0;  // WRITE first: RETH
    std::uint32_t key = 0;      // of it; SEND with invalidate: what is invalidated
    std::uint32_t dma_length = 0;
    std::uint8_t syndrome = 0;  // acknowledge: AETH
    std::uint32_t msn = 0;
    std::uint32_t payload_bytes = 0;          // a multiple of 4
    std::uint64_t payload_seed = 0;           // the same seed makes the same payload
    std::span<const std::uint8_t> payload{};  // in place of one made of the seed: as long as payload_bytes says
};

class Writer {
public:
    void clear() { bytes_.clear(); }
    void big(std::uint64_t value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
            bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    void little(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    void set_big(std::size_t at, std::uint32_t value, int width) {
        for (int i = 0; i < width; ++i)
            bytes_[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> 8 * (width - 1 - i));
    }
    void copy(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    // Bytes that no compressor shrinks: the worst case for the compressed inputs.
    void noise(std::uint64_t seed, std::size_t count);
    [[nodiscard]] std::span<const std::uint8_t> all() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

[[nodiscard]] std::size_t frame_length(const FrameFields& fields);

// Replaces what `out` holds by the first `bytes` bytes of the frame, or all of it.
void write_frame(Writer& out, const FrameFields& fields, std::size_t bytes);

}  // namespace qps::bench
