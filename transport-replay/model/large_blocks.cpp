#include <transport-replay/model/large_blocks.hpp>

#include <malloc.h>
#include <sys/mman.h>

namespace qps::transport {

void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargeBlock)));
#endif
}

void* take_block(std::size_t bytes) {
    constexpr std::size_t kPage = 4096;
    void* const block = ::operator new(bytes, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
    ::madvise(block, (bytes + kPage - 1) / kPage * kPage, MADV_HUGEPAGE);  // a kernel without them leaves it as it is
#endif
    return block;
}

}  // namespace qps::transport
