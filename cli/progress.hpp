// Progress of long work on standard error: one line that is redrawn, only on a terminal and only after half a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace qps::cli {

class Progress {
public:
    Progress(bool wanted, std::string what);
    ~Progress();  // clears the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `done` of `total` bytes, `packets` so far. Cheap enough for every batch.
    void update(std::uint64_t done, std::optional<std::uint64_t> total, std::uint64_t packets);
    // Before anything else is printed on the terminal.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    bool active_;
    bool drawn_ = false;
    std::string what_;
    Clock::time_point started_ = Clock::now();
    Clock::time_point last_ = started_;
};

}  // namespace qps::cli
