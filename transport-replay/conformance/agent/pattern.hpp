// What memory is filled with, and a hash of it: pure functions that the agent and its clients have in common.
//
// Byte i of the pattern of a seed is byte i % 8 (the least significant first) of mix(seed * kGolden + i / 8), where mix
// is the finalizer of SplitMix64 (Steele, Lea, Flood 2014). So every byte says where it belongs, and patterns of
// different seeds differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace qps::transport::conformance::agent {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

[[nodiscard]] constexpr std::byte pattern_byte(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t value = seed * kGolden + index / 8;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    value ^= value >> 31;
    return static_cast<std::byte>(value >> index % 8 * 8);
}

// `from`: the place in the pattern of the first byte.
constexpr void fill_pattern(std::span<std::byte> memory, std::uint64_t seed, std::uint64_t from = 0) {
    for (std::byte& each : memory) each = pattern_byte(seed, from++);
}

struct PatternDifference {
    std::uint64_t wrong = 0;  // bytes
    std::uint64_t first = 0;  // place in the memory of the first, where there is one
};
[[nodiscard]] constexpr PatternDifference compare_pattern(std::span<const std::byte> memory, std::uint64_t seed,
                                                          std::uint64_t from = 0) {
    PatternDifference difference;
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (memory[i] != pattern_byte(seed, from + i) && difference.wrong++ == 0) difference.first = i;
    return difference;
}

// FNV-1a of 64 bits (Fowler, Noll, Vo).
[[nodiscard]] constexpr std::uint64_t fnv1a(std::span<const std::byte> memory) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::byte each : memory) hash = (hash ^ static_cast<std::uint8_t>(each)) * 0x100000001b3;
    return hash;
}

}  // namespace qps::transport::conformance::agent
