#include <gui/pictures/pause_layers.hpp>
#include <gui/pictures/plot_picture.hpp>

#include <algorithm>

namespace qps::gui {

using transport::series::PauseRow;
using transport::series::PauseRows;

namespace {

QString classOf(const PauseRow& row) {
    return row.summary.priority == transport::kWholeLink ? QObject::tr("PAUSE")
                                                         : QObject::tr("PFC %1").arg(row.summary.priority);
}

QString endOf(const transport::PausePeriod& pause) {
    switch (pause.ended) {
        case transport::PauseEnd::resumed: return QObject::tr("ended by XON");
        case transport::PauseEnd::expired: return QObject::tr("its time ran out");
        case transport::PauseEnd::capture_end: return QObject::tr("as long as the capture");
        case transport::PauseEnd::unknown: break;
    }
    return QObject::tr("its end is undecided: the speed of the link is not known");
}

}  // namespace

// Several interfaces are told apart.
bool manyInterfaces(const PauseRows& pauses) {
    return std::ranges::any_of(pauses.rows, [&](const PauseRow& row) {
        return row.summary.interface != pauses.rows.front().summary.interface;
    });
}

QString pauseName(const PauseRow& row, bool tellInterface) {
    const QString name = QObject::tr("%1 by %2").arg(classOf(row), QString::fromStdString(text(row.summary.sender)));
    return tellInterface ? QObject::tr("%1, interface %2").arg(name).arg(std::to_underlying(row.summary.interface))
                         : name;
}

std::shared_ptr<const Bands> pauseBands(const PauseRow& row) {
    std::vector<Band> bands;
    for (const transport::PausePeriod& pause : row.periods) {
        const QString length = exactTimeText(std::to_underlying(pause.end - pause.start));
        bands.push_back(
            {pause.start, pause.end, pause.frame, QObject::tr("paused for %1, %2").arg(length, endOf(pause))});
    }
    return std::make_shared<const Bands>(std::move(bands));
}

void addPauses(Panel& panel, const PauseRows& pauses) {
    const bool tell = manyInterfaces(pauses);
    for (std::size_t i = 0; i < pauses.rows.size() && i < kMostPauseLanes; ++i) {
        const PauseRow& row = pauses.rows[i];
        const QString name = pauseName(row, tell);
        panel.layers.push_back({.name = name, .ink = Ink::Pause, .shape = Shape::Bands, .bands = pauseBands(row)});
        panel.layers.push_back({.name = QObject::tr("XOFF, %1").arg(name),
                                .ink = Ink::Pause,
                                .mark = MarkShape::Triangle,
                                .points = pointsOf(row.stops),
                                .sharesLane = true});
        panel.layers.push_back({.name = QObject::tr("XON, %1").arg(name),
                                .ink = Ink::Pause,
                                .mark = MarkShape::Ring,
                                .points = pointsOf(row.resumes),
                                .sharesLane = true});
    }
}

}  // namespace qps::gui
