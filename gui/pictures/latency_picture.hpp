// LatencyPicture: how long messages took, each a point over the time it began, by kind, on a logarithmic axis; at the
// side how many took how long, and lines for the percentiles.
#pragma once

#include <gui/pictures/plot_picture.hpp>
#include <transport-replay/series/latency.hpp>

namespace qps::gui {

[[nodiscard]] PlotData latencyPlot(const std::vector<transport::series::LatencyPoint>& points);

class LatencyPicture : public PlotPicture {
    Q_OBJECT

public:
    LatencyPicture(Session& session, Selection& selection, QWidget* parent = nullptr);

protected:
    [[nodiscard]] Maker maker(QString& notice) override;
};

}  // namespace qps::gui
