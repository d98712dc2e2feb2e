// What of a plot lies under a point of the screen, in geometry and in words. No widgets.
#pragma once

#include <gui/pictures/plot_layout.hpp>

#include <QPointF>
#include <optional>

namespace qps::gui {

struct Hit {
    LayerId id;
    dissect::Instant time{};
    std::optional<std::int64_t> value;          // nothing: a band, or a mark in a row
    dissect::FrameIndex frame{};                // 0: no packet
    QPointF at;                                 // on the screen
    QString text;                               // of a band or a span
    std::size_t position = 0;                   // among the points of the layer
    std::optional<dissect::Duration> length{};  // of a span
};

// The nearest point of a visible layer no farther away than `radius`; else the band there.
[[nodiscard]] std::optional<Hit> hitAt(const PlotData& data, const PlotLayout& layout, const Hidden& hidden, QPointF at,
                                       double radius);

// The next point of the same panel in time, after or before a place; of those at one time the first. Bands are passed
// over.
[[nodiscard]] std::optional<Hit> neighbour(const PlotData& data, const PlotLayout& layout, const Hidden& hidden,
                                           QPointF from, bool forward);

// What a bar at the side counts: "17: 8 us to 9 us"; nothing where there is none.
[[nodiscard]] std::optional<QString> sideAt(const PlotData& data, const PlotLayout& layout, QPointF at);

// "NAK: PSN 1234 at 1.5 ms, packet 17".
[[nodiscard]] QString describe(const PlotData& data, const Hit& hit);

}  // namespace qps::gui
