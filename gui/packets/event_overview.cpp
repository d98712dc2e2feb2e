#include <gui/packets/event_overview.hpp>
#include <gui/packets/packet_list.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>

#include <QElapsedTimer>
#include <QScrollBar>
#include <algorithm>
#include <memory>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;
using transport::RowSet;

namespace series = transport::series;

namespace {

constexpr int kPause = 300;       // ms between a change and the bands that show it
constexpr int kLongPause = 1000;  // while packets come
constexpr int kShare = 20;        // of the time, at most one part goes into passes over all rows while packets come

}  // namespace

EventOverview::EventOverview(Session& session, Selection& selection, PacketList& list, QObject* parent)
    : QObject(parent),
      m_session(session),
      m_selection(selection),
      m_list(list),
      m_strip(new EventMap(Qt::Horizontal)),
      m_bar(new EventMap(Qt::Vertical)) {
    m_due.setSingleShot(true);
    connect(&m_due, &QTimer::timeout, this, &EventOverview::compute);
    for (EventMap* each : {m_strip, m_bar})
        connect(each, &EventMap::packetWanted, &selection,
                [this](quint64 frame) { m_selection.selectPacket(FrameIndex{frame}); });
    for (const auto signal : {&Session::opened, &Session::rowsAdded, &Session::stateChanged})
        connect(&session, signal, this, &EventOverview::changed);
    for (const auto signal : {&Selection::filterChanged, &Selection::hitsChanged})
        connect(&selection, signal, this, &EventOverview::changed);
    for (const auto signal : {&Selection::packetChanged, &Selection::rangeChanged})
        connect(&selection, signal, this, &EventOverview::follow);
    connect(list.verticalScrollBar(), &QScrollBar::valueChanged, this, &EventOverview::follow);
    connect(list.verticalScrollBar(), &QScrollBar::rangeChanged, this, &EventOverview::follow);
    changed();
}

void EventOverview::changed() {
    const qint64 patience = std::max<qint64>(kLongPause, kShare * m_took);
    if (!m_due.isActive())
        m_due.start(m_session.busy() ? static_cast<int>(std::min<qint64>(patience, 60'000)) : kPause);
    // What is due when all was read shall not wait for what was due while it was.
    else if (!m_session.busy() && m_due.remainingTime() > kPause) m_due.start(kPause);
    follow();
}

void EventOverview::compute() {
    std::shared_ptr<const RowSet> hits;
    if (m_selection.hits() != nullptr) hits = std::make_shared<RowSet>(*m_selection.hits());
    QElapsedTimer clock;
    clock.start();
    m_job.start([this, clock, index = m_session.index(), hits](const series::Stop& stop) -> SeriesJob::Delivery {
        const auto range = series::whole(*index, stop);
        auto byPlace = series::events_by_place(*index, hits.get(), EventMap::kSlots, stop);
        if (!byPlace) return {};
        auto byTime =
            range ? series::events_by_time(*index, *range, hits.get(), EventMap::kSlots, stop) : EventMap::Slots{};
        if (!byTime) return {};
        return [this, clock, range, byTime = std::move(*byTime), byPlace = std::move(*byPlace)] {
            m_took = clock.elapsed();
            m_range = range.value_or(series::Range{});
            m_strip->setSlots(byTime);
            m_bar->setSlots(byPlace);
            follow();
        };
    });
}

// Where the user stands: the packet in both bands, the time range in one, the rows in sight in the other.
void EventOverview::follow() {
    const auto share = [this](dissect::Instant time) {
        const auto length = static_cast<double>(std::to_underlying(m_range.length()));
        return length <= 0 ? 0 : static_cast<double>(std::to_underlying(time - m_range.from)) / length;
    };
    const auto packet = m_selection.packet();
    const bool timed =
        packet && m_session.index()->has(*packet) && !m_session.index()->row(*packet).has(transport::Mark::timeless);
    m_strip->setPlace(timed ? std::optional(share(m_session.index()->row(*packet).time())) : std::nullopt);
    const auto range = m_selection.range();
    m_strip->setView(range ? std::optional(std::pair(share(range->from), share(range->to))) : std::nullopt);

    const auto shown = static_cast<double>(std::max<std::uint64_t>(1, m_selection.shown()));
    m_bar->setPlace(packet ? std::optional(static_cast<double>(m_selection.positionOf(*packet)) / shown)
                           : std::nullopt);
    const QScrollBar& bar = *m_list.verticalScrollBar();
    const double all = bar.maximum() - bar.minimum() + bar.pageStep();
    m_bar->setView(all > 0 && bar.maximum() > bar.minimum()
                       ? std::optional(std::pair((bar.value() - bar.minimum()) / all,
                                                 (bar.value() - bar.minimum() + bar.pageStep()) / all))
                       : std::nullopt);
}

}  // namespace qps::gui
