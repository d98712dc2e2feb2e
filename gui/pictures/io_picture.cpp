#include <gui/pictures/io_picture.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QKeyEvent>
#include <QSettings>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

namespace qps::gui {

using transport::series::GraphLine;
using transport::series::GraphSeries;
using transport::series::IoGraph;
using transport::series::Measure;
using transport::series::measure_rows;

namespace {

const QString kSeriesKey = QStringLiteral("io/series");
const QString kWidthKey = QStringLiteral("io/width");
const QString kAverageKey = QStringLiteral("io/average");
const QString kLogKey = QStringLiteral("io/logarithmic");
constexpr qsizetype kLongestName = 48;  // of a series, in the legend
constexpr int kProgressPause = 100;     // ms

constexpr std::array kInks{Ink::Request,      Ink::Acknowledgment, Ink::Retransmission,         Ink::Congestion,
                           Ink::Notification, Ink::Wait,           Ink::NegativeAcknowledgment, Ink::Pause};
constexpr std::array kPens{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
constexpr std::array kDots{MarkShape::Dot,    MarkShape::Cross, MarkShape::Diamond, MarkShape::Triangle,
                           MarkShape::Square, MarkShape::Ring,  MarkShape::Stroke,  MarkShape::Dot};

// Whether a bin without packets has a value all the same: nothing is 0, but no average.
bool sumsUp(Measure measure) { return measure <= Measure::sum; }

bool isTime(const QString& field) {
    const auto column = dissect::column(field.trimmed().toStdString());
    return column && std::ranges::all_of(column->places, [](const dissect::FieldPlace& place) {
               return dissect::value_type(place.field->format) == dissect::ValueType::fixed_point &&
                      place.field->digits == 9;
           });
}

Quantity quantityOf(const SeriesWish& wish) {
    switch (wish.measure) {
        case Measure::bytes: return Quantity::Bytes;
        case Measure::bits_per_second: return Quantity::BitRate;
        case Measure::packets:
        case Measure::count: return Quantity::Count;
        default: return isTime(wish.field) ? Quantity::Duration : Quantity::Count;
    }
}

QString panelTitle(Quantity quantity, bool ofPackets) {
    switch (quantity) {
        case Quantity::Bytes: return IoPicture::tr("Bytes");
        case Quantity::BitRate: return IoPicture::tr("Rate");
        case Quantity::Duration: return IoPicture::tr("Time");
        default: return ofPackets ? IoPicture::tr("Count") : IoPicture::tr("Value");
    }
}

// The average of the values of up to `most` bins that end with each; a bin without a value has no part in it.
class MovingAverage {
public:
    explicit MovingAverage(std::size_t most) : m_most(std::max<std::size_t>(1, most)) {}
    void take(std::optional<double> value) {
        m_values.push_back(value);
        add(value, 1);
        if (m_values.size() <= m_most) return;
        add(m_values.front(), -1);
        m_values.pop_front();
    }
    [[nodiscard]] double average() const { return m_count <= 0 ? 0 : m_sum / m_count; }

private:
    void add(std::optional<double> value, int sign) {
        if (!value) return;
        m_sum += sign * *value;
        m_count += sign;
    }
    std::size_t m_most;
    std::deque<std::optional<double>> m_values;
    double m_sum = 0;
    int m_count = 0;
};

std::shared_ptr<const Points> pointsOfLine(const IoGraph& graph, const GraphLine& line, const SeriesWish& wish,
                                           const GraphLook& look) {
    constexpr double kMostDrawn = 9e18;
    MovingAverage average(look.average);
    const double scale = quantityOf(wish) == Quantity::Duration ? 1e9 : 1;  // seconds, drawn as nanoseconds
    std::vector<transport::series::Point> points;
    for (std::size_t bin = 0; bin < line.bins.size(); ++bin) {
        const bool has = sumsUp(wish.measure) || line.bins[bin].count != 0;
        average.take(has ? std::optional(line.bins[bin].value * scale) : std::nullopt);
        if (!has) continue;
        const double value = std::clamp(average.average(), -kMostDrawn, kMostDrawn);
        if (look.logarithmic && !sumsUp(wish.measure) && value <= 0) continue;
        points.push_back({graph.begin_of(bin), std::llround(value), {}});
    }
    if (sumsUp(wish.measure) && !points.empty())
        points.push_back({graph.begin_of(line.bins.size()), points.back().y, {}});  // it ends somewhere
    return std::make_shared<const Points>(std::move(points));
}

}  // namespace

PlotData ioPlot(const IoGraph& graph, const std::vector<SeriesWish>& wishes, const GraphLook& look) {
    PlotData data;
    for (std::size_t i = 0; i < std::min(wishes.size(), graph.lines.size()); ++i) {
        const SeriesWish& wish = wishes[i];
        const bool ofPackets =
            !measure_rows()[static_cast<std::size_t>(wish.measure)].of_field || wish.measure == Measure::count;
        const QString title = panelTitle(quantityOf(wish), ofPackets);
        auto panel = std::ranges::find(data.panels, title, &Panel::title);
        if (panel == data.panels.end()) {
            data.panels.push_back({.title = title,
                                   .quantity = quantityOf(wish),
                                   .logarithmic = look.logarithmic,
                                   .fromZero = !look.logarithmic});
            panel = std::prev(data.panels.end());
            panel->bin = std::to_underlying(graph.width);
            panel->note = IoPicture::tr(", bins of %1").arg(exactTimeText(panel->bin));
            if (look.average > 1) panel->note += IoPicture::tr(", average of %1").arg(look.average);
        }
        Layer layer{.name = nameOf(wish), .tip = nameOf(wish), .ink = kInks[i % kInks.size()]};
        if (layer.name.size() > kLongestName) layer.name = layer.name.left(kLongestName - 3) + QStringLiteral("...");
        layer.shape = sumsUp(wish.measure) ? Shape::Steps : Shape::Marks;
        layer.mark = kDots[i % kDots.size()];
        layer.line = kPens[i % kPens.size()];
        layer.points = pointsOfLine(graph, graph.lines[i], wish, look);
        panel->layers.push_back(std::move(layer));
    }
    return data;
}

IoPicture::IoPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("I/O graph"), QStringLiteral("io"), session, selection, parent),
      m_width(new QComboBox(this)),
      m_average(new QComboBox(this)),
      m_series(new SeriesList(this)) {
    m_width->addItem(tr("Bins: auto"), QVariant::fromValue<qlonglong>(0));
    for (qlonglong width = 1'000; width <= 10'000'000'000; width *= 10)
        m_width->addItem(tr("Bins: %1").arg(exactTimeText(width)), width);
    m_width->addItem(tr("Bins: 1 min"), QVariant::fromValue<qlonglong>(60'000'000'000));
    m_width->setAccessibleName(tr("Bin width"));
    m_width->setToolTip(tr("Bin width: what is summed up in one step; wider where there would be more than 65536"));
    tools().addWidget(m_width);
    for (const int bins : {1, 5, 10, 50, 100})
        m_average->addItem(bins == 1 ? tr("No average") : tr("Average of %1").arg(bins), bins);
    m_average->setAccessibleName(tr("Moving average"));
    m_average->setToolTip(tr("Draw each value as the average of so many bins that end with its own"));
    tools().addWidget(m_average);
    m_logarithmic = addTool(tr("Log"), QString(), tr("Logarithmic axis: small and large values side by side"));
    m_logarithmic->setCheckable(true);
    m_stop = addTool(tr("Stop"), QStringLiteral("media-playback-stop"), tr("Stop computing (Esc)"));
    m_stop->setEnabled(false);
    connect(m_stop, &QAction::triggered, this, &IoPicture::stop);
    addPlotTools();
    addBelow(m_series);
    plot().installEventFilter(this);

    QSettings settings;
    const QStringList kept = settings.value(kSeriesKey).toStringList();
    if (!kept.isEmpty()) m_series->restore(kept);
    else
        m_series->setWishes({{true, Measure::bits_per_second, {}, {}},
                             {true, Measure::packets, {}, QStringLiteral("rdma.retransmission")}});
    m_width->setCurrentIndex(std::max(0, m_width->findData(settings.value(kWidthKey, 0).toLongLong())));
    m_average->setCurrentIndex(std::max(0, m_average->findData(settings.value(kAverageKey, 1).toInt())));
    m_logarithmic->setChecked(settings.value(kLogKey, false).toBool());
    const auto anew = [this] {
        remember();
        refresh(false);
    };
    connect(m_series, &SeriesList::changed, this, anew);
    connect(m_width, &QComboBox::currentIndexChanged, this, anew);
    connect(m_average, &QComboBox::currentIndexChanged, this, anew);
    connect(m_logarithmic, &QAction::toggled, this, anew);
    m_looking.setInterval(kProgressPause);
    connect(&m_looking, &QTimer::timeout, this, &IoPicture::look);
}

void IoPicture::remember() const {
    QSettings settings;
    settings.setValue(kSeriesKey, m_series->saved());
    settings.setValue(kWidthKey, m_width->currentData());
    settings.setValue(kAverageKey, m_average->currentData());
    settings.setValue(kLogKey, m_logarithmic->isChecked());
}

void IoPicture::look() {
    if (!computing()) {
        m_looking.stop();
        m_stop->setEnabled(false);
    } else if (m_pieces != 0) {
        setWords(tr("Computing: %1 %. Esc stops.").arg(100 * m_done->load() / m_pieces));
    }
}

void IoPicture::stop() {
    if (!computing()) return;
    stopComputing();
    m_looking.stop();
    m_stop->setEnabled(false);
    setWords(tr("Stopped. What is drawn is of before."));
}

bool IoPicture::eventFilter(QObject* watched, QEvent* event) {
    const bool isEscape = event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (!isEscape || !computing()) return PlotPicture::eventFilter(watched, event);
    stop();
    return true;
}

PlotPicture::Maker IoPicture::maker(QString& notice) {
    std::vector<SeriesWish> wishes;
    QStringList reasons;
    for (const SeriesWish& wish : m_series->wishes()) {
        if (!wish.drawn) continue;
        if (const QString why = whyNot(wish); !why.isEmpty()) reasons << why;
        else wishes.push_back(wish);
    }
    if (wishes.empty()) {
        notice = reasons.isEmpty() ? tr("No series is drawn. Tick one, or add one.")
                                   : tr("Nothing to draw: %1.").arg(reasons.join(QStringLiteral("; ")));
        return {};
    }
    m_done = std::make_shared<std::atomic<std::uint64_t>>(0);
    m_pieces = transport::pieces_of(session().packets());
    m_stop->setEnabled(true);
    m_looking.start();
    const dissect::Duration width{m_width->currentData().toLongLong()};
    const QString leftOut =
        reasons.isEmpty() ? QString() : tr("   Left out: %1.").arg(reasons.join(QStringLiteral("; ")));
    const GraphLook look{m_logarithmic->isChecked(), m_average->currentData().toULongLong()};
    return [wishes, width, look, leftOut, packets = session().packets(), done = m_done](
               const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        std::vector<GraphSeries> series;
        for (const SeriesWish& wish : wishes) {
            auto filter = dissect::Filter::compile(wish.filter.toStdString(),
                                                   transport::sets_of(*inputs.index, *inputs.timeline, stop));
            const auto field = dissect::column(wish.field.trimmed().toStdString());
            series.push_back({filter ? std::move(*filter) : dissect::Filter{}, wish.measure,
                              field ? std::optional(*field) : std::nullopt});
        }
        const auto graph =
            transport::series::io_graph(inputs.index, packets, series, inputs.whole, width, {stop, done.get()});
        if (!graph) return std::nullopt;
        Made made{ioPlot(*graph, wishes, look), tr("None of the series has a packet.")};
        if (made.data.panels.empty()) return made;
        QString& subject = made.data.panels.front().subject;
        subject = leftOut;
        for (std::size_t i = 0; i < graph->lines.size(); ++i)
            if (graph->lines[i].too_many)
                subject += tr("   %1 has too many values: filter them.").arg(nameOf(wishes[i]));
        return made;
    };
}

}  // namespace qps::gui
