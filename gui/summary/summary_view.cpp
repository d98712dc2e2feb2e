#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/summary/empty_page.hpp>
#include <gui/summary/summary_page.hpp>
#include <gui/summary/summary_view.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QMetaObject>

namespace qps::gui {

namespace {

namespace series = transport::series;

// Nothing where it was stopped, or where no packet has a time.
Sparkline::Bars throughputBars(const transport::CaptureIndex& index, const transport::Timeline& timeline,
                               const series::Stop& stop) {
    if (!timeline.first || !timeline.last) return {};
    const series::Range range{*timeline.first, *timeline.last + dissect::Duration{1}};
    const auto all = series::throughput(index, series::Scope{}, range, stop);
    return all ? all->bars(range, all->fold_for(range.length(), Sparkline::kColumns)) : Sparkline::Bars{};
}

}  // namespace

SummaryView::SummaryView(Session& session, Selection& selection, QWidget* parent)
    : QStackedWidget(parent),
      m_session(session),
      m_selection(selection),
      m_empty(new EmptyPage),
      m_page(new SummaryPage) {
    m_worker.setMaxThreadCount(1);
    addWidget(m_empty);
    addWidget(m_page);
    connect(m_empty, &EmptyPage::openRequested, this, &SummaryView::openRequested);
    connect(m_empty, &EmptyPage::captureRequested, this, &SummaryView::captureRequested);
    connect(m_empty, &EmptyPage::fileRequested, this, &SummaryView::fileRequested);
    connect(m_page, &SummaryPage::viewRequested, this, &SummaryView::viewRequested);
    connect(m_page, &SummaryPage::packetWanted, this, [this](quint64 frame) {
        m_selection.selectPacket(dissect::FrameIndex{frame});
        Q_EMIT viewRequested(QStringLiteral("packets"));
    });
    connect(m_page, &SummaryPage::filterWanted, this, [this](const QString& filter) {
        m_selection.applyFilter(filter);
        Q_EMIT viewRequested(QStringLiteral("packets"));
    });
    connect(m_page, &SummaryPage::connectionWanted, this, [this](transport::ConnectionId connection) {
        m_selection.selectConnection(connection);
        Q_EMIT viewRequested(QStringLiteral("connections"));
    });
    connect(&session, &Session::opened, this, [this] {
        ++m_capture;
        m_page->showThroughput({});
        update();
    });
    connect(&session, &Session::timelineChanged, this, [this] {
        update();
        askThroughput();
    });
    connect(&session, &Session::stateChanged, this, &SummaryView::update);
    connect(&session, &Session::progressChanged, this, &SummaryView::update);
    connect(&session, &Session::problemsChanged, this, &SummaryView::update);
    connect(&session, &Session::namesChanged, this, &SummaryView::update);
    update();
    askThroughput();
}

SummaryView::~SummaryView() {
    m_stop = true;
    m_worker.waitForDone();
}

void SummaryView::setRecentFiles(const QStringList& files) { m_empty->setRecentFiles(files); }

void SummaryView::update() {
    if (m_session.state() == Session::State::Empty) return setCurrentWidget(m_empty);
    setCurrentWidget(m_page);
    m_page->show({m_session.timeline(), m_session.title(), m_session.files(), m_session.problems(), m_session.busy(),
                  m_session.busy() ? m_session.progress() : std::nullopt, m_session.isDamaged(),
                  m_session.state() == Session::State::Stopped && !m_session.isLive(), m_session.names()});
}

// One question at a time; what changed meanwhile is asked for when it was answered.
void SummaryView::askThroughput() {
    m_ask_again = m_asking;
    if (m_asking || m_session.state() == Session::State::Empty) return;
    m_asking = true;
    m_worker.start([this, capture = m_capture, index = m_session.index(), timeline = m_session.timeline()] {
        Sparkline::Bars bars = throughputBars(*index, *timeline, [this] { return m_stop.load(); });
        // To nobody if the view is gone: its destructor waits for us.
        QMetaObject::invokeMethod(
            this,
            [this, capture, shown = std::move(bars)]() mutable {
                m_asking = false;
                if (capture == m_capture) m_page->showThroughput(std::move(shown));
                if (m_ask_again) askThroughput();
            },
            Qt::QueuedConnection);
    });
}

}  // namespace qps::gui
