#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/pause_layers.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <functional>

namespace qps::gui {

using transport::series::Amount;
using transport::series::CongestionSeries;
using transport::series::HitWay;
using transport::series::PauseRow;
using transport::series::PauseRows;
using transport::series::Range;
using transport::series::Throughput;

namespace {

constexpr std::array kFlowInks{Ink::Request, Ink::Retransmission, Ink::Response, Ink::Acknowledgment};
constexpr std::array kFlowLines{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
static_assert(kFlowInks.size() == kMostHitFlows && kFlowLines.size() == kMostHitFlows);

QString tr(const char* text) { return QCoreApplication::translate("CongestionPicture", text); }

// A way that only answers is marked too, and says nothing of the flow that is held up: of each connection that way
// counts whose packets carry what is sent.
bool carries(const HitWay& way, const transport::Timeline& timeline) {
    constexpr std::uint64_t kAnswersShare = 20;  // of the bytes of a connection: acknowledgments are about that
    const transport::Connection* connection = timeline.find(way.connection);
    return connection == nullptr || connection->way(way.from).bytes >= connection->all_bytes() / kAnswersShare;
}

// Those that marks and notifications hit; what pauses stop stands with these.
std::vector<HitWay> hitWays(const CongestionSeries& series, const transport::Timeline& timeline) {
    std::vector<HitWay> ways;
    for (const HitWay& way : series.hits)
        if (ways.size() < kMostHitFlows && carries(way, timeline)) ways.push_back(way);
    return ways;
}

QString nameOf(const HitWay& way, const transport::Timeline& timeline) {
    const transport::Connection* connection = timeline.find(way.connection);
    QString name = connection == nullptr
                       ? tr("connection %1").arg(std::to_underlying(way.connection))
                       : tr("%1 to %2")
                             .arg(QString::fromStdString(transport::text(connection->end(way.from))),
                                  QString::fromStdString(transport::text(connection->end(transport::other(way.from)))));
    QStringList why;
    if (way.marked != 0) why << tr("%L1 CE").arg(way.marked);
    if (way.cnps != 0) why << tr("%L1 CNPs").arg(way.cnps);
    return why.isEmpty() ? name : name + QStringLiteral(" (") + why.join(QStringLiteral(", ")) + QLatin1Char(')');
}

std::uint64_t bytesOf(const Amount& amount) { return amount.bytes; }

// What can be stopped beneath when it was to stop.
Panel panelOfPaused(const PauseRow& row, const PausedFlows& paused, bool tellInterface) {
    Panel panel{
        .title =
            paused.sure
                ? tr("Stopped by %1: what goes to it").arg(pauseName(row, tellInterface))
                : tr("Perhaps stopped by %1: direction or priority is not told").arg(pauseName(row, tellInterface)),
        .quantity = Quantity::BitRate,
        .fromZero = true,
        .weight = 2};
    for (std::size_t i = 0; i < paused.flows.size() && i < kMostHitFlows; ++i)
        panel.layers.push_back(
            {.name = paused.flows[i].name, .ink = kFlowInks[i], .shape = Shape::Steps, .line = kFlowLines[i]});
    panel.layers.push_back({.name = tr("paused"), .ink = Ink::Pause, .shape = Shape::Bands, .bands = pauseBands(row)});
    if (paused.more != 0)
        panel.subject = tr("; not drawn: %1").arg(QString::fromStdString(transport::counted(paused.more, "flow")));
    return panel;
}

}  // namespace

PlotData congestionPlot(const CongestionSeries& series, const PauseRows& pauses, std::vector<HitFlow> flows,
                        Throughput all, std::vector<PausedFlows> paused) {
    PlotData data;
    if (series.marks.empty() && series.notifications.empty() && pauses.rows.empty()) return data;
    // Against all of the traffic a flow would be flat: where it is known which flows are hit, they stand alone.
    const bool alone = !flows.empty();
    Panel rates{.title = alone ? tr("Throughput of the flows hit most") : tr("Throughput of all packets"),
                .quantity = Quantity::BitRate,
                .fromZero = true,
                .weight = 3};
    if (!alone) rates.layers.push_back({.name = tr("all"), .ink = Ink::Request, .shape = Shape::Area, .faint = true});
    for (std::size_t i = 0; i < flows.size() && i < kMostHitFlows; ++i)
        rates.layers.push_back(
            {.name = flows[i].name, .ink = kFlowInks[i], .shape = Shape::Steps, .line = kFlowLines[i]});
    Panel events{.title = tr("Congestion"), .lanes = true, .weight = 2};
    events.layers.push_back(
        {.name = tr("CE marks"), .ink = Ink::Congestion, .mark = MarkShape::Stroke, .points = pointsOf(series.marks)});
    events.layers.push_back({.name = tr("CNPs"),
                             .ink = Ink::Notification,
                             .mark = MarkShape::Stroke,
                             .points = pointsOf(series.notifications)});
    addPauses(events, pauses);
    if (pauses.rows.size() > kMostPauseLanes || pauses.rows_left_out != 0)
        events.subject =
            tr("; senders of pause frames that are not drawn: %L1")
                .arg(pauses.rows.size() - std::min(pauses.rows.size(), kMostPauseLanes) + pauses.rows_left_out);
    data.panels = {std::move(rates), std::move(events)};

    std::vector<std::vector<Throughput>> sums(2);
    if (!alone) sums[0].push_back(std::move(all));
    for (HitFlow& flow : flows) sums[0].push_back(std::move(flow.throughput));
    for (PausedFlows& each : paused) {
        if (each.row >= pauses.rows.size()) continue;
        data.panels.push_back(panelOfPaused(pauses.rows[each.row], each, manyInterfaces(pauses)));
        std::vector<Throughput>& of = sums.emplace_back();
        for (HitFlow& flow : each.flows) of.push_back(std::move(flow.throughput));
    }
    data.refine = [shared = std::make_shared<const std::vector<std::vector<Throughput>>>(std::move(sums))](
                      PlotData& plot, const Zoom& zoom) {
        for (std::size_t panel = 0; panel < shared->size(); ++panel) {
            const std::vector<Throughput>& of = (*shared)[panel];
            if (of.empty()) continue;
            for (std::size_t i = 0; i < of.size(); ++i)
                plot.panels[panel].layers[i].points = binned(of[i], zoom.view, zoom.columns, bytesOf, true);
            tellBins(plot.panels[panel], of.front(), zoom);
        }
    };
    return data;
}

namespace {

// Rows whose pauses can have stopped something that the capture has, the longest paused first.
std::optional<std::vector<PausedFlows>> pausedFlows(const PauseRows& pauses, const transport::CaptureIndex& index,
                                                    const transport::Timeline& timeline, const Range& whole,
                                                    const transport::series::Stop& stop) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < pauses.rows.size(); ++i)
        if (!pauses.rows[i].ways.empty()) order.push_back(i);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return pauses.rows[i].summary.paused; });
    std::vector<PausedFlows> all;
    for (const std::size_t i : order) {
        if (all.size() == kMostPausePanels) break;
        const auto& ways = pauses.rows[i].ways;
        PausedFlows& one = all.emplace_back();
        one.row = i;
        one.sure = ways.front().hit == transport::series::PauseHit::yes;
        for (const transport::series::PausedWay& way : ways) {
            if (one.flows.size() == kMostHitFlows || (one.sure && way.hit != transport::series::PauseHit::yes)) {
                ++one.more;
                continue;
            }
            transport::series::Scope scope;
            scope.add(way.connection, way.from);
            auto throughput = transport::series::throughput(index, scope, whole, stop);
            if (!throughput) return std::nullopt;
            one.flows.push_back({nameOf(HitWay{way.connection, way.from, 0, 0, {}}, timeline), std::move(*throughput)});
        }
    }
    return all;
}

}  // namespace

CongestionPicture::CongestionPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(QObject::tr("Congestion"), QStringLiteral("congestion"), session, selection, parent) {
    addPlotTools();
}

PlotPicture::Maker CongestionPicture::maker(QString&) {
    return [](const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        const auto series = transport::series::congestion_series(*inputs.index, {}, inputs.whole, stop);
        if (!series) return std::nullopt;
        const auto pauses = transport::series::pause_rows(*inputs.index, *inputs.timeline, stop);
        if (!pauses) return std::nullopt;
        auto paused = pausedFlows(*pauses, *inputs.index, *inputs.timeline, inputs.whole, stop);
        if (!paused) return std::nullopt;
        std::vector<HitFlow> flows;
        for (const HitWay& way : hitWays(*series, *inputs.timeline)) {
            transport::series::Scope scope;
            scope.add(way.connection, way.from);
            auto throughput = transport::series::throughput(*inputs.index, scope, inputs.whole, stop);
            if (!throughput) return std::nullopt;
            flows.push_back({nameOf(way, *inputs.timeline), std::move(*throughput)});
        }
        auto all = transport::series::throughput(*inputs.index, {}, inputs.whole, stop);
        if (!all) return std::nullopt;
        return Made{congestionPlot(*series, *pauses, std::move(flows), std::move(*all), std::move(*paused)),
                    tr("No congestion in this capture: no CE marks, CNPs or pause frames.")};
    };
}

}  // namespace qps::gui
