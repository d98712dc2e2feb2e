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
    tool(tr("Zoom in"), "zoom-in", tr("Zoom in (Ctrl++)"), &LadderView::zoomIn);
    tool(tr("Zoom out"), "zoom-out", tr("Zoom out (Ctrl+-)"), &LadderView::zoomOut);
    tool(tr("Normal size"), "zoom-original", tr("Reset the zoom (Ctrl+0)"), &LadderView::zoomNaturally);
    tool(tr("Expand messages"), "", tr("Expand the messages in view into packets (one: Enter)"), &LadderView::openAll);
    tool(tr("Collapse messages"), "", tr("Collapse all messages into one line each (one: Enter)"), &LadderView::closeAll);
    menu().addSeparator();
    addSaveTools();
    connect(m_view, &LadderView::pointedAt, this, &LadderPicture::setWords);
}

void LadderPicture::paintPicture(QPainter& painter, const QSizeF& size, double) const { m_view->paint(painter, QRectF({}, size)); }

void LadderPicture::writeCsv(QIODevice& device) const { device.write(m_view->csv().toUtf8()); }

void LadderPicture::contextMenuEvent(QContextMenuEvent* event) { menu().popup(event->globalPos()); }

}  // namespace qps::gui
