#include <dissect/filter/completion.hpp>
#include <dissect/filter/filter.hpp>
#include <gui/base/fixed_font.hpp>
#include <gui/base/look.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/packets/field_tree.hpp>
#include <gui/session/selection.hpp>

#include <QApplication>
#include <QFocusEvent>
#include <QHeaderView>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QScreen>
#include <QTextCharFormat>
#include <algorithm>

namespace qps::gui {

using transport::Severity;

namespace {

constexpr int kRowsShown = 12;
constexpr double kTint = 0.14;

// Filters are bytes to the core; positions in the line are characters.
int charactersBefore(const QString& text, std::size_t bytes) {
    return static_cast<int>(QString::fromUtf8(text.toUtf8().left(static_cast<qsizetype>(bytes))).size());
}
std::size_t bytesBefore(const QString& text, int characters) {
    return static_cast<std::size_t>(text.left(characters).toUtf8().size());
}

}  // namespace

FilterLine::FilterLine(QWidget* parent) : QLineEdit(parent), m_list(new QTreeView(this)) {
    setFont(fixedFont());
    setAccessibleName(tr("Display filter"));
    m_list->setWindowFlags(Qt::ToolTip);  // shown beside the line, which keeps the keyboard
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setModel(&m_offers);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHeaderHidden(true);
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setAccessibleName(tr("Completions"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(m_list, &QTreeView::clicked, this, &FilterLine::take);
    connect(this, &QLineEdit::textChanged, this, &FilterLine::judge);
    connect(this, &QLineEdit::textEdited, this, [this] { offer(); });
    judge();
}

FilterLine::~FilterLine() = default;

void FilterLine::setApplied(const QString& text) {
    m_applied = text;
    judge();
}

void FilterLine::judge() {
    if (m_judging) return;
    const QString typed = text().trimmed();
    m_mistake.reset();
    m_mistake = Selection::mistake(typed);
    if (m_mistake) m_state = State::Invalid;
    else if (typed.isEmpty()) m_state = m_applied.isEmpty() ? State::Empty : State::Valid;
    else m_state = typed == m_applied ? State::Applied : State::Valid;
    paintState();
    underline();
    Q_EMIT judged();
}

void FilterLine::paintState() {
    const QPalette usual = QApplication::palette(this);
    QColor tint = usual.color(QPalette::Base);
    if (m_state == State::Invalid) tint = mixed(tint, textColor(Severity::error, usual), kTint);
    if (m_state == State::Valid && !text().trimmed().isEmpty())
        tint = mixed(tint, textColor(Severity::warning, usual), kTint);
    if (m_state == State::Applied) tint = mixed(tint, color(Ink::Acknowledgment, usual), kTint);
    QPalette shown = palette();
    if (shown.color(QPalette::Base) == tint) return;
    shown.setColor(QPalette::Base, tint);
    m_judging = true;  // a palette that changes asks to be judged again
    setPalette(shown);
    m_judging = false;
}

// A line edit has no formats of its own but draws those of an input method.
void FilterLine::underline() {
    QList<QInputMethodEvent::Attribute> attributes;
    if (m_mistake && !text().isEmpty()) {
        // What is wrong is told of the text without the spaces around it.
        const QString typed = text().trimmed();
        const int leading = static_cast<int>(text().indexOf(typed));
        const int from =
            std::min(leading + charactersBefore(typed, m_mistake->column - 1), static_cast<int>(text().size()) - 1);
        const int to = std::max(from + 1, leading + charactersBefore(typed, m_mistake->column - 1 + m_mistake->length));
        QTextCharFormat format;
        format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        format.setUnderlineColor(textColor(Severity::error, palette()));
        format.setForeground(textColor(Severity::error, palette()));
        attributes.append({QInputMethodEvent::TextFormat, from - cursorPosition(), to - from, format});
    }
    QInputMethodEvent event(QString(), attributes);
    m_judging = true;
    QApplication::sendEvent(this, &event);
    m_judging = false;
}

void FilterLine::offer() {
    const dissect::Completions found =
        dissect::completions(text().toStdString(), bytesBefore(text(), cursorPosition()));
    m_offers.clear();
    for (const dissect::Completion& each : found.list) {
        auto* meaning = new QStandardItem(QString::fromStdString(each.meaning));
        meaning->setForeground(palette().placeholderText());
        m_offers.appendRow({new QStandardItem(QString::fromStdString(each.text)), meaning});
    }
    if (found.list.empty() || !hasFocus()) return m_list->hide();
    m_from = charactersBefore(text(), found.offset);
    m_length = charactersBefore(text(), found.offset + found.length) - m_from;
    m_list->resizeColumnToContents(0);
    m_list->resizeColumnToContents(1);
    window()->installEventFilter(this);
    const int frame = 2 * m_list->frameWidth();
    const int rows = std::min(kRowsShown, m_offers.rowCount());
    const int bar = m_offers.rowCount() > kRowsShown ? style()->pixelMetric(QStyle::PM_ScrollBarExtent) : 0;
    const int wanted = m_list->columnWidth(0) + m_list->columnWidth(1) + frame + bar;
    m_list->resize(std::min(wanted, screen()->availableSize().width() * 3 / 4),
                   rows * m_list->sizeHintForRow(0) + frame);
    m_list->move(mapToGlobal(QPoint(0, height())));
    m_list->show();
}

void FilterLine::take(const QModelIndex& offered) {
    const QString chosen = m_offers.item(offered.row(), 0)->text();
    const bool more = m_from + m_length >= text().size();
    setText(text().replace(m_from, m_length, chosen + (more ? QStringLiteral(" ") : QString())));
    setCursorPosition(m_from + static_cast<int>(chosen.size()) + (more ? 1 : 0));
    m_list->hide();
}

// Keys of the list, as long as it is shown.
bool FilterLine::choose(QKeyEvent* event) {
    if (!m_list->isVisible()) return false;
    const int row = m_list->currentIndex().row();
    const auto go = [this](int to) {
        m_list->setCurrentIndex(m_offers.index(std::clamp(to, 0, m_offers.rowCount() - 1), 0));
    };
    switch (event->key()) {
        case Qt::Key_Down: go(row + 1); return true;
        case Qt::Key_Up: go(row - 1); return true;
        case Qt::Key_PageDown: go(row + kRowsShown); return true;
        case Qt::Key_PageUp: go(row - kRowsShown); return true;
        case Qt::Key_Escape: m_list->hide(); return true;
        case Qt::Key_Tab:
            take(m_list->currentIndex().isValid() ? m_list->currentIndex() : m_offers.index(0, 0));
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!m_list->currentIndex().isValid()) break;
            take(m_list->currentIndex());
            return true;
        default: break;
    }
    return false;
}

// Tab would move on before it came to keyPressEvent().
bool FilterLine::event(QEvent* event) {
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Tab &&
        choose(static_cast<QKeyEvent*>(event))) {
        event->accept();
        return true;
    }
    return QLineEdit::event(event);
}

void FilterLine::keyPressEvent(QKeyEvent* event) {
    if (choose(event)) return event->accept();
    if (event->key() == Qt::Key_Down || (event->key() == Qt::Key_Space && event->modifiers() == Qt::ControlModifier)) {
        offer();
        return event->accept();
    }
    if (event->key() == Qt::Key_Escape) {
        Q_EMIT abandoned();
        return event->accept();
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) m_list->hide();
    QLineEdit::keyPressEvent(event);
    underline();
}

// Text goes where it is dropped; a field takes the place of what is there.
void FilterLine::dropEvent(QDropEvent* event) {
    if (!event->mimeData()->hasFormat(kFilterMime)) return QLineEdit::dropEvent(event);
    event->setDropAction(Qt::CopyAction);
    event->accept();
    Q_EMIT filterDropped(QString::fromUtf8(event->mimeData()->data(kFilterMime)));
}

void FilterLine::focusInEvent(QFocusEvent* event) {
    QLineEdit::focusInEvent(event);
    Q_EMIT focusChanged();
}

void FilterLine::focusOutEvent(QFocusEvent* event) {
    m_list->hide();
    QLineEdit::focusOutEvent(event);
    Q_EMIT focusChanged();
}

void FilterLine::changeEvent(QEvent* event) {
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_judging) paintState();
}

// The list stays where it was shown, so it goes when the window moves.
bool FilterLine::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Move || event->type() == QEvent::Resize) m_list->hide();
    return QLineEdit::eventFilter(watched, event);
}

}  // namespace qps::gui
