// Pyramid: points over time with the extremes of ever larger groups of them, so that a picture of any part of them
// costs as much as it has columns, whatever the number of points.
//
// Points stand in the order of their times; where the clock ran backwards they are sorted, those of one time in the
// order they came. A level keeps the extremes of 8 of the level below: with Point that is a twelfth of the points'
// memory.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace qps::transport::series {

// Where column `column` of `columns` begins in a range: exact, and the last one's end is the range's.
[[nodiscard]] constexpr dissect::Instant column_begin(const Range& range, std::size_t columns, std::size_t column) {
    const auto length = static_cast<std::uint64_t>(range.length());
    const std::uint64_t offset = length / columns * column + length % columns * column / columns;
    return range.from + dissect::Duration{static_cast<std::int64_t>(offset)};
}

// P has `time` and `y`, an integer or a floating point number.
template <class P> class Pyramid {
public:
    using Y = decltype(P::y);
    static constexpr std::size_t kFold = 8;
    static constexpr std::size_t kMaxColumns = std::size_t{1} << 16;  // no screen is wider

    Pyramid() = default;
    explicit Pyramid(std::vector<P> points) : points_(std::move(points)) {
        if (!std::ranges::is_sorted(points_, {}, &P::time)) std::ranges::stable_sort(points_, {}, &P::time);
        build();
    }

    [[nodiscard]] const std::vector<P>& points() const { return points_; }
    [[nodiscard]] bool empty() const { return points_.empty(); }
    [[nodiscard]] std::size_t memory() const {
        std::size_t bytes = points_.capacity() * sizeof(P);
        for (const auto& level : levels_) bytes += level.capacity() * sizeof(Extremes);
        return bytes;
    }

    struct Extremes {
        Y least{};
        Y most{};
        void add(const Extremes& more) {
            least = std::min(least, more.least);
            most = std::max(most, more.most);
        }
    };
    // What one column of pixels shows. Columns without points are left out.
    struct Column {
        std::size_t column = 0;
        std::size_t first = 0;  // its points are first .. first + count - 1
        std::size_t count = 0;
        Extremes extremes;
    };
    [[nodiscard]] std::vector<Column> columns(const Range& range, std::size_t number) const {
        std::vector<Column> found;
        number = std::min(number, kMaxColumns);
        if (range.empty() || number == 0) return found;
        std::size_t first = lower_bound(range.from, 0);
        for (std::size_t column = 0; column < number && first < points_.size();) {
            const std::size_t end = lower_bound(column_begin(range, number, column + 1), first);
            if (end != first) found.push_back({column, first, end - first, extremes(first, end)});
            first = end;
            ++column;
        }
        return found;
    }

    // Of points first .. end - 1, of which there is one at least.
    [[nodiscard]] Extremes extremes(std::size_t first, std::size_t end) const {
        Extremes all = of(points_[first]);
        std::size_t level = 0;  // `first` and `end` count its groups; level 0 are the points
        while (first < end) {
            for (; first < end && (first % kFold != 0 || end - first < kFold); ++first) all.add(at(level, first));
            for (; end > first && end % kFold != 0; --end) all.add(at(level, end - 1));
            first /= kFold;
            end /= kFold;
            ++level;
        }
        return all;
    }

    // The points to draw as marks: of each column all while they are `most` or fewer, else its extremes and some
    // between, `most` in all. Positions in points(), ascending. `most` is 3 at least.
    [[nodiscard]] std::vector<std::size_t> marks(const Range& range, std::size_t number, std::size_t most) const {
        std::vector<std::size_t> chosen;
        for (const Column& column : columns(range, number)) {
            if (column.count <= most) {
                for (std::size_t i = 0; i < column.count; ++i) chosen.push_back(column.first + i);
                continue;
            }
            const std::size_t before = chosen.size();
            const std::size_t end = column.first + column.count;
            chosen.push_back(
                find(column.first, end, column.extremes.least, column.extremes.least).value_or(column.first));
            chosen.push_back(
                find(column.first, end, column.extremes.most, column.extremes.most).value_or(column.first));
            for (std::size_t i = 0; i + 2 < most; ++i) chosen.push_back(column.first + i * column.count / (most - 2));
            const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(before);
            std::sort(begin, chosen.end());
            chosen.erase(std::unique(begin, chosen.end()), chosen.end());
        }
        return chosen;
    }

    // The first of points first .. end - 1 whose y lies from `least` to `most`. Groups that cannot have one are passed
    // over.
    [[nodiscard]] std::optional<std::size_t> find(std::size_t first, std::size_t end, Y least, Y most) const {
        for (std::size_t position = first; position < end;) {
            std::size_t level = 0;
            std::size_t width = 1;
            const auto misses = [&](std::size_t of_level, std::size_t group) {
                const Extremes e = at(of_level, group);
                return e.most < least || most < e.least;
            };
            if (!misses(0, position)) return position;
            while (level < levels_.size() && position % (width * kFold) == 0 && position + width * kFold <= end &&
                   misses(level + 1, position / (width * kFold))) {
                ++level;
                width *= kFold;
            }
            position += width;
        }
        return std::nullopt;
    }

    // Of the points of a time range whose y lies from `least` to `most`, the one nearest to a time; looks at kMostNear
    // at most. What a pointer hovers over.
    [[nodiscard]] std::optional<std::size_t> nearest(const Range& range, dissect::Instant time, Y least, Y most) const {
        constexpr std::size_t kMostNear = 4096;
        const std::size_t begin = lower_bound(range.from, 0);
        const std::size_t end = lower_bound(range.to, begin);
        std::optional<std::size_t> best;
        std::size_t looked = 0;
        for (auto at = find(begin, end, least, most); at && looked < kMostNear;
             at = find(*at + 1, end, least, most), ++looked) {
            const auto distance = [&](std::size_t i) { return magnitude(time - points_[i].time); };
            if (!best || distance(*at) < distance(*best)) best = at;
            if (points_[*at].time >= time) break;
        }
        return best;
    }

    // The first point at or after a time, searched from a position on.
    [[nodiscard]] std::size_t lower_bound(dissect::Instant time, std::size_t from) const {
        const auto begin = points_.begin() + static_cast<std::ptrdiff_t>(from);
        return static_cast<std::size_t>(std::ranges::lower_bound(begin, points_.end(), time, {}, &P::time) -
                                        points_.begin());
    }

private:
    [[nodiscard]] static Extremes of(const P& point) { return {point.y, point.y}; }
    [[nodiscard]] Extremes at(std::size_t level, std::size_t group) const {
        return level == 0 ? of(points_[group]) : levels_[level - 1][group];
    }

    // Only whole groups: what is left over at the end is looked at below.
    void build() {
        for (std::size_t below = points_.size(), level = 0; below >= kFold; below /= kFold, ++level) {
            std::vector<Extremes> groups(below / kFold);
            for (std::size_t group = 0; group < groups.size(); ++group) {
                Extremes all = at(level, group * kFold);
                for (std::size_t i = 1; i < kFold; ++i) all.add(at(level, group * kFold + i));
                groups[group] = all;
            }
            levels_.push_back(std::move(groups));
        }
    }

    std::vector<P> points_;
    std::vector<std::vector<Extremes>> levels_;
};

}  // namespace qps::transport::series
