// Chooses by a key how far off a CRC or checksum that was wrong is afterwards: all are off by the same difference, so
// that nothing follows from it.
#pragma once

#include <cstdint>

namespace qps::transport {

struct CrcDifference {
    std::uint64_t bits = 1;  // never 0, never all
    std::uint64_t all = 0xffff'ffff;

    // Of the right one a wrong one that is not 0, which is what was not filled in.
    [[nodiscard]] constexpr std::uint64_t wrong(std::uint64_t right) const {
        return right == bits ? right ^ bits ^ all : right ^ bits;
    }
};

}  // namespace qps::transport
