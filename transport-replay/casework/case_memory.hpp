// How much of the memory that a user grants (--memory) each part of a case may take. Values are counted in items of
// their usual cost, texts in bytes; what finds no place is counted in Case::left_out and said.
//
// Archives are unpacked and captures analysed one after the other, so that both use one share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace qps::casework {

enum class CaseShare : std::uint8_t {
    at_work,   // the archive that is open, or the analysis of a capture
    captures,  // captures out of archives, until they are analysed
    events,
    settings,
    counters,  // values of dumps
    quotes,    // lines that evidence shows
    files,     // and members of archives
    states,    // ranks, blocked tasks, measurements, addresses
    count_,
};

struct CaseShareRow {
    CaseShare share{};
    std::string_view name;
    std::uint32_t percent = 0;  // of the whole
    std::size_t item = 1;       // bytes that one costs; 1: the share is counted in bytes
};

inline constexpr std::array kCaseShares{
    CaseShareRow{CaseShare::at_work, "an open archive or capture", 40},
    CaseShareRow{CaseShare::captures, "captures of archives", 10},
    CaseShareRow{CaseShare::events, "events", 15, 768},
    CaseShareRow{CaseShare::settings, "settings", 8, 384},
    CaseShareRow{CaseShare::counters, "counters", 13, 288},
    CaseShareRow{CaseShare::quotes, "quoted lines", 5},
    CaseShareRow{CaseShare::files, "files", 6, 768},
    CaseShareRow{CaseShare::states, "ranks, tasks, rates and addresses", 3, 512},
};
static_assert([] {
    std::uint32_t percent = 0;
    for (std::size_t i = 0; i < kCaseShares.size(); ++i) {
        if (std::to_underlying(kCaseShares[i].share) != i) return false;
        percent += kCaseShares[i].percent;
    }
    return percent == 100 && kCaseShares.size() == static_cast<std::size_t>(CaseShare::count_);
}());

class CaseMemory {
public:
    static constexpr std::uint64_t kUsual = std::uint64_t{2} << 30;
    constexpr explicit CaseMemory(std::uint64_t bytes = kUsual) : bytes_(bytes) {}
    [[nodiscard]] constexpr std::size_t bytes(CaseShare share) const {
        return static_cast<std::size_t>(bytes_ / 100 * row(share).percent + bytes_ % 100 * row(share).percent / 100);
    }
    // At least one.
    [[nodiscard]] constexpr std::size_t items(CaseShare share) const {
        return std::max<std::size_t>(bytes(share) / row(share).item, 1);
    }

private:
    [[nodiscard]] static constexpr const CaseShareRow& row(CaseShare share) {
        return kCaseShares[static_cast<std::size_t>(share)];
    }
    std::uint64_t bytes_;
};

}  // namespace qps::casework
