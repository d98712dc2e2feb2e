#include <gui/pictures/heat_picture.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <cmath>

namespace qps::gui {

using transport::series::ConnectionHeat;
using transport::series::HeatCell;
using transport::series::HeatOf;

namespace {

struct HeatLook {
    const char* name;   // in the box
    const char* title;  // of the axis
    const char* none;   // where there is nothing of it
    Ink ink;
    std::string (*text)(std::uint64_t value);
};

std::string packets_text(std::uint64_t value) { return transport::counted(value, "packet"); }
std::string nanoseconds_text(std::uint64_t value) {
    return transport::duration_text(dissect::Duration{static_cast<std::int64_t>(value)});
}

// By HeatOf.
constexpr std::array kHeatLooks{
    HeatLook{QT_TRANSLATE_NOOP("QObject", "Retransmissions"), QT_TRANSLATE_NOOP("QObject", "Retransmitted packets"),
             QT_TRANSLATE_NOOP("QObject", "No connection retransmitted a packet."), Ink::Retransmission, packets_text},
    HeatLook{QT_TRANSLATE_NOOP("QObject", "NAKs"), QT_TRANSLATE_NOOP("QObject", "NAKs"),
             QT_TRANSLATE_NOOP("QObject", "No connection has a NAK."), Ink::NegativeAcknowledgment, packets_text},
    HeatLook{QT_TRANSLATE_NOOP("QObject", "Congestion"), QT_TRANSLATE_NOOP("QObject", "CE marks and CNPs"),
             QT_TRANSLATE_NOOP("QObject", "No packet of a connection has a CE mark, and there is no CNP."),
             Ink::Congestion, packets_text},
    HeatLook{QT_TRANSLATE_NOOP("QObject", "Latency"), QT_TRANSLATE_NOOP("QObject", "Longest latency of a message"),
             QT_TRANSLATE_NOOP("QObject", "No message was captured from first packet to response."), Ink::Wait,
             nanoseconds_text},
    HeatLook{QT_TRANSLATE_NOOP("QObject", "Bytes"), QT_TRANSLATE_NOOP("QObject", "Bytes on the wire"),
             QT_TRANSLATE_NOOP("QObject", "No packet of a connection has a time."), Ink::Request,
             [](std::uint64_t value) { return transport::bytes_text(value); }},
};
static_assert(kHeatLooks.size() == transport::series::kHeatNames.size());

const HeatLook& lookOf(HeatOf of) { return kHeatLooks[static_cast<std::size_t>(of)]; }

constexpr double kCellPixels = 5;  // at least; narrower ones are folded into one
constexpr double kLightest = 0.25;

QString shadeName(const std::vector<std::uint64_t>& shades, std::size_t i, std::uint64_t most, HeatOf of) {
    const auto text = [of](std::uint64_t value) { return QString::fromStdString(lookOf(of).text(value)); };
    const bool whole = of != HeatOf::latency && of != HeatOf::bytes;
    const std::uint64_t end = i + 1 < shades.size() ? shades[i + 1] - (whole ? 1 : 0) : most;
    return shades[i] == end ? text(end) : QObject::tr("%1 to %2").arg(text(shades[i]), text(end));
}

// A layer for each shade, so that the legend says what each stands for and light ones can be hidden.
void shade(Panel& panel, const ConnectionHeat& heat, const std::vector<HeatCell>& cells, std::uint32_t fold,
           HeatOf of) {
    panel.layers.clear();
    if (cells.empty()) return;
    const auto [least, most] = std::ranges::minmax(cells, {}, &HeatCell::value);
    const auto shades = heatShades(least.value, most.value);
    std::vector<std::vector<Band>> bands(shades.size());
    for (const HeatCell& cell : cells) {
        const auto place = std::ranges::upper_bound(shades, cell.value) - shades.begin() - 1;
        bands[static_cast<std::size_t>(place)].push_back({heat.begin_of(cell.bin * fold),
                                                          std::min(heat.begin_of((cell.bin + 1) * fold), heat.range.to),
                                                          cell.frame,
                                                          {},
                                                          cell.row,
                                                          static_cast<std::int64_t>(cell.value)});
    }
    for (std::size_t i = 0; i < shades.size(); ++i) {
        const double share = shades.size() == 1 ? 1 : static_cast<double>(i) / static_cast<double>(shades.size() - 1);
        panel.layers.push_back(
            {.name = shadeName(shades, i, most.value, of),
             .tip = QObject::tr("In a piece of time of one connection"),
             .ink = lookOf(of).ink,
             .shape = Shape::Spans,
             .bands = std::make_shared<const Bands>(std::move(bands[i])),
             .strength = kLightest + (1 - kLightest) * share,
             .describe = [rows = panel.rows, of](const Band& band) {
                 return QObject::tr("%1, of %2")
                     .arg(QString::fromStdString(lookOf(of).text(static_cast<std::uint64_t>(band.value))),
                          rows[band.row]);
             }});
    }
}

std::uint32_t foldFor(const ConnectionHeat& heat, const Zoom& zoom) {
    const auto view = static_cast<double>(std::to_underlying(zoom.view.length()));
    const double cell = view * kCellPixels / static_cast<double>(std::max<std::size_t>(zoom.columns, 1));
    const double bins = std::ceil(cell / static_cast<double>(std::to_underlying(heat.width)));
    return static_cast<std::uint32_t>(std::clamp(bins, 1.0, static_cast<double>(transport::series::kMostHeatBins)));
}

}  // namespace

std::vector<std::uint64_t> heatShades(std::uint64_t least, std::uint64_t most) {
    std::vector<std::uint64_t> shades;
    const double factor = std::pow(static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(least, 1)),
                                   1.0 / static_cast<double>(kHeatShades));
    for (std::size_t i = 0; i < kHeatShades; ++i) {
        const bool steps = most - least < kHeatShades;
        const double value = static_cast<double>(least) * std::pow(factor, static_cast<double>(i));
        const std::uint64_t from = steps ? least + i : static_cast<std::uint64_t>(std::round(value));
        if (from <= most && (shades.empty() || from > shades.back())) shades.push_back(from);
    }
    return shades;
}

HeatOf firstHeat(const transport::Timeline& timeline) {
    std::uint64_t again = 0, naks = 0, marks = timeline.congestion.cnps, messages = 0;
    for (const transport::Connection& connection : timeline.connections)
        for (const transport::Way& way : connection.ways) {
            again += way.incidents->retransmitted;
            naks += way.incidents->sequence_naks + way.incidents->rnr_naks;
            messages += way.completed;
        }
    marks += timeline.congestion.marked;
    return again != 0      ? HeatOf::retransmissions
           : naks != 0     ? HeatOf::naks
           : marks != 0    ? HeatOf::congestion
           : messages != 0 ? HeatOf::latency
                           : HeatOf::bytes;
}

PlotData heatPlot(ConnectionHeat heat, HeatOf of, std::vector<QString> names) {
    PlotData data;
    if (heat.cells.empty()) return data;
    Panel panel{.title = QObject::tr(lookOf(of).title)};
    panel.rows = std::move(names);
    shade(panel, heat, heat.cells, 1, of);
    data.panels.push_back(std::move(panel));
    data.refine = [of, shared = std::make_shared<const ConnectionHeat>(std::move(heat))](PlotData& plot,
                                                                                         const Zoom& zoom) {
        Panel& shown = plot.panels.front();
        const std::uint32_t fold = foldFor(*shared, zoom);
        shade(shown, *shared, shared->folded(fold, of), fold, of);
        shown.note = QObject::tr(" of connections, in pieces of %1")
                         .arg(exactTimeText(std::to_underlying(shared->width) * static_cast<std::int64_t>(fold)));
        if (shared->left_out != 0) shown.note += QObject::tr("; %L1 with less are left out").arg(shared->left_out);
    };
    return data;
}

HeatPicture::HeatPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Heat map"), QStringLiteral("heat-map"), session, selection, parent),
      m_measure(new QComboBox(this)) {
    for (const HeatLook& look : kHeatLooks) m_measure->addItem(QObject::tr(look.name));
    m_measure->setAccessibleName(tr("What is measured"));
    m_measure->setToolTip(tr("What the shades stand for"));
    tools().addWidget(m_measure);
    connect(m_measure, &QComboBox::currentIndexChanged, this, [this] {
        m_chosen = true;
        refresh(false);
    });
    addPlotTools();
}

HeatOf HeatPicture::shownMeasure() const { return static_cast<HeatOf>(m_measure->currentIndex()); }

void HeatPicture::setMeasure(HeatOf of) { m_measure->setCurrentIndex(static_cast<int>(of)); }

PlotPicture::Maker HeatPicture::maker(QString&) {
    if (!m_chosen) {
        const QSignalBlocker quiet(m_measure);
        m_measure->setCurrentIndex(static_cast<int>(firstHeat(*session().timeline())));
    }
    return [of = shownMeasure()](const Inputs& inputs, const transport::series::Stop& stop) -> std::optional<Made> {
        auto heat = transport::series::connection_heat(*inputs.index, of, inputs.whole, dissect::Duration{1}, stop);
        if (!heat) return std::nullopt;
        std::vector<QString> names;
        for (const transport::series::HeatRow& row : heat->rows) {
            const transport::Connection* connection = inputs.timeline->find(row.connection);
            QString name = QStringLiteral("#%1").arg(std::to_underlying(row.connection));
            if (connection != nullptr)
                name += QStringLiteral("  ") + QString::fromStdString(transport::ends_text(*connection));
            names.push_back(name);
        }
        return Made{heatPlot(std::move(*heat), of, std::move(names)),
                    tr(lookOf(of).none) + QLatin1Char(' ') + tr("Another measure may have something to show.")};
    };
}

}  // namespace qps::gui
