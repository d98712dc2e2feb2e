// PlotData: what a plot shows: panels one above the other over one axis of time, each with its layers. Values only;
// points are shared with their source, so that copies are cheap.
#pragma once

#include <gui/base/look.hpp>
#include <gui/pictures/axis.hpp>
#include <gui/pictures/bands.hpp>
#include <transport-replay/series/pyramid.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace qps::gui {

using Points = transport::series::Pyramid<transport::series::Point>;

enum class Shape {
    Line,   // from point to point
    Steps,  // a value holds until the next
    Area,   // steps, shaded down to 0
    Marks,  // a mark a point
    Bands,  // stretches of time, over the whole height
    Spans,  // stretches of time, each in its row of the panel
};
enum class MarkShape { Dot, Stroke, Cross, Diamond, Triangle, Ring, Square };
inline constexpr std::size_t kMarkSizes = 4;

struct Layer {
    QString name{};
    QString tip{};  // what it is, and the clause; of its sign in the legend
    Ink ink = Ink::Other;
    Shape shape = Shape::Marks;
    MarkShape mark = MarkShape::Dot;
    Qt::BrushStyle pattern = Qt::SolidPattern;  // of bands
    std::shared_ptr<const Points> points{};     // all but bands and spans
    std::shared_ptr<const Bands> bands{};
    std::shared_ptr<const std::vector<std::uint8_t>> sizes{};  // of marks, by point: below kMarkSizes; null: all alike
    bool faint = false;                                        // stands behind the others
    Qt::PenStyle line = Qt::SolidLine;                         // of lines and staircases: told apart without colours
    bool sharesLane = false;  // where its panel has lanes: it stands in that of the layer before it
    double strength = 1;      // of the colour of spans, above 0: less is nearer to the ground
    std::function<QString(const Band&)> describe{};  // of many bands: their text, when somebody asks
    bool stacked = false;  // its values hold those of the next layer, if that is stacked, with points at
                           // the same times

    [[nodiscard]] QString textOf(const Band& band) const { return describe ? describe(band) : band.text; }
    [[nodiscard]] bool stretches() const { return shape == Shape::Bands || shape == Shape::Spans; }
    [[nodiscard]] bool empty() const { return stretches() ? !bands || bands->empty() : !points || points->empty(); }
};

// A horizontal line with its name: a percentile, a rate of a link.
struct Guide {
    QString name{};
    double value = 0;
};

// How many values lie between two: a bar at the side of the axis.
struct SideBar {
    double from = 0;
    double to = 0;
    std::uint64_t count = 0;
};

struct Panel {
    QString title{};       // of the axis
    QString note{};        // behind it: what its values are of, "bins of 5 us"
    QString subject{};     // behind that: whose they are
    std::int64_t bin = 0;  // ns that each value of a staircase is the sum or the average of; 0: none
    Quantity quantity = Quantity::Count;
    bool logarithmic = false;
    bool fromZero = false;
    bool lanes = false;           // each layer has a row of its own, named at the axis; values do not count
    std::vector<QString> rows{};  // else, of spans: their names, from top to bottom; values do not count
    int weight = 1;               // of the height
    std::vector<Layer> layers{};
    std::vector<Guide> guides{};  // from low to high
    std::vector<SideBar> side{};  // drawn beside the panel, along its axis of values

    [[nodiscard]] bool named() const { return lanes || !rows.empty(); }  // what the axis has, in place of values
};

// What depends on it is put in anew when it changes.
struct Zoom {
    transport::series::Range view;
    std::size_t columns = 1;                           // pixels that the view is wide
    std::optional<transport::series::Range> chosen{};  // the shared time range
};

struct PlotData {
    dissect::Instant origin{};        // times count from here
    QString timeTitle{};              // of the axis; empty: since the start of the capture
    TimeSpan whole{0, 1};             // of all that can be seen
    TimeSpan home{0, 1};              // what is seen at first; within the whole
    std::optional<TimeSpan> entry{};  // seen at first in its place; home is a key away
    std::vector<Panel> panels;
    // Puts in what depends on the zoom (sums of a bin, percentiles). Asked before each painting of another view.
    std::function<void(PlotData&, const Zoom&)> refine;

    [[nodiscard]] bool empty() const {
        for (const Panel& panel : panels)
            for (const Layer& layer : panel.layers)
                if (!layer.empty()) return false;
        return !refine;
    }
    [[nodiscard]] std::int64_t timeOf(dissect::Instant at) const { return std::to_underlying(at - origin); }
    [[nodiscard]] dissect::Instant instant(std::int64_t time) const { return origin + dissect::Duration{time}; }
    // Both ends of a span belong to it, the end of a range does not.
    [[nodiscard]] transport::series::Range range(TimeSpan span) const {
        return {instant(span.from), instant(span.to) + dissect::Duration{1}};
    }
};

// The time that layers have something in, with a little room at both ends; the whole where they have nothing.
[[nodiscard]] TimeSpan extentOf(const PlotData& data);

// A value by itself, of a stacked layer without what it stands on.
[[nodiscard]] std::int64_t ownValue(const Panel& panel, std::size_t layer, std::size_t position);

// Where a layer stands among all.
struct LayerId {
    std::size_t panel = 0;
    std::size_t layer = 0;
    [[nodiscard]] auto operator<=>(const LayerId&) const = default;
};

}  // namespace qps::gui
