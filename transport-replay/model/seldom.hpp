// Seldom: a value that few of its owners ever have. It takes eight bytes until it is first changed; read before, it is a fresh one.
#pragma once

#include <memory>
#include <utility>

namespace qps::transport {

template <class T>
class Seldom {
public:
    Seldom() = default;
    Seldom(const Seldom& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Seldom(Seldom&&) noexcept = default;
    Seldom& operator=(const Seldom& other) {
        if (this != &other) *this = Seldom(other);
        return *this;
    }
    Seldom& operator=(Seldom&&) noexcept = default;
    ~Seldom() = default;

    [[nodiscard]] bool there() const { return value_ != nullptr; }
    [[nodiscard]] const T& operator*() const { return value_ ? *value_ : fresh(); }
    [[nodiscard]] const T* operator->() const { return &**this; }
    // To be changed: it is there from now on.
    [[nodiscard]] T& made() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }
    // To be changed where it is there.
    [[nodiscard]] T* get() { return value_.get(); }

private:
    static const T& fresh() {
        static const T kFresh{};
        return kFresh;
    }
    std::unique_ptr<T> value_;
};

}  // namespace qps::transport
