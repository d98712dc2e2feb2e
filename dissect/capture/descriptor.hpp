// An open file by its number, closed with its owner.
#pragma once

#include <utility>

#include <unistd.h>

namespace qps::dissect {

class Descriptor {
public:
    Descriptor() = default;
    Descriptor(int number, bool owned) : number_(number), owned_(owned) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)), owned_(other.owned_) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~Descriptor() {
        if (owned_ && number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool owned() const { return owned_; }
    int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
    bool owned_ = false;
};

}  // namespace qps::dissect
