// Numbers in the sentences of findings, as people read them: "1,084 packets", "twice", "277.4 ms", "1.12 MiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qps::court {

// "1,084", "once", "twice", "3 times"
[[nodiscard]] std::optional<std::uint64_t> count_of(std::string_view words);
// The number in the words before the first place where `noun` follows a number: "1,084" of "retransmitted 1,084 packets".
[[nodiscard]] std::optional<std::uint64_t> number_before(std::string_view sentence, std::string_view noun);

// What a rounded number can have been: of a time in ns, of bytes, of percent.
struct Range {
    double least = 0;
    double most = 0;
    [[nodiscard]] bool has(double value) const { return least <= value && value <= most; }
};
[[nodiscard]] std::optional<Range> quantity_of(std::string_view words);

}  // namespace qps::court
