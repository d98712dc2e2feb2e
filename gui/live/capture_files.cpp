#include <gui/base/look.hpp>
#include <gui/live/capture_files.hpp>

#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <algorithm>
#include <utility>
#include <vector>

namespace qps::gui {

namespace {

// What qpscope-capture takes.
constexpr int kMostMegabytes = 1'000'000;
constexpr int kMostSecondsOfFile = 366 * 24 * 60 * 60;
constexpr int kMostFiles = 100'000;

bool areSeveral(const CaptureChoice& choice) { return choice.fileMegabytes > 0 || choice.fileSeconds > 0; }

// "trace.pcapng": "trace_00001.pcapng" and what follows.
QStringList numberedFiles(const QFileInfo& path) {
    const QString suffix =
        path.suffix().isEmpty() || path.completeBaseName().isEmpty() ? QString() : QLatin1Char('.') + path.suffix();
    const QString stem = suffix.isEmpty() ? path.fileName() : path.completeBaseName();
    const QRegularExpression ours(QStringLiteral("^%1_([0-9]{5,9})%2$")
                                      .arg(QRegularExpression::escape(stem), QRegularExpression::escape(suffix)));
    std::vector<std::pair<qulonglong, QString>> found;
    for (const QString& name : path.dir().entryList(QDir::Files | QDir::System))
        if (const auto match = ours.match(name); match.hasMatch())
            found.emplace_back(match.captured(1).toULongLong(), path.dir().filePath(name));
    std::ranges::sort(found);
    QStringList files;
    for (const auto& [number, file] : found) files << file;
    return files;
}

QSpinBox* number(int most, const QString& unlimited, const QString& suffix, const QString& id, const QString& name) {
    auto* box = new QSpinBox;
    box->setRange(0, most);
    box->setSpecialValueText(unlimited);
    box->setSuffix(suffix);
    box->setGroupSeparatorShown(true);
    box->setObjectName(id);
    box->setAccessibleName(name);
    return box;
}

}  // namespace

QStringList capturedFiles(const CaptureChoice& choice) {
    if (choice.file.isEmpty() || !choice.host.isEmpty()) return {};
    const QFileInfo path(choice.file);
    if (areSeveral(choice)) return numberedFiles(path);
    return path.exists() ? QStringList{path.filePath()} : QStringList();
}

QString whyNoFiles(const CaptureChoice& choice) {
    if (choice.file.isEmpty()) return {};
    if (choice.keptFiles > 0 && !areSeveral(choice))
        return FileChoice::tr("To keep the last files, say when a new one begins");
    if (!choice.host.isEmpty()) return {};
    const QFileInfo path(choice.file);
    if (path.isDir() || path.fileName().isEmpty()) return FileChoice::tr("%1: is a folder").arg(choice.file);
    if (!path.dir().exists()) return FileChoice::tr("%1: no such folder").arg(path.path());
    if (!QFileInfo(path.path()).isWritable()) return FileChoice::tr("%1: no file can be made there").arg(path.path());
    const QStringList there = capturedFiles(choice);
    return there.isEmpty() ? QString() : FileChoice::tr("%1: exists, and is not written over").arg(there.front());
}

FileChoice::FileChoice(QWidget* parent)
    : QWidget(parent),
      m_file(new QLineEdit),
      m_choose(new QPushButton(tr("C&hoose..."))),
      m_megabytes(number(kMostMegabytes, tr("any size"), tr(" MB"), QStringLiteral("fileMegabytes"),
                         tr("New file after megabytes"))),
      m_seconds(number(kMostSecondsOfFile, tr("any time"), tr(" s"), QStringLiteral("fileSeconds"),
                       tr("New file after seconds"))),
      m_kept(number(kMostFiles, tr("all"), {}, QStringLiteral("keptFiles"), tr("Files to keep"))),
      m_said(new QLabel) {
    m_file->setObjectName(QStringLiteral("file"));
    m_file->setAccessibleName(tr("File to write to"));
    m_file->setPlaceholderText(tr("none; for example ring.pcapng: captured packets are in the window alone"));
    m_file->setToolTip(tr(
        "qpscope-capture writes the packets there while the window shows them. A file that exists is never written over."));
    m_file->setClearButtonEnabled(true);
    m_choose->setAutoDefault(false);
    m_megabytes->setToolTip(tr("1 MB is a million bytes. Files are called ring_00001.pcapng and so on"));
    m_seconds->setToolTip(tr("Since the first packet of a file"));
    m_kept->setToolTip(tr("Older ones are removed: a ring"));
    m_said->setObjectName(QStringLiteral("filesWrong"));
    m_said->setTextFormat(Qt::PlainText);
    m_said->setWordWrap(true);
    m_said->hide();

    const auto label = [](const QString& text, QWidget* of) {
        auto* made = new QLabel(text);
        made->setBuddy(of);
        return made;
    };
    auto* rows = new QGridLayout(this);
    rows->setContentsMargins({});
    auto* line = new QHBoxLayout;
    line->addWidget(m_file, 1);
    line->addWidget(m_choose);
    auto* limits = new QHBoxLayout;
    limits->addWidget(m_megabytes);
    limits->addWidget(label(tr("or"), m_seconds));
    limits->addWidget(m_seconds);
    limits->addSpacing(fontMetrics().averageCharWidth() * 2);
    limits->addWidget(label(tr("&Keep the last:"), m_kept));
    limits->addWidget(m_kept);
    limits->addStretch();
    rows->addWidget(label(tr("&Write to file:"), m_file), 0, 0);
    rows->addLayout(line, 0, 1);
    rows->addWidget(label(tr("&New file every:"), m_megabytes), 1, 0);
    rows->addLayout(limits, 1, 1);
    rows->addWidget(m_said, 2, 1);
    rows->setColumnStretch(1, 1);

    connect(m_choose, &QPushButton::clicked, this, &FileChoice::choose);
    connect(m_file, &QLineEdit::textChanged, this, &FileChoice::judge);
    for (const QSpinBox* box : {m_megabytes, m_seconds, m_kept})
        connect(box, &QSpinBox::valueChanged, this, &FileChoice::judge);
}

void FileChoice::restore(const CaptureChoice& choice) {
    m_host = choice.host;
    m_file->setText(choice.file);
    m_megabytes->setValue(choice.fileMegabytes);
    m_seconds->setValue(choice.fileSeconds);
    m_kept->setValue(choice.keptFiles);
    judge();
}

void FileChoice::addTo(CaptureChoice& choice) const {
    choice.file = m_file->text().trimmed();
    // The recorder has a folder of its own in mind.
    if (choice.file.isEmpty()) return;
    if (m_host.isEmpty()) choice.file = QFileInfo(choice.file).absoluteFilePath();
    choice.fileMegabytes = m_megabytes->value();
    choice.fileSeconds = m_seconds->value();
    choice.keptFiles = m_kept->value();
}

void FileChoice::setHost(const QString& host) {
    m_host = host;
    m_choose->setEnabled(host.isEmpty());
    judge();
}

bool FileChoice::isRight() const { return m_said->text().isEmpty(); }

void FileChoice::choose() {
    const QString path = QFileDialog::getSaveFileName(this, tr("Write to file"), m_file->text(),
                                                      tr("Captures (*.pcapng *.pcap);;All files (*)"), nullptr,
                                                      QFileDialog::DontConfirmOverwrite);
    if (!path.isEmpty()) m_file->setText(path);
}

void FileChoice::judge() {
    CaptureChoice chosen;
    chosen.host = m_host;
    addTo(chosen);
    m_said->setText(whyNoFiles(chosen));
    m_said->setVisible(!m_said->text().isEmpty());
    for (QSpinBox* box : {m_megabytes, m_seconds, m_kept}) box->setEnabled(!chosen.file.isEmpty());
    QPalette words = palette();
    words.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_said->setPalette(words);
    Q_EMIT changed();
}

void FileChoice::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_said != nullptr) judge();
}

}  // namespace qps::gui
