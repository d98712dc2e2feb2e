// Sections of the manual of findings (docs/findings.md), which is part of the program.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options/output_options.hpp>

#include <string_view>

namespace qps::cli {

[[nodiscard]] std::string_view finding_pages();       // all of it
[[nodiscard]] std::string_view case_finding_pages();  // docs/case-findings.md: those of `case`

// `findings --explain ID`: the section of that finding. An id that no finding has is a usage error, with the nearest
// one.
[[nodiscard]] ExitCode explain_finding(std::string_view asked, const OutputOptions& options);

}  // namespace qps::cli
