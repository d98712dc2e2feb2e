// Bytewise: a fuzzer's input as numbers that decide what happens next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace qps::fuzz {

// What is left of the input, a number at a time; zeros where it ended.
class Bytewise {
public:
    explicit Bytewise(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }
    std::span<const std::uint8_t> take(std::size_t most) {
        const auto taken = bytes_.first(std::min(most, bytes_.size()));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace qps::fuzz
