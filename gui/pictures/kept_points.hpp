// KeptPoints: the points of a plot that stay behind those of the next one, so that two connections, or two captures,
// lie over each other.
#pragma once

#include <gui/pictures/plot_data.hpp>

#include <optional>

namespace qps::gui {

struct KeptPoints {
    QString name;  // what they were of
    dissect::Instant origin{};
    std::vector<transport::series::Point> points;
    // Their packets are of a capture that is no longer open.
    void forgetPackets();
};

// Those of the marks of the first panel; nothing where it has none. `name`: where the panel has no subject.
[[nodiscard]] std::optional<KeptPoints> keptPoints(const PlotData& data, const QString& name);
// As a layer behind the others of the first panel, at the same time since the start.
void putBehind(PlotData& data, const KeptPoints& kept);

}  // namespace qps::gui
