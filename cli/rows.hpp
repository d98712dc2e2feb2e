// Cells of a row as CSV (RFC 4180) and TSV (control characters and backslashes escaped).
#pragma once

#include <string>
#include <string_view>

#include "options.hpp"

namespace qps::cli {

void append_cell(std::string& out, OutputFormat format, std::string_view text);

[[nodiscard]] constexpr char separator(OutputFormat format) { return format == OutputFormat::csv ? ',' : '\t'; }

}  // namespace qps::cli
