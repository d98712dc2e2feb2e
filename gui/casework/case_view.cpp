#include <gui/base/fixed_font.hpp>
#include <gui/base/text.hpp>
#include <gui/casework/case_text.hpp>
#include <gui/casework/case_timeline.hpp>
#include <gui/casework/case_view.hpp>
#include <gui/session/actions.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/casework/case_page.hpp>
#include <transport-replay/casework/case_report.hpp>

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace qps::gui {

namespace {
const QString kFolder = QStringLiteral("files/case");
}  // namespace

CaseView::CaseView(Session& session, Selection&, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_verdict(new QTextBrowser),
      m_timeline(new CaseTimeline),
      m_place(new QLabel),
      m_lines(new QPlainTextEdit) {
    m_verdict->setAccessibleName(tr("Verdict"));
    m_verdict->setOpenLinks(false);
    auto* right = new QSplitter(Qt::Vertical);
    right->addWidget(m_timeline);
    right->addWidget(buildLines());
    right->setChildrenCollapsible(false);
    right->setSizes({1000, 1000});
    auto* parts = new QSplitter(Qt::Horizontal);
    parts->addWidget(m_verdict);
    parts->addWidget(right);
    parts->setChildrenCollapsible(false);
    parts->setSizes({1000, 900});
    auto* column = new QVBoxLayout(this);
    column->addWidget(buildButtons());
    column->addWidget(parts, 1);
    setFocusProxy(m_verdict);

    connect(m_verdict, &QTextBrowser::anchorClicked, this, &CaseView::follow);
    connect(m_timeline, &CaseTimeline::eventChosen, this,
            [this](std::size_t event) { goTo(m_opened->read.events[event].place); });
    connect(&m_job, &SeriesJob::tookLong, this, [this] { say(tr("Reading the case...")); });
    connect(&m_job, &SeriesJob::finished, this, [this] { m_stop->setEnabled(false); });
    connect(&m_job, &SeriesJob::failed, this, &CaseView::say);
    connect(&m_looking, &SeriesJob::failed, this, &CaseView::notice);
    present(nullptr);
}

QWidget* CaseView::buildButtons() {
    auto* page = new QWidget;
    auto* line = new QHBoxLayout(page);
    line->setContentsMargins(0, 0, 0, 0);
    const auto button = [&](const QString& text, const QString& tip, auto pressed) {
        auto* made = new QPushButton(text);
        made->setToolTip(tip);
        connect(made, &QPushButton::clicked, this, pressed);
        line->addWidget(made);
        return made;
    };
    button(tr("Open &folder..."), tr("Judge all files of a folder: logs, counters, settings, dumps, captures"),
           &CaseView::chooseFolder);
    button(tr("Open fi&les..."), tr("Judge some files"), &CaseView::chooseFiles);
    m_stop = button(tr("S&top"), tr("Stop reading (Esc)"), &CaseView::stopWork);
    m_stop->setEnabled(false);
    m_save = button(tr("Save &page..."), tr("Save the verdict as an HTML page that needs nothing else"),
                    &CaseView::savePage);
    line->addStretch(1);
    return page;
}

QWidget* CaseView::buildLines() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    auto* line = new QHBoxLayout;
    column->addLayout(line);
    m_place->setTextFormat(Qt::PlainText);
    m_place->setWordWrap(true);
    line->addWidget(m_place, 1);
    m_connection = new QPushButton(tr("Find &connection"));
    m_connection->setToolTip(tr("Look for the connection of the capture that the line is about"));
    connect(m_connection, &QPushButton::clicked, this,
            [this] { Q_EMIT lineRequested(m_lines->textCursor().block().text()); });
    line->addWidget(m_connection);
    m_lines->setReadOnly(true);
    m_lines->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_lines->setFont(fixedFont());
    m_lines->setAccessibleName(tr("Lines of the file"));
    column->addWidget(m_lines, 1);
    return page;
}

void CaseView::carryOut(ActionId id) {
    Q_EMIT viewRequested(QStringLiteral("case"));
    if (id == ActionId::OpenCase) chooseFolder();
}

void CaseView::take(const QStringList& inputs) {
    Q_EMIT viewRequested(QStringLiteral("case"));
    open(inputs);
}

void CaseView::stopWork() {
    m_job.cancel();
    present(nullptr);
}

void CaseView::open(const QStringList& inputs) {
    if (inputs.isEmpty()) return;
    m_stop->setEnabled(true);
    m_job.start(
        [this, inputs, bytes = m_session.memory().bytes()](const transport::series::Stop& stop) -> SeriesJob::Delivery {
            auto opened = openCase(inputs, bytes, stop);
            if (opened == nullptr) return {};
            return [this, opened = std::move(opened)] { present(opened); };
        });
}

void CaseView::chooseFolder() {
    QSettings settings;
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open case"), settings.value(kFolder).toString());
    if (folder.isEmpty()) return;
    settings.setValue(kFolder, folder);
    open({folder});
}

void CaseView::chooseFiles() {
    QSettings settings;
    const QStringList files = QFileDialog::getOpenFileNames(this, tr("Open case"), settings.value(kFolder).toString());
    if (files.isEmpty()) return;
    settings.setValue(kFolder, QFileInfo(files.front()).absolutePath());
    open(files);
}

void CaseView::present(std::shared_ptr<const OpenedCase> opened) {
    m_looking.cancel();
    m_opened = std::move(opened);
    m_timeline->setCase(m_opened);
    m_lines->clear();
    m_connection->setEnabled(false);
    m_save->setEnabled(m_opened != nullptr && !m_opened->read.files.empty());
    m_place->setText(m_opened == nullptr ? QString() : tr("Choose a place of the evidence, or an event."));
    if (m_opened == nullptr)
        return say(tr("A folder of logs, counters, settings and dumps of the hosts becomes one verdict; captures in it "
                      "are analysed too. Open one, or drop it here."));
    if (m_opened->read.files.empty())
        return say((QStringList(tr("There are no files.")) + m_opened->problems).join(QLatin1Char('\n')));
    m_verdict->setHtml(caseText(*m_opened, palette()));
}

void CaseView::say(const QString& text) { m_verdict->setPlainText(text); }

void CaseView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_opened != nullptr && !m_opened->read.files.empty())
        m_verdict->setHtml(caseText(*m_opened, palette()));
}

void CaseView::follow(const QUrl& link) {
    if (m_opened == nullptr) return;
    if (const auto place = placeOf(link, *m_opened)) goTo(*place);
}

// A packet in the capture, else the line among its neighbours, read once more.
void CaseView::goTo(const casework::Place& place) {
    if (m_opened->isCapture(place)) {
        if (const casework::FoundFile* file = m_opened->fileOf(place))
            Q_EMIT packetRequested(QFile::decodeName(file->path.c_str()), std::max(place.line, 1U));
        return;
    }
    m_looking.start([this, place, opened = m_opened](const transport::series::Stop& stop) -> SeriesJob::Delivery {
        auto part = textAround(*opened, place);
        if (transport::series::stopped(stop)) return {};
        return [this, place, part = std::move(part)] {
            if (part) showLines(place, *part);
            else Q_EMIT notice(tr("The file cannot be read any more."));
        };
    });
}

void CaseView::showLines(const casework::Place& place, const TextPart& part) {
    m_place->setText(shown(casework::place_text(m_opened->read, place)));
    m_lines->setPlainText(part.lines.join(QLatin1Char('\n')));
    const int line = static_cast<int>(place.line) - static_cast<int>(part.first);
    const QTextCursor cursor(m_lines->document()->findBlockByNumber(std::max(line, 0)));
    m_lines->setTextCursor(cursor);
    m_lines->centerCursor();
    QTextEdit::ExtraSelection marked;
    marked.cursor = cursor;
    marked.format.setBackground(palette().color(QPalette::Highlight));
    marked.format.setForeground(palette().color(QPalette::HighlightedText));
    marked.format.setProperty(QTextFormat::FullWidthSelection, true);
    m_lines->setExtraSelections({marked});
    m_connection->setEnabled(m_session.packets() != 0);
}

void CaseView::savePage() {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save page"), QStringLiteral("case.html"), tr("HTML (*.html)"));
    if (path.isEmpty()) return;
    std::string page;
    casework::append_page(page, m_opened->read, m_opened->verdict, QPSCOPE_VERSION);
    QSaveFile file(path);
    const auto size = static_cast<qint64>(page.size());
    if (file.open(QIODevice::WriteOnly) && file.write(page.data(), size) == size && file.commit())
        return Q_EMIT notice(tr("Written to %1").arg(path));
    QMessageBox::warning(this, tr("Save page"), tr("%1: cannot write: %2.").arg(path, file.errorString()));
}

}  // namespace qps::gui
