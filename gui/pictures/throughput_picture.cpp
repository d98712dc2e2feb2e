#include <gui/pictures/throughput_picture.hpp>

#include <QCoreApplication>
#include <QLabel>
#include <array>

namespace qps::gui {

using transport::series::Amount;
using transport::series::Range;
using transport::series::Throughput;

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ThroughputPicture", text); }

constexpr std::size_t kPixelsOfBin = 3;  // narrower bins are noise

struct Row {
    const char* name;
    Ink ink;
    Shape shape;
    Qt::PenStyle line;
    const char* tip;
    AmountOf amount;
};

constexpr std::array kRates{
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "wire rate"), Ink::Request, Shape::Area, Qt::SolidLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "All bytes on the wire, with headers"),
        [](const Amount& a) { return a.bytes; }},
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "goodput"), Ink::Acknowledgment, Shape::Steps, Qt::SolidLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "Payload that was new and right"),
        [](const Amount& a) { return a.goodput; }},
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "retransmitted"), Ink::Retransmission, Shape::Steps, Qt::DashLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "Bytes of request packets that were on the wire before"),
        [](const Amount& a) { return a.retransmitted; }},
};
// What there is most of stands behind: a few notifications are seen over many marks.
constexpr std::array kCounts{
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "CE marks"), Ink::Congestion, Shape::Area, Qt::SolidLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "Packets that a switch marked for congestion (IBA A17.9.3)"),
        [](const Amount& a) { return std::uint64_t{a.marked}; }},
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "CNPs"), Ink::Notification, Shape::Steps, Qt::DotLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "Congestion notifications (IBA A17.9.3)"),
        [](const Amount& a) { return std::uint64_t{a.cnps}; }},
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "RNR NAKs"), Ink::Wait, Shape::Steps, Qt::DashLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "No receive was posted (IBA 9.7.5.2.8)"),
        [](const Amount& a) { return std::uint64_t{a.rnr_naks}; }},
    Row{QT_TRANSLATE_NOOP("ThroughputPicture", "NAKs"), Ink::NegativeAcknowledgment, Shape::Steps, Qt::SolidLine,
        QT_TRANSLATE_NOOP("ThroughputPicture", "Sequence errors and fatal NAKs (IBA 9.7.5.1.2, 9.7.5.2.1)"),
        [](const Amount& a) { return std::uint64_t{a.naks}; }},
};

Panel panelOf(const QString& title, Quantity quantity, int weight, std::span<const Row> rows) {
    Panel panel{.title = title, .quantity = quantity, .fromZero = true, .weight = weight};
    for (const Row& row : rows)
        panel.layers.push_back(
            {.name = tr(row.name), .tip = tr(row.tip), .ink = row.ink, .shape = row.shape, .line = row.line});
    return panel;
}

}  // namespace

void tellBins(Panel& panel, const Throughput& throughput, const Zoom& zoom) {
    const std::size_t bins = std::max<std::size_t>(1, zoom.columns / kPixelsOfBin);
    const auto fold = static_cast<std::int64_t>(throughput.fold_for(zoom.view.length(), bins));
    panel.bin = std::to_underlying(throughput.width()) * fold;
    panel.note = tr(", bins of %1").arg(exactTimeText(panel.bin));
}

std::shared_ptr<const Points> binned(const Throughput& throughput, const Range& view, std::size_t columns,
                                     AmountOf amount, bool perSecond) {
    const std::size_t bins = std::max<std::size_t>(1, columns / kPixelsOfBin);
    std::vector<transport::series::Point> points;
    const auto bars = throughput.bars(view, throughput.fold_for(view.length(), bins));
    points.reserve(bars.size() + 1);
    // By the length of a whole bin, also in the last one, which may be cut short: a few packets in a nanosecond are no
    // rate.
    const double length =
        bars.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(1, std::to_underlying(bars.front().width)));
    for (const auto& bar : bars) {
        const double value = static_cast<double>(amount(bar.amount)) * (perSecond ? 8e9 / length : 1);
        points.push_back({bar.from, static_cast<std::int64_t>(std::min(value, 9e18)), {}});
    }
    // The last bin ends somewhere.
    if (!bars.empty()) points.push_back({bars.back().from + bars.back().width, points.back().y, {}});
    return std::make_shared<const Points>(std::move(points));
}

PlotData throughputPlot(Throughput throughput, const transport::series::Outstanding& outstanding) {
    PlotData data;
    if (throughput.total().packets == 0) return data;
    data.panels.push_back(panelOf(tr("Throughput"), Quantity::BitRate, 3, kRates));
    data.panels.push_back(panelOf(tr("Events"), Quantity::Count, 1, kCounts));
    if (!outstanding.empty()) {
        Panel panel{.title = tr("Outstanding bytes"), .quantity = Quantity::Bytes, .fromZero = true, .weight = 2};
        panel.layers.push_back({.name = tr("outstanding"),
                                .ink = Ink::Request,
                                .shape = Shape::Area,
                                .points = pointsOf(outstanding.bytes)});
        data.panels.push_back(std::move(panel));
    }
    data.refine = [shared = std::make_shared<const Throughput>(std::move(throughput))](PlotData& plot,
                                                                                       const Zoom& zoom) {
        for (std::size_t i = 0; i < kRates.size(); ++i)
            plot.panels[0].layers[i].points = binned(*shared, zoom.view, zoom.columns, kRates[i].amount, true);
        for (std::size_t i = 0; i < kCounts.size(); ++i)
            plot.panels[1].layers[i].points = binned(*shared, zoom.view, zoom.columns, kCounts[i].amount, false);
        for (Panel* panel : {&plot.panels[0], &plot.panels[1]}) tellBins(*panel, *shared, zoom);
    };
    return data;
}

ThroughputPicture::ThroughputPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Throughput"), QStringLiteral("throughput"), session, selection, parent) {
    addScopeTools({tr("Selected connection"), tr("All packets"), tr("Displayed packets")}, tr("Packets counted"));
    addPlotTools();
}

PlotPicture::Maker ThroughputPicture::maker(QString& notice) {
    const auto chosen = scope(notice);
    if (!chosen) return {};
    const QString nothing = of() == Of::Displayed
                                ? tr("No displayed packet has a timestamp. Change or clear the display filter.")
                                : tr("No packet has a timestamp: nothing to draw over time.");
    return [scope = *chosen, nothing, whose = connectionText(of() == Of::Connection)](
               const Inputs& inputs, const transport::series::Stop& stop) mutable -> std::optional<Made> {
        scope.only(inputs.hits.get());
        auto throughput = transport::series::throughput(*inputs.index, scope, inputs.whole, stop);
        if (!throughput) return std::nullopt;
        const auto outstanding = transport::series::outstanding(*inputs.index, *inputs.timeline, scope,
                                                                transport::series::kAllMessageKinds, stop);
        if (!outstanding) return std::nullopt;
        Made made{throughputPlot(std::move(*throughput), *outstanding), nothing};
        if (!made.data.panels.empty()) made.data.panels.front().subject = whose;
        return made;
    };
}

}  // namespace qps::gui
