// What menus and keys of the window do: the table of actions.hpp becomes menus, and each action is carried out.
#include <gui/base/names.hpp>
#include <gui/base/series_job.hpp>
#include <gui/base/symbol.hpp>
#include <gui/base/theme.hpp>
#include <gui/export/evidence_dialog.hpp>
#include <gui/export/exporter.hpp>
#include <gui/export/printing.hpp>
#include <gui/filter/filter_bar.hpp>
#include <gui/follow/text_lines.hpp>
#include <gui/live/capture_dialog.hpp>
#include <gui/live/choice.hpp>
#include <gui/live/recorder.hpp>
#include <gui/session/view.hpp>
#include <gui/tables/sheet.hpp>
#include <gui/tables/table_view.hpp>
#include <gui/window/main_window.hpp>
#include <gui/window/status_line.hpp>
#include <transport-replay/index/event_frames.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QApplication>
#include <QFileDialog>
#include <QInputDialog>
#include <QKeyEvent>
#include <QMenuBar>
#include <QMessageBox>
#include <QPrintDialog>
#include <QPrinter>
#include <QSettings>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>

namespace qps::gui {

using dissect::FrameIndex;

namespace {

constexpr double kLarger = 1.1;
constexpr double kSmallestText = 5;  // points
constexpr double kLargestText = 40;

QString text(std::string_view view) { return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size())); }
QString translated(std::string_view view) { return QCoreApplication::translate("actions", std::string(view).c_str()); }

QList<QKeySequence> keysOf(const ActionRow& row) {
    QList<QKeySequence> keys;
    for (const QString& each : text(row.keys).split(QStringLiteral("; "), Qt::SkipEmptyParts))
        keys << QKeySequence(each);
    return keys;
}

// "Open capture files (Ctrl+O)".
QString tipWithKeys(const QString& tip, const QList<QKeySequence>& keys) {
    return keys.isEmpty()
               ? tip
               : QStringLiteral("%1 (%2)").arg(tip, QKeySequence::listToString(keys, QKeySequence::NativeText));
}

}  // namespace

void MainWindow::buildMenus() {
    QHash<QString, QMenu*> menus;
    const auto menuOf = [&](std::string_view title) {
        QMenu*& menu = menus[text(title)];
        if (menu == nullptr) menu = menuBar()->addMenu(translated(title));
        return menu;
    };
    for (const ActionRow& row : actionRows()) {
        QMenu* menu = menuOf(row.menu);
        if (row.separated && !menu->isEmpty()) menu->addSeparator();
        if (row.id == ActionId::NextTab)
            for (std::size_t i = 0; i < viewRows().size(); ++i) {
                QAction* go = menu->addAction(QCoreApplication::translate("views", viewRows()[i].title));
                if (i < 10) go->setShortcut(QKeySequence(QStringLiteral("Alt+%1").arg((i + 1) % 10)));
                connect(go, &QAction::triggered, this, [this, i] { showView(QString::fromUtf8(viewRows()[i].id)); });
                if (i + 1 == viewRows().size()) menu->addSeparator();
            }
        QAction* action = menu->addAction(translated(row.text));
        action->setShortcuts(keysOf(row));
        action->setStatusTip(translated(row.tip));
        action->setToolTip(tipWithKeys(translated(row.tip), action->shortcuts()));
        if (!row.icon.empty()) action->setIcon(symbol(text(row.icon)));
        action->setIconVisibleInMenu(false);  // a menu is read, not looked at
        connect(action, &QAction::triggered, this, [this, id = row.id] { trigger(id); });
        m_actions.insert(static_cast<int>(row.id), action);
        if (row.id == ActionId::Open) m_recentMenu = menu->addMenu(tr("Open &recent"));
    }
}

void MainWindow::buildToolBar() {
    QToolBar* bar = addToolBar(tr("Main toolbar"));
    bar->setObjectName(QStringLiteral("tools"));
    bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
    const int side = fontMetrics().height() * 5 / 4;  // grows with the text
    bar->setIconSize(QSize(side, side));
    using enum ActionId;
    constexpr std::array<std::optional<ActionId>, 17> kShown{
        Open,       SaveCapture, Reload,     {}, CaptureOptions,  StartStop,  {}, Find, Back, Forward, {},
        GoToPacket, FirstPacket, LastPacket, {}, PreviousFinding, NextFinding};
    for (const auto& id : kShown) {
        if (id) bar->addAction(action(*id));
        else bar->addSeparator();
    }
}

void MainWindow::updateActions() {
    constexpr std::array kAlways{
        ActionId::Open,          ActionId::OpenCase,      ActionId::NewTab,          ActionId::CloseTab,
        ActionId::ImportProfile, ActionId::ExportProfile, ActionId::EditPreferences, ActionId::Quit};
    const bool any = m_session.packets() != 0;
    const bool capturing = m_session.state() == Session::State::Capturing;
    for (const ActionRow& row : actionRows()) {
        const bool always = row.menu == "&Help" || row.menu == "&Capture" || row.menu == "&View" ||
                            std::ranges::find(kAlways, row.id) != kAlways.end();
        action(row.id)->setEnabled(always || any || row.menu == "F&ilter");
    }
    action(ActionId::Close)->setEnabled(m_session.state() != Session::State::Empty);
    action(ActionId::Reload)->setEnabled(m_session.state() != Session::State::Empty && !m_session.isLive());
    action(ActionId::TimeShift)->setEnabled(m_session.canDecodeAs());
    action(ActionId::ExportPicture)->setEnabled(shown() != nullptr && shown()->can(ActionId::ExportPicture));
    action(ActionId::UndoFilter)->setEnabled(m_selection.canUndoFilter());
    action(ActionId::RedoFilter)->setEnabled(m_selection.canRedoFilter());
    action(ActionId::ClearRange)->setEnabled(m_selection.range().has_value());
    const bool going = capturing || m_session.busy();
    action(ActionId::StartStop)->setText(going ? tr("&Stop") : tr("&Start capture"));
    action(ActionId::StartStop)
        ->setIcon(symbol(going ? QStringLiteral("media-playback-stop") : QStringLiteral("media-record")));
}

void MainWindow::trigger(ActionId id) {
    for (const ActionRow& row : actionRows())
        if (row.id == id && !row.view.empty()) return viewOf(row.view).carryOut(id);
    static_cast<void>(triggerFile(id) || triggerEdit(id) || triggerGo(id) || triggerFilter(id) || triggerView(id));
}

bool MainWindow::triggerFile(ActionId id) {
    switch (id) {
        case ActionId::Open: chooseFiles(); return true;
        case ActionId::NewTab: Q_EMIT tabWanted(askFiles()); return true;
        case ActionId::CloseTab: Q_EMIT tabCloseWanted(); return true;
        case ActionId::Reload: m_session.reload(); return true;
        case ActionId::Close:
            if (mayLose()) m_session.close();
            return true;
        case ActionId::SaveCapture: m_exporter->saveCapture(); return true;
        case ActionId::ExportPackets: m_exporter->askPackets(viewOf("packets").selectedFrames()); return true;
        case ActionId::ExportAnalysis: m_exporter->exportAnalysis(); return true;
        case ActionId::Evidence:
            EvidenceDialog(m_session, m_selection, m_exporter->comments(), this).exec();
            return true;
        case ActionId::ExportPicture:
            if (View* view = shown()) view->carryOut(id);
            return true;
        case ActionId::OpenInWireshark: m_exporter->openInWireshark(viewOf("packets").selectedFrames()); return true;
        case ActionId::Print: printView(); return true;
        case ActionId::ImportProfile: importProfile(); return true;
        case ActionId::ExportProfile: exportProfile(); return true;
        case ActionId::Quit: window()->close(); return true;
        case ActionId::CaptureOptions: chooseCapture(); return true;
        case ActionId::StartStop: startOrStop(); return true;
        default: return false;
    }
}

bool MainWindow::triggerEdit(ActionId id) {
    switch (id) {
        case ActionId::Copy: copy(); return true;
        case ActionId::UnmarkAll: m_selection.clearMarks(); return true;
        case ActionId::TimeShift: shiftTimes(); return true;
        case ActionId::EditPreferences: editPreferences(); return true;
        default: return false;
    }
}

bool MainWindow::triggerGo(ActionId id) {
    switch (id) {
        case ActionId::GoToPacket: goToPacket(); return true;
        case ActionId::Back: m_selection.back(); return true;
        case ActionId::Forward: m_selection.forward(); return true;
        case ActionId::NextFinding: goToFinding(1); return true;
        case ActionId::PreviousFinding: goToFinding(-1); return true;
        case ActionId::NextEvent: goToEvent(1); return true;
        case ActionId::PreviousEvent: goToEvent(-1); return true;
        case ActionId::FollowPayload: showView(QStringLiteral("follow")); return true;
        default: return false;
    }
}

bool MainWindow::triggerFilter(ActionId id) {
    switch (id) {
        case ActionId::FocusFilter: m_filterBar->edit(); return true;
        case ActionId::ClearFilter: m_filterBar->clear(); return true;
        case ActionId::UndoFilter: m_selection.undoFilter(); return true;
        case ActionId::RedoFilter: m_selection.redoFilter(); return true;
        case ActionId::ClearRange: m_selection.setRange(std::nullopt); return true;
        default: return false;
    }
}

bool MainWindow::triggerView(ActionId id) {
    switch (id) {
        case ActionId::NextTab: Q_EMIT nextTabWanted(1); return true;
        case ActionId::PreviousTab: Q_EMIT nextTabWanted(-1); return true;
        case ActionId::LargerText: scaleText(kLarger); return true;
        case ActionId::SmallerText: scaleText(1 / kLarger); return true;
        case ActionId::NormalText: scaleText(m_textSize / QApplication::font().pointSizeF()); return true;
        case ActionId::DesktopTheme: setTheme(Theme::Desktop); return true;
        case ActionId::LightTheme: setTheme(Theme::Light); return true;
        case ActionId::DarkTheme: setTheme(Theme::Dark); return true;
        case ActionId::Keys: showKeys(); return true;
        case ActionId::About: showAbout(); return true;
        default: return false;
    }
}

// Of the view that has the keyboard.
void MainWindow::copy() {
    for (QWidget* at = focusWidget(); at != nullptr; at = at->parentWidget())
        if (const auto* table = qobject_cast<TableView*>(at)) return table->copy(TextFormat::Tsv);
        else if (const auto* sheet = qobject_cast<Sheet*>(at)) return sheet->copy();
        else if (const auto* lines = qobject_cast<TextLines*>(at)) return lines->copy();
    viewOf("packets").carryOut(ActionId::Copy);
}

void MainWindow::chooseFiles() { open(askFiles()); }

QStringList MainWindow::askFiles() {
    QSettings settings;
    const QString key = QStringLiteral("files/folder");
    QStringList files =
        QFileDialog::getOpenFileNames(this, tr("Open captures"), settings.value(key).toString(), Session::fileFilter());
    if (files.isEmpty()) return files;
    files.sort();
    settings.setValue(key, QFileInfo(files.front()).absolutePath());
    return files;
}

void MainWindow::printView() {
    QPrinter printer(QPrinter::HighResolution);
    printer.setPageOrientation(QPageLayout::Landscape);
    printer.setDocName(windowTitle());
    QPrintDialog dialog(&printer, this);
    if (dialog.exec() == QDialog::Accepted) print(*m_stack->currentWidget(), m_session, printer);
}

void MainWindow::chooseCapture() {
    CaptureDialog dialog(recorderProgram(), this);
    if (dialog.exec() == QDialog::Accepted) capture(dialog.choice());
}

void MainWindow::startOrStop() {
    if (m_recorder->running()) return m_recorder->stop();
    if (m_session.busy()) return m_session.stop();
    if (const CaptureChoice last = lastChoice(); !last.interface.isEmpty()) return capture(last);
    chooseCapture();
}

void MainWindow::goToPacket() {
    bool chosen = false;
    const auto most = static_cast<double>(m_session.packets());
    const double now = m_selection.packet() ? static_cast<double>(std::to_underlying(*m_selection.packet())) : 1;
    // Of the dialogs of Qt only that of fractions goes past 2^31.
    const double number = QInputDialog::getDouble(
        this, tr("Go to packet"), tr("Packet number (1 to %L1):").arg(m_session.packets()), now, 1, most, 0, &chosen);
    if (!chosen) return;
    showView(QStringLiteral("packets"));
    m_selection.selectPacket(FrameIndex{static_cast<std::uint64_t>(std::llround(number))});
}

void MainWindow::goToFinding(int step) {
    const auto& findings = m_session.timeline()->findings;
    if (findings.empty()) return m_status->say(tr("No findings"));
    // m_finding counts from 1; 0: none was gone to.
    const auto count = static_cast<std::ptrdiff_t>(findings.size());
    const auto at = m_finding == 0 ? (step > 0 ? 0 : count - 1)
                                   : (static_cast<std::ptrdiff_t>(m_finding) - 1 + step + count) % count;
    m_finding = static_cast<std::size_t>(at) + 1;
    const transport::Finding& finding = findings[static_cast<std::size_t>(at)];
    if (finding.connection) m_selection.selectConnection(*finding.connection);
    m_selection.selectFinding(keyOf(finding));
    showView(QStringLiteral("packets"));
    if (!finding.packets.empty()) m_selection.selectPacket(finding.packets.front());
    m_status->say(tr("Finding %1 of %2: %3")
                      .arg(m_finding)
                      .arg(findings.size())
                      .arg(inText(m_session.names().get(), finding.summary)));
}

// One by one through what a finding counts, from the packet that is selected. The finding is the one that was looked at
// last.
void MainWindow::goToEvent(int step) {
    const auto& findings = m_session.timeline()->findings;
    if (findings.empty()) return m_status->say(tr("No findings"));
    if (!m_selection.finding()) m_selection.selectFinding(keyOf(findings.front()));
    const auto finding = std::ranges::find(findings, *m_selection.finding(), keyOf);
    if (finding == findings.end()) return m_status->say(tr("The finding is no longer there"));
    const FindingKey wanted = *m_selection.finding();
    if (m_found.finding == wanted && m_found.timeline == m_session.timeline()) return stepEvents(step);
    m_status->showWork(tr("Looking for events of %1").arg(text(finding->id)), 0);
    m_events->start([this, wanted, finding = *finding, timeline = m_session.timeline(), index = m_session.index(),
                     step](const std::function<bool()>& stop) -> SeriesJob::Delivery {
        auto events = transport::event_frames(finding, *timeline, *index, stop);
        if (stop()) return {};
        return [this, wanted, timeline, step, events = std::move(events)] {
            m_found = {wanted, timeline, events};
            stepEvents(step);
        };
    });
}

void MainWindow::stepEvents(int step) {
    const std::vector<FrameIndex>& events = m_found.frames;
    const QString finding = text(m_found.finding->id);
    if (events.empty()) return m_status->say(tr("No packet shows this finding"));
    const auto here = m_selection.packet().value_or(FrameIndex{});
    const auto after = std::ranges::upper_bound(events, here);
    const auto from = std::ranges::lower_bound(events, here);
    if (step > 0 ? after == events.end() : from == events.begin())
        return m_status->say(step > 0 ? tr("No later event of %1").arg(finding)
                                      : tr("No earlier event of %1").arg(finding));
    const auto at = step > 0 ? after : from - 1;
    showView(QStringLiteral("packets"));
    m_selection.selectPacket(*at);
    m_status->say(tr("Event %L1 of %L2: %3").arg(at - events.begin() + 1).arg(events.size()).arg(finding));
}

void MainWindow::scaleText(double by) {
    QFont font = QApplication::font();
    font.setPointSizeF(std::clamp(font.pointSizeF() * by, kSmallestText, kLargestText));
    QApplication::setFont(font);
}

void MainWindow::setTheme(Theme theme) {
    use(theme);
    QSettings().setValue(QStringLiteral("window/theme"), name(theme));
}

void MainWindow::showKeys() {
    QString rows;
    QString menu;
    for (const ActionRow& row : actionRows()) {
        if (row.keys.empty()) continue;
        if (const QString title = translated(row.menu).remove(QLatin1Char('&')); title != menu) {
            menu = title;
            rows += QStringLiteral("<tr><td colspan=2><b>%1</b></td></tr>").arg(menu.toHtmlEscaped());
        }
        rows += QStringLiteral("<tr><td><code>%1</code>&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(text(row.keys).toHtmlEscaped(), translated(row.tip).toHtmlEscaped());
    }
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Keyboard shortcuts"));
    auto* page = new QTextBrowser;
    page->setHtml(
        QStringLiteral("<table>%1</table>").arg(rows) +
        tr("<p>Alt+1 to Alt+0 switch views. In a graph: wheel, + and - zoom; drag and arrow keys pan; Ctrl+drag selects a "
           "time range for all views; 0 shows everything; G goes to the packet.</p>"));
    auto* column = new QVBoxLayout(&dialog);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(page);
    const QFontMetrics metrics(font());
    dialog.resize(metrics.averageCharWidth() * 84, metrics.height() * 36);
    dialog.exec();
}

void MainWindow::showAbout() {
    QMessageBox::about(
        this, tr("About qpscope"),
        tr("<b>qpscope %1</b><p>RDMA packet analyser and live protocol peer</p><p>Apache License 2.0</p>")
            .arg(QCoreApplication::applicationVersion()));
}

}  // namespace qps::gui
