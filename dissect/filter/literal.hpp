// Literal -> what it means for a field, in the field's own units. Every way to write a value is here and nowhere else.
#pragma once

#include <dissect/base/field.hpp>
#include <dissect/filter/program.hpp>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace qps::dissect::filter_language {

struct Literal {
    std::string_view text;  // without quotes, escapes resolved
    bool quoted = false;    // then it is a text or a name, never a number
};

// Why a literal is no value of a field.
struct Misfit {
    std::string message;
    std::string suggestion{};
};

template <class T> using Meant = std::expected<T, Misfit>;

// The values a literal means: one, a few (a name that stands for several values), or a range (an address with a
// prefix). In the order of NumberRange: values of signed fields come with their sign bit turned. The field holds
// numbers.
[[nodiscard]] Meant<std::vector<NumberRange>> numbers_meant(const Field& field, const Literal& literal);

// The byte strings a literal means for a field that holds bytes, for a slice, or for the bytes of a layer (field
// nullptr).
[[nodiscard]] Meant<ByteRange> bytes_meant(const Field* field, bool sliced, const Literal& literal);

// A number or an address used as a mask.
[[nodiscard]] Meant<std::uint64_t> mask_meant(const Field& field, const Literal& literal);

// A string of bytes: quoted text, 0a:0b:0c (or with - . or nothing between), or one byte as 0x0a.
[[nodiscard]] Meant<std::string> byte_string(const Literal& literal);

// The values of a field with value names whose name the predicate likes, sorted.
template <class Likes> [[nodiscard]] std::vector<NumberRange> values_named(const Field& field, const Likes& likes) {
    std::vector<NumberRange> values;
    for (const ValueName& row : field.names)
        if (likes(row.name)) values.push_back({row.value, row.value});
    return values;
}

// Names compare without case, and with '-', '_' and ' ' alike: this is the form they compare in.
[[nodiscard]] std::string folded_name(std::string_view name);

// A text as a filter has it: in quotes, with escapes for all that is not plain ASCII.
[[nodiscard]] std::string typed_text(std::string_view text);

// The name of a value as a filter has it, in quotes where it would be read as something else without them.
[[nodiscard]] std::string typed_name(std::string_view name);

// Bit 63 for fields whose values are signed.
[[nodiscard]] constexpr std::uint64_t sign_flip(const Field& field) {
    return field.format == Format::fixed_point ? std::uint64_t{1} << 63 : 0;
}

// A piece of the filter in quotes for a message: cut where it is long, control characters shown as spaces.
[[nodiscard]] std::string in_quotes(std::string_view text);

// What a field holds, for messages: "a number", "an IPv4 address".
[[nodiscard]] std::string_view noun(const Field* field, bool sliced);

}  // namespace qps::dissect::filter_language
