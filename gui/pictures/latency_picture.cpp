#include <gui/pictures/latency_picture.hpp>

#include <QCoreApplication>
#include <array>

namespace qps::gui {

using transport::series::LatencyPoint;

namespace {

QString tr(const char* text) { return QCoreApplication::translate("LatencyPicture", text); }

// By MessageKind.
constexpr std::array kKinds{Ink::Request, Ink::Response, Ink::Congestion, Ink::Acknowledgment, Ink::Retransmission, Ink::Wait, Ink::Other};
static_assert(kKinds.size() == transport::kMessageKindNames.size());

QString spoken(std::string_view name) {
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())).replace(QLatin1Char('_'), QLatin1Char(' '));
}

std::vector<SideBar> barsOf(const transport::series::Distributed& distribution) {
    std::vector<SideBar> bars;
    for (std::size_t bin = 0; bin < distribution.histogram.size(); ++bin)
        if (distribution.histogram[bin] != 0)
            bars.push_back({static_cast<double>(transport::series::latency_bin_begin(bin)),
                            static_cast<double>(transport::series::latency_bin_begin(bin + 1)), distribution.histogram[bin]});
    return bars;
}

double value(dissect::Duration duration) { return static_cast<double>(std::to_underlying(duration)); }

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
                                    .mark = MarkShape::Dot,
                                    .points = pointsOf(byKind[i])});
    if (!points.empty()) {
        const auto distribution = transport::series::distribution(points);
        panel.guides = {{tr("median"), value(distribution.median)},
                        {QStringLiteral("90 %"), value(distribution.p90)},
                        {QStringLiteral("99 %"), value(distribution.p99)},
                        {QStringLiteral("99.9 %"), value(distribution.p999)}};
        panel.side = barsOf(distribution);
    }
    data.panels.push_back(std::move(panel));
    return data;
}

LatencyPicture::LatencyPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Latency"), QStringLiteral("latency"), session, selection, parent), m_of(new QComboBox(this)) {
    m_of->addItems({tr("Selected connection"), tr("All messages"), tr("Filtered messages")});
    m_of->setCurrentIndex(1);
    m_of->setAccessibleName(tr("Messages shown"));
    m_of->setToolTip(tr("Messages to show; filtered: those whose first packet matches the display filter"));
    tools().addWidget(m_of);
    connect(m_of, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
    addConnectionTools();
    addPlotTools();
    connect(&selection, &Selection::connectionChanged, this, [this] {
        if (m_of->currentIndex() == 0) refresh(false);
    });
}

void LatencyPicture::stepConnection(int by) {
    m_of->setCurrentIndex(0);
    PlotPicture::stepConnection(by);
}

PlotPicture::Maker LatencyPicture::maker(QString& notice) {
    transport::series::Scope scope;
    if (m_of->currentIndex() == 0) {
        const auto chosen = selection().connection();
        if (!chosen) {
            notice = tr("No connection selected. Select one in Connections, or press Page Down for the first.");
            return {};
        }
        scope.add(*chosen);
    }
    const QString nothing =
        tr("No latency: none of these messages was captured from first packet to response. Datagrams and unreliable "
           "connections have no responses; show all messages or select another connection.");
    return [scope, nothing, whose = connectionText(m_of->currentIndex() == 0)](
               const Inputs& inputs, const transport::series::Stop& stop) mutable -> std::optional<Made> {
        scope.only(inputs.hits.get());
        const auto points = transport::series::latencies(*inputs.index, scope, std::nullopt, transport::series::kAllMessageKinds, stop);
        if (!points) return std::nullopt;
        Made made{latencyPlot(*points), nothing, true};
        made.data.panels.front().title += whose;
        return made;
    };
}

}  // namespace qps::gui
