// An amount of memory as users type it, in the command line of every front end; and what is left where something is
// kept beside an analysis.
#pragma once

#include <transport-replay/model/memory_budget.hpp>

#include <expected>
#include <string>

namespace qps::transport {

// "2GiB", "512MiB", "1500M": bytes. What is less than an analysis needs is refused, in a sentence.
[[nodiscard]] std::expected<MemoryBudget, std::string> read_memory(const std::string& text);

// What an analysis has where something beside it keeps so many bytes: never less than half.
[[nodiscard]] constexpr MemoryBudget beside(const MemoryBudget& all, std::uint64_t bytes) {
    return MemoryBudget(all.bytes() - std::min(bytes, all.bytes() / 2));
}

}  // namespace qps::transport
