// Rows in JSON, where there are more than one document should hold: {"schema":2,"packets":[, an object a line with a
// comma before all but the first, ]}. Each row is written as it comes.
#pragma once

#include <transport-replay/report/format.hpp>

#include <string>
#include <string_view>

namespace qps::cli {

// `plural`: what the rows are.
[[nodiscard]] inline std::string json_rows_begin(std::string_view plural) {
    return "{\"schema\":" + std::to_string(transport::kSchema) + ",\"" + std::string(plural) + "\":[\n";
}
inline constexpr std::string_view kJsonRowsBetween = ",";
inline constexpr std::string_view kJsonListNext = "],\"";  // its name and ":[ follow
inline constexpr std::string_view kJsonRowsEnd = "]}\n";

}  // namespace qps::cli
