// A secret in a file, as options name it.
#pragma once

#include <string>

namespace qps::cli {

// What is in the file; refuses one that others can read.
[[nodiscard]] std::string read_secret_file(const std::string& path);

}  // namespace qps::cli
