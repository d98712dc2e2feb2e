// A line of `journalctl -o json`, as the short ISO form has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qps::casework {

// "2026-05-06T10:00:00.123456Z host kernel: message"; nothing for other lines.
[[nodiscard]] std::optional<std::string> journal_line(std::string_view line);

}  // namespace qps::casework
