// What the values of an archive are made of: one description for each type, which writing, reading, comparing shapes
// and walking all follow. A description is a few pointers to functions, so that the compiler takes each type apart once
// and not once for every use (described_types.cpp).
#pragma once

#include <dissect/base/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace qps::transport {

struct AnalysisPart;
struct GateReport;
struct LinkReport;
struct PartHeader;
struct PartReport;

namespace parts {

enum class Make : std::uint8_t {
    psn,
    number,         // unsigned; `size` bytes
    signed_number,  // `size` bytes
    real,           // float or double, by `size`
    enumeration,    // as its number, `size` bytes
    text,           // std::string
    name,           // std::string_view of static storage
    optional,       // of an item, or none
    rare,           // Seldom: the same
    fixed,          // `count` items, side by side
    list,
    set,
    map,     // items are pairs
    record,  // members
    object,  // members that are private
};

inline constexpr std::uint64_t kAnyValue = UINT64_MAX;  // the end of an enumeration whose values are any

struct Type;
struct Member {
    std::size_t offset = 0;  // bytes
    const Type* type = nullptr;
};

using Visit = std::function<void(void*)>;
using VisitConst = std::function<void(const void*)>;

struct Type {
    Make make{};
    std::size_t size = 0;    // of a number, or of an item of `fixed`
    std::size_t count = 0;   // of `fixed`
    std::uint64_t end = 0;   // of an enumeration: behind its last value, or kAnyValue
    bool is_signed = false;  // of an enumeration
    bool is_bool = false;    // of a number
    const Type* item = nullptr;
    const void* (*get)(const void*) = nullptr;               // optional, rare: null where there is none
    void* (*renew)(void*, bool there) = nullptr;             // optional, rare: a fresh one, or none
    std::size_t cost = 0;                                    // list, set, map, rare: bytes of memory for one more item
    std::size_t (*length)(const void*) = nullptr;            // list, set, map
    void (*each)(const void*, const VisitConst&) = nullptr;  // likewise, in order
    void (*clear)(void*) = nullptr;                          // list
    void (*add)(void*, const Visit& fill) = nullptr;         // list, set, map: one more, once it is filled
    std::span<const Member> (*members)() = nullptr;          // record, object
    bool (*sound)(const void*) = nullptr;  // what must hold beyond the ranges of members; may be missing
};

// Of the types that are written, read or walked whole, which described_types.cpp lists.
template <class T> [[nodiscard]] const Type& type_of();
template <> const Type& type_of<AnalysisPart>();
template <> const Type& type_of<PartReport>();
template <> const Type& type_of<GateReport>();
template <> const Type& type_of<LinkReport>();
template <> const Type& type_of<PartHeader>();
template <> const Type& type_of<dissect::FrameIndex>();
template <> const Type& type_of<dissect::Instant>();

template <class T> T& as(void* value) { return *static_cast<T*>(value); }
template <class T> const T& as(const void* value) { return *static_cast<const T*>(value); }

// What a type is made of, as a number: archives of different shapes cannot be read by each other's program.
[[nodiscard]] std::uint64_t shape_of(const Type& type);

// Every value of a type inside another value, however deep, but for what is in a set, or the key of a map, which cannot
// be changed in place.
void for_each_of(void* value, const Type& type, const Type& wanted, const Visit& visit);

// Frames and times of a report, say, which all move when it is joined with those of other captures.
template <class Wanted, class T, class Each> void for_each_of(T& value, const Each& each) {
    for_each_of(&value, type_of<T>(), type_of<Wanted>(), [&](void* found) { each(as<Wanted>(found)); });
}

}  // namespace parts

}  // namespace qps::transport
