// For tests of whole views: a session with a capture that was read, and pictures for people to look at.
#pragma once

#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <tests/gui/application.hpp>
#include <tests/gui/sample.hpp>

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPalette>
#include <QWidget>

namespace qps::gui::tests {

// Handles events until `done` says so; false after ten seconds.
template <class Done> [[nodiscard]] bool waitUntil(Done done) {
    QElapsedTimer clock;
    clock.start();
    while (!done()) {
        if (clock.elapsed() > 10'000) return false;
        QApplication::processEvents(QEventLoop::AllEvents, 10);
    }
    return true;
}

inline void openSample(Session& session, const std::string& name) {
    session.open({QString::fromStdString(sampleFile(name))});
    REQUIRE(waitUntil([&] { return !session.busy(); }));
    QApplication::processEvents();
}

inline void useDarkPalette(bool dark) {
    static const QPalette kLight = QApplication::palette();
    if (!dark) return QApplication::setPalette(kLight);
    QPalette palette(QColor(53, 53, 53), QColor(42, 42, 42));
    palette.setColor(QPalette::Base, QColor(30, 30, 30));
    palette.setColor(QPalette::AlternateBase, QColor(44, 44, 44));
    palette.setColor(QPalette::Highlight, QColor(42, 100, 160));
    palette.setColor(QPalette::Link, QColor(110, 170, 240));
    QApplication::setPalette(palette);
}

// Into the folder that QPSCOPE_GRABS names, where it is set.
inline void grab(QWidget& widget, const QString& name) {
    if (!qEnvironmentVariableIsSet("QPSCOPE_GRABS")) return;
    QApplication::processEvents();
    CHECK(widget.grab().save(QDir(qEnvironmentVariable("QPSCOPE_GRABS")).filePath(name + QStringLiteral(".png"))));
}

}  // namespace qps::gui::tests
