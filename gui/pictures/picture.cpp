#include <dissect/packet/render_value.hpp>
#include <gui/base/look.hpp>
#include <gui/base/symbol.hpp>
#include <gui/base/theme.hpp>
#include <gui/pictures/picture.hpp>
#include <gui/session/actions.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/report/figures.hpp>

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
constexpr double kTallestSvg = 1e6;     // viewers go no further

// All or nothing: a file that cannot be written whole leaves what was there.
std::optional<QString> writeFile(const QString& path, const auto& write) {
    QSaveFile file(path);
    const auto failed = [&] {
        return QObject::tr("Cannot write %1: %2.").arg(QFileInfo(path).fileName(), file.errorString());
    };
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
    const int side = fontMetrics().height() * 5 / 4;  // as in the toolbar of the window
    m_tools->setIconSize(QSize(side, side));
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

void Picture::addBelow(QWidget* widget) { m_column->addWidget(widget); }

void Picture::setWords(const QString& words) {
    m_words->setText(words);
    m_words->setAccessibleDescription(words);
}

bool Picture::can(ActionId id) const { return id == ActionId::ExportPicture; }

void Picture::carryOut(ActionId id) {
    if (can(id)) saveAs();
}

QAction* Picture::addTool(const QString& text, const QString& icon, const QString& tip) {
    QAction* action = m_tools->addAction(icon.isEmpty() ? QIcon() : symbol(icon), text);
    action->setToolTip(tip);
    if (QWidget* button = m_tools->widgetForAction(action)) {
        button->setAccessibleName(text);
        button->setFocusPolicy(Qt::TabFocus);
    }
    return action;
}

void Picture::addSaveTools() {
    for (const auto& [text, ending] : {std::pair{tr("Save as PNG..."), QStringLiteral("png")},
                                       std::pair{tr("Save as SVG..."), QStringLiteral("svg")},
                                       std::pair{tr("Save data as CSV..."), QStringLiteral("csv")}})
        connect(m_menu->addAction(text), &QAction::triggered, this, [this, ending] { askAndSave(ending); });
    auto* button = new QToolButton(m_tools);
    button->setText(tr("Save"));
    button->setToolTip(tr("Save the graph as PNG or SVG, or its data as CSV"));
    button->setAccessibleName(tr("Save graph"));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setMinimumWidth(button->sizeHint().width() +
                            3 * fontMetrics().averageCharWidth());  // the arrow is not at its last letter
    button->setFocusPolicy(Qt::TabFocus);
    auto* choices = new QMenu(button);
    const auto actions = m_menu->actions();
    for (QAction* action : actions.last(3)) choices->addAction(action);
    button->setMenu(choices);
    m_tools->addWidget(button);
}

QPalette Picture::paletteOf(Colors colors) const {
    return colors == Colors::Light ? gui::paletteOf(Theme::Light) : palette();
}

double Picture::captionHeight(const QStringList& lines) const {
    const double line = QFontMetricsF(font()).height();
    return line * 0.5 + 1.2 * line * static_cast<double>(lines.size());
}

void Picture::paintAll(QPainter& painter, const QStringList& caption, const QSizeF& size, double scale,
                       const QPalette& palette) const {
    const double above = captionHeight(caption);
    const QFontMetricsF metrics(font());
    const double margin = metrics.averageCharWidth();
    painter.fillRect(QRectF(0, 0, size.width(), above), palette.color(QPalette::Base));
    painter.setPen(palette.color(QPalette::Text));
    for (qsizetype i = 0; i < caption.size(); ++i) {
        QFont font = this->font();
        font.setBold(i == 0);
        painter.setFont(font);
        const QRectF line(margin, metrics.height() * (0.3 + 1.2 * static_cast<double>(i)), size.width() - 2 * margin,
                          metrics.height());
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         QFontMetricsF(font).elidedText(caption[i], Qt::ElideRight, line.width()));
    }
    painter.setFont(font());
    painter.translate(0, above);
    paintPicture(painter, QSizeF(size.width(), size.height() - above), scale, palette);
}

void Picture::paintOnPage(QPainter& painter, const QSizeF& page) const {
    QSizeF size = pictureSize(kMostPixels);
    const QStringList lines = caption();
    size.rheight() += captionHeight(lines);
    const double scale =
        std::min(page.width() / std::max(1.0, size.width()), page.height() / std::max(1.0, size.height()));
    painter.scale(scale, scale);
    paintAll(painter, lines, size, scale, paletteOf(Colors::Light));
}

std::optional<QString> Picture::savePng(const QString& path, double scale, Colors colors) const {
    const double room = kMostPixels / scale - captionHeight({QString(), QString(), QString()});
    QSizeF size = pictureSize(room);
    const QStringList lines = caption();
    size.rheight() += captionHeight(lines);
    const double bounded =
        std::min({scale, kMostPixels / std::max(1.0, size.width()), kMostPixels / std::max(1.0, size.height())});
    QImage image((size * bounded).toSize().expandedTo(QSize(1, 1)), QImage::Format_RGB32);
    if (image.isNull()) return tr("Cannot write %1: out of memory.").arg(QFileInfo(path).fileName());
    image.setDevicePixelRatio(bounded);
    image.fill(paletteOf(colors).color(QPalette::Base));
    {
        QPainter painter(&image);
        paintAll(painter, lines, size, bounded, paletteOf(colors));
    }
    image.setDotsPerMeterX(static_cast<int>(std::lround(3780 * bounded)));  // 96 dots an inch
    image.setDotsPerMeterY(static_cast<int>(std::lround(3780 * bounded)));
    image.setText(QStringLiteral("Title"), lines.value(0));
    image.setText(QStringLiteral("Description"), lines.mid(1).join(QLatin1Char('\n')));
    image.setText(QStringLiteral("Software"), QStringLiteral("qpscope ") + QStringLiteral(QPSCOPE_VERSION));
    return writeFile(path, [&](QSaveFile& file) {
        if (!image.save(&file, "PNG")) file.cancelWriting();
    });
}

std::optional<QString> Picture::saveSvg(const QString& path, Colors colors) const {
    QSizeF size = pictureSize(kTallestSvg);
    const QStringList lines = caption();
    size.rheight() += captionHeight(lines);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setTitle(lines.value(0));
        generator.setDescription(lines.mid(1).join(QLatin1Char('\n')));
        generator.setResolution(96);
        generator.setSize(size.toSize());
        generator.setViewBox(QRectF(QPointF(0, 0), size));
        QPainter painter(&generator);
        paintAll(painter, lines, size, 1, paletteOf(colors));
    }
    return writeFile(path, [&](QSaveFile& file) { file.write(buffer.data()); });
}

std::optional<QString> Picture::saveCsv(const QString& path) const {
    return writeFile(path, [this](QSaveFile& file) { writeCsv(file); });
}

void Picture::saveAs() { askAndSave(QStringLiteral("png")); }

void Picture::askAndSave(const QString& ending) {
    QStringList filters{tr("Images (*.png)"), tr("Vector graphics (*.svg)"), tr("Data (*.csv)")};
    const QString ofWindow = tr("Images in the colours of the window (*.png)");
    if (isDark(palette())) filters << ofWindow;
    const qsizetype chosen = ending == QLatin1String("svg") ? 1 : ending == QLatin1String("csv") ? 2 : 0;
    QString filter = filters[chosen];
    QString path =
        QFileDialog::getSaveFileName(this, tr("Save %1").arg(m_title), fileName() + QLatin1Char('.') + ending,
                                     filters.join(QLatin1String(";;")), &filter);
    if (path.isEmpty()) return;
    QString format = QFileInfo(path).suffix().toLower();
    if (format != QLatin1String("png") && format != QLatin1String("svg") && format != QLatin1String("csv")) {
        format = ending;
        path += QLatin1Char('.') + ending;
    }
    const Colors colors = filter == ofWindow ? Colors::OfWindow : Colors::Light;
    const auto failure = format == QLatin1String("png")   ? savePng(path, kPngScale, colors)
                         : format == QLatin1String("svg") ? saveSvg(path, colors)
                                                          : saveCsv(path);
    if (failure) QMessageBox::warning(this, m_title, *failure);
    else setWords(tr("Saved to %1.").arg(path));
}

QStringList captionOf(const QString& what, const Session& session, dissect::Instant from, dissect::Instant to) {
    const QString when = QString::fromStdString(dissect::utc(from));
    return {what, QObject::tr("%1, %2 and %3 on, qpscope %4")
                      .arg(session.title(), when, QString::fromStdString(transport::duration_text(to - from)),
                           QStringLiteral(QPSCOPE_VERSION))};
}

}  // namespace qps::gui
