#include <gui/base/fixed_font.hpp>
#include <gui/base/look.hpp>
#include <gui/follow/text_lines.hpp>

#include <QAbstractListModel>
#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <algorithm>
#include <cmath>

namespace qps::gui {

namespace {

// As WCAG 2 has it: of 0 to 1.
double luminanceOf(const QColor& color) {
    const auto part = [](float share) {
        return share <= 0.04045F ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
}

// An ink is for lines and shapes, which are seen with less contrast than letters need: it comes nearer to the colour of
// text.
QColor asText(const QColor& ink, const QPalette& palette) {
    constexpr double kReadable = 4.5;  // WCAG 2, AA
    constexpr int kSteps = 10;
    const double ground = luminanceOf(palette.color(QPalette::Base));
    QColor made = ink;
    for (int step = 1; step <= kSteps; ++step) {
        const double own = luminanceOf(made);
        if ((std::max(own, ground) + 0.05) / (std::min(own, ground) + 0.05) >= kReadable) break;
        made = mixed(ink, palette.color(QPalette::Text), static_cast<double>(step) / kSteps);
    }
    return made;
}

}  // namespace

class TextLinesModel : public QAbstractListModel {
public:
    explicit TextLinesModel(QWidget* view) : QAbstractListModel(view), m_view(*view) {}
    void set(std::vector<TextLine> lines) {
        beginResetModel();
        m_lines = std::move(lines);
        endResetModel();
    }
    [[nodiscard]] const std::vector<TextLine>& lines() const { return m_lines; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        const TextLine& line = m_lines[static_cast<std::size_t>(index.row())];
        switch (role) {
            case Qt::DisplayRole:
            case Qt::AccessibleTextRole: return line.text;
            case Qt::ForegroundRole:
                return asText(color(line.from == transport::End::a ? Ink::Request : Ink::Response, m_view.palette()),
                              m_view.palette());
            case Qt::FontRole: {
                if (!line.heading) return {};
                QFont font = m_view.font();
                font.setBold(true);
                return font;
            }
            default: return {};
        }
    }

private:
    QWidget& m_view;
    std::vector<TextLine> m_lines;
};

TextLines::TextLines(const QString& name, QWidget* parent) : QListView(parent), m_lines(new TextLinesModel(this)) {
    setAccessibleName(name);
    setModel(m_lines);
    setFont(fixedFont());
    setUniformItemSizes(true);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    connect(this, &QAbstractItemView::activated, this, &TextLines::lineActivated);
}

void TextLines::setLines(std::vector<TextLine> lines) {
    m_lines->set(std::move(lines));
    if (m_lines->rowCount() != 0) setCurrentIndex(m_lines->index(0));
    clearSelection();
}

const std::vector<TextLine>& TextLines::lines() const { return m_lines->lines(); }

const TextLine* TextLines::currentLine() const {
    return currentIndex().isValid() ? &lines()[static_cast<std::size_t>(currentIndex().row())] : nullptr;
}

std::optional<std::size_t> TextLines::currentNumber() const {
    return currentIndex().isValid() ? std::optional(static_cast<std::size_t>(currentIndex().row())) : std::nullopt;
}

void TextLines::showLine(std::size_t line) {
    const QModelIndex at = m_lines->index(static_cast<int>(line));
    if (!at.isValid()) return;
    setCurrentIndex(at);
    scrollTo(at, QAbstractItemView::PositionAtCenter);
}

void TextLines::showMessage(std::size_t message) {
    const auto found = std::ranges::find(lines(), message, &TextLine::message);
    if (found == lines().end()) return;
    const QModelIndex at = m_lines->index(static_cast<int>(found - lines().begin()));
    setCurrentIndex(at);
    scrollTo(at, QAbstractItemView::PositionAtTop);
}

void TextLines::copy() const {
    QModelIndexList chosen = selectionModel()->selectedIndexes();
    std::sort(chosen.begin(), chosen.end());
    QString text;
    if (chosen.isEmpty())
        for (const TextLine& line : lines()) text += line.text + QLatin1Char('\n');
    for (const QModelIndex& at : chosen) text += at.data().toString() + QLatin1Char('\n');
    if (!text.isEmpty()) QApplication::clipboard()->setText(text);
}

void TextLines::changeEvent(QEvent* event) {
    // The size of the text follows the window, the family stays.
    if (event->type() == QEvent::ApplicationFontChange) setFont(fixedFont());
    QListView::changeEvent(event);
}

}  // namespace qps::gui
