// LadderLayout: where the lines of a ladder lie, to scale.
//
// Time runs down. Lines keep so much distance that their labels do not overlap, so that where many packets come at once
// the picture is longer than the scale says; it is never shorter but at a break, which stands for a silence and names
// its length.
#pragma once

#include <transport-replay/series/ladder.hpp>

namespace qps::transport::series {

// Lengths in whatever the picture is measured in.
struct LadderMeasure {
    double scale = 0.01;       // length of a nanosecond
    double line = 16;          // least distance of the beginnings of two lines
    double longest_gap = 120;  // a silence that would be longer is broken
    double broken_gap = 40;    // the length of one that is
};

struct LadderBreak {
    double top = 0;
    double bottom = 0;
    dissect::Duration length{};
    std::size_t marks =
        0;  // packets that passed meanwhile: then it is no silence, but a time that is not drawn to scale
};

class LadderLayout {
public:
    LadderLayout() = default;
    LadderLayout(const Ladder& ladder, const LadderMeasure& measure);

    struct Extent {
        double top = 0;
        double bottom = 0;
    };
    [[nodiscard]] const std::vector<Extent>& lines() const {
        return lines_;
    }  // as in the ladder: where they begin and end
    [[nodiscard]] const std::vector<double>& marks() const { return marks_; }
    [[nodiscard]] const std::vector<Extent>& waits() const { return waits_; }
    [[nodiscard]] const std::vector<LadderBreak>& breaks() const { return breaks_; }
    [[nodiscard]] double height() const { return knots_.empty() ? 0 : knots_.back().y; }
    // Where an instant lies; before the first and after the last at these.
    [[nodiscard]] double y_of(dissect::Instant time) const;
    // And what instant lies there.
    [[nodiscard]] dissect::Instant time_at(double y) const;

private:
    struct Knot {
        dissect::Instant time{};
        double y = 0;
    };
    void add(dissect::Instant time, double least, const LadderMeasure& measure);
    void mark(const Ladder& ladder);

    std::vector<Knot> knots_;  // both rise; between two the time runs evenly
    std::vector<Extent> lines_;
    std::vector<double> marks_;
    std::vector<Extent> waits_;
    std::vector<LadderBreak> breaks_;
};

}  // namespace qps::transport::series
