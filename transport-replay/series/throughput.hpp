// Throughput: how much of what went over the wire in each piece of a time range.
//
// Sums from the start of the range to each bin's begin are kept, so that any run of bins is summed at once, and a
// picture zoomed out shows the very sums of the finest bins. The finest width is a power of ten, which every wider
// 1-2-5 width is a multiple of.
//
// What an attacker could feed: a range of centuries: there are never more than kMaxBins.
#pragma once

#include <transport-replay/series/scope.hpp>

namespace qps::transport::series {

inline constexpr std::size_t kMaxBins = std::size_t{1} << 18;  // 13 MB; some 60 to each column of a wide screen
inline constexpr dissect::Duration kFinestBin{1000};           // 1 us: incast and pauses live there

struct Amount {
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t goodput =
        0;  // payload of packets that were new, right, and answered something where they are answers
    std::uint64_t retransmitted =
        0;  // on the wire, of requests whose PSN had been there, those that the network doubled left out
    std::uint64_t packets = 0;
    std::uint32_t marked = 0;  // congestion experienced
    std::uint32_t cnps = 0;
    std::uint32_t naks = 0;  // sequence errors and fatal ones
    std::uint32_t rnr_naks = 0;
    Amount& operator+=(const Amount& more);
    Amount& operator-=(const Amount& less);
    [[nodiscard]] bool operator==(const Amount&) const = default;
};
// What one packet adds.
[[nodiscard]] Amount amount_of(const PacketRow& row);

// The least 1-2-5 width from kFinestBin up with which a range has at most so many bins.
[[nodiscard]] dissect::Duration bin_width(dissect::Duration range, std::size_t bins);
// The next one up, at most 5 * 10^18 ns.
[[nodiscard]] dissect::Duration wider(dissect::Duration width);

class Throughput {
public:
    Throughput() = default;
    // `before` has one more than there are bins: the last is the sum of all.
    Throughput(Range range, dissect::Duration width, std::vector<Amount> before)
        : range_(range), width_(width), before_(std::move(before)) {}

    [[nodiscard]] const Range& range() const { return range_; }
    [[nodiscard]] dissect::Duration width() const { return width_; }
    [[nodiscard]] std::size_t bins() const { return before_.empty() ? 0 : before_.size() - 1; }
    // Of bins first .. end - 1; what lies past the last is nothing.
    [[nodiscard]] Amount sum(std::size_t first, std::size_t end) const;
    [[nodiscard]] Amount total() const { return sum(0, bins()); }
    [[nodiscard]] dissect::Instant begin_of(std::size_t bin) const;

    struct Bar {
        dissect::Instant from{};
        dissect::Duration width{};  // the last one of a range may be shorter than the others
        Amount amount;
    };
    // The bins that touch a part of the range, `fold` of them as one; the first begins at a multiple of `fold`. One bar
    // each.
    [[nodiscard]] std::vector<Bar> bars(const Range& part, std::size_t fold) const;
    // The least fold with which a part has at most so many bars of a 1-2-5 width.
    [[nodiscard]] std::size_t fold_for(dissect::Duration part, std::size_t columns) const;

private:
    Range range_;
    dissect::Duration width_{1};
    std::vector<Amount> before_;
};

// Packets without a time are left out. Nothing where it was stopped.
[[nodiscard]] std::optional<Throughput> throughput(const CaptureIndex& index, const Scope& scope, const Range& range,
                                                   const Stop& stop = {});

}  // namespace qps::transport::series
