// A program that is run to its end: arguments and standard input in, what it wrote and how it ended out.
#pragma once

#include <dissect/base/bytes.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::test {

struct Ending {
    std::string out;
    std::string err;
    int code = 0;  // the exit code; 128 + the signal that ended it
};

struct Surroundings {
    std::optional<dissect::Bytes> input{};  // standard input is a pipe that delivers this; else it is /dev/null
    std::string output{};                   // standard output is this file, and Ending::out stays empty
    std::size_t lines = 0;  // where not zero, standard output is a pipe whose reader goes away after so many lines
    std::string folder{};   // works in this folder
    std::vector<std::string> environment{};  // NAME=VALUE, beside what the test has
};

// Runs words[0], looked up in PATH where it has no slash. Throws where it cannot be started.
[[nodiscard]] Ending run(const std::vector<std::string>& words, const Surroundings& surroundings = {});

// Whether a program of that name is in PATH.
[[nodiscard]] bool is_installed(std::string_view program);

}  // namespace qps::test
