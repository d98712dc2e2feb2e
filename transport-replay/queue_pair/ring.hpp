// A queue that keeps its storage: what was popped leaves its place to what comes, so that a queue in steady use
// allocates nothing. Invariant: `count_` values stand from `head_` on, around the end of the storage, whose size is a
// power of two.
//
// It grows by doubling and never shrinks; the bound is its user's, who knows why. A value that was popped lives on in
// its place until another takes it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace qps::transport {

template <class T> class Ring {
public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] T& operator[](std::size_t index) { return places_[at(index)]; }
    [[nodiscard]] const T& operator[](std::size_t index) const { return places_[at(index)]; }
    [[nodiscard]] T& front() { return places_[head_]; }
    [[nodiscard]] const T& front() const { return places_[head_]; }
    [[nodiscard]] T& back() { return (*this)[count_ - 1]; }

    void push_back(T value) {
        if (count_ == places_.size()) grow();
        places_[at(count_)] = std::move(value);
        ++count_;
    }
    void pop_front() {
        head_ = at(1);
        --count_;
    }
    void clear() { head_ = count_ = 0; }

private:
    static constexpr std::size_t kFirstPlaces = 16;

    [[nodiscard]] std::size_t at(std::size_t index) const { return (head_ + index) & (places_.size() - 1); }

    void grow() {
        std::vector<T> wider(places_.empty() ? kFirstPlaces : places_.size() * 2);
        for (std::size_t i = 0; i < count_; ++i) wider[i] = std::move((*this)[i]);
        places_ = std::move(wider);
        head_ = 0;
    }

    std::vector<T> places_;
    std::size_t head_ = 0;
    std::size_t count_ = 0;
};

}  // namespace qps::transport
