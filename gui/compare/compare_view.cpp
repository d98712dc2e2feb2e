#include <dissect/capture/input_problem.hpp>
#include <gui/base/text.hpp>
#include <gui/compare/compare_view.hpp>
#include <gui/compare/latency_curves.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/report/figures.hpp>

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <thread>

namespace qps::gui {

using namespace transport;
using series::Run;
using series::RunPair;
using series::Trend;

namespace {

Tone toneOfTrend(Trend trend) { return trend == Trend::worse ? Tone::warning : Tone::plain; }

QString trendWord(Trend trend) {
    switch (trend) {
        case Trend::better: return CompareView::tr("better");
        case Trend::worse: return CompareView::tr("worse");
        case Trend::same: return CompareView::tr("same");
        case Trend::other: break;
    }
    return QStringLiteral("-");
}

SheetCell wordsCell(const std::string& text) { return {shown(text), {}, {}}; }

QString namesOf(const QStringList& files) {
    if (files.isEmpty()) return {};
    const QString first = QFileInfo(files.front()).fileName();
    return files.size() == 1
               ? first
               : CompareView::tr("%1 and %n more", nullptr, static_cast<int>(files.size()) - 1).arg(first);
}

// The first of them with its folder.
QString inFolder(const QStringList& files) {
    const QFileInfo first(files.value(0));
    return first.absoluteDir().dirName() + QLatin1Char('/') + first.fileName();
}

struct ReadRun {
    std::optional<Run> run;
    QString problem;
};

// The files as one capture, as the session would read them; its index goes when the figures are made.
ReadRun readRun(const QStringList& files, const Reading& reading, const MemoryBudget& memory,
                const series::Stop& stop) {
    constexpr unsigned kEnough = 8;
    Indexing indexing{.files = {},
                      .jobs = {std::clamp(std::thread::hardware_concurrency(), 1U, kEnough)},
                      .spool_folder = QDir::tempPath().toStdString(),
                      .icrc = reading.icrc,
                      .unordered = reading.unorderedHosts,
                      .link_speed = reading.linkSpeed,
                      .memory = memory};
    for (const QString& file : files) indexing.files.push_back(file.toStdString());
    const auto [index, indexed] = read_index(std::move(indexing), {.stopped = stop});
    if (series::stopped(stop)) return {};
    ReadRun read{series::run_of(*index, indexed.timeline, memory, stop), {}};
    QStringList problems;
    for (const auto& problem : indexed.problems)
        problems << shown(problem.file) + QStringLiteral(": ") + shown(problem.sentence);
    if (indexed.left_out != 0)
        problems << CompareView::tr("%1 left out of latencies: too little memory")
                        .arg(shown(counted(indexed.left_out, "packet")));
    read.problem = problems.join(QStringLiteral("; "));
    return read;
}

std::vector<Heading> comparedHeadings(const QString& what, const QString& meaning) {
    return {{what, meaning, false},
            {CompareView::tr("Before"), CompareView::tr("Of the other capture"), true},
            {CompareView::tr("After"), CompareView::tr("Of the open capture"), true},
            {CompareView::tr("Change"), CompareView::tr("From before to after"), true},
            {CompareView::tr("Trend"), CompareView::tr("Better or worse, where one is; below 5 % neither"), false}};
}

}  // namespace

CompareView::CompareView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_choose(new QPushButton(tr("Compare &with..."))),
      m_stop(new QPushButton(tr("Stop"))),
      m_state(new QLabel),
      m_figures(new Sheet(tr("Figures compared"), comparedHeadings(tr("Figure"), tr("What is measured")))),
      m_findings(
          new Sheet(tr("Findings compared"), comparedHeadings(tr("Finding"), tr("Its name; how often it happened")))),
      m_pairs(new Sheet(tr("Hosts compared"), {{tr("Hosts"), tr("Two hosts that speak"), false},
                                               {tr("Bytes before"), tr("On the wire, both ways"), true},
                                               {tr("Bytes after"), tr("On the wire, both ways"), true},
                                               {tr("p99 before"), tr("99th percentile of message latency"), true},
                                               {tr("p99 after"), tr("99th percentile of message latency"), true},
                                               {tr("Retransmitted before"), tr("Request packets sent again"), true},
                                               {tr("Retransmitted after"), tr("Request packets sent again"), true}})),
      m_curves(new LatencyCurves) {
    build();
    connect(m_choose, &QPushButton::clicked, this, &CompareView::chooseFiles);
    connect(m_stop, &QPushButton::clicked, this, &CompareView::stopReading);
    connect(&m_reading, &SeriesJob::finished, this, [this] { m_stop->setEnabled(false); });
    for (SeriesJob* job : {&m_reading, &m_measuring}) connect(job, &SeriesJob::failed, this, &CompareView::tell);
    connect(&m_measuring, &SeriesJob::finished, this, [this] {
        if (m_stale) measure();
    });
    connect(&session, &Session::opened, this, [this] {
        m_after.reset();
        if (m_readBy != nullptr && *m_readBy != m_session.reading()) compareWith(QStringList(m_files));
        measure();
    });
    connect(&session, &Session::timelineChanged, this, &CompareView::measure);
    connect(m_findings, &Sheet::rowActivated, this, [this] {
        const SheetRow* row = m_findings->currentRow();
        if (row == nullptr || row->filter.isEmpty()) return;
        m_selection.applyFilter(row->filter);
        Q_EMIT viewRequested(QStringLiteral("packets"));
    });
    present();
}

void CompareView::build() {
    setAccessibleName(tr("Before and after"));
    m_choose->setToolTip(tr("Choose the capture of the run before; the open capture is the run after"));
    m_stop->setToolTip(tr("Stop reading (Esc)"));
    m_stop->setEnabled(false);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setWordWrap(true);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setAccessibleName(tr("What is compared"));
    m_curves->setAccessibleName(tr("Latency of both runs"));
    auto* tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->setAccessibleName(tr("Comparison by"));
    tabs->tabBar()->setAccessibleName(tr("Comparison by"));
    auto* first = new QSplitter(Qt::Vertical);
    first->addWidget(m_figures);
    first->addWidget(m_curves);
    first->setChildrenCollapsible(false);
    first->setSizes({2000, 1000});
    tabs->setTabToolTip(tabs->addTab(first, tr("Figures")), tr("Latency, goodput, retransmissions, congestion"));
    tabs->setTabToolTip(tabs->addTab(m_findings, tr("Findings")), tr("What is new, and what no longer happens"));
    tabs->setTabToolTip(tabs->addTab(m_pairs, tr("Hosts")), tr("The same pairs of hosts in both runs"));
    auto* line = new QHBoxLayout;
    line->addWidget(m_choose);
    line->addWidget(m_stop);
    line->addWidget(m_state, 1);
    auto* column = new QVBoxLayout(this);
    column->addLayout(line);
    column->addWidget(tabs, 1);
    setFocusProxy(m_choose);
}

void CompareView::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void CompareView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) measure();
}

void CompareView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && m_reading.running()) stopReading();
    else QWidget::keyPressEvent(event);
}

void CompareView::chooseFiles() {
    QStringList files =
        QFileDialog::getOpenFileNames(this, tr("Capture of the run before"),
                                      QFileInfo(m_session.files().value(0)).absolutePath(), Session::fileFilter());
    files.sort();
    compareWith(files);
}

void CompareView::compareWith(const QStringList& files) {
    if (files.isEmpty()) return;
    if (const QStringList why = Session::whyNotOpened(files); !why.isEmpty()) return tell(why.join(QLatin1Char(' ')));
    m_readBy = std::make_shared<const Reading>(m_session.reading());
    m_stop->setEnabled(true);
    tell(tr("Reading %1...").arg(namesOf(files)));
    // Beside the open capture: a quarter of what that may take.
    m_reading.start([this, files, reading = m_readBy,
                     memory = m_session.memory().part_of(4)](const series::Stop& stop) -> SeriesJob::Delivery {
        auto read = std::make_shared<ReadRun>(readRun(files, *reading, memory, stop));
        if (!read->run) return {};
        return [this, files, read] {
            m_files = files;
            m_problem = read->problem;
            m_before = std::make_shared<const Run>(std::move(*read->run));
            present();
        };
    });
}

void CompareView::stopReading() {
    if (!m_reading.running()) return;
    m_reading.cancel();
    m_stop->setEnabled(false);
    present();
}

// Of the open capture.
void CompareView::measure() {
    m_stale = true;
    if (!isVisible() || (m_measuring.running() && m_session.busy())) return;
    m_stale = false;
    m_measuring.start([this, index = m_session.index(), timeline = m_session.timeline(),
                       memory = m_session.memory()](const series::Stop& stop) -> SeriesJob::Delivery {
        auto run = series::run_of(*index, *timeline, memory, stop);
        if (!run) return {};
        return [this, made = std::make_shared<const Run>(std::move(*run))] {
            m_after = made;
            if (!m_reading.running()) present();
        };
    });
}

void CompareView::present() {
    if (m_before == nullptr || m_after == nullptr || m_session.packets() == 0) {
        const QString first = m_session.packets() == 0
                                  ? tr("Open the capture of the run after, then choose that of the run before.")
                                  : tr("The open capture is the run after. Choose the capture of the run before.");
        for (Sheet* sheet : {m_figures, m_findings, m_pairs}) {
            sheet->setEmptyText(first);
            sheet->setRows({});
        }
        m_curves->setEmptyText(first);
        m_curves->show({}, {});
        return tell(first);
    }
    m_findings->setEmptyText(tr("Neither run has findings."));
    m_pairs->setEmptyText(tr("Neither run has connections."));
    m_curves->setEmptyText(tr("No messages with a latency to draw."));
    std::vector<SheetRow> rows;
    for (const auto& one : series::compare_figures(*m_before, *m_after))
        rows.push_back({{wordsCell(one.name),
                         wordsCell(one.before),
                         wordsCell(one.after),
                         wordsCell(one.change),
                         {trendWord(one.trend), {}, {}}},
                        {},
                        {},
                        toneOfTrend(one.trend)});
    m_figures->setRows(std::move(rows));
    rows.clear();
    for (const auto& one : series::compare_findings(*m_before, *m_after))
        rows.push_back({{wordsCell(one.id),
                         countCell(one.before),
                         countCell(one.after),
                         wordsCell(one.change),
                         {trendWord(one.trend), {}, {}}},
                        one.after == 0 ? QString() : QStringLiteral("rdma.finding == %1").arg(shown(one.id)),
                        {},
                        toneOfTrend(one.trend)});
    m_findings->setRows(std::move(rows));
    fillPairs();
    m_curves->show(m_before->latencies, m_after->latencies);
    const bool alike = namesOf(m_files) == m_session.title();  // then their folders tell
    QString said =
        tr("Before: %1. After: %2.")
            .arg(alike ? inFolder(m_files) : namesOf(m_files), alike ? inFolder(m_session.files()) : m_session.title());
    if (!m_problem.isEmpty()) said += QLatin1Char(' ') + tr("The run before is not whole: %1.").arg(m_problem);
    if (m_session.isDamaged() || m_session.state() == Session::State::Stopped)
        said += QLatin1Char(' ') + tr("The run after is not whole.");
    if (!m_before->judged || !m_after->judged)
        said += QLatin1Char(' ') + tr("Bounds left something out: figures may be too small.");
    if (m_session.busy()) said += QLatin1Char(' ') + tr("The run after is still being read.");
    tell(said);
}

void CompareView::fillPairs() {
    std::vector<SheetRow> rows;
    const RunPair none;
    const auto add = [&](const std::pair<Address, Address>& hosts, const RunPair& before, const RunPair& after) {
        const auto latency = [](const RunPair& pair) -> SheetCell {
            if (pair.latencies.count() == 0) return {QStringLiteral("-"), -1, {}};
            const dissect::Duration p99 = pair.latencies.percentile(99);
            return {shown(duration_text(p99)), static_cast<double>(std::to_underlying(p99)), {}};
        };
        rows.push_back({{{tr("%1 and %2").arg(shown(text(hosts.first)), shown(text(hosts.second))), {}, {}},
                         countCell(before.bytes),
                         countCell(after.bytes),
                         latency(before),
                         latency(after),
                         countCell(before.retransmitted),
                         countCell(after.retransmitted)},
                        {},
                        {},
                        after.retransmitted > before.retransmitted ? Tone::warning : Tone::plain});
    };
    for (const auto& [hosts, before] : m_before->pairs) {
        const auto after = m_after->pairs.find(hosts);
        add(hosts, before, after == m_after->pairs.end() ? none : after->second);
    }
    for (const auto& [hosts, after] : m_after->pairs)
        if (!m_before->pairs.contains(hosts)) add(hosts, none, after);
    m_pairs->setRows(std::move(rows));
}

}  // namespace qps::gui
