// Scroll geometry: which rows of a list are in sight, and where its scroll bar stands. Rows are counted in 64 bits, a
// scroll bar in 31: a list of more rows than the bar has steps is mapped proportionally when the bar is dragged; wheel,
// keys and pages move by rows and are exact whatever the bar can tell.
#pragma once

#include <algorithm>
#include <cstdint>

namespace qps::gui {

struct ScrollGeometry {
    // Half of what an int holds: Qt adds a page to it.
    static constexpr int kBarSteps = 1 << 30;

    std::uint64_t rows = 0;
    std::uint64_t page = 1;  // rows that fit whole; at least 1

    // The topmost row with which the last row is still whole at the lower end.
    [[nodiscard]] constexpr std::uint64_t lastTop() const { return rows <= visible() ? 0 : rows - visible(); }
    [[nodiscard]] constexpr std::uint64_t clamped(std::uint64_t top) const { return std::min(top, lastTop()); }
    // Some rows down or, if negative, up.
    [[nodiscard]] constexpr std::uint64_t moved(std::uint64_t top, std::int64_t by) const {
        if (by >= 0)
            return clamped(static_cast<std::uint64_t>(by) > UINT64_MAX - top ? UINT64_MAX
                                                                             : top + static_cast<std::uint64_t>(by));
        const std::uint64_t up = ~static_cast<std::uint64_t>(by) + 1;
        return clamped(up > top ? 0 : top - up);
    }
    // The nearest top with which a row is whole in sight.
    [[nodiscard]] constexpr std::uint64_t showing(std::uint64_t row, std::uint64_t top) const {
        if (row < top) return clamped(row);
        if (row - top >= visible()) return clamped(row - visible() + 1);
        return clamped(top);
    }
    // With which it is in the upper third: what came before it is seen, and more of what follows.
    [[nodiscard]] constexpr std::uint64_t jumpingTo(std::uint64_t row) const {
        return clamped(row < visible() / 3 ? 0 : row - visible() / 3);
    }

    // The range of the bar is 0 to barMost().
    [[nodiscard]] constexpr int barMost() const {
        return static_cast<int>(std::min(lastTop(), static_cast<std::uint64_t>(kBarSteps)));
    }
    [[nodiscard]] constexpr int barValue(std::uint64_t top) const {
        return static_cast<int>(scaled(clamped(top), lastTop(), static_cast<std::uint64_t>(barMost())));
    }
    [[nodiscard]] constexpr std::uint64_t topAt(int value) const {
        const int most = barMost();
        return scaled(static_cast<std::uint64_t>(std::clamp(value, 0, most)), static_cast<std::uint64_t>(most),
                      lastTop());
    }
    [[nodiscard]] constexpr int barPage() const {
        return static_cast<int>(std::max<std::uint64_t>(
            1, scaled(std::min(visible(), lastTop()), lastTop(), static_cast<std::uint64_t>(barMost()))));
    }

private:
    [[nodiscard]] constexpr std::uint64_t visible() const { return std::max<std::uint64_t>(page, 1); }
    // value / from * to, rounded, without overflow: `from` and `to` below 2^63.
    [[nodiscard]] static constexpr std::uint64_t scaled(std::uint64_t value, std::uint64_t from, std::uint64_t to) {
        if (from == 0) return 0;
        if (from == to) return value;
        const std::uint64_t whole = to / from;
        const std::uint64_t rest = to % from;
        // The rest by long double: 64 bits of mantissa, or 53 where a platform has no more; the ends are exact in both.
        const auto part =
            static_cast<long double>(value) * static_cast<long double>(rest) / static_cast<long double>(from);
        return std::min(to, value * whole + static_cast<std::uint64_t>(part + 0.5L));
    }
};

}  // namespace qps::gui
