#include <gui/packets/filter_offers.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/statistics/statistics_rows.hpp>
#include <gui/statistics/statistics_view.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace qps::gui {

using transport::series::Statistics;

namespace {

constexpr int kSoon = 60;             // ms: changes that come together are one
constexpr int kWhileGrowing = 5'000;  // of a capture that goes on: every packet is counted again
constexpr int kProgressEvery = 100;

}  // namespace

StatisticsView::StatisticsView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_of(new QComboBox),
      m_state(new QLabel),
      m_stop(new QToolButton),
      m_pages(new QTabWidget) {
    setAccessibleName(tr("Statistics"));
    build();
    m_due.setSingleShot(true);
    m_looking.setInterval(kProgressEvery);
    connect(&m_due, &QTimer::timeout, this, &StatisticsView::count);
    connect(&m_looking, &QTimer::timeout, this, [this] {
        if (m_done == nullptr || m_pieces == 0) return;
        tell(tr("Counting: %1 %. Esc stops.").arg(100 * m_done->load() / m_pieces));
    });
    connect(&m_job, &SeriesJob::tookLong, this, [this] { m_looking.start(); });
    connect(&m_job, &SeriesJob::failed, this, [this](const QString& sentence) { tell(sentence); });
    connect(&m_job, &SeriesJob::finished, this, [this] {
        m_looking.stop();
        m_stop->setEnabled(false);
        if (m_stale && !m_stopped) refresh();
    });
    const auto anew = [this] {
        m_stopped = false;
        refresh();
    };
    connect(&session, &Session::opened, this, anew);
    connect(&session, &Session::timelineChanged, this, anew);
    connect(m_of, &QComboBox::currentIndexChanged, this, anew);
    for (const auto changed : {&Selection::filterChanged, &Selection::hitsChanged})
        connect(&selection, changed, this, [this, anew] {
            if (of() == Of::Displayed) anew();
        });
}

void StatisticsView::build() {
    m_of->addItems({tr("All packets"), tr("Displayed packets")});
    m_of->setAccessibleName(tr("Packets counted"));
    m_of->setToolTip(tr("Packets counted"));
    m_state->setTextFormat(Qt::PlainText);
    m_state->setAccessibleName(tr("State of the count"));
    m_stop->setText(tr("Stop"));
    m_stop->setToolTip(tr("Stop counting (Esc)"));
    m_stop->setAccessibleName(tr("Stop counting"));
    m_stop->setEnabled(false);
    m_stop->setFocusPolicy(Qt::TabFocus);
    connect(m_stop, &QToolButton::clicked, this, &StatisticsView::stopCounting);
    m_pages->tabBar()->setAccessibleName(tr("Statistics by"));
    m_pages->setAccessibleName(tr("Statistics by"));
    m_pages->setDocumentMode(true);
    for (const StatisticsPage& page : statisticsPages()) {
        auto* sheet = new Sheet(page.title, page.headings);
        connect(sheet, &Sheet::filterMenuWanted, this, [this](QMenu* menu, const QString& filter) {
            if (filter.isEmpty()) return;
            addFilterOffers(*menu, m_selection.filter(), filter,
                            {[this](const QString& text) { m_selection.applyFilter(text); },
                             [this](const QString& text) { m_selection.prepareFilter(text); }});
        });
        connect(sheet, &Sheet::rowActivated, this, [this, sheet] {
            const SheetRow* row = sheet->currentRow();
            if (row == nullptr || row->filter.isEmpty()) return;
            m_selection.applyFilter(row->filter);
            Q_EMIT viewRequested(QStringLiteral("packets"));
        });
        const int at = m_pages->addTab(sheet, page.title);
        m_pages->setTabToolTip(at, page.tip);
    }
    auto* line = new QHBoxLayout;
    line->addWidget(m_of);
    line->addWidget(m_state, 1);
    line->addWidget(m_stop);
    auto* column = new QVBoxLayout(this);
    column->addLayout(line);
    column->addWidget(m_pages, 1);
    setFocusProxy(m_pages->tabBar());
}

StatisticsView::Of StatisticsView::of() const { return static_cast<Of>(m_of->currentIndex()); }

Sheet& StatisticsView::sheet() const { return *qobject_cast<Sheet*>(m_pages->currentWidget()); }

void StatisticsView::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void StatisticsView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale && !m_stopped) refresh();
}

void StatisticsView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && m_job.running()) stopCounting();
    else QWidget::keyPressEvent(event);
}

void StatisticsView::refresh() {
    m_stale = true;
    if (!isVisible()) return;
    const bool growing = m_session.busy() || (of() == Of::Displayed && m_selection.filtering());
    // What is being counted of a growing capture is worth having.
    if (m_job.running() && growing) return;
    if (!m_due.isActive()) m_due.start(growing && !sheet().sheetRows().empty() ? kWhileGrowing : kSoon);
}

void StatisticsView::count() {
    m_stale = false;
    const auto packets = m_session.packets();
    if (packets == 0) {
        m_job.cancel();
        present({});
        return tell(m_session.busy() ? tr("No packets yet.") : tr("No packets. Open a capture with File > Open."));
    }
    const transport::RowSet* hits = of() == Of::Displayed ? m_selection.hits() : nullptr;
    auto only = hits == nullptr ? nullptr : std::make_shared<const transport::RowSet>(*hits);
    m_done = std::make_shared<std::atomic<std::uint64_t>>(0);
    m_pieces = transport::pieces_of(packets);
    m_stop->setEnabled(true);
    m_job.start([this, index = m_session.index(), packets, only = std::move(only),
                 done = m_done](const transport::series::Stop& stop) -> SeriesJob::Delivery {
        auto made = transport::series::statistics(index, packets, only.get(), {stop, done.get()});
        if (!made) return {};
        return [this, statistics = std::make_shared<Statistics>(std::move(*made))] { present(*statistics); };
    });
}

void StatisticsView::present(const Statistics& statistics) {
    const auto put = [this](StatisticsPages page, std::vector<SheetRow> rows) {
        auto* sheet = qobject_cast<Sheet*>(m_pages->widget(static_cast<int>(page)));
        sheet->setEmptyText(tr("Nothing of this among the packets counted."));
        sheet->setRows(std::move(rows));
    };
    const bool none = statistics.census.packets == 0;
    put(StatisticsPages::Properties,
        none ? std::vector<SheetRow>{}
             : propertyRows(statistics, fileFacts(*m_session.index()), *m_session.timeline()));
    put(StatisticsPages::Protocols, protocolRows(statistics));
    put(StatisticsPages::Opcodes, opcodeRows(statistics));
    put(StatisticsPages::Lengths, lengthRows(statistics));
    put(StatisticsPages::Classes, classRows(statistics));
    put(StatisticsPages::Ports, portRows(statistics));
    QString said = tr("%L1 packets counted.").arg(statistics.census.packets);
    if (statistics.unreadable != 0) said += tr(" %L1 can no longer be read.").arg(statistics.unreadable);
    if (statistics.untold_pairs != 0)
        said += tr(" Of %L1 packets the hosts are not listed: there are too many.").arg(statistics.untold_pairs);
    tell(said);
}

void StatisticsView::stopCounting() {
    if (!m_job.running()) return;
    m_stopped = true;
    m_stale = true;
    m_job.cancel();
    m_looking.stop();
    m_stop->setEnabled(false);
    tell(tr("Stopped. Choose the packets again to count them."));
}

}  // namespace qps::gui
