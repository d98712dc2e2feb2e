// GrowingStore: rows that one thread appends while others read those that are there, without locks and without moving any.
//
// Rows live in blocks that stay where they are, found through a table of fixed size. A reader sees the first size() rows, whole;
// size() never goes back. What an attacker could feed: captures without end; past kMaxRows append() refuses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace qps::transport {

template <class Row>
class GrowingStore {
public:
    static constexpr std::size_t kBlockBits = 14;  // 16384 rows: half a megabyte of packets, little waste in a small capture
    static constexpr std::size_t kBlockRows = std::size_t{1} << kBlockBits;
    static constexpr std::size_t kMaxRows = std::size_t{1} << 32;  // of packets: more than fits on most disks

    GrowingStore() : blocks_(std::make_unique<std::atomic<Row*>[]>(kTable)) {}
    GrowingStore(const GrowingStore&) = delete;
    GrowingStore& operator=(const GrowingStore&) = delete;
    ~GrowingStore() {
        for (std::size_t i = 0; i * kBlockRows < size(); ++i) std::default_delete<Row[]>{}(blocks_[i].load(std::memory_order_relaxed));
    }

    // The one writing thread. False, and nothing is appended, past kMaxRows. Throws std::bad_alloc.
    bool append(const Row& row) {
        const std::uint64_t at = size_.load(std::memory_order_relaxed);
        if (at == kMaxRows) return false;
        std::atomic<Row*>& block = blocks_[at >> kBlockBits];
        if ((at & (kBlockRows - 1)) == 0)
            block.store(std::make_unique_for_overwrite<Row[]>(kBlockRows).release(), std::memory_order_relaxed);
        block.load(std::memory_order_relaxed)[at & (kBlockRows - 1)] = row;
        size_.store(at + 1, std::memory_order_release);
        return true;
    }

    // Any thread.
    [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
    // `at` below a size() that this thread has seen.
    [[nodiscard]] const Row& operator[](std::uint64_t at) const {
        return blocks_[at >> kBlockBits].load(std::memory_order_relaxed)[at & (kBlockRows - 1)];
    }

private:
    static constexpr std::size_t kTable = kMaxRows >> kBlockBits;
    std::unique_ptr<std::atomic<Row*>[]> blocks_;  // 2 MB of addresses, of which the system provides what is used
    std::atomic<std::uint64_t> size_ = 0;
};

}  // namespace qps::transport
