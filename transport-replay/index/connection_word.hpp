// ConnectionWord: the connection that a row names, which end of it, and eleven bits of the row's own. Its number may be
// settled while others read it: they see the one or the other.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace qps::transport {

class FinalNumbers;

class ConnectionWord {
public:
    static constexpr std::uint32_t kMostNumber = (1U << 20) - 1;

    ConnectionWord() = default;
    // A number that does not fit is kept as 0, none. Bits of `above`: the end, then the row's.
    ConnectionWord(ConnectionId connection, std::uint32_t above) : word_(word_of(connection) | above << kAbove) {}
    ConnectionWord(const ConnectionWord& of) : word_(of.load()) {}
    ConnectionWord& operator=(const ConnectionWord& of) {
        word_.store(of.load(), std::memory_order_relaxed);
        return *this;
    }

    [[nodiscard]] ConnectionId connection() const { return ConnectionId{load() & kMostNumber}; }
    [[nodiscard]] End end() const { return static_cast<End>(above() & 1U); }
    [[nodiscard]] std::uint32_t above() const { return load() >> kAbove; }

    // By the thread that writes the rows.
    void settle(const FinalNumbers& numbers);

private:
    static constexpr unsigned kAbove = 20;  // bits of the number
    static std::uint32_t word_of(ConnectionId connection) {
        const std::uint32_t number = std::to_underlying(connection);
        return number <= kMostNumber ? number : 0U;
    }
    [[nodiscard]] std::uint32_t load() const { return word_.load(std::memory_order_relaxed); }
    std::atomic<std::uint32_t> word_ = 0;
};
static_assert(sizeof(ConnectionWord) == sizeof(std::uint32_t));

}  // namespace qps::transport
