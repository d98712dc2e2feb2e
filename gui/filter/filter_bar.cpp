#include <gui/base/look.hpp>
#include <gui/base/symbol.hpp>
#include <gui/filter/filter_bar.hpp>
#include <gui/filter/filter_line.hpp>
#include <gui/session/selection.hpp>

#include <QHBoxLayout>
#include <QInputDialog>
#include <QVBoxLayout>

namespace qps::gui {

namespace {

constexpr qsizetype kMaxHistory = 30;
constexpr qsizetype kMaxSaved = 100;
constexpr int kMenuWidth = 100;   // characters of a filter in the menu
constexpr QLatin1Char kBar('|');  // between name and filter, which may have more

QString shortened(const QString& filter) {
    return filter.size() > kMenuWidth ? filter.left(kMenuWidth) + QStringLiteral("...") : filter;
}

// An ampersand would be a key of the menu.
QString inMenu(QString text) { return text.replace(QLatin1Char('&'), QStringLiteral("&&")); }

QToolButton* button(const QString& text, const QString& tip, QWidget* parent) {
    auto* made = new QToolButton(parent);
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setAutoRaise(true);
    return made;
}

}  // namespace

FilterBar::FilterBar(Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_line(new FilterLine(this)),
      m_mistake(new QLabel(this)),
      m_apply(button(tr("Apply"), tr("Apply the display filter (Enter)"), this)),
      m_clear(button(tr("Clear"), tr("Clear the display filter (Ctrl+Shift+/)"), this)),
      m_undo(button(QString(), tr("Previous display filter (Alt+Up)"), this)),
      m_redo(button(QString(), tr("Next display filter (Alt+Down)"), this)),
      m_earlier(button(tr("Filters"), tr("Saved and recent display filters"), this)),
      m_menu(new QMenu(this)) {
    m_line->setPlaceholderText(
        tr("Apply a display filter, such as rdma.retransmission or infiniband.bth.destqp == 17   (Ctrl+/)"));
    m_line->setClearButtonEnabled(true);
    m_apply->setIcon(symbol(QStringLiteral("dialog-ok-apply")));
    m_clear->setIcon(symbol(QStringLiteral("edit-clear")));
    m_undo->setIcon(symbol(QStringLiteral("edit-undo")));
    m_redo->setIcon(symbol(QStringLiteral("edit-redo")));
    for (QToolButton* each : {m_apply, m_clear}) each->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    // Over the view below, which would jump if the bar grew and shrank while somebody types.
    m_mistake->setObjectName(QStringLiteral("filterMistake"));
    m_mistake->setTextFormat(Qt::PlainText);
    m_mistake->setAutoFillBackground(true);
    m_mistake->setFrameShape(QFrame::Box);
    m_mistake->setMargin(fontMetrics().height() / 5);
    m_mistake->hide();
    m_earlier->setPopupMode(QToolButton::InstantPopup);
    m_earlier->setMenu(m_menu);
    m_earlier->setMinimumWidth(m_earlier->sizeHint().width() +
                               3 * fontMetrics().averageCharWidth());  // the arrow is not at its last letter
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_line, 1);
    for (QWidget* each : {m_apply, m_clear, m_undo, m_redo, m_earlier}) row->addWidget(each);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 2, 4, 2);
    column->setSpacing(2);
    column->addLayout(row);
    connect(m_line, &QLineEdit::returnPressed, this, &FilterBar::apply);
    connect(m_line, &FilterLine::filterDropped, this, [this](const QString& filter) {
        m_line->setText(filter);
        apply();
    });
    connect(m_line, &FilterLine::judged, this, &FilterBar::showMistake);
    connect(m_line, &FilterLine::abandoned, this, &FilterBar::left);
    connect(m_line, &FilterLine::focusChanged, this, &FilterBar::showMistake);
    connect(m_apply, &QToolButton::clicked, this, &FilterBar::apply);
    connect(m_clear, &QToolButton::clicked, this, &FilterBar::clear);
    connect(m_undo, &QToolButton::clicked, &selection, &Selection::undoFilter);
    connect(m_redo, &QToolButton::clicked, &selection, &Selection::redoFilter);
    connect(m_menu, &QMenu::aboutToShow, this, &FilterBar::fillMenu);
    connect(&selection, &Selection::filterChanged, this, &FilterBar::showSelection);
    connect(&selection, &Selection::filterPrepared, this, &FilterBar::edit);
    showSelection();
}

void FilterBar::edit(const QString& text) {
    if (!text.isEmpty()) m_line->setText(text);
    m_line->setFocus(Qt::ShortcutFocusReason);
    if (text.isEmpty()) m_line->selectAll();
    else m_line->end(false);
}

void FilterBar::apply() {
    if (m_selection.applyFilter(m_line->text())) remember(m_line->text().trimmed());
    else m_line->setFocus();
}

void FilterBar::clear() {
    m_line->clear();
    static_cast<void>(m_selection.applyFilter({}));
}

void FilterBar::showSelection() {
    m_line->setText(m_selection.filter());
    m_line->setApplied(m_selection.filter());
    m_undo->setEnabled(m_selection.canUndoFilter());
    m_redo->setEnabled(m_selection.canRedoFilter());
}

void FilterBar::showMistake() {
    const auto& mistake = m_line->mistake();
    m_apply->setEnabled(!mistake && m_line->state() == FilterLine::State::Valid);
    m_clear->setEnabled(!m_line->text().isEmpty() || !m_selection.filter().isEmpty());
    if (!mistake || !m_line->hasFocus()) return m_mistake->hide();
    QString text = tr("Column %1: %2").arg(mistake->column).arg(QString::fromStdString(mistake->message));
    if (!mistake->suggestion.empty()) text += tr("; did you mean %1?").arg(QString::fromStdString(mistake->suggestion));
    m_mistake->setText(text);
    QPalette shown = m_mistake->palette();
    shown.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_mistake->setPalette(shown);
    placeMistake();
    m_mistake->show();
}

void FilterBar::placeMistake() {
    if (m_mistake->parentWidget() != window()) m_mistake->setParent(window());
    m_mistake->setMaximumWidth(width());
    m_mistake->adjustSize();
    m_mistake->move(m_line->mapTo(window(), QPoint(0, m_line->height() + 2)));
    m_mistake->raise();
}

void FilterBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (m_mistake->isVisible()) placeMistake();
}

void FilterBar::setHistory(const QStringList& history) { m_history = history.mid(0, kMaxHistory); }

void FilterBar::setSaved(const QStringList& saved) {
    m_saved.clear();
    for (const QString& entry : saved)
        if (!entry.section(kBar, 0, 0).isEmpty() && !entry.section(kBar, 1).isEmpty() && m_saved.size() < kMaxSaved)
            m_saved << entry;
}

// Under the name of another it takes its place.
void FilterBar::saveFilter() {
    const QString filter = m_line->text().trimmed();
    bool accepted = false;
    const QString name = QInputDialog::getText(this, tr("Save filter"), tr("Name of %1:").arg(shortened(filter)),
                                               QLineEdit::Normal, {}, &accepted)
                             .trimmed()
                             .remove(kBar);
    if (!accepted || name.isEmpty()) return;
    QStringList saved = m_saved;
    saved.removeIf([&](const QString& entry) { return entry.section(kBar, 0, 0) == name; });
    saved << name + kBar + filter;
    saved.sort(Qt::CaseInsensitive);
    setSaved(saved);
    Q_EMIT savedChanged();
}

void FilterBar::removeSaved(const QString& entry) {
    m_saved.removeAll(entry);
    Q_EMIT savedChanged();
}

void FilterBar::remember(const QString& text) {
    if (text.isEmpty()) return;
    QStringList history = m_history;
    history.removeAll(text);
    history.prepend(text);
    setHistory(history);
    Q_EMIT historyChanged();
}

void FilterBar::fillMenu() {
    m_menu->clear();
    m_menu->addAction(tr("&Save filter..."), this, &FilterBar::saveFilter)
        ->setEnabled(!m_line->mistake() && !m_line->text().trimmed().isEmpty() && m_saved.size() < kMaxSaved);
    QMenu* removed = m_menu->addMenu(tr("&Remove saved filter"));
    removed->setEnabled(!m_saved.isEmpty());
    for (const QString& entry : m_saved)
        removed->addAction(inMenu(entry.section(kBar, 0, 0)), this, [this, entry] { removeSaved(entry); });
    m_menu->addSection(tr("Saved"));
    for (const QString& entry : m_saved)
        addFilter(*m_menu, tr("%1: %2").arg(entry.section(kBar, 0, 0), shortened(entry.section(kBar, 1))),
                  entry.section(kBar, 1));
    m_menu->addSection(tr("Recent"));
    for (const QString& filter : m_history) addFilter(*m_menu, shortened(filter), filter);
}

void FilterBar::addFilter(QMenu& menu, const QString& title, const QString& filter) {
    menu.addAction(inMenu(title), this, [this, filter] {
        m_line->setText(filter);
        apply();
    });
}

}  // namespace qps::gui
