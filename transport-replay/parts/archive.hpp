// Writer and Reader: values to bytes and back, by the descriptions of their types. Numbers are LEB128, signed ones zigzag; lists have
// their count before them.
//
// What an attacker could feed a Reader: any bytes. A count never exceeds the bytes that are left, so that what is read takes memory in
// proportion to them; numbers must fit their type, enumerations be below their end (enumerations.hpp). The first failure is kept, and
// everything behind it is read as nothing.
#pragma once

#include <transport-replay/parts/archived_type.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace qps::transport::parts {

// A name of static storage for what was read; empty where there is no room for another one.
[[nodiscard]] std::string_view interned(std::string_view name);

class Writer {
public:
    template <class T>
    void put(const T& value) { put(&value, type_of<T>()); }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void put(const void* value, const Type& type);
    void number(std::uint64_t value);
    void signed_number(std::int64_t value) { number(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63)); }
    void text(std::string_view value);

    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end() const { return left_.empty(); }

    template <class T>
    void take(T& value) { take(&value, type_of<T>()); }

private:
    void take(void* value, const Type& type);
    void take_whole(void* value, const Type& type);
    std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
    std::int64_t signed_number(std::size_t size);
    void enumeration(void* value, const Type& type);
    void name(std::string_view& value);
    std::string_view text();
    std::uint64_t fail();

    std::string_view left_;
    bool failed_ = false;
};

}  // namespace qps::transport::parts
