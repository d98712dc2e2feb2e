// The columns of `packets`: fields by name, and the few texts that are made of more than one field.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/filter/filter.hpp>
#include <transport-replay/report/format.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace qps::cli {

using transport::OutputFormat;

enum class TextColumn { source, destination, protocol, line };

struct OutputColumn {
    std::string name;
    std::variant<TextColumn, dissect::Column> what;
    std::size_t width = 0;  // in tables
};

// The columns of those names, as -e has them, else the default ones. Prints which name is wrong and returns nothing
// where one is.
[[nodiscard]] std::optional<std::vector<OutputColumn>> columns_of(const std::vector<std::string>& names);

[[nodiscard]] bool needs_annotation(const std::vector<OutputColumn>& columns);
[[nodiscard]] bool needs_whole_capture(const std::vector<OutputColumn>& columns);
[[nodiscard]] bool needs_look_ahead(const std::vector<OutputColumn>& columns);

// Makes the columns of a table wide enough for these packets' values.
void fit(std::vector<OutputColumn>& columns, const dissect::Packet& packet);

void append_heading(std::string& out, OutputFormat format, const std::vector<OutputColumn>& columns);
// One packet in a row, with its line end. Several values of a field are separated by commas (an array in JSON).
void append_row(std::string& out, OutputFormat format, const std::vector<OutputColumn>& columns,
                const dissect::Packet& packet);

}  // namespace qps::cli
