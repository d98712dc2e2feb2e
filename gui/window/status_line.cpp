#include <dissect/base/types.hpp>
#include <gui/base/plain_tip.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/window/status_line.hpp>
#include <transport-replay/report/figures.hpp>

#include <QPainter>

namespace qps::gui {

namespace {

constexpr int kSteps = 1000;   // of the progress bar
constexpr int kSaid = 12'000;  // ms: a finding takes time to read

// One line that ends in dots where it is too long; the tip has all of it.
class Words : public QLabel {
public:
    using QLabel::QLabel;

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(palette().color(foregroundRole()));
        const QString fits = fontMetrics().elidedText(text().simplified(), Qt::ElideRight, contentsRect().width());
        painter.drawText(contentsRect(), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, fits);
    }
};

}  // namespace

StatusLine::StatusLine(Session& session, Selection& selection, QWidget* parent)
    : QStatusBar(parent),
      m_session(session),
      m_selection(selection),
      m_what(new Words),
      m_progress(new QProgressBar),
      m_cancel(new QToolButton),
      m_problems(new QToolButton),
      m_range(new QLabel),
      m_counts(new QLabel) {
    m_what->setTextFormat(Qt::PlainText);  // names of files, words of findings
    m_what->setObjectName(QStringLiteral("what"));
    m_what->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // gives way to the figures
    m_forget.setSingleShot(true);
    m_forget.setInterval(kSaid);
    connect(&m_forget, &QTimer::timeout, this, [this] { say({}); });
    connect(&selection, &Selection::packetChanged, this, [this] { say({}); });
    m_progress->setRange(0, kSteps);
    m_progress->setTextVisible(false);
    m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 24);
    m_progress->setAccessibleName(tr("Progress"));
    m_cancel->setAutoRaise(true);
    m_problems->setAutoRaise(true);
    m_problems->setText(tr("Read error"));
    m_problems->setToolTip(tr("Show what could not be read, and why"));
    m_counts->setObjectName(QStringLiteral("counts"));
    m_what->setContentsMargins(fontMetrics().averageCharWidth(), 0, 0,
                               0);  // as far from the edge as the names of the views
    addWidget(m_what, 1);
    addWidget(m_progress);
    addWidget(m_cancel);
    addPermanentWidget(m_problems);
    addPermanentWidget(m_range);
    addPermanentWidget(m_counts);
    connect(m_cancel, &QToolButton::clicked, this, &StatusLine::cancel);
    connect(m_problems, &QToolButton::clicked, this, &StatusLine::problemsRequested);
    for (const auto changed :
         {&Session::stateChanged, &Session::progressChanged, &Session::problemsChanged, &Session::opened})
        connect(&session, changed, this, &StatusLine::showState);
    for (const auto changed : {&Session::rowsAdded, &Session::opened})
        connect(&session, changed, this, &StatusLine::showCounts);
    for (const auto changed : {&Selection::hitsChanged, &Selection::marksChanged, &Selection::rangeChanged}) {
        connect(&selection, changed, this, &StatusLine::showCounts);
        connect(&selection, changed, this, &StatusLine::showState);
    }
    showState();
    showCounts();
}

void StatusLine::describe(const QString& text) {
    m_place = text;
    showState();
}

void StatusLine::say(const QString& text) {
    if (text.isEmpty() && m_said.isEmpty()) return;
    m_said = text;
    if (text.isEmpty()) m_forget.stop();
    else m_forget.start();
    showState();
}

void StatusLine::showWork(const QString& what, double part) {
    m_work = what;
    m_workDone = part;
    showState();
}

// What was said is worth more than what is shown all the time.
void StatusLine::showWords(const QString& otherwise) {
    m_what->setText(m_said.isEmpty() ? otherwise : m_said);
    m_what->setToolTip(plainTip(m_what->text()));
}

void StatusLine::showState() {
    const bool reading = m_session.busy();
    const bool filtering = !reading && m_selection.filtering();
    const bool working = !reading && !filtering && !m_work.isEmpty();
    m_progress->setVisible(reading || filtering || working);
    m_cancel->setVisible(reading || filtering || working);
    const bool capturing = m_session.state() == Session::State::Capturing;
    m_cancel->setText(capturing ? tr("Stop") : tr("Cancel"));
    m_cancel->setToolTip(capturing ? tr("Stop the capture (Ctrl+E)") : tr("Cancel and keep the results so far (Esc)"));
    m_problems->setVisible(!m_session.problems().isEmpty());
    if (reading) {
        const std::optional<double> done = m_session.progress();
        m_progress->setRange(0, done ? kSteps : 0);
        m_progress->setValue(done ? static_cast<int>(*done * kSteps) : 0);
        showWords((capturing ? tr("Capturing: %1") : tr("Reading and analysing %1")).arg(m_session.title()));
    } else if (filtering) {
        m_progress->setRange(0, kSteps);
        m_progress->setValue(static_cast<int>(m_selection.filterProgress() * kSteps));
        showWords(tr("Filtering"));
    } else if (working) {
        m_progress->setRange(0, kSteps);
        m_progress->setValue(static_cast<int>(m_workDone * kSteps));
        showWords(m_work);
    } else {
        const bool stopped = m_session.state() == Session::State::Stopped && m_place.isEmpty();
        showWords(stopped ? tr("Stopped: the packets read so far are shown") : m_place);
    }
}

void StatusLine::showCounts() {
    const std::uint64_t all = m_session.packets();
    QStringList parts{tr("%L1 packets").arg(all)};
    if (m_selection.hits() != nullptr) {
        const double share = all == 0 ? 0 : 100.0 * static_cast<double>(m_selection.shown()) / static_cast<double>(all);
        parts << tr("%L1 displayed (%2 %)").arg(m_selection.shown()).arg(share, 0, 'f', 1);
    }
    if (m_selection.marks().size() != 0) parts << tr("%L1 marked").arg(m_selection.marks().size());
    m_counts->setText(parts.join(QStringLiteral("  |  ")));
    const auto range = m_selection.range();
    m_range->setVisible(range.has_value());
    const auto start = m_session.index()->start();
    if (range && start)
        m_range->setText(tr("Time %1 to %2 s  |")
                             .arg(QString::fromStdString(transport::seconds_text(range->from - *start)),
                                  QString::fromStdString(transport::seconds_text(range->to - *start))));
}

void StatusLine::cancel() {
    if (m_session.busy()) m_session.stop();
    else if (m_selection.filtering()) m_selection.stopFiltering();
    else Q_EMIT workCancelled();
}

}  // namespace qps::gui
