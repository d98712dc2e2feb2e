#include <gui/base/look.hpp>
#include <gui/base/symbol.hpp>
#include <gui/packets/find_bar.hpp>

#include <QApplication>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QToolButton>
#include <array>
#include <chrono>
#include <utility>

namespace qps::gui {

namespace {

struct KindRow {
    SearchKind kind;
    const char* title;
    const char* example;
};
constexpr std::array kKinds{
    KindRow{SearchKind::Filter, QT_TRANSLATE_NOOP("FindBar", "Display filter"),
            "rdma.retransmission or rdma.icrc.status == bad"},
    KindRow{SearchKind::Text, QT_TRANSLATE_NOOP("FindBar", "Info text"), "nak=PSN_SEQUENCE_ERROR"},
    KindRow{SearchKind::Bytes, QT_TRANSLATE_NOOP("FindBar", "Bytes (hex)"), "0a 4d 00 0b"},
    KindRow{SearchKind::Psn, QT_TRANSLATE_NOOP("FindBar", "PSN"), "4711"},
};

constexpr int kProgressSteps = 1000;

}  // namespace

FindBar::FindBar(QWidget* parent)
    : QWidget(parent),
      m_kind(new QComboBox(this)),
      m_text(new QLineEdit(this)),
      m_previous(new QToolButton(this)),
      m_next(new QToolButton(this)),
      m_progress(new QProgressBar(this)),
      m_message(new QLabel(this)) {
    setObjectName(QStringLiteral("findBar"));
    for (const KindRow& row : kKinds) m_kind->addItem(tr(row.title));
    m_kind->setAccessibleName(tr("Search by"));
    m_text->setAccessibleName(tr("Search for"));
    m_text->setClearButtonEnabled(true);
    m_message->setAccessibleName(tr("Search result"));
    m_message->setTextFormat(Qt::PlainText);  // error messages repeat what was typed
    m_progress->setRange(0, kProgressSteps);
    m_progress->setTextVisible(false);
    m_progress->setMaximumWidth(fontMetrics().height() * 8);
    m_progress->setAccessibleName(tr("Search progress"));
    const auto button = [](QToolButton* made, const char* icon, const QString& text, const QString& tip) {
        made->setIcon(symbol(QLatin1String(icon)));
        made->setText(text);
        made->setToolTip(tip);
        made->setAccessibleName(text);
        made->setAutoRaise(true);
    };
    button(m_previous, "go-up", tr("Find previous"), tr("Find the previous packet (Ctrl+B)"));
    button(m_next, "go-down", tr("Find next"), tr("Find the next packet (Ctrl+N)"));
    auto* close = new QToolButton(this);
    button(close, "edit-clear", tr("Close"), tr("Close the find bar (Esc)"));

    auto* row = new QHBoxLayout(this);
    const int gap = fontMetrics().height() / 4;
    row->setContentsMargins(gap, gap, gap, gap);
    auto* label = new QLabel(tr("F&ind:"), this);
    label->setBuddy(m_text);
    row->addWidget(label);
    row->addWidget(m_kind);
    row->addWidget(m_text, 1);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    row->addWidget(m_progress);
    row->addWidget(m_message);
    row->addWidget(close);
    m_progress->hide();

    const auto showExample = [this](int kind) {
        m_text->setPlaceholderText(QString::fromLatin1(kKinds[static_cast<std::size_t>(std::max(0, kind))].example));
    };
    showExample(0);
    connect(m_kind, &QComboBox::currentIndexChanged, this, showExample);
    connect(m_text, &QLineEdit::textEdited, this, [this] { say({}, false); });
    connect(m_next, &QToolButton::clicked, this, &FindBar::findNext);
    connect(m_previous, &QToolButton::clicked, this, &FindBar::findPrevious);
    connect(close, &QToolButton::clicked, this, [this] {
        cancel();
        hide();
        Q_EMIT closed();
    });
}

FindBar::~FindBar() = default;

void FindBar::setSource(std::function<std::unique_ptr<PacketRows>()> rows,
                        std::function<std::optional<dissect::FrameIndex>()> from) {
    cancel();
    m_rows = std::move(rows);
    m_from = std::move(from);
}

void FindBar::open() {
    show();
    m_text->setFocus();
    m_text->selectAll();
}

void FindBar::setKind(SearchKind kind) { m_kind->setCurrentIndex(static_cast<int>(kind)); }
void FindBar::setText(const QString& text) { m_text->setText(text); }
QString FindBar::message() const { return m_message->text(); }

void FindBar::say(const QString& text, bool wrong) {
    QPalette colours = palette();
    if (wrong) colours.setColor(QPalette::WindowText, textColor(transport::Severity::error, palette()));
    m_message->setPalette(colours);
    m_message->setText(text);
}

void FindBar::setSearching(bool on) {
    m_searching = on;
    m_progress->setVisible(on);
    m_progress->setValue(0);
}

void FindBar::find(SearchWay way) {
    if (!m_rows) return;
    auto what =
        PacketSearch::make(kKinds[static_cast<std::size_t>(std::max(0, m_kind->currentIndex()))].kind, m_text->text());
    if (!what) {
        open();
        return say(what.error(), true);
    }
    search(std::move(*what), way);
}

void FindBar::search(PacketSearch what, SearchWay way) {
    cancel();
    setSearching(true);
    say({}, false);
    std::shared_ptr<PacketRows> rows = m_rows();
    const dissect::FrameIndex from = m_from().value_or(dissect::FrameIndex{1});
    const std::uint64_t number = ++m_number;
    m_worker = std::jthread([this, rows, what = std::move(what), from, way, number](const std::stop_token& stop) {
        using Clock = std::chrono::steady_clock;
        constexpr auto kReportEvery = std::chrono::milliseconds(50);
        Clock::time_point reported = Clock::now();
        const auto goOn = [&](double part) {
            if (const auto now = Clock::now(); now - reported > kReportEvery) {
                reported = now;
                QMetaObject::invokeMethod(this, [this, part, number] {
                    if (number == m_number) m_progress->setValue(static_cast<int>(part * kProgressSteps));
                });
            }
            return !stop.stop_requested();
        };
        const SearchResult result = searchPackets(*rows, what, from, way, goOn);
        QMetaObject::invokeMethod(
            this,
            [this, result, way, number] {
                if (number == m_number) ended(result, way);
            },
            Qt::QueuedConnection);
    });
}

void FindBar::cancel() {
    if (!m_searching) return;
    ++m_number;
    m_worker = {};  // asks it to stop, which it hears within milliseconds, and waits
    ended({.cancelled = true}, SearchWay::Forward);
}

void FindBar::ended(const SearchResult& result, SearchWay way) {
    setSearching(false);
    m_result = result;
    if (result.cancelled) say(tr("Search stopped"), false);
    else if (!result.frame) say(tr("No displayed packet matches"), true);
    else if (result.wrapped)
        say(way == SearchWay::Forward ? tr("Wrapped to the start") : tr("Wrapped to the end"), false);
    if (result.frame) Q_EMIT found();
    Q_EMIT finished();
}

void FindBar::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Escape:
            if (m_searching) return cancel();
            hide();
            Q_EMIT closed();
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter: return event->modifiers().testFlag(Qt::ShiftModifier) ? findPrevious() : findNext();
        default: QWidget::keyPressEvent(event);
    }
}

}  // namespace qps::gui
