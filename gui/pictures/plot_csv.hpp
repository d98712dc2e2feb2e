// The data of a plot as CSV (RFC 4180): what is seen of the visible layers, a row a point or band.
#pragma once

#include <gui/pictures/plot_layout.hpp>

#include <QIODevice>

namespace qps::gui {

// Times in seconds since the capture began, with nine digits; `packet` is empty where none belongs to a row. Stops
// where the device fails; the device says why.
void writeCsv(QIODevice& device, const PlotData& data, TimeSpan time, const Hidden& hidden);

}  // namespace qps::gui
