#include <gui/pictures/ladder_picture.hpp>

#include <QContextMenuEvent>
#include <algorithm>
#include <tuple>

namespace qps::gui {

LadderPicture::LadderPicture(Session& session, Selection& selection, QWidget* parent)
    : Picture(tr("Ladder"), parent), m_session(session), m_view(new LadderView(session, selection, this)) {
    setContent(m_view);
    for (const auto& [text, icon, tip, by] :
         {std::tuple(tr("Previous"), "go-previous", tr("Previous connection (Shift+Page Up)"), -1),
          std::tuple(tr("Next"), "go-next", tr("Next connection (Shift+Page Down)"), 1)})
        connect(addTool(text, QLatin1String(icon), tip), &QAction::triggered, this,
                [&selection, step = by] { selection.stepConnection(step); });
    const auto tool = [this](const QString& text, const char* icon, const QString& tip, void (LadderView::*act)()) {
        QAction* action = addTool(text, QLatin1String(icon), tip);
        connect(action, &QAction::triggered, m_view, act);
        menu().addAction(action);
    };
    tool(tr("Zoom in"), "zoom-in", tr("Zoom in (Ctrl++)"), &LadderView::zoomIn);
    tool(tr("Zoom out"), "zoom-out", tr("Zoom out (Ctrl+-)"), &LadderView::zoomOut);
    tool(tr("Normal size"), "zoom-original", tr("Reset the zoom (Ctrl+0)"), &LadderView::zoomNaturally);
    tool(tr("Expand messages"), "view-expand", tr("Expand the messages in view into packets (one: Enter)"),
         &LadderView::openAll);
    tool(tr("Collapse messages"), "view-collapse", tr("Collapse all messages into one line each (one: Enter)"),
         &LadderView::closeAll);
    menu().addSeparator();
    addSaveTools();
    connect(m_view, &LadderView::pointedAt, this, &LadderPicture::setWords);
}

QSizeF LadderPicture::pictureSize(double tallest) const {
    const double width = m_view->viewport()->width();
    m_sheet = m_view->sheet(width, tallest);
    return {width, std::max(m_sheet.height, static_cast<double>(m_view->viewport()->height()))};
}

void LadderPicture::paintPicture(QPainter& painter, const QSizeF& size, double, const QPalette& palette) const {
    m_view->paint(painter, m_sheet, size, palette);
}

QStringList LadderPicture::caption() const {
    const auto& lines = m_sheet.ladder.lines;
    if (lines.empty()) return {title()};
    const dissect::Instant to = std::ranges::max(lines, {}, &transport::series::LadderLine::ends).ends;
    QStringList caption =
        captionOf(QStringLiteral("%1: %2").arg(title(), m_view->ends()), m_session, lines.front().begins, to);
    if (m_sheet.left_out != 0)
        caption << tr("The first %L1 of %L2 messages and packets of none; CSV has all of them.")
                       .arg(m_sheet.entries)
                       .arg(m_sheet.entries + m_sheet.left_out);
    return caption;
}

void LadderPicture::writeCsv(QIODevice& device) const { device.write(m_view->csv().toUtf8()); }

void LadderPicture::contextMenuEvent(QContextMenuEvent* event) { menu().popup(event->globalPos()); }

}  // namespace qps::gui
