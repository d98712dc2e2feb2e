// PacketOrder: packets sorted by a column: by a number of each, or by a text in which runs of digits count as numbers.
// Packets that are alike stay in the order of the capture, whichever way the others go.
//
// What an attacker could feed: texts that are all different, and packets by the hundred million: past the bounds
// nothing is sorted, and why is told.
#pragma once

#include <transport-replay/index/packet_pass.hpp>
#include <transport-replay/index/row_set.hpp>

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::series {

// What a sort may take: packets as numbers 20 bytes each while they are sorted, as texts 8, what sorted texts have that
// the one before has not, and what each thread sorts a piece with, some MiB; 8 a packet afterwards.
inline constexpr std::uint64_t kUsualSortMemory = std::uint64_t{120} << 20;
[[nodiscard]] constexpr std::uint64_t most_sorted_by_number(std::uint64_t memory) { return memory / 20; }
[[nodiscard]] constexpr std::uint64_t most_sorted_by_text(std::uint64_t memory) { return memory / 12; }
inline constexpr std::size_t kLongestSortedText = 64;  // what comes behind does not count

// Each makes functions for one thread; one of them is there.
struct OrderBy {
    std::function<std::function<std::uint64_t(dissect::FrameIndex)>()> number{};
    std::function<std::function<void(dissect::FrameIndex, std::string&)>()> text{};  // writes over the string
    bool descending = false;
};

// Places are those of the packets that were sorted, in the order of the capture, from 0; positions those in the new
// order.
class PacketOrder {
public:
    PacketOrder() = default;
    explicit PacketOrder(std::vector<std::uint32_t> places);
    [[nodiscard]] std::uint64_t size() const { return places_.size(); }
    [[nodiscard]] std::uint64_t place(std::uint64_t position) const { return places_[position]; }
    [[nodiscard]] std::uint64_t position(std::uint64_t place) const { return positions_[place]; }

private:
    std::vector<std::uint32_t> places_;     // by position
    std::vector<std::uint32_t> positions_;  // by place
};

enum class NoOrder : std::uint8_t { stopped, too_many_packets, too_many_texts };

// A sort by text goes on when all texts were made: watch.done counts up to this.
[[nodiscard]] constexpr std::uint64_t steps_of_sort(std::uint64_t packets) {
    return pieces_of(packets) + pieces_of(packets) / 4;
}

// Of the first `packets` packets, or of those that are `shown`. Throws std::bad_alloc.
[[nodiscard]] std::expected<PacketOrder, NoOrder> order_packets(std::uint64_t packets, const RowSet* shown,
                                                                const OrderBy& by, const PassWatch& watch,
                                                                std::uint64_t memory = kUsualSortMemory);

// Whether one text comes before another: "10.0.0.2" before "10.0.0.10".
[[nodiscard]] bool comes_before(std::string_view one, std::string_view other);

}  // namespace qps::transport::series
