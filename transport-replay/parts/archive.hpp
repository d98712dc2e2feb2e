// Writer and Reader: values to bytes and back, by the descriptions of their types. Numbers are LEB128, signed ones
// zigzag; lists have their count before them.
//
// What an attacker could feed a Reader: any bytes. A count never exceeds the bytes that are left; how much memory what
// is built takes, a Measure tells before. Numbers must fit their type, enumerations be below their end
// (enumerations.hpp). The first failure is kept, and everything behind it is read as nothing.
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
    template <class T> void put(const T& value) { put(&value, type_of<T>()); }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void put(const void* value, const Type& type);
    void number(std::uint64_t value);
    void signed_number(std::int64_t value) {
        number(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
    }
    void text(std::string_view value);

    std::string bytes_;
};

// Numbers and texts of an archive, one after the other.
class ArchivedBytes {
public:
    explicit ArchivedBytes(std::string_view bytes) : left_(bytes) {}

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end() const { return left_.empty(); }

protected:
    std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
    // Of items that take a byte each at least.
    std::uint64_t count() { return number(left_.size()); }
    std::string_view text();
    std::uint64_t fail();

private:
    std::string_view left_;
    bool failed_ = false;
};

class Reader : public ArchivedBytes {
public:
    using ArchivedBytes::ArchivedBytes;

    template <class T> void take(T& value) { take(&value, type_of<T>()); }

private:
    void take(void* value, const Type& type);
    void take_whole(void* value, const Type& type);
    std::int64_t signed_number(std::size_t size);
    void enumeration(void* value, const Type& type);
    void name(std::string_view& value);
};

// Bytes of memory that a Reader would take for what it builds of an archive: a list of numbers needs a byte each in the
// archive, and eight when it is built. Nothing is built to find out.
class Measure : public ArchivedBytes {
public:
    using ArchivedBytes::ArchivedBytes;

    template <class T> [[nodiscard]] std::uint64_t of() {
        walk(type_of<T>());
        return sizeof(T) + built_;
    }

private:
    void walk(const Type& type);

    std::uint64_t built_ = 0;
};

// The same of a value that is there.
[[nodiscard]] std::uint64_t built_of(const void* value, const Type& type);
template <class T> [[nodiscard]] std::uint64_t built_of(const T& value) {
    return sizeof(T) + built_of(&value, type_of<T>());
}

}  // namespace qps::transport::parts
