// Program: a compiled filter. Tests on fields, joined by jumps on one flag, so that evaluating needs no recursion.
//
// Every operand was turned into the field's own units when the filter was compiled: a comparison of numbers, whatever
// its operator, asks whether a value lies in one of some sorted ranges. Immutable once built; threads share it.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/base/packet.hpp>
#include <dissect/filter/named_set.hpp>

#include <bitset>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace qps::dissect::filter_language {

// Both ends belong to it. Signed values are compared with their sign bit turned, which keeps their order.
struct NumberRange {
    std::uint64_t low = 0;
    std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
};

// Byte strings in lexicographic order.
struct ByteRange {
    std::string low{};
    std::optional<std::string> high{};  // nothing: no upper end
    bool without_low = false;
    bool without_high = false;
};

// Part of a field's bytes; negative positions count from the end.
struct Slice {
    enum class Extent : std::uint8_t { to_end, length, last };
    std::int32_t start = 0;
    Extent extent = Extent::to_end;
    std::int32_t amount = 0;  // a length, or the position of the last byte

    // The bytes, or nothing where the field does not have all of them.
    [[nodiscard]] std::optional<Bytes> of(Bytes bytes) const;
    // How many bytes, where that does not depend on the field.
    [[nodiscard]] std::optional<std::size_t> length() const;
};

// What is asked of the values of one field.
enum class Match : std::uint8_t { presence, numbers, bytes, contains, regex };

struct Source {
    LayerKind kind = LayerKind::data;
    const Field* field = nullptr;  // nullptr: the bytes of the layer
    bool to_end = false;           // of a layer: with everything behind it
    Match match = Match::presence;
    std::uint32_t first = 0;  // of the ranges, or which text or regular expression
    std::uint32_t count = 0;
    std::uint64_t flip = 0;  // the sign bit of a signed field
};

// One side of a test: where its values come from, and what part of them.
struct Operand {
    std::uint32_t first_source = 0;
    std::uint32_t source_count = 0;
    std::uint64_t mask = ~std::uint64_t{0};
    std::optional<std::uint32_t> byte_mask{};  // in Program::texts
    std::optional<Slice> slice{};
    std::uint8_t nth = 0;     // only the n-th layer of its kind; 0: all of them
    bool only_first = false;  // of a group: the first layer that belongs to it
};

enum class Comparison : std::uint8_t { equal, less, less_equal, greater, greater_equal };

struct Test {
    Operand left{};
    bool all = false;     // all values must pass, and there must be one; else any will do
    bool invert = false;  // a value passes that does not match
    bool layers_only = false;
    std::bitset<kLayerKinds> layers{};  // layers_only: true if the packet has one of them
    std::optional<Operand> right{};     // the values of another field
    Comparison comparison = Comparison::equal;
};

enum class Step : std::uint8_t {
    test,           // flag = test `operand`
    negate,         // flag = !flag
    jump_if_false,  // to step `operand`
    jump_if_true,
    push,          // put the flag aside
    exclusive_or,  // flag = flag != the one put aside last
};

struct Instruction {
    Step step = Step::test;
    std::uint32_t operand = 0;
};

struct Program {
    std::vector<Instruction> steps;
    std::vector<Test> tests;
    std::vector<Source> sources;
    std::vector<NumberRange> numbers;
    std::vector<ByteRange> byte_ranges;
    std::vector<std::string> texts;
    std::vector<NamedSet> sets;  // that tests on numbers of frames stand for
    std::vector<std::unique_ptr<const re2::RE2>> regexes;

    Program();
    ~Program();
    Program(Program&&) noexcept;
    Program& operator=(Program&&) noexcept;

    // Whether a value of a source whose match is `numbers` is one of those asked for.
    [[nodiscard]] bool number_matches(const Operand& operand, const Source& source, std::uint64_t number) const;

    // Whether the packet passes. A program without steps passes everything.
    [[nodiscard]] bool run(const Packet& packet) const;
};

// Whether values of this field are compared as numbers; nullptr (the bytes of a layer) are not.
[[nodiscard]] constexpr bool is_number(const Field* field) {
    if (field == nullptr) return false;
    const ValueType type = value_type(field->format);
    return type != ValueType::bytes && type != ValueType::text && type != ValueType::ipv6;
}

// The bytes a number is written with where it is an address; 0 for other numbers.
[[nodiscard]] constexpr std::size_t address_bytes(const Field& field) {
    switch (value_type(field.format)) {
        case ValueType::ipv4: return 4;
        case ValueType::mac: return 6;
        case ValueType::guid: return 8;
        default: return 0;
    }
}

}  // namespace qps::dissect::filter_language
