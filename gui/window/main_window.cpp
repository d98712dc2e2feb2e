#include <gui/base/names.hpp>
#include <gui/base/series_job.hpp>
#include <gui/export/exporter.hpp>
#include <gui/filter/filter_bar.hpp>
#include <gui/launch/options.hpp>
#include <gui/live/capture_files.hpp>
#include <gui/live/choice.hpp>
#include <gui/live/interfaces.hpp>
#include <gui/live/recorder.hpp>
#include <gui/logs/log_text.hpp>
#include <gui/preferences/preferences.hpp>
#include <gui/session/view.hpp>
#include <gui/window/main_window.hpp>
#include <gui/window/sidebar.hpp>
#include <gui/window/status_line.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

namespace qps::gui {

using dissect::FrameIndex;

namespace {

constexpr qsizetype kMaxRecent = 10;
constexpr QSize kFirstSize{1180, 760};  // device independent; until the user chose another

const QString kGeometry = QStringLiteral("window/geometry");
const QString kState = QStringLiteral("window/state");
const QString kRecent = QStringLiteral("files/recent");
const QString kFilters = QStringLiteral("filter/history");
const QString kSavedFilters = QStringLiteral("filter/saved");
const QString kTextSize = QStringLiteral("window/textSize");

QString titleOf(const ViewRow& row) { return QCoreApplication::translate("views", row.title); }

}  // namespace

MainWindow::MainWindow(std::size_t jobs, QWidget* parent)
    : QMainWindow(parent),
      m_session(jobs),
      m_selection(m_session),
      m_recorder(std::make_unique<Recorder>(recorderProgram())),
      m_exporter(std::make_unique<Exporter>(m_session, m_selection, this)),
      m_events(std::make_unique<SeriesJob>()),
      m_views(viewRows().size()) {
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    m_textSize = QApplication::font().pointSizeF();
    buildLayout();
    buildMenus();
    buildToolBar();
    connectSession();
    restore();
    takePreferences();
    showView(QStringLiteral("summary"));
    for (const ActionId id : {ActionId::NewTab, ActionId::CloseTab, ActionId::NextTab, ActionId::PreviousTab})
        action(id)->setVisible(parentWidget() != nullptr);
    updateTitle();
    updateActions();
    updateSidebar();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildLayout() {
    m_sidebar = new Sidebar;
    for (const ViewRow& row : viewRows())
        m_sidebar->add(QString::fromUtf8(row.id), titleOf(row), QCoreApplication::translate("views", row.tip),
                       row.separated);
    connect(m_sidebar, &QListWidget::currentRowChanged, this, &MainWindow::showRow);

    m_filterBar = new FilterBar(m_selection);
    connect(m_filterBar, &FilterBar::left, this, [this] { m_stack->currentWidget()->setFocus(Qt::OtherFocusReason); });
    m_stack = new QStackedWidget;
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_filterBar);
    column->addWidget(m_stack, 1);
    auto* whole = new QWidget;
    auto* line = new QHBoxLayout(whole);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(0);
    line->addWidget(m_sidebar);
    line->addWidget(right, 1);
    setCentralWidget(whole);
    m_status = new StatusLine(m_session, m_selection);
    setStatusBar(m_status);
    connect(m_status, &StatusLine::problemsRequested, this, qOverload<>(&MainWindow::showProblems));
}

void MainWindow::connectSession() {
    connect(&m_session, &Session::opened, this, &MainWindow::updateTitle);
    connect(&m_session, &Session::opened, this, [this] {
        m_finding = 0;
        if (!m_session.isReadAgain()) m_unsaved = {};
    });
    connect(&m_session, &Session::readAgainRefused, this, [this](const QStringList& why, bool others) {
        QTimer::singleShot(0, this, [this, why, others] { keepWhatIsOpen(why, others); });
    });
    connect(&m_session, &Session::rowsAdded, this,
            [this] { m_unsaved.capture = m_session.isLive() && m_capture.file.isEmpty(); });
    connect(&m_selection, &Selection::marksChanged, this,
            [this] { m_unsaved.marks = m_selection.marks().size() != 0; });
    connect(m_exporter.get(), &Exporter::saved, this,
            [this](Packets packets, bool comments) { m_unsaved.save(packets, comments); });
    connect(&m_session, &Session::stateChanged, this, [this] {
        updateActions();
        if (!m_session.busy() && m_recorder->running()) m_recorder->stop();
        // Said when all is shown: choosing a packet takes back what was said.
        if (!m_session.busy() && m_session.isLive()) tellFiles();
        if (!m_session.busy() && !m_saidOfCapture.isEmpty())
            QTimer::singleShot(0, this, [this] {
                if (!m_session.busy()) m_status->say(std::exchange(m_saidOfCapture, {}).join(QStringLiteral(". ")));
            });
        if (!m_session.busy() && !m_session.problems().isEmpty() && m_session.packets() == 0) showProblems();
    });
    for (const auto changed :
         {&Session::rowsAdded, &Session::timelineChanged, &Session::opened, &Session::stateChanged})
        connect(&m_session, changed, this, &MainWindow::updateSidebar);
    for (const auto changed : {&Selection::packetChanged, &Selection::filterChanged, &Selection::rangeChanged})
        connect(&m_selection, changed, this, &MainWindow::updateActions);
    connect(&m_session, &Session::opened, this, &MainWindow::updateActions);
    connect(&m_session, &Session::rowsAdded, this, [this] {
        if (!action(ActionId::SaveCapture)->isEnabled()) updateActions();  // the first packets
    });
    connect(m_recorder.get(), &Recorder::recording, this, [this](const QString& pipe, const QString& title) {
        m_session.capture(pipe, title);
        showView(QStringLiteral("packets"));
    });
    connect(&m_session, &Session::timelineChanged, this, &MainWindow::stopOnFinding);
    connect(m_recorder.get(), &Recorder::failed, this,
            [this](const QString& sentence) { QMessageBox::warning(this, tr("Capture"), sentence); });
    connect(m_exporter.get(), &Exporter::working, m_status, &StatusLine::showWork);
    connect(m_exporter.get(), &Exporter::statusChanged, this,
            [this](const QString& sentence) { m_status->say(sentence); });
    connect(m_recorder.get(), &Recorder::finished, this, &MainWindow::updateActions);
    connect(&m_session, &Session::opened, this, [this] {
        m_events->cancel();
        m_found = {};
    });
    connect(m_events.get(), &SeriesJob::finished, m_status, [this] { m_status->showWork({}, 1); });
    connect(m_events.get(), &SeriesJob::failed, m_status, [this] { m_status->say(tr("Out of memory")); });
    connect(m_status, &StatusLine::workCancelled, this, &MainWindow::stopWork);
}

const MadeView& MainWindow::made(std::size_t row) {
    if (m_views[row].widget != nullptr) return m_views[row];
    m_views[row] = viewRows()[row].make(m_session, m_selection, *this);
    m_views[row].widget->setObjectName(QString::fromUtf8(viewRows()[row].id));
    m_stack->addWidget(m_views[row].widget);
    if (View* view = m_views[row].view) {
        view->setRecentFiles(m_recent);
        view->loadFrom(QSettings());
    }
    return m_views[row];
}

View& MainWindow::viewOf(std::string_view id) {
    for (std::size_t row = 0; row < viewRows().size(); ++row)
        if (viewRows()[row].id == id && made(row).view != nullptr) return *m_views[row].view;
    Q_UNREACHABLE();
}

View* MainWindow::shown() const {
    const int row = m_sidebar->currentRow();
    return row < 0 ? nullptr : m_views[static_cast<std::size_t>(row)].view;
}

// What views ask for.

void MainWindow::viewRequested(const QString& id) { showView(id); }
void MainWindow::notice(const QString& text) { m_status->say(text); }
void MainWindow::placeChanged(const QString& text) { m_status->describe(text); }
void MainWindow::workChanged(const QString& what, double part) { m_status->showWork(what, part); }
void MainWindow::openRequested() { chooseFiles(); }
void MainWindow::captureRequested() { chooseCapture(); }
void MainWindow::fileRequested(const QString& file) { open({file}); }
void MainWindow::lineRequested(const QString& line) { viewOf("logs").takeText(line); }

void MainWindow::packetRequested(const QString& file, quint64 frame) {
    const QStringList wanted{file};
    if (m_session.files() != wanted) open(wanted);
    if (m_session.files() != wanted) return;  // the user keeps what is open
    showView(QStringLiteral("packets"));
    selectWhenRead(FrameIndex{frame});
}

void MainWindow::commentsChanged(const transport::Comments& all) {
    m_exporter->setComments(transport::Comments(all));
    m_unsaved.comments = true;
}

void MainWindow::showRow(int row) {
    if (row < 0) return;
    QWidget* chosen = made(static_cast<std::size_t>(row)).widget;
    if (m_stack->currentWidget() != chosen) m_status->say({});  // it was said of another view
    m_stack->setCurrentWidget(chosen);
    updateActions();
}

bool MainWindow::showView(const QString& id) {
    const int row = m_sidebar->rowOf(id);
    if (row < 0) return false;
    m_sidebar->setCurrentRow(row);
    m_stack->currentWidget()->setFocus(Qt::OtherFocusReason);
    return true;
}

QString MainWindow::shownView() const { return m_sidebar->id(m_sidebar->currentRow()); }

void MainWindow::updateSidebar() {
    for (int row = 0; row < m_sidebar->count(); ++row) {
        const auto count = viewRows()[static_cast<std::size_t>(row)].count;
        m_sidebar->setCount(row, count != nullptr ? count(m_session) : std::nullopt);
        // While it is read more may come.
        const auto lacks = viewRows()[static_cast<std::size_t>(row)].lacks;
        const char* why =
            lacks != nullptr && m_session.packets() != 0 && !m_session.busy() ? lacks(m_session) : nullptr;
        m_sidebar->setLack(row, why != nullptr ? QCoreApplication::translate("views", why) : QString());
    }
}

// With the folder: many captures are called alike.
void MainWindow::updateTitle() {
    if (m_session.title().isEmpty()) return setWindowTitle(QStringLiteral("qpscope"));
    QString title = m_session.title();
    if (!m_session.isLive() && !m_session.files().isEmpty() && m_session.files().front() != QStringLiteral("-")) {
        QString folder = QFileInfo(m_session.files().front()).absolutePath();
        if (const QString home = QDir::homePath(); home != QStringLiteral("/") && folder.startsWith(home))
            folder.replace(0, home.size(), QLatin1Char('~'));
        title = tr("%1 (%2)").arg(title, folder);
    }
    setWindowTitle(tr("%1 - qpscope").arg(title));
}

void MainWindow::begin(const Options& options) {
    if (!options.filter.isEmpty() && !m_selection.applyFilter(options.filter))
        m_selection.prepareFilter(options.filter);
    open(options.files);
    if (!options.capture.interface.isEmpty()) capture(options.capture);
    if (!options.view.isEmpty()) showView(options.view);
    if (options.packet != 0) selectWhenRead(FrameIndex{options.packet});
}

// As soon as it has been read; until then the list stands at the first.
void MainWindow::selectWhenRead(FrameIndex wanted) {
    if (m_session.index()->has(wanted)) return m_selection.selectPacket(wanted);
    auto* waiting = new QObject(this);
    connect(&m_session, &Session::rowsAdded, waiting, [this, waiting, wanted] {
        if (!m_session.index()->has(wanted)) return;
        disconnect(&m_session, nullptr, waiting, nullptr);
        waiting->deleteLater();
        m_selection.selectPacket(wanted);
    });
    connect(&m_session, &Session::opened, waiting,
            &QObject::deleteLater);  // another capture: nobody asked for its packet
}

void MainWindow::open(const QStringList& files) {
    if (files.isEmpty()) return;
    if (std::ranges::any_of(files, [](const QString& file) { return QFileInfo(file).isDir(); }))
        return viewOf("case").take(files);
    // What is no capture takes nothing away from one that is open.
    if (m_session.state() != Session::State::Empty)
        if (const QStringList why = Session::whyNotOpened(files); !why.isEmpty()) {
            QTimer::singleShot(0, this, [this, why] { showProblems(why, tr("The capture that is open stays.")); });
            return;
        }
    if (!mayLose()) return;
    m_recorder->stop();
    m_session.open(files);
    noteRecent(files);
}

void MainWindow::capture(const CaptureChoice& choice) {
    if (!mayReplaceByCapture()) return;
    m_capture = choice;
    m_saidOfCapture.clear();
    m_recorder->start(choice);
}

// The first finding that is bad enough ends the capture, which then has what led to it.
void MainWindow::stopOnFinding() {
    const auto timeline = m_session.timeline();
    if (m_capture.stopOn == StopOn::Never || m_session.state() != Session::State::Capturing || !m_recorder->running() ||
        timeline == nullptr)
        return;
    const auto worst = m_capture.stopOn == StopOn::Error ? transport::Severity::error : transport::Severity::warning;
    for (const transport::Finding& finding : timeline->findings) {
        if (finding.severity < worst) continue;
        m_recorder->stop();
        if (finding.connection) m_selection.selectConnection(*finding.connection);
        m_selection.selectFinding(keyOf(finding));
        m_saidOfCapture << tr("Capture stopped on %1").arg(inText(m_session.names().get(), finding.summary));
        return;
    }
}

// Where the packets are. What the list had no place for is in the last files: they are opened, unless somebody wrote
// comments or marks.
void MainWindow::tellFiles() {
    if (m_capture.file.isEmpty()) return;
    if (!m_capture.host.isEmpty()) {
        m_saidOfCapture << tr("Written to %1 on %2").arg(m_capture.file, m_capture.host);
        return;
    }
    const QStringList files = capturedFiles(m_capture);
    if (files.isEmpty()) return;
    const auto name = [](const QString& file) { return QFileInfo(file).fileName(); };
    m_saidOfCapture
        << (files.size() == 1
                ? tr("Written to %1").arg(name(files.front()))
                : tr("Written to %L1 files, %2 to %3").arg(files.size()).arg(name(files.front()), name(files.back())));
    if (m_session.leftOut() == 0 || !m_unsaved.none()) return;
    m_saidOfCapture << tr("%L1 packets had no place in the list: these are the files").arg(m_session.leftOut());
    QTimer::singleShot(0, this, [this, files] {
        m_session.open(files);
        noteRecent(files);
    });
}

void MainWindow::noteRecent(const QStringList& files) {
    for (const QString& file : files) {
        if (file == QStringLiteral("-")) continue;
        const QString path = QFileInfo(file).absoluteFilePath();
        m_recent.removeAll(path);
        m_recent.prepend(path);
    }
    m_recent = m_recent.mid(0, kMaxRecent);
    QSettings().setValue(kRecent, m_recent);
    fillRecent();
    for (const MadeView& each : m_views)
        if (each.view != nullptr) each.view->setRecentFiles(m_recent);
}

void MainWindow::fillRecent() {
    m_recentMenu->clear();
    m_recentMenu->setEnabled(!m_recent.isEmpty());
    for (const QString& file : m_recent) {
        QString shown = file;
        QAction* entry = m_recentMenu->addAction(shown.replace(QLatin1Char('&'), QStringLiteral("&&")));
        connect(entry, &QAction::triggered, this, [this, file] { open({file}); });
    }
}

void MainWindow::showProblems() {
    showProblems(m_session.problems(),
                 m_session.packets() != 0 ? tr("The packets before the error are shown and analysed.") : QString());
}

void MainWindow::showProblems(const QStringList& problems, const QString& more) {
    QMessageBox box(QMessageBox::Warning, tr("Read error"), problems.join(QStringLiteral("\n\n")), QMessageBox::Ok,
                    this);
    box.setInformativeText(more);
    box.setTextFormat(Qt::PlainText);
    box.exec();
}

void MainWindow::restore() {
    QSettings settings;
    resize(kFirstSize);
    if (parentWidget() == nullptr) restoreGeometry(settings.value(kGeometry).toByteArray());
    restoreState(settings.value(kState).toByteArray());
    m_recent = settings.value(kRecent).toStringList().mid(0, kMaxRecent);
    fillRecent();
    m_filterBar->setHistory(settings.value(kFilters).toStringList());
    m_filterBar->setSaved(settings.value(kSavedFilters).toStringList());
    connect(m_filterBar, &FilterBar::savedChanged, this,
            [this] { QSettings().setValue(kSavedFilters, m_filterBar->saved()); });
    connect(m_filterBar, &FilterBar::historyChanged, this,
            [this] { QSettings().setValue(kFilters, m_filterBar->history()); });
    if (const double size = settings.value(kTextSize, m_textSize).toDouble(); size != m_textSize)
        scaleText(size / m_textSize);
}

QString MainWindow::geometryKey() { return kGeometry; }

void MainWindow::remember() {
    QSettings settings;
    settings.setValue(kGeometry, window()->saveGeometry());
    settings.setValue(kState, saveState());
    settings.setValue(kTextSize, QApplication::font().pointSizeF());
    for (const MadeView& each : m_views)
        if (each.view != nullptr) each.view->saveTo(settings);
}

// Saving takes its time: who wants that asks again when it is done.
bool MainWindow::mayLose() {
    if (m_unsaved.none()) return true;
    const auto answer =
        QMessageBox::question(this, tr("Not saved"), m_unsaved.question(),
                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    if (answer == QMessageBox::Save && m_unsaved.onlyMarks()) m_exporter->exportPackets(Packets::Marked);
    else if (answer == QMessageBox::Save) m_exporter->saveCapture();
    if (answer == QMessageBox::Discard) m_unsaved = {};
    return answer == QMessageBox::Discard;
}

// What is open is not dropped for a live capture without a question, be it saved or not.
bool MainWindow::mayReplaceByCapture() {
    if (!m_unsaved.none() || m_session.packets() == 0 || m_session.isLive()) return mayLose();
    return QMessageBox::question(this, tr("Start capture"),
                                 tr("%1 is open. Close it and start a capture?").arg(m_session.title()),
                                 QMessageBox::Yes | QMessageBox::Cancel, QMessageBox::Cancel) == QMessageBox::Yes;
}

// Where the files are others by now they can be opened as what they are: without what was known of the packets before.
void MainWindow::keepWhatIsOpen(const QStringList& why, bool others) {
    if (!others) return showProblems(why, tr("The capture that is open stays as it is."));
    QMessageBox box(QMessageBox::Question, tr("Reload"), why.join(QStringLiteral("\n\n")),
                    QMessageBox::Open | QMessageBox::Cancel, this);
    box.setInformativeText(
        tr("The capture that is open stays as it is. Open the other one in its place, without comments and marks?"));
    box.setTextFormat(Qt::PlainText);
    box.setDefaultButton(QMessageBox::Cancel);
    if (box.exec() != QMessageBox::Open || !mayLose()) return;
    m_session.open(QStringList(m_session.files()), Clocks(m_session.clocks()));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayLose()) return event->ignore();
    remember();
    m_recorder->stop();
    m_session.stop();
    QMainWindow::closeEvent(event);
}

// What no view takes begins a filter, as users are used to; a filter begins with a letter, or with "not" as !.
void MainWindow::keyPressEvent(QKeyEvent* event) {
    const QString typed = event->text();
    const bool plain = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == 0;
    if (event->key() == Qt::Key_Escape) endWhatGoesOn();
    else if (plain && !typed.isEmpty() &&
             (typed[0].isLetter() || typed[0] == QLatin1Char('!') || typed[0] == QLatin1Char('(')))
        m_filterBar->edit(typed);
    else QMainWindow::keyPressEvent(event);
}

// Esc: the last thing that was begun. A live capture is too dear to end so.
void MainWindow::endWhatGoesOn() {
    if (m_session.state() == Session::State::Reading) m_session.stop();
    else if (m_selection.filtering()) m_selection.stopFiltering();
    else if (m_events->running() || m_exporter->isScanning() || viewsWork()) stopWork();
    else m_selection.setRange(std::nullopt);
}

bool MainWindow::viewsWork() const {
    return std::ranges::any_of(m_views,
                               [](const MadeView& each) { return each.view != nullptr && each.view->working(); });
}

// What the status line shows the progress of beside reading and filtering.
void MainWindow::stopWork() {
    m_events->cancel();
    for (const MadeView& each : m_views)
        if (each.view != nullptr && each.view->working()) each.view->stopWork();
    m_exporter->stopScan();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() || event->mimeData()->hasText()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    files.sort();
    if (files.isEmpty() && event->mimeData()->hasText()) return viewOf("logs").takeText(event->mimeData()->text());
    // What is text and no capture is a log, where there is a capture to look at beside it.
    const bool areLogs = m_session.state() != Session::State::Empty && !files.isEmpty() &&
                         std::ranges::all_of(files, looksLikeText) &&
                         Session::whyNotOpened(files).size() == files.size();
    if (areLogs) viewOf("logs").take(files);
    else open(files);
}

}  // namespace qps::gui
