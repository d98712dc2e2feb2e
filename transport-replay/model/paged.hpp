// Paged: values by number that stay where they are while more are added. It grows by a page, so that there is never a second copy of
// all of it, nor room for as many again, and a place is found without a division.
#pragma once

#include <transport-replay/model/large_blocks.hpp>

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace qps::transport {

// The number of values is its owner's to bound. `kOnePage`: values, a power of two; so many that a page goes back to the system at once
// when it is given back.
template <class T, std::size_t kOnePage = std::bit_ceil((kLargeBlock + sizeof(T) - 1) / sizeof(T))>
class Paged {
    static_assert(std::has_single_bit(kOnePage));

public:
    Paged() = default;
    Paged(const Paged& other) : size_(other.size_) {
        pages_.reserve(other.pages_.size());
        for (const Page& page : other.pages_) {
            pages_.emplace_back().reserve(kOnePage);
            pages_.back() = page;
        }
    }
    Paged(Paged&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {}
    Paged& operator=(Paged other) noexcept {
        std::swap(pages_, other.pages_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Paged() = default;

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T& operator[](std::size_t place) { return pages_[place / kOnePage][place % kOnePage]; }
    [[nodiscard]] const T& operator[](std::size_t place) const { return pages_[place / kOnePage][place % kOnePage]; }
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if (size_ % kOnePage == 0) {
            Page page;
            page.reserve(kOnePage);
            pages_.push_back(std::move(page));
        }
        T& value = pages_.back().emplace_back(std::forward<Arguments>(arguments)...);
        ++size_;
        return value;
    }
    // Each in order; visit(value).
    template <class Visit>
    void for_each(Visit visit) {
        for (Page& page : pages_)
            for (T& value : page) visit(value);
    }
    // Likewise, and it is empty then: a page goes when all of it was visited.
    template <class Visit>
    void consume(Visit visit) {
        for (Page& page : pages_) {
            for (T& value : page) visit(value);
            Page().swap(page);
        }
        pages_.clear();
        size_ = 0;
    }

private:
    using Page = std::vector<T>;  // never longer than was reserved
    std::vector<Page> pages_;
    std::size_t size_ = 0;
};

}  // namespace qps::transport
