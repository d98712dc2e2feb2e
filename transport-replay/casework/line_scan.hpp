// Which lines of a text are worth reading: one pass over its bytes, by several threads, before any pattern is tried.
//
// A line of NCCL that has nothing but its prefix is plain: it is counted for its host, and not read. That is most of a
// large log; all other lines are handed on. What is handed on does not depend on the number of threads.
//
// What an attacker could feed: a text of one line, or of newlines alone. Blocks are as long as their last line asks
// for; kAhead of them are held at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::casework {

struct ScannedLine {
    std::string_view text;      // without its newline
    std::uint32_t number = 0;   // in its block, from 0
    bool behind_plain = false;  // plain lines stand between the one before and it
};

struct ScannedBlock {
    std::vector<ScannedLine> lines;                            // to be read
    std::uint32_t count = 0;                                   // of all lines
    std::uint64_t plain = 0;                                   // of those that need no reading
    std::vector<std::pair<std::string, std::uint64_t>> hosts;  // that print plain lines, and how many

    void clear();
};

// One block, of whole lines.
void scan_block(std::string_view block, ScannedBlock& found);

// All of a text, its blocks in order.
void scan_lines(std::string_view text, const std::function<void(const ScannedBlock&)>& take);

}  // namespace qps::casework
