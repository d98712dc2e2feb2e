#include <dissect/packet/notation.hpp>
#include <gui/base/text.hpp>
#include <gui/checks/checks_view.hpp>
#include <gui/packets/filter_offers.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <gui/tables/sheet.hpp>
#include <transport-replay/checks/catalogue.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <map>

namespace qps::gui {

using namespace transport;
using namespace transport::conformance;
using dissect::FrameIndex;

namespace {

constexpr int kTellEvery = 100;  // ms
enum Which { WhatFailed, Decided, Everything };

// What calls for somebody first.
constexpr std::array kOrder{Verdict::fail, Verdict::inconclusive, Verdict::deviation, Verdict::pass,
                            Verdict::not_applicable};
std::size_t rankOf(const CheckResult& result) {
    return static_cast<std::size_t>(std::ranges::find(kOrder, result.verdict) - kOrder.begin());
}

bool isWanted(const CheckResult& result, int which) {
    if (which == Everything) return true;
    if (result.verdict == Verdict::not_applicable) return false;
    return which == Decided || result.verdict != Verdict::pass;
}

Tone toneOf(const CheckResult& result) {
    if (result.verdict == Verdict::fail) return Tone::error;
    return result.verdict == Verdict::inconclusive ? Tone::warning : Tone::plain;
}

SheetCell cellOf(std::string_view text) { return {shown(text), {}, {}}; }

QString filterOf(const CheckResult& result) {
    QStringList frames;
    for (const FrameIndex frame : result.evidence) frames << QString::number(std::to_underlying(frame));
    return frames.isEmpty() ? QString() : QStringLiteral("frame.number in {%1}").arg(frames.join(QStringLiteral(", ")));
}

}  // namespace

struct ChecksView::Made {
    CheckedCapture checked;
    std::vector<std::size_t> order;       // of the results, what calls for somebody first
    std::map<FrameIndex, QString> lines;  // of the packets that prove something
};

ChecksView::ChecksView(Session& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_selection(selection),
      m_made(std::make_shared<Made>()),
      m_which(new QComboBox),
      m_state(new QLabel),
      m_stop(new QToolButton),
      m_words(new QLabel),
      m_checks(
          new Sheet(tr("Checks"),
                    {{tr("Check"), tr("Its name in the catalogue (docs/conformance.md)"), false},
                     {tr("Verdict"), tr("Fail, inconclusive, pass; not applicable: nothing to look at"), false},
                     {tr("What is looked at"), tr("Packets, messages, connections of which the rule speaks"), false},
                     {tr("Examined"), tr("How many of them there were"), true},
                     {tr("Failures"), tr("How many of these broke the rule"), true},
                     {tr("Severity"), tr("How bad a failure is"), false},
                     {tr("Basis"), tr("The clause that the rule rests on"), false}})),
      m_packets(new Sheet(tr("Packets that prove it"),
                          {{tr("Packet"), tr("Its number"), true}, {tr("Info"), tr("What it says"), false}})) {
    build();
    m_progress.setInterval(kTellEvery);
    connect(&m_progress, &QTimer::timeout, this, [this] {
        const auto all = m_session.packets();
        if (m_done != nullptr && all != 0) tell(tr("Checking: %1 %. Esc stops.").arg(100 * m_done->load() / all));
    });
    connect(&m_job, &SeriesJob::tookLong, this, [this] { m_progress.start(); });
    connect(&m_job, &SeriesJob::failed, this, &ChecksView::tell);
    connect(&m_job, &SeriesJob::finished, this, [this] {
        m_progress.stop();
        m_stop->setEnabled(false);
        if (m_stale && !m_stopped) refresh();
    });
    for (const auto changed : {&Session::opened, &Session::stateChanged})
        connect(&session, changed, this, [this] {
            m_stopped = false;
            m_stale = true;
            refresh();
        });
    connect(m_which, &QComboBox::currentIndexChanged, this, &ChecksView::showRows);
    connect(m_checks, &Sheet::rowReached, this, &ChecksView::showChosen);
}

void ChecksView::build() {
    setAccessibleName(tr("Checks"));
    m_which->addItems({tr("Failed or undecided"), tr("Decided"), tr("All checks")});
    m_which->setCurrentIndex(Decided);
    m_which->setObjectName(QStringLiteral("checksListed"));
    m_which->setAccessibleName(tr("Checks that are listed"));
    m_which->setToolTip(tr("Checks that are listed"));
    for (QLabel* label : {m_state, m_words}) {
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_state->setAccessibleName(tr("State of the checks"));
    m_words->setAccessibleName(tr("The selected check"));
    m_words->setWordWrap(true);
    m_stop->setText(tr("Stop"));
    m_stop->setToolTip(tr("Stop checking (Esc)"));
    m_stop->setAccessibleName(tr("Stop checking"));
    m_stop->setEnabled(false);
    m_stop->setFocusPolicy(Qt::TabFocus);
    connect(m_stop, &QToolButton::clicked, this, &ChecksView::stop);
    m_packets->setEmptyText(tr("Select a check to see the packets that prove its verdict."));
    const auto offers = [this](QMenu* menu, const QString& filter) {
        if (!filter.isEmpty())
            addFilterOffers(*menu, m_selection.filter(), filter,
                            {[this](const QString& text) { m_selection.applyFilter(text); },
                             [this](const QString& text) { m_selection.prepareFilter(text); }});
    };
    for (const Sheet* sheet : {m_checks, m_packets}) {
        connect(sheet, &Sheet::filterMenuWanted, this, offers);
        connect(sheet, &Sheet::rowActivated, this, [this, sheet] {
            const SheetRow* row = sheet->currentRow();
            if (row == nullptr || row->packet == FrameIndex{}) return;
            m_selection.selectPacket(row->packet);
            Q_EMIT viewRequested(QStringLiteral("packets"));
        });
    }
    auto* line = new QHBoxLayout;
    line->addWidget(m_which);
    line->addWidget(m_state, 1);
    line->addWidget(m_stop);
    auto* below = new QWidget;
    auto* column = new QVBoxLayout(below);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_words);
    column->addWidget(m_packets, 1);
    auto* parts = new QSplitter(Qt::Vertical);
    parts->addWidget(m_checks);
    parts->addWidget(below);
    parts->setChildrenCollapsible(false);
    parts->setSizes({2000, 1000});
    auto* whole = new QVBoxLayout(this);
    whole->addLayout(line);
    whole->addWidget(parts, 1);
    setFocusProxy(m_checks);
}

void ChecksView::tell(const QString& sentence) {
    m_state->setText(sentence);
    m_state->setAccessibleDescription(sentence);
}

void ChecksView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale && !m_stopped) refresh();
}

void ChecksView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && m_job.running()) stop();
    else QWidget::keyPressEvent(event);
}

// Of a whole capture: verdicts on a part of one would be others a moment later.
void ChecksView::refresh() {
    if (!isVisible() || !m_stale) return;
    if (m_session.packets() == 0 || m_session.busy()) {
        m_job.cancel();
        present(std::make_shared<Made>());
        return tell(m_session.busy() ? tr("Checked as soon as the capture was read.")
                                     : tr("No packets. Open a capture with File > Open."));
    }
    start();
}

void ChecksView::start() {
    m_stale = false;
    m_done = std::make_shared<std::atomic<std::uint64_t>>(0);
    m_stop->setEnabled(true);
    tell(tr("Checking..."));
    // Beside an index that was read, what its analysis had is free.
    m_job.start([this, index = m_session.index(), timeline = m_session.timeline(), packets = m_session.packets(),
                 hints = m_session.hints(), memory = m_session.memory().part_of(4),
                 done = m_done](const series::Stop& stopped) -> SeriesJob::Delivery {
        auto checked =
            check(*index, packets, *timeline, hints, memory,
                  {stopped, [done](std::uint64_t at, std::uint64_t) { done->store(at, std::memory_order_relaxed); }});
        if (!checked) return {};
        auto made = std::make_shared<Made>();
        made->checked = std::move(*checked);
        const auto& results = made->checked.results;
        for (std::size_t i = 0; i < results.size(); ++i) made->order.push_back(i);
        std::ranges::stable_sort(made->order, {}, [&](std::size_t i) { return rankOf(results[i]); });
        PacketReader reader(index);
        for (const CheckResult& result : results)
            for (const FrameIndex frame : result.evidence) {
                if (made->lines.contains(frame)) continue;
                std::string words;
                if (const dissect::Packet* packet = reader.read(frame)) dissect::append_line(words, *packet);
                made->lines.emplace(frame, shown(words));
            }
        return [this, made] { present(made); };
    });
}

void ChecksView::stop() {
    if (!m_job.running()) return;
    m_stopped = true;
    m_stale = true;
    m_job.cancel();
    m_stop->setEnabled(false);
    m_progress.stop();
    tell(tr("Stopped. Leave and come back to check again."));
}

void ChecksView::present(std::shared_ptr<const Made> made) {
    m_made = std::move(made);
    std::map<Verdict, std::size_t> counts;
    for (const CheckResult& result : m_made->checked.results) ++counts[result.verdict];
    QStringList said;
    for (const Verdict verdict : kOrder)
        if (counts[verdict] != 0) said << QStringLiteral("%1 %2").arg(counts[verdict]).arg(shown(name(verdict)));
    QString sentence = said.join(QStringLiteral(", "));
    if (m_made->checked.unreadable != 0)
        sentence += tr("; %L1 packets could not be read and were not checked").arg(m_made->checked.unreadable);
    tell(sentence);
    showRows();
}

void ChecksView::showRows() {
    std::vector<SheetRow> rows;
    for (const std::size_t place : m_made->order) {
        const CheckResult& result = m_made->checked.results[place];
        if (!isWanted(result, m_which->currentIndex())) continue;
        rows.push_back({{cellOf(result.check->id),
                         {shown(name(result.verdict)), static_cast<double>(rankOf(result)), {}},
                         cellOf(result.check->stimulus),
                         countCell(result.examined),
                         countCell(result.failures),
                         cellOf(name(result.check->severity)),
                         cellOf(result.check->basis)},
                        filterOf(result),
                        result.evidence.empty() ? FrameIndex{} : result.evidence.front(),
                        toneOf(result)});
    }
    m_checks->setEmptyText(m_made->checked.results.empty() ? QString() : tr("No check failed or was left undecided."));
    m_checks->setRows(std::move(rows));
    showChosen();
}

void ChecksView::showChosen() {
    const SheetRow* row = m_checks->currentRow();
    const auto& results = m_made->checked.results;
    const auto found = row == nullptr ? results.end() : std::ranges::find_if(results, [&](const CheckResult& result) {
        return shown(result.check->id) == row->cells.front().text;
    });
    if (found == results.end()) {
        m_words->setText(tr("Select a check for what it asks, why it has its verdict, and the packets that prove it."));
        m_packets->setEmptyText(tr("Select a check to see the packets that prove its verdict."));
        return m_packets->setRows({});
    }
    m_packets->setEmptyText(tr("No packet proves this verdict alone."));
    QString words = tr("%1: %2. Expected: %3.")
                        .arg(shown(found->check->id), shown(found->check->stimulus), shown(found->check->expected));
    if (!found->reason.empty()) words += QLatin1Char('\n') + shown(found->reason);
    m_words->setText(words);
    std::vector<SheetRow> packets;
    for (const FrameIndex frame : found->evidence) {
        const auto line = m_made->lines.find(frame);
        packets.push_back(
            {{countCell(std::to_underlying(frame)), {line == m_made->lines.end() ? QString() : line->second, {}, {}}},
             QStringLiteral("frame.number == %1").arg(std::to_underlying(frame)),
             frame,
             Tone::plain});
    }
    m_packets->setRows(std::move(packets));
}

}  // namespace qps::gui
