#include <gui/pictures/ranks_picture.hpp>
#include <transport-replay/model/collective_report.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/collectives.hpp>
#include <transport-replay/report/figures.hpp>

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

namespace qps::gui {

using transport::Collective;
using transport::CollectiveStep;

namespace {

// Of a step, by rank: from when on it worked; nothing where the packets do not tell.
std::optional<dissect::Instant> begunBy(const CollectiveStep& step, std::size_t rank) {
    return rank < step.begun.size() ? step.begun[rank] : std::nullopt;
}

// When the rank that the others waited for began.
std::optional<dissect::Instant> lastBegan(const CollectiveStep& step) {
    return step.last ? begunBy(step, *step.last) : std::nullopt;
}

struct RankSpans {
    std::vector<Band> working, waiting, late;
};

void addStep(RankSpans& spans, const Collective& collective, std::size_t number) {
    const CollectiveStep& step = collective.steps[number];
    const dissect::Instant end = step.begin + step.length;
    const auto last = lastBegan(step);
    const QString name =
        QObject::tr("step %L1, %2").arg(number + 1).arg(QString::fromStdString(transport::bytes_text(step.bytes)));
    const auto length = [](dissect::Instant from, dissect::Instant to) {
        return exactTimeText(std::to_underlying(to - from));
    };
    for (std::size_t rank = 0; rank < collective.ranks.size(); ++rank) {
        const auto row = static_cast<std::uint32_t>(rank);
        const dissect::Instant began = begunBy(step, rank).value_or(step.begin);
        dissect::Instant from = began;
        if (last && began < *last && rank != *step.last) {
            const QString whom = QString::fromStdString(transport::rank_text(collective.ranks[*step.last]));
            spans.waiting.push_back(
                {began, *last, step.frame, QObject::tr("%1 for %2 in %3").arg(length(began, *last), whom, name), row});
            from = *last;
        } else if (step.last == rank && last) {
            spans.late.push_back(
                {*last - step.waited, *last, step.frame,
                 QObject::tr("began %1 after the last but one in %2").arg(length(*last - step.waited, *last), name),
                 row});
        }
        if (from < end)
            spans.working.push_back({from, end, step.frame, QObject::tr("%1, %2").arg(name, length(from, end)), row});
    }
}

QString groupName(const Collective& collective) {
    return QString::fromStdString(transport::group_text(collective) + ", " +
                                  transport::steps_text(collective, collective.steps.size()));
}

}  // namespace

PlotData ranksPlot(const Collective& collective) {
    PlotData data;
    if (collective.steps.empty()) return data;
    Panel panel{.title = QObject::tr("Ranks in steps")};
    for (const transport::CollectiveRank& rank : collective.ranks)
        panel.rows.push_back(QString::fromStdString(transport::rank_text(rank)));
    RankSpans spans;
    for (std::size_t i = 0; i < collective.steps.size(); ++i) addStep(spans, collective, i);
    const auto add = [&](const QString& name, const QString& tip, Ink ink, Qt::BrushStyle pattern,
                         std::vector<Band> bands) {
        if (!bands.empty())
            panel.layers.push_back({.name = name,
                                    .tip = tip,
                                    .ink = ink,
                                    .shape = Shape::Spans,
                                    .pattern = pattern,
                                    .bands = std::make_shared<const Bands>(std::move(bands))});
    };
    add(QObject::tr("in a step"), QObject::tr("From where it can have worked to the last packet of the step"),
        Ink::Response, Qt::SolidPattern, std::move(spans.working));
    add(QObject::tr("waited"), QObject::tr("It had begun, and the last rank had not"), Ink::Wait, Qt::BDiagPattern,
        std::move(spans.waiting));
    add(QObject::tr("began last"), QObject::tr("From where all others had begun until it did"),
        Ink::NegativeAcknowledgment, Qt::Dense5Pattern, std::move(spans.late));
    data.panels.push_back(std::move(panel));
    return data;
}

RanksPicture::RanksPicture(Session& session, Selection& selection, QWidget* parent)
    : PlotPicture(tr("Ranks"), QStringLiteral("ranks"), session, selection, parent), m_group(new QComboBox(this)) {
    m_group->setAccessibleName(tr("Group of ranks"));
    m_group->setToolTip(tr("Group of ranks"));
    m_group->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    tools().addWidget(m_group);
    connect(m_group, &QComboBox::currentIndexChanged, this, [this] { refresh(true); });
    addPlotTools();
}

void RanksPicture::listGroups() {
    const int chosen = std::max(0, m_group->currentIndex());
    const QSignalBlocker quiet(m_group);
    m_group->clear();
    for (const Collective& collective : session().timeline()->collectives.collectives)
        m_group->addItem(groupName(collective));
    if (chosen < m_group->count()) m_group->setCurrentIndex(chosen);
}

PlotPicture::Maker RanksPicture::maker(QString& notice) {
    listGroups();
    if (m_group->count() == 0) {
        notice = tr("No group of hosts works in steps here, as NCCL and MPI do.");
        return {};
    }
    return [group = static_cast<std::size_t>(m_group->currentIndex()), name = m_group->currentText()](
               const Inputs& inputs, const transport::series::Stop&) -> std::optional<Made> {
        const auto& groups = inputs.timeline->collectives.collectives;
        if (group >= groups.size()) return Made{{}, {}};
        Made made{ranksPlot(groups[group]), tr("No steps of this group were captured whole."), true};
        if (!made.data.panels.empty()) made.data.panels.front().subject = QStringLiteral(": ") + name;
        return made;
    };
}

}  // namespace qps::gui
