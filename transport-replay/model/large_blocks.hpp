// What is large goes back to the system when it is given back, whichever thread does so. Unless it is told, glibc keeps ever larger
// blocks in an arena for each thread: 170 MiB of what 100,000 connections took were nobody's.
#pragma once

#include <cstddef>

#include <malloc.h>

namespace qps::transport {

inline constexpr std::size_t kLargeBlock = std::size_t{128} << 10;  // bytes

// For the process, before there are threads.
inline void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargeBlock)));
#endif
}

}  // namespace qps::transport
