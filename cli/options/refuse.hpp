// How the reading of an option fails: with a sentence that has what was typed in it. CLI11 wants an exception.
#pragma once

#include <string>

namespace qps::cli {

[[noreturn]] void refuse(const std::string& sentence);

}  // namespace qps::cli
