#include <cli/options/refuse.hpp>

#include <CLI/CLI.hpp>

namespace qps::cli {

void refuse(const std::string& sentence) { throw CLI::ValidationError(sentence); }

}  // namespace qps::cli
