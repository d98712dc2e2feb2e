#include <gui/pictures/congestion_picture.hpp>
#include <gui/pictures/throughput_picture.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <map>

namespace qps::gui {

using transport::series::Amount;
using transport::series::CongestionSeries;
using transport::series::HitWay;
using transport::series::Range;
using transport::series::Throughput;

namespace {

constexpr std::array kFlowInks{Ink::Request, Ink::Retransmission, Ink::Response, Ink::Acknowledgment};
constexpr std::array kFlowLines{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
static_assert(kFlowInks.size() == kMostHitFlows && kFlowLines.size() == kMostHitFlows);

QString tr(const char* text) { return QCoreApplication::translate("CongestionPicture", text); }

QString nameOf(const transport::PausePeriod& pause) {
    const auto interface = std::to_underlying(pause.interface);
    return pause.priority == transport::kWholeLink ? tr("pause, port %1").arg(interface)
                                                   : tr("PFC %1, port %2").arg(pause.priority).arg(interface);
}

void addPauses(Panel& panel, const std::vector<transport::PausePeriod>& pauses) {
    std::map<std::pair<dissect::InterfaceId, std::uint8_t>, std::vector<Band>> lanes;
    for (const transport::PausePeriod& pause : pauses) {
        const QString length = exactTimeText(std::to_underlying(pause.end - pause.start));
        lanes[{pause.interface, pause.priority}].push_back({pause.start, pause.end, pause.frame, length});
    }
    std::size_t lane = 0;
    for (auto& [key, bands] : lanes) {
        if (++lane > kMostPauseLanes) break;
        transport::PausePeriod named;
        named.interface = key.first;
        named.priority = key.second;
        panel.layers.push_back({.name = nameOf(named),
                                .ink = Ink::Pause,
                                .shape = Shape::Bands,
                                .bands = std::make_shared<const Bands>(std::move(bands))});
    }
}

// A way that only answers is marked too, and says nothing of the flow that is held up: of each connection that way
// counts whose packets carry what is sent.
bool carries(const HitWay& way, const transport::Timeline& timeline) {
    constexpr std::uint64_t kAnswersShare = 20;  // of the bytes of a connection: acknowledgments are about that
    const transport::Connection* connection = timeline.find(way.connection);
    return connection == nullptr || connection->way(way.from).bytes >= connection->all_bytes() / kAnswersShare;
}

// Those that marks and notifications hit; where there are none, those that pauses held up, busiest first.
std::vector<HitWay> hitWays(const CongestionSeries& series, const std::vector<transport::PausePeriod>& pauses,
                            const transport::Timeline& timeline) {
    std::vector<HitWay> ways;
    for (const HitWay& way : series.hits)
        if (ways.size() < kMostHitFlows && carries(way, timeline)) ways.push_back(way);
    if (!ways.empty() || pauses.empty()) return ways;
    std::vector<std::pair<std::uint64_t, HitWay>> paused;
    for (const transport::Connection& connection : timeline.connections) {
        for (const transport::End end : {transport::End::a, transport::End::b}) {
            const transport::Way& way = connection.way(end);
            const auto hit = [&](const transport::PausePeriod& pause) {
                return transport::series::hit_by(pause, way) == transport::series::PauseHit::yes;
            };
            if (std::ranges::any_of(pauses, hit)) paused.emplace_back(way.bytes, HitWay{connection.uid, end, 0, 0, {}});
        }
    }
    std::ranges::stable_sort(paused, std::ranges::greater{}, &std::pair<std::uint64_t, HitWay>::first);
    for (const auto& [bytes, way] : paused)
        if (ways.size() < kMostHitFlows) ways.push_back(way);
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

}  // namespace

PlotData congestionPlot(const CongestionSeries& series, const std::vector<transport::PausePeriod>& pauses,
                        std::vector<HitFlow> flows, Throughput all) {
    PlotData data;
    if (series.marks.empty() && series.notifications.empty() && pauses.empty()) return data;
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
    data.panels = {std::move(rates), std::move(events)};

    std::vector<Throughput> sums;
    if (!alone) sums.push_back(std::move(all));
    for (HitFlow& flow : flows) sums.push_back(std::move(flow.throughput));
    data.refine = [shared = std::make_shared<const std::vector<Throughput>>(std::move(sums))](PlotData& plot,
                                                                                              const Zoom& zoom) {
        auto& layers = plot.panels[0].layers;
        for (std::size_t i = 0; i < layers.size(); ++i)
            layers[i].points = binned((*shared)[i], zoom.view, zoom.columns, bytesOf, true);
        tellBins(plot.panels[0], shared->front(), zoom);
    };
    return data;
}

CongestionPicture::CongestionPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(QObject::tr("Congestion"), QStringLiteral("congestion"), session, selection, parent) {
    addPlotTools();
}

PlotPicture::Maker CongestionPicture::maker(QString&) {
    return [](const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        const auto series = transport::series::congestion_series(*inputs.index, {}, inputs.whole, stop);
        if (!series) return std::nullopt;
        const auto pauses = transport::series::pauses_in(inputs.timeline->congestion, inputs.whole);
        std::vector<HitFlow> flows;
        for (const HitWay& way : hitWays(*series, pauses, *inputs.timeline)) {
            transport::series::Scope scope;
            scope.add(way.connection, way.from);
            auto throughput = transport::series::throughput(*inputs.index, scope, inputs.whole, stop);
            if (!throughput) return std::nullopt;
            flows.push_back({nameOf(way, *inputs.timeline), std::move(*throughput)});
        }
        auto all = transport::series::throughput(*inputs.index, {}, inputs.whole, stop);
        if (!all) return std::nullopt;
        return Made{congestionPlot(*series, pauses, std::move(flows), std::move(*all)),
                    tr("No congestion in this capture: no CE marks, CNPs or pause frames.")};
    };
}

}  // namespace qps::gui
