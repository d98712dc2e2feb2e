// Paged: values by number that stay where they are while more are added. It grows by a page, so that there is never a
// second copy of all of it, nor room for as many again, and a place is found without a division.
#pragma once

#include <transport-replay/model/large_blocks.hpp>

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace qps::transport {

// The number of values is its owner's to bound. `kOnePage`: values, a power of two; so many that a page goes back to
// the system at once when it is given back. Most captures have few connections: pages stand alone until there are
// kAlone, later ones together in huge pages.
template <class T, std::size_t kOnePage = std::bit_ceil((kLargeBlock + sizeof(T) - 1) / sizeof(T))> class Paged {
    static_assert(std::has_single_bit(kOnePage));

public:
    Paged() = default;
    Paged(const Paged& other) : Paged() {
        other.for_each([this](const T& value) { emplace_back(value); });
    }
    Paged(Paged&& other) noexcept : Paged() { swap(other); }
    Paged& operator=(Paged other) noexcept {
        swap(other);
        return *this;
    }
    ~Paged() {
        if (size_ != 0) consume([](const T&) {});
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T& operator[](std::size_t place) { return pages_[place / kOnePage][place % kOnePage]; }
    [[nodiscard]] const T& operator[](std::size_t place) const { return pages_[place / kOnePage][place % kOnePage]; }
    template <class... Arguments> T& emplace_back(Arguments&&... arguments) {
        if (pages_.size() * kOnePage == size_) add_pages();
        T* const value = std::construct_at(&(*this)[size_], std::forward<Arguments>(arguments)...);
        ++size_;
        return *value;
    }
    // Each in order; visit(value).
    template <class Visit> void for_each(Visit visit) {
        for (std::size_t place = 0; place < size_; ++place) visit((*this)[place]);
    }
    template <class Visit> void for_each(Visit visit) const {
        for (std::size_t place = 0; place < size_; ++place) visit((*this)[place]);
    }
    // Likewise, and it is empty then: memory goes when all that stands in it was visited.
    template <class Visit> void consume(Visit visit) {
        Paged all;
        swap(all);
        const std::size_t size = std::exchange(all.size_, 0);
        for (std::size_t place = 0; place < size; ++place) {
            T& value = all[place];
            visit(value);
            std::destroy_at(&value);
            if (place % kOnePage == kOnePage - 1) all.give_back_page(place / kOnePage);
        }
    }

private:
    static constexpr std::size_t kAlone = 16;
    static constexpr std::size_t kPageBytes = kOnePage * sizeof(T);
    static constexpr std::size_t kTogether = kPageBytes < kHugePage ? kHugePage / kPageBytes : 1;
    struct GiveBackPage {
        void operator()(T* page) const { std::allocator<T>().deallocate(page, kOnePage); }
    };

    void swap(Paged& other) noexcept {
        std::swap(alone_, other.alone_);
        std::swap(together_, other.together_);
        std::swap(pages_, other.pages_);
        std::swap(size_, other.size_);
    }
    void add_pages() {
        pages_.reserve(std::bit_ceil(pages_.size() + kTogether));
        if (alone_.size() < kAlone) {
            alone_.emplace_back(std::allocator<T>().allocate(kOnePage));
            return pages_.push_back(alone_.back().get());
        }
        together_.emplace_back(take_block(kTogether * kPageBytes));
        T* const first = static_cast<T*>(together_.back().get());
        for (std::size_t i = 0; i < kTogether; ++i) pages_.push_back(first + i * kOnePage);
    }
    void give_back_page(std::size_t page) {
        if (page < kAlone) alone_[page].reset();
        else if ((page - kAlone) % kTogether == kTogether - 1) together_[(page - kAlone) / kTogether].reset();
    }

    std::vector<std::unique_ptr<T, GiveBackPage>> alone_;
    std::vector<std::unique_ptr<void, GiveBack>> together_;
    std::vector<T*> pages_;
    std::size_t size_ = 0;
};

}  // namespace qps::transport
