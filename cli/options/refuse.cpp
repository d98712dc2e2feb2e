#include <CLI/CLI.hpp>
#include <cli/options/refuse.hpp>

namespace qps::cli {

void refuse(const std::string& sentence) { throw CLI::ValidationError(sentence); }

}  // namespace qps::cli
