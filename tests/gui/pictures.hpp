// Pictures of widgets in a light and a dark palette. With QPSCOPE_PICTURES=FOLDER they are kept there, for somebody to
// look at.
#pragma once

#include <QApplication>
#include <QImage>
#include <QPalette>
#include <QWidget>
#include <functional>
#include <string>

namespace qps::gui::tests {

[[nodiscard]] inline QPalette somePalette(bool dark) {
    QPalette palette(dark ? QColor(53, 53, 57) : QColor(239, 239, 239));
    if (dark) {
        palette.setColor(QPalette::Base, QColor(30, 30, 32));
        palette.setColor(QPalette::Highlight, QColor(42, 90, 150));
        palette.setColor(QPalette::HighlightedText, Qt::white);
    }
    return palette;
}

// Calls look(image) for each.
inline void inBothLooks(QWidget& widget, const std::string& name, const std::function<void(const QImage&)>& look) {
    const QPalette before = QApplication::palette();
    for (const bool dark : {false, true}) {
        QApplication::setPalette(somePalette(dark));
        QApplication::processEvents();
        const QImage image = widget.grab().toImage();
        const QString folder = qEnvironmentVariable("QPSCOPE_PICTURES");
        if (!folder.isEmpty())
            image.save(folder +
                       QStringLiteral("/%1_%2_%3.png")
                           .arg(QString::fromStdString(name), dark ? QStringLiteral("dark") : QStringLiteral("light"))
                           .arg(widget.devicePixelRatioF()));
        look(image);
    }
    QApplication::setPalette(before);
}

}  // namespace qps::gui::tests
