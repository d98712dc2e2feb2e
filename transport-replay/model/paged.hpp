// Paged: values by number that stay where they are while more are added. It grows by a page, so that there is never a second copy of
// all of it, nor room for as many again.
#pragma once

#include <transport-replay/model/large_blocks.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace qps::transport {

// The number of values is its owner's to bound. `kOnePage`: values; by default a huge page of them. The first page is made of small ones, of
// which only what is used is taken: most captures have few connections.
template <class T, std::size_t kOnePage = kHugePage / sizeof(T)>
class Paged {
    static_assert(kOnePage != 0);

public:
    Paged() = default;
    Paged(const Paged& other) : Paged() {
        other.for_each([this](const T& value) { emplace_back(value); });
    }
    Paged(Paged&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) { other.pages_.clear(); }
    Paged& operator=(Paged other) noexcept {
        std::swap(pages_, other.pages_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Paged() {
        consume([](const T&) {});
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T& operator[](std::size_t place) { return pages_[place / kOnePage].get()[place % kOnePage]; }
    [[nodiscard]] const T& operator[](std::size_t place) const { return pages_[place / kOnePage].get()[place % kOnePage]; }
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if (pages_.size() * kOnePage == size_) add_page();
        T* const value = std::construct_at(&(*this)[size_], std::forward<Arguments>(arguments)...);
        ++size_;
        return *value;
    }
    // Each in order; visit(value).
    template <class Visit>
    void for_each(Visit visit) {
        for (std::size_t place = 0; place < size_; ++place) visit((*this)[place]);
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t place = 0; place < size_; ++place) visit((*this)[place]);
    }
    // Likewise, and it is empty then: a page goes when all of it was visited.
    template <class Visit>
    void consume(Visit visit) {
        const std::size_t size = std::exchange(size_, 0);
        std::size_t place = 0;
        for (Page& page : std::exchange(pages_, {})) {
            for (std::size_t i = 0; i < kOnePage && place < size; ++i, ++place) {
                visit(page.get()[i]);
                std::destroy_at(page.get() + i);
            }
            page.reset();
        }
    }

private:
    static constexpr std::size_t kPageBytes = kOnePage * sizeof(T);
    using Page = std::unique_ptr<T, GiveBack>;  // its values are those below size_
    void add_page() {
        pages_.push_back(Page(static_cast<T*>(take_block(kPageBytes, !pages_.empty()))));
    }

    std::vector<Page> pages_;
    std::size_t size_ = 0;
};

}  // namespace qps::transport
