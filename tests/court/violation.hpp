// What the court finds wrong, and the list of what is known to be wrong: known.txt, which can only shrink.
#pragma once

#include <tests/court/analyser.hpp>

namespace qps::court {

struct Violation {
    std::string capture;
    std::string derivation;
    std::string finding;   // id
    std::string why;       // why the sentence is false
    std::string sentence;  // as the program printed it
};

// "loss_write, direction-up: transport-retries-exceeded: the whole capture has none: "10.77.0.11 sent ...""
[[nodiscard]] std::string text(const Violation& violation);

// Compares violations with the rows of known.txt of one section (the first word of a row). "" where they are the same;
// else what is new, each with its line, and the rows that are stale. With QPSCOPE_COURT_SHRINK=1 stale rows are removed
// from the file instead.
[[nodiscard]] std::string against_known(std::string_view section, const std::vector<Violation>& violations);

}  // namespace qps::court
