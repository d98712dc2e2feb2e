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
    const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* const block = ::operator new(whole, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
    ::madvise(block, whole, MADV_HUGEPAGE);  // a kernel without them leaves it as it is
#endif
    return block;
}

}  // namespace qps::transport
