// The schema of `export`: which tables there are, what each column holds, what refers to what. Columns are those of the
// tables of transport-replay/report/ and have their names; here is what they mean and of which type they are.
// docs/schema.md is made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qps::cli {

enum class ColumnType : std::uint8_t { integer, text };

struct SchemaColumn {
    std::string_view name;
    ColumnType type{};
    std::string_view meaning;
    std::string_view refers_to = {};  // a table, by its key
};

struct SchemaTable {
    std::string_view name;
    std::string_view meaning;
    std::string_view key;  // column; empty: none
    std::span<const SchemaColumn> columns;
    std::span<const std::string_view> indices;  // "connection, first_ns"
};

[[nodiscard]] std::span<const SchemaTable> schema();
[[nodiscard]] const SchemaTable& schema_of(std::string_view table);

// The statement that makes a table, and those that make its indices.
[[nodiscard]] std::string create_table(const SchemaTable& table);
[[nodiscard]] std::string create_indices(const SchemaTable& table);

// docs/schema.md.
[[nodiscard]] std::string schema_page();

}  // namespace qps::cli
