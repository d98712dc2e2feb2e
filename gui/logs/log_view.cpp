#include <gui/base/text.hpp>
#include <gui/logs/log_view.hpp>
#include <gui/session/actions.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/table_tie.hpp>
#include <transport-replay/logs/log_line.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <array>

namespace qps::gui {

using namespace transport;

namespace {

constexpr int kLongestLine = 4096;  // characters that are looked at

struct Way {
    const char* text;
    const char* view;
    const char* tip;
};
constexpr std::array kWays{
    Way{QT_TRANSLATE_NOOP("LogView", "&Ladder"), "ladder",
        QT_TRANSLATE_NOOP("LogView", "Show the messages of the connection")},
    Way{QT_TRANSLATE_NOOP("LogView", "PSN over &time"), "psn",
        QT_TRANSLATE_NOOP("LogView", "Show the PSNs of the connection")},
    Way{QT_TRANSLATE_NOOP("LogView", "Find&ings"), "findings",
        QT_TRANSLATE_NOOP("LogView", "Show the worst finding of the connection")},
    Way{QT_TRANSLATE_NOOP("LogView", "&Packets"), "packets",
        QT_TRANSLATE_NOOP("LogView", "Display the packets of the connection alone")},
};

}  // namespace

LogView::LogView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_candidates(new CandidateModel),
      m_logs(new LogModel) {
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(buildQuestion());
    parts->addWidget(buildLogs());
    parts->setChildrenCollapsible(false);
    (new QVBoxLayout(this))->addWidget(parts);
    setFocusProxy(m_line);

    new TableTie(*m_found, session, selection, [this](TableModel::Row row, const ShownPackets& shown) {
        return shown.any(m_candidates->connection(row));
    });
    new TableTie(*m_lines, session, selection, [this](TableModel::Row row, const ShownPackets&) {
        const auto range = m_selection.range();
        return !range || (m_logs->time(row) && range->contains(*m_logs->time(row)));
    });
    // What to do here does not depend on a capture.
    const auto sayOwn = [this] {
        for (TableView* each : {m_found, m_lines}) each->setNothingRead({});
    };
    for (const auto changed : {&Session::opened, &Session::rowsAdded, &Session::stateChanged})
        connect(&session, changed, this, sayOwn);
    sayOwn();
    for (TableView* each : {m_found, m_lines}) connect(each, &TableView::viewRequested, this, &LogView::viewRequested);
    connect(m_lines, &TableView::rowReached, this, &LogView::reach);
    const auto take = [this] {
        m_logs->setCapture(m_session.timeline(), m_session.index());
        look();
        describeLogs();
    };
    connect(&session, &Session::opened, this, [this, take] {
        if (!m_session.isReadAgain()) m_logs->clear();
        take();
    });
    connect(&session, &Session::timelineChanged, this, take);
    connect(&selection, &Selection::packetChanged, this, &LogView::describeLogs);
    take();
}

void LogView::carryOut(ActionId id) {
    Q_EMIT viewRequested(QStringLiteral("logs"));
    if (id == ActionId::OpenLog) chooseFiles();
    else if (id == ActionId::LogLine) askForLine();
}

void LogView::take(const QStringList& files) {
    Q_EMIT viewRequested(QStringLiteral("logs"));
    open(files);
}

void LogView::takeText(const QString& text) {
    Q_EMIT viewRequested(QStringLiteral("logs"));
    ask(text);
}

QWidget* LogView::buildQuestion() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    m_line = new QLineEdit;
    m_line->setMaxLength(kLongestLine);
    m_line->setPlaceholderText(tr("Paste a line of a log that names hosts, queue pairs or an error"));
    m_line->setAccessibleName(tr("Line of a log"));
    m_line->setClearButtonEnabled(true);
    column->addWidget(m_line);
    m_recognised = new QLabel;
    m_recognised->setTextFormat(Qt::PlainText);
    m_recognised->setWordWrap(true);
    m_recognised->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_recognised);
    m_found = new TableView(m_candidates, QStringLiteral("candidates"));
    m_found->table().setAccessibleName(tr("Connections that fit the line"));
    m_found->putBarsAt(4);
    m_found->keepOneChosen();
    column->addWidget(m_found, 1);
    auto* ways = new QHBoxLayout;
    column->addLayout(ways);
    for (const Way& way : kWays) {
        auto* button = new QPushButton(tr(way.text));
        button->setToolTip(tr(way.tip));
        connect(button, &QPushButton::clicked, this, [this, view = QString::fromLatin1(way.view)] { go(view); });
        ways->addWidget(button);
        m_ways.push_back(button);
    }
    ways->addStretch(1);
    connect(m_line, &QLineEdit::textChanged, this, &LogView::look);
    connect(m_line, &QLineEdit::returnPressed, m_found, [this] { m_found->setFocus(); });
    return page;
}

QWidget* LogView::buildLogs() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    auto* line = new QHBoxLayout;
    column->addLayout(line);
    const auto button = [&](const QString& text, const QString& tip, auto pressed) {
        auto* made = new QPushButton(text);
        made->setToolTip(tip);
        connect(made, &QPushButton::clicked, this, pressed);
        line->addWidget(made);
        return made;
    };
    button(tr("&Open log..."), tr("Show the lines of a log in time with the packets"), [this] { chooseFiles(); });
    m_align =
        button(tr("&Align with packet"),
               tr("The selected line was at the time of the selected packet: move its log there"), [this] { align(); });
    m_unalign = button(tr("&Reset times"), tr("Undo all alignments"), [this] {
        m_logs->unalign();
        describeLogs();
    });
    m_close = button(tr("&Close logs"), tr("Close all logs"), [this] {
        m_logs->clear();
        describeLogs();
    });
    m_opened = new QLabel;
    m_opened->setTextFormat(Qt::PlainText);
    m_opened->setTextInteractionFlags(Qt::TextSelectableByMouse);
    line->addWidget(m_opened, 1);
    m_lines = new TableView(m_logs, QStringLiteral("log"));
    m_lines->table().setAccessibleName(tr("Lines of logs"));
    m_lines->putBarsAt(3);
    m_lines->setEmptyText(tr(
        "No log is open. Open or drop one (dmesg, journalctl, NCCL, UCX) to see its lines in time with the packets."));
    column->addWidget(m_lines, 1);
    connect(m_lines, &TableView::currentChanged, this, &LogView::describeLogs);
    return page;
}

void LogView::ask(const QString& line) {
    m_line->setText(line.simplified().left(kLongestLine));
    m_line->setFocus(Qt::ShortcutFocusReason);
    m_line->selectAll();
}

void LogView::askForLine() {
    const QString copied = QGuiApplication::clipboard()->text().left(kLongestLine).simplified();
    ask(read_log_line(copied.toStdString()).empty() ? m_line->text() : copied);
}

void LogView::look() {
    const LogLine read = read_log_line(m_line->text().toStdString());
    m_candidates->show(read, m_session.timeline());
    QStringList told;
    for (const std::string& each : recognised(read)) told << shown(each);
    const bool asked = !m_line->text().trimmed().isEmpty();
    m_recognised->setText(told.isEmpty() && asked ? tr("No address, queue pair or error found in this line.")
                                                  : told.join(QStringLiteral("; ")));
    m_found->setEmptyText(asked ? tr("No connection matches that line.")
                                : tr("The connections that a line may be about are listed here."));
    for (QPushButton* each : m_ways) each->setEnabled(m_candidates->sources() != 0);
}

void LogView::go(const QString& view) {
    const auto row = m_found->current().value_or(0);
    if (row >= m_candidates->sources()) return;
    const ConnectionId connection = m_candidates->connection(row);
    m_selection.selectConnection(connection);
    if (view == QLatin1String("packets")) m_selection.applyFilter(m_candidates->filter(row));
    if (view == QLatin1String("findings")) {
        const auto& findings = m_session.timeline()->findings;
        const auto found = std::ranges::find(findings, std::optional(connection), &Finding::connection);
        if (found == findings.end()) return Q_EMIT notice(tr("No finding is of this connection alone"));
        m_selection.selectFinding(keyOf(*found));
    }
    Q_EMIT viewRequested(view);
}

// The user chose a line: what it says is looked for, and the packet of its time is selected.
void LogView::reach(TableModel::Row row) {
    const std::string line(m_logs->line(row).substr(0, kLongestLine));
    if (const auto shown = m_logs->place(row).shown; shown != dissect::FrameIndex{}) m_selection.selectPacket(shown);
    m_line->setText(QString::fromStdString(line).simplified());
}

void LogView::align() {
    const auto row = m_lines->current();
    const auto packet = m_selection.packet();
    if (!row || !packet || m_session.index()->row(*packet).has(Mark::timeless)) return;
    if (!m_logs->align(*row, m_session.index()->row(*packet).time())) Q_EMIT notice(tr("This line has no time"));
    describeLogs();
}

void LogView::chooseFiles() {
    QSettings settings;
    const QString key = QStringLiteral("files/logFolder");
    const QStringList files = QFileDialog::getOpenFileNames(this, tr("Open logs"), settings.value(key).toString(),
                                                            tr("Logs (*.log *.txt *.out);;All files (*)"));
    if (files.isEmpty()) return;
    settings.setValue(key, QFileInfo(files.front()).absolutePath());
    open(files);
}

void LogView::open(const QStringList& files) {
    const auto around = m_session.timeline()->first.value_or(dissect::Instant{});
    QStringList problems;
    for (const QString& file : files) {
        auto log = readLog(file, around);
        if (!log) problems << log.error();
        else if (!m_logs->add(std::move(*log)))
            problems << tr("%1: %2 logs are open already").arg(file).arg(LogModel::kMostLogs);
    }
    describeLogs();
    if (problems.isEmpty()) return;
    QMessageBox box(QMessageBox::Warning, tr("Read error"), problems.join(QStringLiteral("\n\n")), QMessageBox::Ok,
                    this);
    box.setTextFormat(Qt::PlainText);
    box.exec();
}

// What is open, and whether its times can be compared with those of the packets.
void LogView::describeLogs() {
    const auto row = m_lines->current();
    m_align->setEnabled(row && m_selection.packet());
    m_unalign->setEnabled(m_logs->logs() != 0);
    m_close->setEnabled(m_logs->logs() != 0);
    QStringList told;
    for (std::size_t at = 0; at < m_logs->logs(); ++at) {
        const LogText& log = m_logs->log(at);
        QString text = tr("%1: %2").arg(log.name, shown(counted(log.entries.size(), "line")));
        if (log.cut) text += tr(", the rest is left out");
        if (!log.has_times()) text += tr(", no times");
        else if (!m_logs->shift(at)) text += tr(", times since boot: align one line with a packet");
        else if (const auto shift = *m_logs->shift(at); shift != dissect::Duration{} && !log.since_boot)
            text += tr(", shifted by %1").arg(shown(duration_text(shift)));
        told << text;
    }
    m_opened->setText(told.join(QStringLiteral("; ")));
}

}  // namespace qps::gui
