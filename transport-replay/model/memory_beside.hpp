// What commands and the window keep beside an analysis, and which part of the memory budget each of it may take. Who
// keeps it leaves the analysis the rest: beside() of memory_amount.hpp.
#pragma once

#include <transport-replay/model/memory_budget.hpp>

namespace qps::transport {

enum class Beside : std::uint8_t {
    latencies,  // of the messages of each connection, for tables and the window
    printed,    // rows of messages and operations, until it is known which connections they are of
    rows,       // of packets and messages, for series
    waiting,    // replay: payload of messages that are not complete, while reading, and of those that are posted, while
                // playing
    conversation,  // replay: messages of the connection that is to be played, with their payload
    memory,        // replay: that of the end that is played, once the conversation is read and the analysis is gone
    count_,
};

struct BesideRow {
    Beside what{};
    std::string_view name;
    std::uint32_t parts = 0;  // of kBesideParts of the budget
};

inline constexpr std::uint32_t kBesideParts = 64;
inline constexpr std::array kBesideRows{
    BesideRow{Beside::latencies, "latencies of connections", 1},
    BesideRow{Beside::printed, "rows to be printed", 1},
    BesideRow{Beside::rows, "rows of packets", 32},
    BesideRow{Beside::waiting, "payload of messages under way", 8},
    BesideRow{Beside::conversation, "conversation", 24},
    BesideRow{Beside::memory, "recorded memory", 28},
};

[[nodiscard]] constexpr std::uint64_t bytes_beside(const MemoryBudget& budget, Beside what) {
    return budget.bytes() / kBesideParts * kBesideRows[static_cast<std::size_t>(what)].parts;
}

// The rows stand in the order of Beside. A replay reads with an analysis and the timeline of one before it, a quarter
// of the budget for each; when it plays, both are gone.
static_assert([] {
    for (std::size_t i = 0; i < kBesideRows.size(); ++i)
        if (std::to_underlying(kBesideRows[i].what) != i) return false;
    const auto parts = [](Beside what) { return kBesideRows[static_cast<std::size_t>(what)].parts; };
    return kBesideRows.size() == static_cast<std::size_t>(Beside::count_) &&
           parts(Beside::waiting) + parts(Beside::conversation) <= kBesideParts / 2 &&
           parts(Beside::waiting) + parts(Beside::conversation) + parts(Beside::memory) < kBesideParts;
}());

}  // namespace qps::transport
