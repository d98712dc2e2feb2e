#include <gui/pictures/ladder_picture.hpp>

#include <QContextMenuEvent>

namespace qps::gui {

LadderPicture::LadderPicture(Session& session, Selection& selection, QWidget* parent)
    : Picture(tr("Ladder"), parent), m_view(new LadderView(session, selection, this)) {
    setContent(m_view);
    const auto tool = [this](const QString& text, const char* icon, const QString& tip, void (LadderView::*act)()) {
        QAction* action = addTool(text, QLatin1String(icon), tip);
        connect(action, &QAction::triggered, m_view, act);
        menu().addAction(action);
    };
    tool(tr("Zoom in"), "zoom-in", tr("Stretch the time (Ctrl++)"), &LadderView::zoomIn);
    tool(tr("Zoom out"), "zoom-out", tr("Shorten the time (Ctrl+-)"), &LadderView::zoomOut);
    tool(tr("Natural"), "zoom-original", tr("The scale that most lines have room with (Ctrl+0)"), &LadderView::zoomNaturally);
    tool(tr("Open messages"), "", tr("Show the packets of the messages in sight (one: Enter)"), &LadderView::openAll);
    tool(tr("Close messages"), "", tr("Show every message as one line again (one: Enter)"), &LadderView::closeAll);
    menu().addSeparator();
    addSaveTools();
    connect(m_view, &LadderView::pointedAt, this, &LadderPicture::setWords);
}

void LadderPicture::paintPicture(QPainter& painter, const QSizeF& size, double) const { m_view->paint(painter, QRectF({}, size)); }

void LadderPicture::writeCsv(QIODevice& device) const { device.write(m_view->csv().toUtf8()); }

void LadderPicture::contextMenuEvent(QContextMenuEvent* event) { menu().popup(event->globalPos()); }

}  // namespace qps::gui
