// What is large goes back to the system when it is given back, whichever thread does so. Unless it is told, glibc keeps ever larger
// blocks in an arena for each thread: 170 MiB of what 100,000 connections took were nobody's.
#pragma once

#include <malloc.h>

namespace qps::transport {

// For the process, before there are threads.
inline void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    constexpr int kLarge = 128 * 1024;
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLarge));
#endif
}

}  // namespace qps::transport
