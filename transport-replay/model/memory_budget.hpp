// MemoryBudget: how much memory one run of the analysis may keep, shared out among what keeps it.
//
// Each share is a row: what one item costs, counted generously with the tables that find it, and which part of the
// budget it has. A room that has used up its share makes place by itself, least valuable first, and counts what went.
// So rooms need not know each other, the sum cannot pass the budget, and what was analysed does not depend on what else
// the machine does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace qps::transport {

// Who keeps what grows with the capture.
enum class Share : std::uint8_t {
    connections,    // flows that are followed
    messages,       // under way
    retired,        // connections that were followed to their end, and had problems
    attempts,       // of CM at connections
    conversations,  // of upper protocols
    operations,     // of upper protocols that wait for a response
    payload,        // of messages and memory that upper protocols are read from
    streams,        // iWARP: TCP connections
    segments,       // iWARP: bytes that wait for those before them
    contexts,       // Ultra Ethernet: packet delivery contexts with all that is under way in them
    flows,          // whose congestion is watched
    pairs,          // of hosts, in all tables of them
    rates,          // ways whose rate is watched
    count_,
};

struct ShareRow {
    Share share{};
    std::string_view name;
    std::uint32_t percent = 0;  // of the budget
    std::size_t item = 1;       // bytes that one costs; 1: the share is counted in bytes
    std::size_t most = std::numeric_limits<std::size_t>::max();  // items that any capture needs: more are not kept
                                                                 // however much there is
};

inline constexpr std::array kShares{
    ShareRow{Share::connections, "connections", 39, 4096, std::size_t{1} << 18},
    ShareRow{Share::messages, "messages under way", 10, 512, std::size_t{1} << 20},
    ShareRow{Share::retired, "retired connections", 5, 1792, std::size_t{1} << 16},
    ShareRow{Share::attempts, "connection attempts", 8, 1024, std::size_t{1} << 17},
    ShareRow{Share::conversations, "upper protocols", 8, 2560, std::size_t{1} << 17},
    ShareRow{Share::operations, "operations", 6},
    ShareRow{Share::payload, "payload", 6},
    ShareRow{Share::streams, "iWARP connections", 4, 10240, std::size_t{1} << 16},
    ShareRow{Share::segments, "TCP segments", 3},
    ShareRow{Share::contexts, "packet delivery contexts", 2},
    ShareRow{Share::flows, "flows", 6, 448, std::size_t{1} << 18},
    ShareRow{Share::pairs, "pairs of hosts", 2, 1024, std::size_t{1} << 16},
    ShareRow{Share::rates, "rates", 1, 2304, std::size_t{1} << 14},
};

class MemoryBudget {
public:
    // What has bounds of its own, however much there is: the rows of fixed_memory.hpp, and what is small.
    // The rest, at least half, is shared out.
    static constexpr std::uint64_t kFixed = std::uint64_t{256} << 20;
    static constexpr std::uint64_t kLeast = std::uint64_t{512} << 20;
    static constexpr std::uint64_t kUsual = std::uint64_t{2} << 30;

    constexpr explicit MemoryBudget(std::uint64_t bytes = kUsual) : bytes_(bytes) {}
    // A quarter of what this machine, or the control group of this process, has, at least kLeast.
    [[nodiscard]] static MemoryBudget of_machine();
    // For each of so many analyses that are there at once.
    [[nodiscard]] constexpr MemoryBudget part_of(std::uint32_t analyses) const {
        return MemoryBudget(bytes_ / analyses);
    }
    [[nodiscard]] constexpr std::uint64_t bytes() const { return bytes_; }
    // Of a share that is counted in bytes.
    [[nodiscard]] constexpr std::size_t bytes(Share share) const {
        return (bytes_ - std::min(bytes_ / 2, kFixed)) / 100 * kShares[static_cast<std::size_t>(share)].percent;
    }
    // How many items a share may keep whose items cost about the same: never none.
    [[nodiscard]] constexpr std::size_t items(Share share) const {
        const ShareRow& row = kShares[static_cast<std::size_t>(share)];
        return std::clamp<std::size_t>(bytes(share) / row.item, 1, row.most);
    }

private:
    std::uint64_t bytes_;
};

// The rows stand in the order of Share, and the whole is shared out once.
static_assert([] {
    std::uint32_t percent = 0;
    for (std::size_t i = 0; i < kShares.size(); ++i) {
        if (std::to_underlying(kShares[i].share) != i) return false;
        percent += kShares[i].percent;
    }
    return percent == 100 && kShares.size() == static_cast<std::size_t>(Share::count_);
}());

}  // namespace qps::transport
