#include <gui/pictures/picture.hpp>

#include <QBuffer>
#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QMessageBox>
#include <QSaveFile>
#include <QStyle>
#include <QSvgGenerator>
#include <QToolButton>
#include <cmath>

namespace qps::gui {

namespace {

constexpr double kMostPixels = 30'000;  // of an edge; painters end at 32767
constexpr double kPngScale = 2;         // twice as fine as the screen, for print

// All or nothing: a file that cannot be written whole leaves what was there.
std::optional<QString> writeFile(const QString& path, const auto& write) {
    QSaveFile file(path);
    const auto failed = [&] { return QObject::tr("Cannot write %1: %2.").arg(QFileInfo(path).fileName(), file.errorString()); };
    if (!file.open(QIODevice::WriteOnly)) return failed();
    write(file);
    if (file.error() != QFileDevice::NoError || !file.commit()) return failed();
    return std::nullopt;
}

}  // namespace

Picture::Picture(const QString& title, QWidget* parent)
    : QWidget(parent),
      m_title(title),
      m_column(new QVBoxLayout(this)),
      m_tools(new QToolBar(this)),
      m_menu(new QMenu(this)),
      m_words(new QLabel(this)) {
    setAccessibleName(title);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    m_tools->setAccessibleName(tr("Graph toolbar"));
    m_tools->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_column->addWidget(m_tools);
    m_words->setTextFormat(Qt::PlainText);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_words->setAccessibleName(tr("Value at the crosshair"));
    m_words->setMargin(fontMetrics().height() / 5);
    m_column->addWidget(m_words);
}

void Picture::setContent(QWidget* content) {
    m_column->insertWidget(1, content, 1);
    setFocusProxy(content);
}

void Picture::setWords(const QString& words) {
    m_words->setText(words);
    m_words->setAccessibleDescription(words);
}

QAction* Picture::addTool(const QString& text, const QString& icon, const QString& tip) {
    QAction* action = m_tools->addAction(icon.isEmpty() ? QIcon() : QIcon::fromTheme(icon), text);
    action->setToolTip(tip);
    if (QWidget* button = m_tools->widgetForAction(action)) {
        button->setAccessibleName(text);
        button->setFocusPolicy(Qt::TabFocus);
    }
    return action;
}

void Picture::addSaveTools() {
    for (const auto& [text, ending] :
         {std::pair{tr("Save as PNG..."), QStringLiteral("png")}, std::pair{tr("Save as SVG..."), QStringLiteral("svg")},
          std::pair{tr("Save data as CSV..."), QStringLiteral("csv")}})
        connect(m_menu->addAction(text), &QAction::triggered, this, [this, ending] { askAndSave(ending); });
    auto* button = new QToolButton(m_tools);
    button->setText(tr("Save"));
    button->setToolTip(tr("Save the graph as PNG or SVG, or its data as CSV"));
    button->setAccessibleName(tr("Save graph"));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::TabFocus);
    auto* choices = new QMenu(button);
    const auto actions = m_menu->actions();
    for (QAction* action : actions.last(3)) choices->addAction(action);
    button->setMenu(choices);
    m_tools->addWidget(button);
}

std::optional<QString> Picture::savePng(const QString& path, double scale) const {
    const QSizeF size = pictureSize();
    const double bounded = std::min({scale, kMostPixels / std::max(1.0, size.width()), kMostPixels / std::max(1.0, size.height())});
    QImage image((size * bounded).toSize().expandedTo(QSize(1, 1)), QImage::Format_RGB32);
    if (image.isNull()) return tr("Cannot write %1: out of memory.").arg(QFileInfo(path).fileName());
    image.setDevicePixelRatio(bounded);
    image.fill(palette().color(QPalette::Base));
    {
        QPainter painter(&image);
        paintPicture(painter, size, bounded);
    }
    image.setDotsPerMeterX(static_cast<int>(std::lround(3780 * bounded)));  // 96 dots an inch
    image.setDotsPerMeterY(static_cast<int>(std::lround(3780 * bounded)));
    return writeFile(path, [&](QSaveFile& file) {
        if (!image.save(&file, "PNG")) file.cancelWriting();
    });
}

std::optional<QString> Picture::saveSvg(const QString& path) const {
    const QSizeF size = pictureSize();
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setTitle(m_title);
        generator.setResolution(96);
        generator.setSize(size.toSize());
        generator.setViewBox(QRectF(QPointF(0, 0), size));
        QPainter painter(&generator);
        paintPicture(painter, size, 1);
    }
    return writeFile(path, [&](QSaveFile& file) { file.write(buffer.data()); });
}

std::optional<QString> Picture::saveCsv(const QString& path) const {
    return writeFile(path, [this](QSaveFile& file) { writeCsv(file); });
}

void Picture::saveAs() { askAndSave(QStringLiteral("png")); }

void Picture::askAndSave(const QString& ending) {
    const QStringList filters{tr("Images (*.png)"), tr("Vector graphics (*.svg)"), tr("Data (*.csv)")};
    const qsizetype chosen = ending == QLatin1String("svg") ? 1 : ending == QLatin1String("csv") ? 2 : 0;
    QString filter = filters[chosen];
    QString path = QFileDialog::getSaveFileName(this, tr("Save %1").arg(m_title), fileName() + QLatin1Char('.') + ending,
                                                filters.join(QLatin1String(";;")), &filter);
    if (path.isEmpty()) return;
    QString format = QFileInfo(path).suffix().toLower();
    if (format != QLatin1String("png") && format != QLatin1String("svg") && format != QLatin1String("csv")) {
        format = ending;
        path += QLatin1Char('.') + ending;
    }
    const auto failure = format == QLatin1String("png")   ? savePng(path, kPngScale)
                         : format == QLatin1String("svg") ? saveSvg(path)
                                                          : saveCsv(path);
    if (failure) QMessageBox::warning(this, m_title, *failure);
    else setWords(tr("Saved to %1.").arg(path));
}

}  // namespace qps::gui
