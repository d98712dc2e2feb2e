// Tables: what a row of one kind has in its columns. For programs a column has a name and a value, for people a heading
// and words; most have both. Rows may be sorted by the values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace qps::transport {

// The values of a column are all of one type or absent, so that cells compare as one expects; absent ones come first.
using Cell = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, std::string>;

// Every type of number, as a cell.
template <class T> [[nodiscard]] Cell number(T value) {
    if constexpr (std::is_enum_v<T>) return number(std::to_underlying(value));
    else if constexpr (std::is_signed_v<T>) return static_cast<std::int64_t>(value);
    else return static_cast<std::uint64_t>(value);
}
template <class T> [[nodiscard]] Cell number(const std::optional<T>& value) { return value ? number(*value) : Cell{}; }
[[nodiscard]] inline Cell text_cell(std::string_view text) { return std::string(text); }

// "1234", "0" and "1" of flags, the text itself; nothing where it is absent.
[[nodiscard]] std::string plain_text(const Cell& cell);

enum class Side : std::uint8_t { left, right };

// How much a row should stand out.
enum class Tone : std::uint8_t { plain, warning, error };

template <class Row> struct TableColumn {
    std::string_view name;     // empty: for people only
    std::string_view heading;  // empty: for programs only
    Side side = Side::left;
    Cell (*value)(const Row& row) = nullptr;
    std::string (*shown)(const Row& row) = nullptr;  // what people read where it is not the plain value
};

template <class Row> [[nodiscard]] std::string shown_text(const TableColumn<Row>& column, const Row& row) {
    return column.shown != nullptr ? column.shown(row) : plain_text(column.value(row));
}

}  // namespace qps::transport
