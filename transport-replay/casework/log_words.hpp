// The words that make a line of a log worth reading, found in one pass: those of signatures and notes, and what begins
// and ends lines.
#pragma once

#include <transport-replay/casework/word_finder.hpp>

#include <cstddef>
#include <cstdint>

namespace qps::casework {

struct WordUse {
    enum class Kind : std::uint8_t {
        reads,      // the line is to be read
        same_note,  // a note that says the same whenever its host says it: read it once
        nccl,       // "NCCL INFO "
        newline,
    };
    Kind kind = Kind::reads;
    std::uint32_t note = 0;  // of same_note: its number, below 32
    std::size_t length = 0;  // of the word
};

[[nodiscard]] const WordFinder& log_words();
[[nodiscard]] WordUse use_of(WordFinder::Id word);

}  // namespace qps::casework
