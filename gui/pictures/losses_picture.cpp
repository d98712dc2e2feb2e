#include <gui/base/text.hpp>
#include <gui/pictures/losses_picture.hpp>
#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>

#include <QContextMenuEvent>
#include <algorithm>

namespace qps::gui {

using transport::series::LossPlaces;
using transport::series::LossRow;

LossesPicture::LossesPicture(Session& session, Selection& selection, QWidget* parent)
    : Picture(tr("Where packets were lost"), parent),
      m_session(session),
      m_selection(selection),
      m_strip(new LossStrip(this)) {
    m_strip->setAccessibleName(title());
    setContent(m_strip);
    QAction* open = addTool(tr("PSN over time"), QStringLiteral("go-jump"),
                            tr("Show the connection of that pair with most of it over time (Enter)"));
    connect(open, &QAction::triggered, m_strip, &LossStrip::activated);
    addSaveTools();
    connect(m_strip, &LossStrip::currentChanged, this, &LossesPicture::choose);
    connect(m_strip, &LossStrip::activated, this, [this] {
        if (m_strip->current()) Q_EMIT viewRequested(QStringLiteral("psn"));
    });
    connect(&session, &Session::opened, this, &LossesPicture::refresh);
    connect(&session, &Session::timelineChanged, this, &LossesPicture::refresh);
}

void LossesPicture::showEvent(QShowEvent* event) {
    Picture::showEvent(event);
    if (m_stale) refresh();
}

void LossesPicture::refresh() {
    m_stale = !isVisible();
    if (m_stale) return;
    const auto timeline = m_session.timeline();
    auto drawing = std::make_shared<LossDrawing>();
    drawing->places = transport::series::loss_places(*timeline);
    for (const transport::CapturedHost& host : timeline->hosts) drawing->taps.push_back(shown(host.name));
    const LossPlaces& places = drawing->places;
    QStringList words;
    if (places.quiet != 0)
        words << tr("%1 without any of it").arg(shown(transport::counted(places.quiet, "direction")));
    if (places.left_out != 0) words << tr("%1 not shown").arg(shown(transport::counted(places.left_out, "pair")));
    setWords(words.join(QStringLiteral("; ")));
    const QString nothing =
        m_session.packets() == 0
            ? tr("No packets. Open a capture with File > Open.")
            : tr("Nothing that was captured shows a packet that was lost, marked, late or corrupt.");
    m_strip->show(std::move(drawing), nothing);
}

void LossesPicture::choose() {
    if (const auto row = m_strip->current()) m_selection.selectConnection(m_strip->drawing()->places.rows[*row].worst);
}

QSizeF LossesPicture::pictureSize(double tallest) const {
    return {static_cast<double>(m_strip->viewport()->width()),
            std::min(tallest, std::max(1.0, m_strip->heightOfAll()))};
}

void LossesPicture::paintPicture(QPainter& painter, const QSizeF& size, double, const QPalette& palette) const {
    painter.setFont(m_strip->font());
    m_strip->paint(painter, size, 0, palette, false);
}

QStringList LossesPicture::caption() const {
    const auto timeline = m_session.timeline();
    return captionOf(title(), m_session, timeline->first.value_or(dissect::Instant{}),
                     timeline->last.value_or(dissect::Instant{}));
}

void LossesPicture::writeCsv(QIODevice& device) const {
    QString text = QStringLiteral(
        "from,to,connections,packets,lost_before_tap,corrupt_before_tap,late_before_tap,ce_before_tap,lost_behind_tap,"
        "late_behind_tap,undecided,missing_in_capture\r\n");
    if (const LossDrawing* drawing = m_strip->drawing())
        for (const LossRow& row : drawing->places.rows) {
            QStringList cells{shown(transport::text(row.from)), shown(transport::text(row.to))};
            for (const std::uint64_t number :
                 {row.connections, row.packets, row.before_tap.lost, row.before_tap.corrupt, row.before_tap.reordered,
                  row.before_tap.marked, row.behind_tap.lost, row.behind_tap.reordered, row.undecided, row.by_capture})
                cells << QString::number(number);
            text += cells.join(QLatin1Char(',')) + QStringLiteral("\r\n");
        }
    device.write(text.toUtf8());
}

void LossesPicture::contextMenuEvent(QContextMenuEvent* event) { menu().popup(event->globalPos()); }

}  // namespace qps::gui
