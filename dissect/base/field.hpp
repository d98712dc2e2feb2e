// Field: one row of a header's table. Getter, setter, text, JSON, filter and hex highlight all derive from it.
//
// A header is an array of fields in wire order. Primary fields tile the header without gap or overlap
// (checked at compile time by tiles()); parts lie inside the primary field before them; computed fields have
// no bits and are concluded from the packet. Names are Wireshark's where Wireshark has the field.
#pragma once

#include <dissect/base/bytes.hpp>
#include <dissect/base/layer.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace qps::dissect {

struct Packet;

// How a value is held and shown. The type of the value follows from it: see value_type().
enum class Format : std::uint8_t {
    decimal,      // unsigned integer, shown in decimal
    hexadecimal,  // unsigned integer, people read it in hex (keys, addresses); machine formats print decimal
    flag,         // one bit or a 0/1 conclusion
    mac,          // 48 bits
    ipv4,         // 32 bits
    ipv6,         // 128 bits: an IPv6 address or a GID
    guid,         // EUI-64
    bytes,        // hex digits
    text,         // bytes that are characters, NUL padded
    fixed_point,  // integer counting 10^-digits of the unit
    instant,      // nanoseconds since 1970-01-01 UTC, as a fixed-point number of seconds for machines
    exponent,     // a CM or ACK timeout code t, meaning 4.096 us * 2^t (12.7.x): shown with its time
};

enum class ValueType : std::uint8_t { unsigned_integer, boolean, mac, ipv4, ipv6, guid, bytes, text, fixed_point };

[[nodiscard]] constexpr ValueType value_type(Format format) {
    switch (format) {
        case Format::decimal:
        case Format::hexadecimal:
        case Format::exponent: return ValueType::unsigned_integer;
        case Format::flag: return ValueType::boolean;
        case Format::mac: return ValueType::mac;
        case Format::ipv4: return ValueType::ipv4;
        case Format::ipv6: return ValueType::ipv6;
        case Format::guid: return ValueType::guid;
        case Format::bytes: return ValueType::bytes;
        case Format::text: return ValueType::text;
        case Format::instant:
        case Format::fixed_point: return ValueType::fixed_point;
    }
    return ValueType::bytes;
}

// A value as read: numbers (MAC, IPv4 and GUID too) in `number`, everything longer borrowed in `bytes`.
// Fixed-point numbers are signed: cast `number` to int64.
struct Value {
    std::uint64_t number = 0;
    Bytes bytes{};
};

struct ValueName {
    std::uint64_t value;
    std::string_view name;
};

// The name of a value; empty where it has none.
[[nodiscard]] constexpr std::string_view name_in(std::span<const ValueName> names, std::uint64_t value) {
    for (const ValueName& row : names)
        if (row.value == value) return row.name;
    return {};
}

// A field that exists only if other bits of the same header hold a certain value.
struct When {
    std::uint16_t bit = 0;
    std::uint16_t width = 0;  // 0: always there
    std::uint64_t value = 0;  // counted and read as the field itself is
};

// A conclusion from the packet; nothing where it does not apply.
using Compute = std::optional<Value> (*)(const Packet&, const Layer&);

inline constexpr std::uint16_t kToEnd = 0xffff;  // width of a field that takes the rest of its layer

struct Field {
    std::string_view name{};     // filter and column name; empty for reserved bits nobody asks for
    std::string_view meaning{};  // what `qpscope fields` says; up to its first ", " or ": " it is the label in the tree
    std::uint16_t bit = 0;       // from the start of the header
    std::uint16_t width = 0;     // in bits; kToEnd for the rest of the layer
    Format format = Format::decimal;
    bool is_part = false;
    bool annotated = false;      // computed, from the packet's annotation
    bool of_whole = false;       // likewise, and known when all packets of the capture were read
    bool little = false;         // little-endian: `bit` counts from the least significant bit of byte 0 on (NVMe, SMB)
    std::uint8_t digits = 0;     // fixed_point only
    std::uint16_t factor = 1;    // value = bits * factor (an IPv4 header length counts 4 bytes)
    std::string_view unit = {};  // shown after the value
    std::span<const ValueName> names = {};
    When when = {};
    Compute compute = nullptr;

    // Modifiers, for readable rows: decimal(...).named(kNames).part()
    [[nodiscard]] constexpr Field named(std::span<const ValueName> table) const {
        Field f = *this;
        f.names = table;
        return f;
    }
    [[nodiscard]] constexpr Field part() const {
        Field f = *this;
        f.is_part = true;
        return f;
    }
    [[nodiscard]] constexpr Field only_if(std::uint16_t at, std::uint16_t bits, std::uint64_t value) const {
        Field f = *this;
        f.when = {at, bits, value};
        return f;
    }
    [[nodiscard]] constexpr Field times(std::uint16_t by) const {
        Field f = *this;
        f.factor = by;
        return f;
    }
    [[nodiscard]] constexpr Field le() const {
        Field f = *this;
        f.little = true;
        return f;
    }
    // Of a computed field: how many bits its value has, for people.
    [[nodiscard]] constexpr Field of_bits(std::uint16_t bits) const {
        Field f = *this;
        f.width = bits;
        return f;
    }
    [[nodiscard]] constexpr Field in(std::string_view name_of_unit) const {
        Field f = *this;
        f.unit = name_of_unit;
        return f;
    }
    [[nodiscard]] constexpr Field with_digits(std::uint8_t count) const {
        Field f = *this;
        if (f.format != Format::instant) f.format = Format::fixed_point;
        f.digits = count;
        return f;
    }

    // Of a computed field: only who follows the connections knows its value.
    [[nodiscard]] constexpr Field from_annotation() const {
        Field f = *this;
        f.annotated = true;
        return f;
    }

    // Likewise, and not before all packets were read.
    [[nodiscard]] constexpr Field from_whole_capture() const {
        Field f = from_annotation();
        f.of_whole = true;
        return f;
    }

    [[nodiscard]] constexpr bool computed() const { return compute != nullptr; }
};

// Bit number of bit `bit` of byte `byte`, as the specification's tables write "43:5"; of a little-endian field, bit 0
// is the least significant one.
[[nodiscard]] constexpr std::uint16_t at(unsigned byte, unsigned bit = 0) {
    return static_cast<std::uint16_t>(byte * 8 + bit);
}

// One constructor per format; `bit` from at(), `width` in bits.
namespace row {
[[nodiscard]] constexpr Field decimal(std::string_view name, std::string_view meaning, std::uint16_t bit,
                                      std::uint16_t width) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = width, .format = Format::decimal};
}
[[nodiscard]] constexpr Field hex(std::string_view name, std::string_view meaning, std::uint16_t bit,
                                  std::uint16_t width) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = width, .format = Format::hexadecimal};
}
[[nodiscard]] constexpr Field flag(std::string_view name, std::string_view meaning, std::uint16_t bit) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = 1, .format = Format::flag};
}
[[nodiscard]] constexpr Field mac(std::string_view name, std::string_view meaning, std::uint16_t bit) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = 48, .format = Format::mac};
}
[[nodiscard]] constexpr Field ipv4(std::string_view name, std::string_view meaning, std::uint16_t bit) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = 32, .format = Format::ipv4};
}
[[nodiscard]] constexpr Field ipv6(std::string_view name, std::string_view meaning, std::uint16_t bit) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = 128, .format = Format::ipv6};
}
[[nodiscard]] constexpr Field guid(std::string_view name, std::string_view meaning, std::uint16_t bit) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = 64, .format = Format::guid};
}
[[nodiscard]] constexpr Field bytes(std::string_view name, std::string_view meaning, std::uint16_t bit,
                                    std::uint16_t width) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = width, .format = Format::bytes};
}
[[nodiscard]] constexpr Field text(std::string_view name, std::string_view meaning, std::uint16_t bit,
                                   std::uint16_t width) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = width, .format = Format::text};
}
[[nodiscard]] constexpr Field exponent(std::string_view name, std::string_view meaning, std::uint16_t bit,
                                       std::uint16_t width) {
    return {.name = name, .meaning = meaning, .bit = bit, .width = width, .format = Format::exponent};
}
[[nodiscard]] constexpr Field reserved(std::uint16_t bit, std::uint16_t width) {
    return {
        .meaning = "Reserved", .bit = bit, .width = width, .format = width > 64 ? Format::bytes : Format::hexadecimal};
}
[[nodiscard]] constexpr Field computed(std::string_view name, std::string_view meaning, Format format,
                                       Compute compute) {
    return {.name = name, .meaning = meaning, .format = format, .compute = compute};
}
}  // namespace row

// Whether primary fields cover bits 0 .. 8*length-1 in order without gap or overlap and parts lie inside the
// primary field before them. A kToEnd field may follow the fixed part.
[[nodiscard]] constexpr bool tiles(std::span<const Field> fields, std::size_t length) {
    std::size_t next = 0;
    std::size_t primary_start = 0;
    for (const Field& field : fields) {
        if (field.computed()) continue;
        if (field.is_part) {
            if (field.bit < primary_start || field.bit + field.width > next) return false;
            continue;
        }
        if (field.bit != next) return false;
        if (field.width == kToEnd) return next == length * 8;
        primary_start = next;
        next += field.width;
    }
    return next == length * 8;
}

// Tables of rows one after the other, where headers have a beginning or an end in common.
template <std::size_t... N> [[nodiscard]] consteval auto joined(const std::array<Field, N>&... tables) {
    std::array<Field, (N + ...)> all{};
    std::size_t next = 0;
    const auto add = [&](std::span<const Field> table) {
        for (const Field& field : table) all[next++] = field;
    };
    (add(tables), ...);
    return all;
}

// The row of that name; a name that is not there does not compile.
template <std::size_t N>
[[nodiscard]] consteval Field named(const std::array<Field, N>& fields, std::string_view name) {
    for (const Field& field : fields)
        if (field.name == name) return field;
    throw "no such field";
}

// The bits of a field whose place is known at compile time, from a header that starts at `header[0]`.
[[nodiscard]] constexpr std::uint64_t read(Bytes header, const Field& field) {
    return (field.little ? read_bits_le(header, field.bit, field.width) : read_bits(header, field.bit, field.width)) *
           field.factor;
}

struct Header {
    LayerKind kind;
    std::string_view name;   // filter name of its presence: "infiniband.bth"
    std::string_view title;  // "Base Transport Header"
    std::uint16_t length;    // of the fixed part, in bytes; what follows it in the layer belongs to a kToEnd field
    std::span<const Field> fields;
};

// The header table, indexed by kind.
[[nodiscard]] const Header& header(LayerKind kind);

// The value of a field in a layer of a packet; nothing where its condition does not hold or its bytes were not
// captured.
[[nodiscard]] std::optional<Value> value_of(const Packet& packet, const Layer& layer, const Field& field);

// Writes a value into a header; false where the field is computed or does not fit.
bool set_value(MutableBytes header, const Field& field, const Value& value);

}  // namespace qps::dissect
