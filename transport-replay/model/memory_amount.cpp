#include <dissect/base/parse_value.hpp>
#include <transport-replay/model/memory_amount.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace qps::transport {

std::expected<MemoryBudget, std::string> read_memory(const std::string& text) {
    struct Suffix {
        std::string_view name;
        double bytes;
    };
    constexpr std::array kUnits{Suffix{"GiB", 1 << 30}, Suffix{"MiB", 1 << 20}, Suffix{"G", 1e9},
                                Suffix{"M", 1e6},       Suffix{"GB", 1e9},      Suffix{"MB", 1e6}};
    constexpr double kMost = 1e15;
    const auto real = dissect::parse_real(text);
    const auto unit = std::ranges::find(kUnits, real ? real->second : std::string_view{}, &Suffix::name);
    if (!real || unit == kUnits.end() || !(real->first > 0) || real->first * unit->bytes > kMost)
        return std::unexpected(
            fmt::format("invalid amount of memory '{}': expected a number with MiB or GiB, such as 2GiB", text));
    const auto bytes = static_cast<std::uint64_t>(real->first * unit->bytes);
    if (bytes < MemoryBudget::kLeast)
        return std::unexpected(fmt::format("'{}' is too little memory: an analysis needs 512MiB", text));
    return MemoryBudget(bytes);
}

}  // namespace qps::transport
