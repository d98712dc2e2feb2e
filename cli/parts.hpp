// Parts of an analysis as files: what `analyze --part` writes.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options.hpp>

namespace qps::cli {

[[nodiscard]] ExitCode write_part_of(const Options& options);

}  // namespace qps::cli
