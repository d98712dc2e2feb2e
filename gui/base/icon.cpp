#include <gui/base/icon.hpp>

#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

// The linker leaves out resources of a static library that nobody calls for; the macro must stand outside of
// namespaces.
static void needResources() { Q_INIT_RESOURCE(icons); }

namespace qps::gui {

QIcon programIcon() {
    needResources();
    QSvgRenderer drawing(QStringLiteral(":/icons/qpscope.svg"));
    QIcon icon;
    for (const int size : {16, 22, 24, 32, 48, 64, 128, 256}) {
        QPixmap pixmap(size, size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        drawing.render(&painter);
        painter.end();
        icon.addPixmap(pixmap);
    }
    return icon;
}

}  // namespace qps::gui
