// Every fuzzer by its name, for the program that replays inputs. CMakeLists.txt writes the table from the files of this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace qps::fuzz {

struct Fuzzer {
    std::string_view name;
    int (*run)(const std::uint8_t* data, std::size_t size);
};

[[nodiscard]] std::span<const Fuzzer> fuzzers();

}  // namespace qps::fuzz
