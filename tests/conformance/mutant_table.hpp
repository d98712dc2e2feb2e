// The tables of mutants in docs/mutants.md: for each check how many were made, how many it found, and what they break.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace qps::tests {

struct Killed {
    std::size_t made = 0;
    std::size_t killed = 0;
    std::string ways;
};
void add_mutant(Killed& row, std::string_view what, bool killed);

// By their heads.
inline constexpr std::string_view kActiveHead = "| check | killed | mutants |";
inline constexpr std::string_view kProbeHead = "| check | killed | what our responder of iWARP does |";
inline constexpr std::string_view kTargetHead = "| check | killed | what our NVMe target does |";
inline constexpr std::string_view kPassiveHead = "| check | killed | what is wrong in the capture |";

// Holds the table of that head to what was killed, by check, in the order of the catalogue; QPSCOPE_REWRITE_GOLDEN=1
// writes it.
void check_manual(std::string_view head, const std::map<std::string, Killed>& killed);

}  // namespace qps::tests
