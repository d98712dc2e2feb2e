// What the heap has more than in the beginning, at most: for tests of memory. Not under sanitizers, whose heap is
// another.
#pragma once

#include <algorithm>
#include <cstddef>

#include <malloc.h>

namespace qps::tests {

class HeapWatch {
public:
    void look() { most_ = std::max(most_, now() - std::min(now(), before_)); }
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    static std::size_t now() {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    }
    std::size_t before_ = now();
    std::size_t most_ = 0;
};

}  // namespace qps::tests
