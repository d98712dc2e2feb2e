// Seldom: a value that few of its owners ever have. It takes eight bytes until it is first changed; read before, it is
// a fresh one.
//
// It owns by a plain pointer: <memory> would cost every file that includes the model 12,000 lines.
#pragma once

#include <utility>

namespace qps::transport {

template <class T> class Seldom {
public:
    Seldom() = default;
    Seldom(const Seldom& other) : value_(other.value_ ? new T(*other.value_) : nullptr) {}
    Seldom(Seldom&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Seldom& operator=(Seldom other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Seldom() { delete value_; }

    [[nodiscard]] bool there() const { return value_ != nullptr; }
    [[nodiscard]] const T& operator*() const { return value_ ? *value_ : fresh(); }
    [[nodiscard]] const T* operator->() const { return &**this; }
    // To be changed: it is there from now on.
    [[nodiscard]] T& made() {
        if (!value_) value_ = new T();
        return *value_;
    }
    // To be changed where it is there.
    [[nodiscard]] T* get() { return value_; }

private:
    static const T& fresh() {
        static const T kFresh{};
        return kFresh;
    }
    T* value_ = nullptr;
};

}  // namespace qps::transport
