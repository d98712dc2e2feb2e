// Decompression of gzip (RFC 1952, several members) and zstd (RFC 8878, several frames) as a stream.
//
// Everything that could be decompressed before an error is handed out. Memory is bounded by the window of the format:
// 32 KiB for gzip, 128 MiB for zstd (its decoder's default; frames that ask for more are refused).
#pragma once

#include <dissect/base/bytes.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace qps::dissect {

enum class Compression : std::uint8_t { none, gzip, zstd };

// By the magic number at the start of `bytes` (four bytes are enough).
[[nodiscard]] Compression compression_of(Bytes bytes);

class Inflater {
public:
    // `compression` is not none. Throws std::bad_alloc.
    explicit Inflater(Compression compression);
    Inflater(Inflater&&) noexcept;
    Inflater& operator=(Inflater&&) noexcept;
    ~Inflater();

    // Decompresses from `input`, which is advanced past what was used, into `into`; the number of bytes written.
    // Zero means: more input is needed, or the data is damaged.
    [[nodiscard]] std::size_t inflate(Bytes& input, MutableBytes into);
    // More may come out without more input, since the last call filled its space.
    [[nodiscard]] bool pending() const;
    // The input may end here: the last member or frame is whole.
    [[nodiscard]] bool at_boundary() const;
    // Why the data cannot be decompressed any further; empty while it can.
    [[nodiscard]] const std::string& damage() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::dissect
