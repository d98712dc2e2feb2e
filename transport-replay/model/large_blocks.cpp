#include <transport-replay/model/large_blocks.hpp>

#include <cstdint>
#include <new>

#include <malloc.h>
#include <sys/mman.h>

namespace qps::transport {

namespace {

constexpr std::size_t kSmallPage = 4096;

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + kSmallPage - 1) / kSmallPage * kSmallPage; }

std::byte* map(std::size_t bytes) {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(mapped);
}

}  // namespace

void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargeBlock)));
#endif
}

// At a multiple of kHugePage: what was mapped before and behind goes back.
void* take_block(std::size_t bytes, bool huge) {
    const std::size_t size = rounded(bytes);
    if (!huge) return map(size);
    std::byte* const mapped = map(size + kHugePage);
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(mapped) % kHugePage) % kHugePage;
    std::byte* const block = mapped + before;
    if (before != 0) ::munmap(mapped, before);
    if (before != kHugePage) ::munmap(block + size, kHugePage - before);
#ifdef MADV_HUGEPAGE
    ::madvise(block, size, MADV_HUGEPAGE);  // a kernel without them has small ones
#endif
    return block;
}

void give_back(void* block, std::size_t bytes) noexcept { ::munmap(block, rounded(bytes)); }

}  // namespace qps::transport
