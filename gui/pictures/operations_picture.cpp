#include <gui/pictures/operations_picture.hpp>
#include <transport-replay/report/ulp.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace qps::gui {

using transport::series::OperationPoint;
using transport::series::OperationTimes;
using transport::series::Range;

namespace {

// Of verbs, the most frequent first, then of all others. Told apart without colours by their shapes.
constexpr std::array kVerbInks{Ink::Response,     Ink::Retransmission, Ink::Acknowledgment, Ink::Request,
                               Ink::Notification, Ink::Congestion,     Ink::Other};
constexpr std::array kVerbShapes{MarkShape::Diamond, MarkShape::Square, MarkShape::Triangle, MarkShape::Ring,
                                 MarkShape::Cross,   MarkShape::Dot,    MarkShape::Stroke};
static_assert(kVerbInks.size() == kMostVerbs + 1 && kVerbShapes.size() == kVerbInks.size());

using Verb = std::pair<transport::UlpProtocol, transport::OperationCode>;
Verb verbOf(const OperationPoint& point) { return {point.protocol, point.code}; }

// 4 KiB, 64 KiB and 1 MiB are what storage is asked for.
std::uint8_t sizeClass(std::uint32_t bytes) {
    constexpr std::array kMost{std::uint32_t{4} << 10, std::uint32_t{64} << 10, std::uint32_t{1} << 20};
    return static_cast<std::uint8_t>(std::ranges::lower_bound(kMost, bytes) - kMost.begin());
}

std::vector<Verb> mostFrequent(const std::vector<OperationPoint>& points) {
    std::map<Verb, std::uint64_t> counts;
    for (const OperationPoint& point : points) ++counts[verbOf(point)];
    std::vector<Verb> verbs;
    for (const auto& [verb, count] : counts) verbs.push_back(verb);
    std::ranges::stable_sort(verbs, std::greater{}, [&](const Verb& verb) { return counts[verb]; });
    return verbs;
}

Panel latencies(const std::vector<OperationPoint>& points) {
    Panel panel{.title = QObject::tr("Latency of operations"),
                .note = QObject::tr(", marks by bytes moved: to 4 KiB, to 64 KiB, to 1 MiB, more"),
                .quantity = Quantity::Duration,
                .logarithmic = true,
                .weight = 2};
    const std::vector<Verb> verbs = mostFrequent(points);
    const std::size_t named = verbs.size() <= kMostVerbs + 1 ? verbs.size() : kMostVerbs;
    std::vector<std::vector<transport::series::Point>> shown(std::min(verbs.size(), kMostVerbs + 1));
    std::vector<std::vector<std::uint8_t>> sizes(shown.size());
    for (const OperationPoint& point : points) {
        const auto at = static_cast<std::size_t>(std::ranges::find(verbs, verbOf(point)) - verbs.begin());
        const std::size_t layer = std::min(at, named);
        shown[layer].push_back({point.time, point.y, point.frame});
        sizes[layer].push_back(sizeClass(point.bytes));
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const QString name =
            i < named ? QString::fromStdString(std::string(transport::info(verbs[i].first).word)) + QLatin1Char(' ') +
                            QString::fromStdString(transport::operation_name(verbs[i].first, verbs[i].second))
                      : QObject::tr("others");
        panel.layers.push_back({.name = name,
                                .ink = kVerbInks[i],
                                .mark = kVerbShapes[i],
                                .points = std::make_shared<const Points>(std::move(shown[i])),
                                .sizes = std::make_shared<const std::vector<std::uint8_t>>(std::move(sizes[i]))});
    }
    return panel;
}

struct TimeLook {
    const char* name;
    Ink ink;
    const char* tip;
};
// As kOperationParts.
constexpr std::array kTimeLooks{
    TimeLook{QT_TRANSLATE_NOOP("QObject", "until its data began"), Ink::Acknowledgment,
             QT_TRANSLATE_NOOP("QObject", "From the request to the first packet of its data")},
    TimeLook{QT_TRANSLATE_NOOP("QObject", "data"), Ink::Response,
             QT_TRANSLATE_NOOP("QObject", "From the first packet of its data to the last")},
    TimeLook{QT_TRANSLATE_NOOP("QObject", "to the answer"), Ink::Wait,
             QT_TRANSLATE_NOOP("QObject", "From the last packet of its data to the answer")},
};
static_assert(kTimeLooks.size() == transport::series::kOperationParts.size());

// One upon the other: the layer drawn first is the sum of all.
Panel partsPanel() {
    Panel panel{.title = QObject::tr("Where the time went"), .quantity = Quantity::Duration, .fromZero = true};
    for (std::size_t i = kTimeLooks.size(); i-- > 0;)
        panel.layers.push_back({.name = QObject::tr(kTimeLooks[i].name),
                                .tip = QObject::tr(kTimeLooks[i].tip),
                                .ink = kTimeLooks[i].ink,
                                .shape = Shape::Area,
                                .stacked = true});
    return panel;
}

// Of each bin that has operations their mean, and 0 where there are none.
void showParts(Panel& panel, const OperationTimes& times, const Zoom& zoom) {
    constexpr std::size_t kPixelsOfBin = 6;
    const std::size_t bins = std::max<std::size_t>(1, zoom.columns / kPixelsOfBin);
    std::array<std::vector<transport::series::Point>, kTimeLooks.size()> points;
    std::uint64_t operations = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        const Range range{transport::series::column_begin(zoom.view, bins, bin),
                          transport::series::column_begin(zoom.view, bins, bin + 1)};
        const OperationTimes::Mean mean = times.mean(range);
        operations += mean.operations;
        std::int64_t sum = 0;
        for (std::size_t part = 0; part < kTimeLooks.size(); ++part) {
            sum = dissect::saturating::add(sum, mean.parts[part]);
            points[part].push_back({range.from, sum, {}});
        }
    }
    for (std::size_t part = 0; part < kTimeLooks.size(); ++part) {
        points[part].push_back({zoom.view.to, points[part].back().y, {}});
        panel.layers[kTimeLooks.size() - 1 - part].points = std::make_shared<const Points>(std::move(points[part]));
    }
    panel.note = QObject::tr(", mean of each bin; %L1 operations in view moved data").arg(operations);
}

}  // namespace

PlotData operationsPlot(OperationTimes times) {
    PlotData data;
    if (times.points.empty()) return data;
    data.panels.push_back(latencies(times.points));
    if (times.parts.empty()) return data;
    data.panels.push_back(partsPanel());
    data.refine = [shared = std::make_shared<const OperationTimes>(std::move(times))](
                      PlotData& plot, const Zoom& zoom) { showParts(plot.panels.back(), *shared, zoom); };
    return data;
}

OperationsPicture::OperationsPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Operation latency"), QStringLiteral("operation-latency"), session, selection, parent) {
    addScopeTools({tr("Selected connection"), tr("All operations"), tr("Displayed operations")},
                  tr("Operations to show; displayed: those whose request matches the display filter"));
    addCompareTool();
    addPlotTools();
}

PlotPicture::Maker OperationsPicture::maker(QString& notice) {
    const auto chosen = scope(notice);
    if (!chosen) return {};
    return [scope = *chosen, whose = connectionText(of() == Of::Connection)](
               const Inputs& inputs, const transport::series::Stop& stop) mutable -> std::optional<Made> {
        scope.only(inputs.hits.get());
        auto times = transport::series::operation_times(*inputs.index, scope, stop);
        if (!times) return std::nullopt;
        Made made{operationsPlot(std::move(*times)), tr("No operation of this choice was asked and answered."), true};
        if (!made.data.panels.empty()) made.data.panels.front().subject = whose;
        return made;
    };
}

}  // namespace qps::gui
