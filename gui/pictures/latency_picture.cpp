#include <gui/pictures/latency_picture.hpp>

#include <QCoreApplication>
#include <array>

namespace qps::gui {

using transport::series::LatencyPoint;

namespace {

QString tr(const char* text) { return QCoreApplication::translate("LatencyPicture", text); }

// By MessageKind.
// Relatives share a colour and differ in their shape.
constexpr std::array kKinds{Ink::Request,        Ink::Response, Ink::Response,      Ink::Acknowledgment,
                            Ink::Retransmission, Ink::Other,    Ink::Retransmission};
constexpr std::array kShapes{MarkShape::Dot,  MarkShape::Diamond, MarkShape::Triangle, MarkShape::Cross,
                             MarkShape::Ring, MarkShape::Stroke,  MarkShape::Square};
static_assert(kKinds.size() == transport::kMessageKindNames.size() && kShapes.size() == kKinds.size());

QString spoken(std::string_view name) {
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))
        .replace(QLatin1Char('_'), QLatin1Char(' '));
}

std::vector<SideBar> barsOf(const transport::series::Distributed& distribution, std::uint64_t times) {
    std::vector<SideBar> bars;
    for (std::size_t bin = 0; bin < distribution.histogram.size(); ++bin)
        if (distribution.histogram[bin] != 0)
            bars.push_back({static_cast<double>(transport::series::latency_bin_begin(bin)),
                            static_cast<double>(transport::series::latency_bin_begin(bin + 1)),
                            distribution.histogram[bin] * times});
    return bars;
}

double value(dissect::Duration duration) { return static_cast<double>(std::to_underlying(duration)); }

constexpr std::size_t kMostExact = std::size_t{1}
                                   << 18;  // latencies sorted between two paintings; of more a sample stands for all

// Latencies of a part of the time, of each kind evenly where there are too many.
struct Seen {
    std::vector<std::int64_t> values;
    std::uint64_t all = 0;
};
Seen seenIn(const Panel& panel, const transport::series::Range& range) {
    Seen seen;
    struct Part {
        const Points* points;
        std::size_t first, end;
    };
    std::vector<Part> parts;
    for (const Layer& layer : panel.layers) {
        if (layer.faint) continue;  // those that these are compared with
        const std::size_t first = layer.points->lower_bound(range.from, 0);
        parts.push_back({layer.points.get(), first, layer.points->lower_bound(range.to, first)});
        seen.all += parts.back().end - first;
    }
    const std::size_t step = seen.all / kMostExact + 1;
    for (const auto& [points, first, end] : parts)
        for (std::size_t at = first; at < end; at += step) seen.values.push_back(points->points()[at].y);
    return seen;
}

// Percentiles and histogram of the time range that is chosen, else of what is in view.
void tellStatistics(Panel& panel, const Zoom& zoom) {
    const Seen seen = seenIn(panel, zoom.chosen.value_or(zoom.view));
    const bool sampled = seen.values.size() < seen.all;
    panel.guides.clear();
    panel.side.clear();
    panel.note = zoom.chosen ? tr(", percentiles of %L1 messages in the time range").arg(seen.all)
                             : tr(", percentiles of %L1 messages in view").arg(seen.all);
    if (seen.values.empty()) return;
    const auto distribution = transport::series::distribution(seen.values);
    const auto guide = [&](const QString& name, dissect::Duration at) {
        panel.guides.push_back({sampled ? QLatin1Char('~') + name : name, value(at)});
    };
    guide(tr("median"), distribution.median);
    guide(QStringLiteral("90 %"), distribution.p90);
    guide(QStringLiteral("99 %"), distribution.p99);
    guide(QStringLiteral("99.9 %"), distribution.p999);
    panel.side = barsOf(distribution, seen.all / seen.values.size());
}

}  // namespace

PlotData latencyPlot(const std::vector<LatencyPoint>& points) {
    PlotData data;
    Panel panel{.title = tr("Message latency"), .quantity = Quantity::Duration, .logarithmic = true};
    std::array<std::vector<LatencyPoint>, kKinds.size()> byKind;
    for (const LatencyPoint& point : points) byKind[static_cast<std::size_t>(point.kind)].push_back(point);
    for (std::size_t i = 0; i < byKind.size(); ++i)
        if (!byKind[i].empty())
            panel.layers.push_back({.name = spoken(transport::kMessageKindNames[i]),
                                    .ink = kKinds[i],
                                    .shape = Shape::Marks,
                                    .mark = kShapes[i],
                                    .points = pointsOf(byKind[i])});
    data.panels.push_back(std::move(panel));
    if (!points.empty())
        data.refine = [](PlotData& plot, const Zoom& zoom) { tellStatistics(plot.panels.front(), zoom); };
    return data;
}

LatencyPicture::LatencyPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Latency"), QStringLiteral("latency"), session, selection, parent) {
    addScopeTools({tr("Selected connection"), tr("All messages"), tr("Displayed messages")},
                  tr("Messages to show; displayed: those whose first packet matches the display filter"));
    addCompareTool();
    addPlotTools();
}

PlotPicture::Maker LatencyPicture::maker(QString& notice) {
    const auto chosen = scope(notice);
    if (!chosen) return {};
    const QString nothing =
        tr("No latency: none of these messages was captured from first packet to response. Datagrams and unreliable "
           "connections have no responses; show all messages or select another connection.");
    return [scope = *chosen, nothing, whose = connectionText(of() == Of::Connection)](
               const Inputs& inputs, const transport::series::Stop& stop) mutable -> std::optional<Made> {
        scope.only(inputs.hits.get());
        const auto points =
            transport::series::latencies(*inputs.index, scope, std::nullopt, transport::series::kAllMessageKinds, stop);
        if (!points) return std::nullopt;
        Made made{latencyPlot(*points), nothing, true};
        made.data.panels.front().subject = whose;
        return made;
    };
}

}  // namespace qps::gui
