#include <gui/summary/summary_page.hpp>
#include <gui/summary/summary_text.hpp>

#include <QEvent>
#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QTextDocumentFragment>
#include <QVBoxLayout>
#include <array>
#include <cmath>

namespace qps::gui {

namespace {

QFont scaled(QFont font, double factor, bool bold) {
    font.setPointSizeF(font.pointSizeF() * factor);
    font.setBold(bold);
    return font;
}

// Text that is the same leaves the user's selection alone.
void put(QLabel& label, const QString& text) {
    if (label.text() == text) return;
    label.setText(text);
    // The name of a card is its title: who cannot see it hears this.
    label.setAccessibleDescription(QTextDocumentFragment::fromHtml(text).toPlainText());
}

}  // namespace

SummaryPage::SummaryPage(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Capture summary"));
    auto* page = new QWidget;
    m_grid = new QGridLayout(page);
    m_grid->setColumnStretch(0, 1);
    m_title = new QLabel;
    m_title->setFont(scaled(font(), 1.5, true));
    m_title->setTextFormat(Qt::PlainText);
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_title->setWordWrap(true);
    m_progress = new QLabel;
    m_progress->setWordWrap(true);
    m_grid->addWidget(m_title, 0, 0, 1, 2);
    m_grid->addWidget(m_progress, 1, 0, 1, 2);
    m_throughput = new Sparkline;
    m_capture = addCard(tr("Capture"), m_throughput);
    m_quality = addCard(tr("Capture quality"));
    m_findings = addCard(tr("Findings"));
    m_connections = addCard(tr("Connections with most errors"));
    m_messages = addCard(tr("Messages"));
    arrange();
    setWidget(page);
    connect(m_throughput, &Sparkline::activated, this, [this] { Q_EMIT viewRequested(QStringLiteral("throughput")); });
}

QLabel* SummaryPage::addCard(const QString& title, QWidget* below) {
    auto* card = new QFrame;
    card->setFrameShape(QFrame::StyledPanel);
    card->setAutoFillBackground(true);
    card->setBackgroundRole(QPalette::Base);
    auto* lines = new QVBoxLayout(card);
    auto* heading = new QLabel(title);
    heading->setFont(scaled(font(), 1.15, true));
    auto* text = new QLabel;
    text->setTextFormat(Qt::RichText);
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    text->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
    text->setAccessibleName(title);
    lines->addWidget(heading);
    lines->addWidget(text);
    lines->addStretch(1);
    if (below != nullptr) lines->addWidget(below);
    m_cards.push_back(card);
    connect(text, &QLabel::linkActivated, this, &SummaryPage::follow);
    return text;
}

// Two cards beside each other where there is room; findings have the whole width.
void SummaryPage::arrange() {
    struct GridCell {
        int row, column, columns;
    };
    constexpr std::array<GridCell, 5> kWide{{{2, 0, 1}, {2, 1, 1}, {3, 0, 2}, {4, 0, 1}, {4, 1, 1}}};
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        const GridCell place = m_is_narrow ? GridCell{static_cast<int>(i) + 2, 0, 2} : kWide[i];
        m_grid->removeWidget(m_cards[i]);
        m_grid->addWidget(m_cards[i], place.row, place.column, 1, place.columns);
    }
    m_grid->setColumnStretch(1, m_is_narrow ? 0 : 1);
    m_grid->setRowStretch(static_cast<int>(m_cards.size()) + 2, 1);
}

void SummaryPage::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    constexpr int kCharactersBeside = 150;
    const bool narrow = viewport()->width() < kCharactersBeside * fontMetrics().averageCharWidth();
    if (narrow == m_is_narrow) return;
    m_is_narrow = narrow;
    arrange();
}

void SummaryPage::show(const SummaryInput& input) {
    const bool is_known = m_input.timeline == input.timeline && m_input.title == input.title &&
                          m_input.files == input.files && m_input.problems == input.problems &&
                          m_input.damaged == input.damaged && m_input.cancelled == input.cancelled &&
                          m_input.names == input.names;
    m_input = input;
    if (!is_known) fill();
    fillProgress();
}

void SummaryPage::fillProgress() {
    m_progress->setVisible(m_input.reading);
    put(*m_progress,
        m_input.progress
            ? tr("Reading, %1 % done. Figures cover the part read so far.").arg(std::floor(100 * *m_input.progress))
            : tr("Capturing. Figures cover the packets received so far."));
}

void SummaryPage::fill() {
    if (m_input.timeline == nullptr) return;
    const transport::Timeline& timeline = *m_input.timeline;
    put(*m_title, m_input.title);
    put(*m_capture, captureText(timeline, m_input.files, m_input.problems, palette()));
    put(*m_quality, qualityText(timeline, {.damaged = m_input.damaged, .cancelled = m_input.cancelled}, palette()));
    put(*m_findings, findingsText(timeline, palette(), m_input.names.get()));
    put(*m_connections, connectionsText(timeline, palette(), m_input.names.get()));
    put(*m_messages, messagesText(timeline));
}

void SummaryPage::follow(const QString& link) {
    const QString value = link.section(QLatin1Char(':'), 1);
    if (link.startsWith(QLatin1String("frame:"))) Q_EMIT packetWanted(value.toULongLong());
    else if (link.startsWith(QLatin1String("filter:"))) Q_EMIT filterWanted(value);
    else if (link.startsWith(QLatin1String("connection:")))
        Q_EMIT connectionWanted(transport::ConnectionId{value.toUInt()});
    else if (link.startsWith(QLatin1String("view:"))) Q_EMIT viewRequested(value);
}

void SummaryPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_messages != nullptr) fill();
    QScrollArea::changeEvent(event);
}

}  // namespace qps::gui
