// What went wrong with an input, as a value: which file, where in it, and one sentence for people.
#pragma once

#include <cstdint>
#include <string>

namespace qps::dissect {

enum class InputProblemKind : std::uint8_t {
    none,
    unreadable,     // cannot be opened or read at all: missing, a directory, no permission, no memory
    not_a_capture,  // was opened, but holds no header of a capture: empty, cut before the end of the header, junk
    damaged,        // a capture whose beginning was readable; the frames before the damage were delivered
};

struct InputProblem {
    InputProblemKind kind = InputProblemKind::none;
    std::string file;          // as the user wrote it; "standard input" for "-"
    std::uint64_t offset = 0;  // in bytes of the uncompressed file: where the record starts that cannot be read
    std::string sentence;      // without the file name, the offset and a full stop; ASCII
};

}  // namespace qps::dissect
