// In which ways something is written out, and how the cells of a row are: CSV (RFC 4180) and TSV (backslashes and
// breaks escaped). What acts where it is shown is written as \xNN in both, and what a spreadsheet would take for a
// formula begins with an apostrophe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport {

inline constexpr int kSchema = 2;  // of what programs read; raised when a name goes or changes its meaning

// table: for people. ndjson: one JSON object a line.
enum class OutputFormat : std::uint8_t { table, json, ndjson, csv, tsv };

[[nodiscard]] constexpr bool has_rows(OutputFormat format) {
    return format == OutputFormat::csv || format == OutputFormat::tsv;
}
[[nodiscard]] constexpr char separator(OutputFormat format) { return format == OutputFormat::csv ? ',' : '\t'; }

// Appends a cell of csv or tsv.
void append_cell(std::string& out, OutputFormat format, std::string_view text);

}  // namespace qps::transport
