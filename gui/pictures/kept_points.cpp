#include <gui/pictures/kept_points.hpp>

#include <QCoreApplication>

namespace qps::gui {

void KeptPoints::forgetPackets() {
    for (transport::series::Point& point : points) point.frame = {};
}

std::optional<KeptPoints> keptPoints(const PlotData& data, const QString& name) {
    if (data.panels.empty()) return std::nullopt;
    const Panel& panel = data.panels.front();
    QString subject = panel.subject;
    if (subject.startsWith(QLatin1String(": "))) subject.remove(0, 2);
    KeptPoints kept{subject.isEmpty() ? name : subject, data.origin, {}};
    for (const Layer& layer : panel.layers)
        if (layer.shape == Shape::Marks && !layer.faint && layer.points)
            kept.points.insert(kept.points.end(), layer.points->points().begin(), layer.points->points().end());
    return kept.points.empty() ? std::nullopt : std::optional(std::move(kept));
}

void putBehind(PlotData& data, const KeptPoints& kept) {
    if (data.panels.empty()) return;
    std::vector<transport::series::Point> points = kept.points;
    const dissect::Duration later = data.origin - kept.origin;
    for (transport::series::Point& point : points) point.time = point.time + later;
    data.panels.front().layers.push_back(
        {.name = QCoreApplication::translate("KeptPoints", "compared with %1").arg(kept.name),
         .tip = QCoreApplication::translate("KeptPoints", "Shown before, at the same time since the start"),
         .ink = Ink::Other,
         .mark = MarkShape::Ring,
         .points = std::make_shared<const Points>(std::move(points)),
         .faint = true});
}

}  // namespace qps::gui
