// Large blocks of memory: they go back to the system when they are given back, whichever thread does so, and stand in
// huge pages where there are many.
//
// Unless it is told, glibc keeps ever larger blocks in an arena for each thread: 170 MiB of what 100,000 connections
// took were nobody's. And who reads such blocks in no order waits for the tables of small pages more than for the
// memory (docs/benchmark.md).
#pragma once

#include <cstddef>
#include <new>

namespace qps::transport {

inline constexpr std::size_t kLargeBlock = std::size_t{128} << 10;  // bytes: from here on
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// For the process, before there are threads.
void return_large_blocks();

// Whole pages of kHugePage, where the kernel has such: all of one is taken when its first byte is written.
[[nodiscard]] void* take_block(std::size_t bytes);
inline void give_back(void* block) noexcept { ::operator delete(block, std::align_val_t{kHugePage}); }

// For std::unique_ptr.
struct GiveBack {
    void operator()(void* block) const noexcept { give_back(block); }
};

// For containers whose size is their owner's to bound.
template <class T> struct LargeBlocks {
    using value_type = T;
    LargeBlocks() = default;
    template <class U> explicit(false) LargeBlocks(const LargeBlocks<U>&) {}
    [[nodiscard]] static bool is_large(std::size_t count) { return count >= kHugePage / sizeof(T); }
    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(is_large(count) ? take_block(count * sizeof(T)) : ::operator new(count * sizeof(T)));
    }
    void deallocate(T* values, std::size_t count) noexcept {
        if (is_large(count)) give_back(values);
        else ::operator delete(values);
    }
    [[nodiscard]] bool operator==(const LargeBlocks&) const = default;
};

}  // namespace qps::transport
