#include <gui/base/text.hpp>
#include <gui/casework/case_timeline.hpp>
#include <gui/pictures/plot_csv.hpp>
#include <transport-replay/casework/case_report.hpp>
#include <transport-replay/casework/event_words.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QDateTime>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <map>

namespace qps::gui {

using casework::Case;
using casework::ClockKind;
using casework::Event;

namespace {

struct GroupLook {
    Ink ink;
    Qt::BrushStyle pattern;
};
// By EventGroup.
constexpr std::array kGroupLooks{
    GroupLook{Ink::Pause, Qt::SolidPattern},
    GroupLook{Ink::Congestion, Qt::SolidPattern},
    GroupLook{Ink::NegativeAcknowledgment, Qt::SolidPattern},
    GroupLook{Ink::Acknowledgment, Qt::SolidPattern},
    GroupLook{Ink::Request, Qt::SolidPattern},
    GroupLook{Ink::Wait, Qt::SolidPattern},
    GroupLook{Ink::Other, Qt::SolidPattern},
};
static_assert(kGroupLooks.size() == casework::kEventGroupNames.size());

QString clockText(ClockKind clock) {
    switch (clock) {
        case ClockKind::utc: return CaseTimeline::tr("UTC");
        case ClockKind::local: return CaseTimeline::tr("Local time");
        case ClockKind::boot: return CaseTimeline::tr("Since each host's boot");
        case ClockKind::none: break;
    }
    return CaseTimeline::tr("No time");
}

QString hostText(const std::string& host) { return host.empty() ? CaseTimeline::tr("host not named") : shown(host); }

// Many logs have no year; it is read as the first one.
QString startText(dissect::Instant start) {
    const QDateTime date = QDateTime::fromMSecsSinceEpoch(std::to_underlying(start) / 1'000'000, Qt::UTC);
    const bool dated = date.date().year() > 1971;
    return date.toString(dated ? QStringLiteral("yyyy-MM-dd HH:mm:ss") : QStringLiteral("MM-dd HH:mm:ss"));
}

QString eventText(const Case& read, const Event& event) {
    QString text = shown(casework::words_of(event.kind).name);
    if (!event.device.empty()) text += QStringLiteral(", ") + shown(event.device);
    if (event.qpn) text += CaseTimeline::tr(", QP %1").arg(std::to_underlying(*event.qpn));
    if (!event.text.empty()) text += QStringLiteral(": ") + shown(event.text);
    return text + QStringLiteral(", ") + shown(casework::place_text(read, event.place));
}

}  // namespace

std::vector<ClockKind> clocksOf(const Case& read) {
    std::map<ClockKind, std::size_t> counts;
    for (const Event& event : read.events)
        if (event.clock != ClockKind::none) ++counts[event.clock];
    std::vector<ClockKind> clocks;
    for (const auto& [clock, count] : counts) clocks.push_back(clock);
    std::ranges::stable_sort(clocks, std::greater{}, [&](ClockKind clock) { return counts[clock]; });
    return clocks;
}

CasePlot casePlot(const Case& read, ClockKind clock) {
    CasePlot made;
    std::map<std::string, std::uint32_t> rows;
    for (const Event& event : read.events)
        if (event.clock == clock) rows.emplace(event.host, 0);
    if (rows.empty() || clock == ClockKind::none) return made;
    Panel panel{.title = CaseTimeline::tr("Hosts")};
    for (auto& [host, row] : rows) {
        row = static_cast<std::uint32_t>(panel.rows.size());
        panel.rows.push_back(hostText(host));
    }
    struct Drawn {
        Band band;
        std::size_t event;
    };
    std::array<std::vector<Drawn>, kGroupLooks.size()> drawn;
    for (std::size_t i = 0; i < read.events.size(); ++i) {
        const Event& event = read.events[i];
        if (event.clock != clock) {
            ++made.others;
            continue;
        }
        const dissect::Instant at{event.time_ns};
        drawn[static_cast<std::size_t>(casework::words_of(event.kind).group)].push_back(
            {{at, at, {}, eventText(read, event), rows[event.host]}, i});
    }
    for (std::size_t group = 0; group < drawn.size(); ++group) {
        if (drawn[group].empty()) continue;
        std::ranges::stable_sort(drawn[group], {}, [](const Drawn& one) { return one.band.from; });
        std::vector<Band> bands;
        made.events.emplace_back();
        for (Drawn& one : drawn[group]) {
            made.events.back().push_back(one.event);
            bands.push_back(std::move(one.band));
        }
        panel.layers.push_back({.name = shown(casework::kEventGroupNames[group]),
                                .ink = kGroupLooks[group].ink,
                                .shape = Shape::Spans,
                                .pattern = kGroupLooks[group].pattern,
                                .bands = std::make_shared<const Bands>(std::move(bands))});
    }
    dissect::Instant first = panel.layers.front().bands->all().front().from, last = first;
    for (const Layer& layer : panel.layers) {
        first = std::min(first, layer.bands->all().front().from);
        last = std::max(last, layer.bands->all().back().from);
    }
    made.data.origin = clock == ClockKind::boot ? dissect::Instant{} : first;
    made.data.timeTitle =
        clock == ClockKind::boot ? CaseTimeline::tr("Time since boot") : CaseTimeline::tr("Time since the first event");
    constexpr std::int64_t kLeastRoom = dissect::kNanosecondsPerSecond / 2;
    const std::int64_t room = std::max(kLeastRoom, std::to_underlying(last - first) / 20);
    made.data.whole = {dissect::saturating::subtract(made.data.timeOf(first), room),
                       dissect::saturating::add(made.data.timeOf(last), room)};
    made.data.home = made.data.whole;
    made.data.panels.push_back(std::move(panel));
    return made;
}

CaseTimeline::CaseTimeline(QWidget* parent)
    : Picture(tr("Events of the case"), parent), m_clock(new QComboBox(this)), m_plot(new Plot(this)) {
    m_plot->setAccessibleName(title());
    m_clock->setAccessibleName(tr("Clock of the events"));
    m_clock->setToolTip(tr("Times of one kind of clock can be compared: choose which is shown"));
    m_clock->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_clockTool = tools().addWidget(m_clock);
    setContent(m_plot);
    addSaveTools();
    connect(m_clock, &QComboBox::currentIndexChanged, this, &CaseTimeline::draw);
    connect(m_plot, &Plot::pointedAt, this, &CaseTimeline::setWords);
    connect(m_plot, &Plot::packetChosen, this, &CaseTimeline::choose);
    connect(m_plot, &Plot::packetWanted, this, &CaseTimeline::choose);
    connect(m_plot, &Plot::menuWanted, this, [this](const QPoint& at) { menu().popup(at); });
    setCase(nullptr);
}

void CaseTimeline::setCase(std::shared_ptr<const OpenedCase> opened) {
    m_opened = std::move(opened);
    m_clocks = m_opened ? clocksOf(m_opened->read) : std::vector<ClockKind>{};
    {
        const QSignalBlocker quiet(m_clock);
        m_clock->clear();
        for (const ClockKind clock : m_clocks) m_clock->addItem(clockText(clock));
    }
    m_clockTool->setVisible(m_clocks.size() > 1);
    draw();
}

void CaseTimeline::draw() {
    const auto at = static_cast<std::size_t>(std::max(0, m_clock->currentIndex()));
    m_shown = at < m_clocks.size() ? casePlot(m_opened->read, m_clocks[at]) : CasePlot{};
    if (!m_shown.data.panels.empty()) {
        Panel& panel = m_shown.data.panels.front();
        const bool boot = m_clocks[at] == ClockKind::boot;
        panel.note = boot ? tr(", each since its own boot: not comparable")
                          : tr(", from %1 (%2)").arg(startText(m_shown.data.origin), clockText(m_clocks[at]));
        if (m_shown.others != 0)
            panel.note += tr("; not shown: %1").arg(shown(transport::counted(m_shown.others, "other event")));
    }
    m_plot->setNotice(m_opened == nullptr             ? tr("No case is open.")
                      : m_opened->read.events.empty() ? tr("No line of the case reports an event.")
                                                      : tr("No event of the case has a time."));
    m_plot->setData(m_shown.data, true);
}

// A span has no number of its own: it is found by its time and words.
void CaseTimeline::choose(const Hit& hit) {
    const auto& bands = m_shown.data.panels.front().layers[hit.id.layer].bands->all();
    for (std::size_t i = 0; i < bands.size(); ++i)
        if (bands[i].from == hit.time && bands[i].text == hit.text)
            return Q_EMIT eventChosen(m_shown.events[hit.id.layer][i]);
}

void CaseTimeline::paintPicture(QPainter& painter, const QSizeF& size, double scale, const QPalette& palette) const {
    m_plot->render(painter, QRectF(QPointF(0, 0), size), scale, palette);
}

QStringList CaseTimeline::caption() const {
    if (m_opened == nullptr) return {title()};
    return {title(), shown(casework::head_text(m_opened->verdict))};
}

void CaseTimeline::writeCsv(QIODevice& device) const {
    gui::writeCsv(device, m_plot->data(), m_plot->view().time, m_plot->hidden());
}

}  // namespace qps::gui
