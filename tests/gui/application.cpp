#include "application.hpp"

#include <QApplication>
#include <QLocale>
#include <QStandardPaths>
#include <csignal>

namespace qps::gui::tests {

void needApplication() {
    if (QCoreApplication::instance() != nullptr) return;
    // Whatever the settings of the tester's desktop are.
    if (!qEnvironmentVariableIsSet("QPSCOPE_TEST_SCREEN")) qputenv("QT_QPA_PLATFORM", "offscreen");
    for (const char* name : {"QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS", "QT_FONT_DPI", "QT_QPA_PLATFORMTHEME",
                             "QT_STYLE_OVERRIDE", "QT_ENABLE_HIGHDPI_SCALING", "LANGUAGE"})
        qunsetenv(name);
    std::signal(SIGPIPE, SIG_IGN);  // as the program does: a reader that goes away is no reason to end
    QStandardPaths::setTestModeEnabled(true);
    static int count = 1;
    static char name[] = "test_gui";
    static char* arguments[] = {name, nullptr};
    // Never destroyed: widgets of static life may still need it when the program ends.
    auto* application = new QApplication(count, arguments);
    application->setOrganizationName(QStringLiteral("qpscope-test"));
    application->setApplicationName(QStringLiteral("qpscope-test"));
    QLocale::setDefault(QLocale::c());
    QApplication::setStyle(QStringLiteral("Fusion"));
}

}  // namespace qps::gui::tests
