#include <gui/pictures/bands.hpp>

#include <algorithm>
#include <utility>

namespace qps::gui {

using dissect::Instant;
using transport::series::Range;

namespace {

// Which column of a range an instant lies in; the instant is inside.
std::size_t columnOf(const Range& range, std::size_t columns, Instant at) {
    const double share = static_cast<double>(std::to_underlying(at - range.from)) /
                         static_cast<double>(std::to_underlying(range.length()));
    return std::min(columns - 1, static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(columns)));
}

Instant columnEnd(const Range& range, std::size_t columns, std::size_t column) {
    const double length = static_cast<double>(std::to_underlying(range.length()));
    return range.from + dissect::Duration{static_cast<std::int64_t>(length * static_cast<double>(column + 1) /
                                                                    static_cast<double>(columns))};
}

}  // namespace

Bands::Bands(std::vector<Band> bands) : bands_(std::move(bands)) {
    for (Band& band : bands_)
        if (band.to < band.from) std::swap(band.from, band.to);
    std::ranges::stable_sort(bands_, {}, &Band::from);
    until_.reserve(bands_.size());
    for (const Band& band : bands_) until_.push_back(until_.empty() ? band.to : std::max(until_.back(), band.to));
}

std::vector<Bands::Shaded> Bands::shaded(const Range& range, std::size_t columns) const {
    std::vector<Shaded> found;
    if (range.empty() || columns == 0) return found;
    std::size_t next = static_cast<std::size_t>(std::ranges::lower_bound(until_, range.from) - until_.begin());
    while (next < bands_.size() && bands_[next].from < range.to) {
        const Band& band = bands_[next++];
        if (band.to < range.from) continue;
        const std::size_t first = columnOf(range, columns, std::max(band.from, range.from));
        const std::size_t last = columnOf(range, columns, std::min(band.to, range.to));
        if (!found.empty() && first <= found.back().last + 1) found.back().last = std::max(found.back().last, last);
        else found.push_back({first, last});
        // Those that begin and end in columns already shaded add nothing.
        const Instant end = columnEnd(range, columns, found.back().last);
        const auto later =
            std::ranges::upper_bound(until_.begin() + static_cast<std::ptrdiff_t>(next), until_.end(), end);
        next = static_cast<std::size_t>(later - until_.begin());
    }
    return found;
}

const Band* Bands::at(const Range& range) const {
    // The last that begins before the range ends; earlier ones may be longer, but few overlap.
    constexpr std::size_t kMostLooked = 1000;
    std::size_t next =
        static_cast<std::size_t>(std::ranges::lower_bound(bands_, range.to, {}, &Band::from) - bands_.begin());
    for (std::size_t looked = 0; next > 0 && looked < kMostLooked; ++looked) {
        --next;
        if (until_[next] < range.from) break;
        if (bands_[next].to >= range.from) return &bands_[next];
    }
    return nullptr;
}

}  // namespace qps::gui
