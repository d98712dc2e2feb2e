// Options of pcapng blocks: code, length, value, padded to 32 bits (draft-ietf-opsawg-pcapng, "Options").
//
// The lengths come from the file. The reader stops at the first option that would leave the block, so what an attacker
// can reach is at most a missing option.
#pragma once

#include <dissect/base/frame.hpp>

#include <cstdint>
#include <string_view>

namespace qps::dissect {

inline constexpr std::uint16_t kOptionEnd = 0;
inline constexpr std::uint16_t kOptionComment = 1;
inline constexpr std::uint16_t kOptionDropCount = 4;  // of an enhanced packet block

struct Option {
    std::uint16_t code = kOptionEnd;
    Bytes value;
};

class OptionReader {
public:
    OptionReader(Bytes options, ByteOrder order) : rest_(options), order_(order) {}

    // Moves on to the next option; false where there is none.
    [[nodiscard]] bool next(Option& option);

private:
    Bytes rest_;
    ByteOrder order_;
};

// The first comment of the frame's record, borrowed from it; empty where there is none. UTF-8 by the format, but
// whatever the file says in truth: escape before showing.
[[nodiscard]] std::string_view comment(const Frame& frame);

// epb_dropcount: frames that the recorder lost between the one before, of the same interface, and this one; 0 where
// nothing says so.
[[nodiscard]] std::uint64_t dropped_before(const Frame& frame);

}  // namespace qps::dissect
