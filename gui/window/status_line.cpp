#include <dissect/types.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/window/status_line.hpp>
#include <transport-replay/report/figures.hpp>

namespace qps::gui {

namespace {

constexpr int kSteps = 1000;  // of the progress bar

}  // namespace

StatusLine::StatusLine(Session& session, Selection& selection, QWidget* parent)
    : QStatusBar(parent),
      m_session(session),
      m_selection(selection),
      m_what(new QLabel),
      m_progress(new QProgressBar),
      m_cancel(new QToolButton),
      m_problems(new QToolButton),
      m_range(new QLabel),
      m_counts(new QLabel) {
    m_what->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_what->setTextFormat(Qt::PlainText);  // names of files, words of findings
    m_what->setMinimumWidth(1);  // gives way to the figures
    m_progress->setRange(0, kSteps);
    m_progress->setTextVisible(false);
    m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 24);
    m_progress->setAccessibleName(tr("Progress"));
    m_cancel->setAutoRaise(true);
    m_problems->setAutoRaise(true);
    m_problems->setText(tr("Read error"));
    m_problems->setToolTip(tr("Show what could not be read, and why"));
    m_counts->setObjectName(QStringLiteral("counts"));
    addWidget(m_what, 1);
    addWidget(m_progress);
    addWidget(m_cancel);
    addPermanentWidget(m_problems);
    addPermanentWidget(m_range);
    addPermanentWidget(m_counts);
    connect(m_cancel, &QToolButton::clicked, this, &StatusLine::cancel);
    connect(m_problems, &QToolButton::clicked, this, &StatusLine::problemsRequested);
    for (const auto changed : {&Session::stateChanged, &Session::progressChanged, &Session::opened})
        connect(&session, changed, this, &StatusLine::showState);
    for (const auto changed : {&Session::rowsAdded, &Session::opened}) connect(&session, changed, this, &StatusLine::showCounts);
    for (const auto changed : {&Selection::hitsChanged, &Selection::marksChanged, &Selection::rangeChanged}) {
        connect(&selection, changed, this, &StatusLine::showCounts);
        connect(&selection, changed, this, &StatusLine::showState);
    }
    showState();
    showCounts();
}

void StatusLine::describe(const QString& text) {
    if (!m_session.busy() && !m_selection.filtering()) m_what->setText(text);
}

void StatusLine::showState() {
    const bool reading = m_session.busy();
    const bool filtering = !reading && m_selection.filtering();
    m_progress->setVisible(reading || filtering);
    m_cancel->setVisible(reading || filtering);
    const bool capturing = m_session.state() == Session::State::Capturing;
    m_cancel->setText(capturing ? tr("Stop") : tr("Cancel"));
    m_cancel->setToolTip(capturing ? tr("Stop the capture (Ctrl+E)") : tr("Cancel and keep the results so far (Esc)"));
    m_problems->setVisible(!m_session.problems().isEmpty());
    if (reading) {
        const std::optional<double> done = m_session.progress();
        m_progress->setRange(0, done ? kSteps : 0);
        m_progress->setValue(done ? static_cast<int>(*done * kSteps) : 0);
        m_what->setText((capturing ? tr("Capturing: %1") : tr("Reading and analysing %1")).arg(m_session.title()));
    } else if (filtering) {
        m_progress->setRange(0, kSteps);
        m_progress->setValue(static_cast<int>(m_selection.filterProgress() * kSteps));
        m_what->setText(tr("Filtering"));
    } else {
        m_what->setText(m_session.state() == Session::State::Stopped ? tr("Stopped: the packets read so far are shown") : QString());
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
        m_range->setText(tr("Time %1 to %2 s")
                             .arg(QString::fromStdString(transport::seconds_text(range->from - *start)),
                                  QString::fromStdString(transport::seconds_text(range->to - *start))));
}

void StatusLine::cancel() {
    if (m_session.busy()) m_session.stop();
    else m_selection.stopFiltering();
}

}  // namespace qps::gui
