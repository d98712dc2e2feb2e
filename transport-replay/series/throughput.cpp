#include <dissect/headers/infiniband.hpp>
#include <transport-replay/series/throughput.hpp>

#include <utility>

namespace qps::transport::series {

using namespace dissect;

Amount& Amount::operator+=(const Amount& more) {
    bytes += more.bytes;
    goodput += more.goodput;
    retransmitted += more.retransmitted;
    packets += more.packets;
    marked += more.marked;
    cnps += more.cnps;
    naks += more.naks;
    rnr_naks += more.rnr_naks;
    return *this;
}

Amount& Amount::operator-=(const Amount& less) {
    bytes -= less.bytes;
    goodput -= less.goodput;
    retransmitted -= less.retransmitted;
    packets -= less.packets;
    marked -= less.marked;
    cnps -= less.cnps;
    naks -= less.naks;
    rnr_naks -= less.rnr_naks;
    return *this;
}

Amount amount_of(const PacketRow& row) {
    Amount amount;
    amount.bytes = row.wire_length();
    amount.packets = 1;
    amount.marked = row.has(Mark::congestion_experienced) ? 1 : 0;
    const bool segment =
        (row.kind() == ObservationKind::stream || row.kind() == ObservationKind::ultra_ethernet) && row.connection();
    if (row.kind() != ObservationKind::transport && !segment) return amount;
    const bool again = row.has(Mark::retransmission) || row.has(Mark::duplicated);
    if (again && !row.has(Mark::duplicated)) amount.retransmitted = amount.bytes;
    if (row.has(Mark::mirror_copy) || row.icrc() == CrcStatus::bad) return amount;
    if (!again && !row.has(Mark::unmatched)) amount.goodput = row.payload_length();
    if (segment) return amount;
    if (Scope::notifies(row)) amount.cnps = 1;
    // A NAK is an acknowledge packet (9.7.5.1.2): what the AETH of a response says is of no request.
    if (const auto syndrome = row.syndrome(); syndrome && info(row.opcode()).verb == Verb::acknowledge) {
        const auto type = static_cast<SyndromeType>(Acknowledgment{*syndrome, {}}.type());
        amount.naks = type == SyndromeType::nak ? 1 : 0;
        amount.rnr_naks = type == SyndromeType::rnr_nak ? 1 : 0;
    }
    return amount;
}

namespace {

constexpr std::int64_t kWidest = 5'000'000'000'000'000'000;

// 1, 2, 5, 10, 20, ...: the next of a number that is one of them.
constexpr std::int64_t next_round(std::int64_t number) {
    std::int64_t digit = number;
    while (digit % 10 == 0) digit /= 10;
    return number / digit * (digit == 1 ? 2 : digit == 2 ? 5 : 10);
}

constexpr std::uint64_t bins_of(Duration range, std::int64_t width) {
    return (static_cast<std::uint64_t>(range) + static_cast<std::uint64_t>(width) - 1) /
           static_cast<std::uint64_t>(width);
}

// A power of ten, so that every wider round width is whole bins.
std::int64_t finest_width(Duration range) {
    std::int64_t width = std::to_underlying(kFinestBin);
    while (bins_of(range, width) > kMaxBins) width *= 10;
    return width;
}

}  // namespace

Duration wider(Duration width) {
    return Duration{std::to_underlying(width) >= kWidest ? kWidest : next_round(std::to_underlying(width))};
}

Duration bin_width(Duration range, std::size_t bins) {
    Duration width = kFinestBin;
    while (bins_of(range, std::to_underlying(width)) > std::max<std::size_t>(bins, 1) &&
           std::to_underlying(width) < kWidest)
        width = wider(width);
    return width;
}

Amount Throughput::sum(std::size_t first, std::size_t end) const {
    end = std::min(end, bins());
    if (first >= end) return {};
    Amount amount = before_[end];
    amount -= before_[first];
    return amount;
}

Instant Throughput::begin_of(std::size_t bin) const {
    if (bin >= bins()) return range_.to;
    return range_.from + Duration{static_cast<std::int64_t>(bin) * std::to_underlying(width_)};
}

std::vector<Throughput::Bar> Throughput::bars(const Range& part, std::size_t fold) const {
    std::vector<Bar> found;
    const Range shown{std::max(part.from, range_.from), std::min(part.to, range_.to)};
    if (shown.empty() || fold == 0) return found;
    const auto width = static_cast<std::uint64_t>(width_);
    const std::size_t first = static_cast<std::uint64_t>(shown.from - range_.from) / width / fold * fold;
    const std::size_t end =
        std::min<std::size_t>(bins(), (static_cast<std::uint64_t>(shown.to - range_.from) - 1) / width + 1);
    for (std::size_t bin = first; bin < end; bin += fold) {
        const Instant from = begin_of(bin);
        found.push_back({from, begin_of(bin + fold) - from, sum(bin, bin + fold)});
    }
    return found;
}

std::size_t Throughput::fold_for(Duration part, std::size_t columns) const {
    Duration width = width_;
    while (bins_of(part, std::to_underlying(width)) > std::max<std::size_t>(columns, 1) &&
           std::to_underlying(width) < kWidest)
        width = wider(width);
    return static_cast<std::size_t>(std::to_underlying(width) / std::to_underlying(width_));
}

std::optional<Throughput> throughput(const CaptureIndex& index, const Scope& scope, const Range& range,
                                     const Stop& stop) {
    if (range.empty()) return Throughput{};
    const std::int64_t width = finest_width(range.length());
    std::vector<Amount> before(bins_of(range.length(), width) + 1);
    const auto add = [&](const PacketRow& row, std::uint64_t position) {
        if (row.has(Mark::timeless) || !range.contains(row.time()) || !scope.has(row, position)) return;
        const std::int64_t bin = std::to_underlying(row.time() - range.from) / width;
        before[static_cast<std::size_t>(bin) + 1] += amount_of(row);
    };
    if (!scan(index.packets, 0, index.packets.size(), stop, add)) return std::nullopt;
    for (std::size_t bin = 1; bin < before.size(); ++bin) before[bin] += before[bin - 1];
    return Throughput(range, Duration{width}, std::move(before));
}

}  // namespace qps::transport::series
