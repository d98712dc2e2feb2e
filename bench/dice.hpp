// Dice: chance for the benchmark's captures, the same in every run.
#pragma once

#include <cstdint>

namespace qps::bench {

// Numbers even over 64 bits, the same in every run: SplitMix64.
class Dice {
public:
    explicit Dice(std::uint64_t seed = 1) : state_(seed) {}
    std::uint64_t throw_once() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        return z ^ z >> 31;
    }

private:
    std::uint64_t state_;
};

}  // namespace qps::bench
