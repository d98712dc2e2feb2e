// How the reading of an option fails: with a sentence that has what was typed in it. The reader of the command line
// catches it.
#pragma once

#include <string>

namespace qps::cli {

struct Refusal {
    std::string sentence;
};

[[noreturn]] inline void refuse(std::string sentence) { throw Refusal{std::move(sentence)}; }

}  // namespace qps::cli
