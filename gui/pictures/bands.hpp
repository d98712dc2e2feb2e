// Bands: stretches of time that a picture shades (a pause, a wait), found by where they lie and merged where they share
// a pixel.
//
// No widgets. What a query costs follows from the number of columns, not of bands. What an attacker could feed: any
// number of them, overlapping, ends before beginnings (they are put in order).
#pragma once

#include <transport-replay/series/scope.hpp>

#include <QString>
#include <optional>
#include <vector>

namespace qps::gui {

struct Band {
    dissect::Instant from{};
    dissect::Instant to{};
    dissect::FrameIndex frame{};  // what began it; 0: no packet did
    QString text;                 // what it was, for the pointer on it
    std::uint32_t row = 0;        // of spans: of Panel::rows
    std::int64_t value = 0;       // for Layer::describe, where it says what it was in place of the text
};

class Bands {
public:
    Bands() = default;
    explicit Bands(std::vector<Band> bands);

    [[nodiscard]] const std::vector<Band>& all() const { return bands_; }
    [[nodiscard]] bool empty() const { return bands_.empty(); }
    // Columns first .. last of `columns` over a range that are shaded, in order, apart from one another.
    struct Shaded {
        std::size_t first = 0;
        std::size_t last = 0;
    };
    [[nodiscard]] std::vector<Shaded> shaded(const transport::series::Range& range, std::size_t columns) const;
    // The one that touches the range and began last; nothing where none does.
    [[nodiscard]] const Band* at(const transport::series::Range& range) const;

private:
    std::vector<Band> bands_;              // by their beginnings
    std::vector<dissect::Instant> until_;  // the latest end of the bands up to each
};

}  // namespace qps::gui
