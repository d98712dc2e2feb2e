// GrowingStore: rows that one thread appends while others read those that are there, without locks and without moving
// any.
//
// Rows live in blocks that stay where they are, each twice as long as the one before: a few addresses find all of them,
// and of the last one only what is used takes memory. A reader sees the first size() rows, whole; size() never goes
// back. What an attacker could feed: captures without end; past kMaxRows append() refuses.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace qps::transport {

template <class Row> class GrowingStore {
public:
    static constexpr std::size_t kFirstBits = 14;  // 16384 rows in the first block: half a megabyte of packets
    static constexpr std::size_t kRun = std::size_t{1}
                                        << kFirstBits;             // so many stand in a row from each multiple of it on
    static constexpr std::size_t kMaxRows = std::size_t{1} << 32;  // of packets: more than fits on most disks

    GrowingStore() = default;
    GrowingStore(const GrowingStore&) = delete;
    GrowingStore& operator=(const GrowingStore&) = delete;
    ~GrowingStore() {
        for (std::size_t block = 0; block < kBlocks; ++block)
            if (Row* rows = blocks_[block].load(std::memory_order_relaxed))
                std::allocator<Row>{}.deallocate(rows, rows_of(block));
    }

    // The one writing thread. False, and nothing is appended, past kMaxRows. Throws std::bad_alloc.
    bool append(const Row& row) {
        const std::uint64_t at = size_.load(std::memory_order_relaxed);
        if (at >= kMaxRows) return false;
        const BlockRow place = place_of(at);
        std::atomic<Row*>& block = blocks_[place.block];
        // Without rows in it: a block is touched only as far as it is used.
        if (place.row == 0)
            block.store(std::allocator<Row>{}.allocate(rows_of(place.block)), std::memory_order_relaxed);
        std::construct_at(block.load(std::memory_order_relaxed) + place.row, row);
        size_.store(at + 1, std::memory_order_release);
        return true;
    }

    // The one writing thread: each row changes what its readers may see change.
    template <class Change> void change_all(Change change) {
        for (std::uint64_t at = 0, all = size(); at < all; ++at) {
            const BlockRow place = place_of(at);
            change(blocks_[place.block].load(std::memory_order_relaxed)[place.row]);
        }
    }

    // Any thread.
    [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t bytes() const { return size() * sizeof(Row); }
    // `at` below a size() that this thread has seen.
    [[nodiscard]] const Row& operator[](std::uint64_t at) const {
        const BlockRow place = place_of(at);
        return blocks_[place.block].load(std::memory_order_relaxed)[place.row];
    }

private:
    static_assert(std::is_trivially_destructible_v<Row>);
    static constexpr std::size_t kBlocks = 33 - kFirstBits;  // together a block less than twice kMaxRows

    static constexpr std::size_t rows_of(std::size_t block) { return std::size_t{1} << (kFirstBits + block); }

    struct BlockRow {
        std::size_t block;
        std::size_t row;  // in it
    };
    // Block b begins with row (2^b - 1) * 2^kFirstBits.
    static BlockRow place_of(std::uint64_t at) {
        const std::uint64_t shifted = at + (std::uint64_t{1} << kFirstBits);
        const std::uint64_t floor = std::bit_floor(shifted);
        return {static_cast<std::size_t>(std::countr_zero(floor)) - kFirstBits, shifted - floor};
    }

    std::array<std::atomic<Row*>, kBlocks> blocks_{};
    std::atomic<std::uint64_t> size_ = 0;
};

}  // namespace qps::transport
