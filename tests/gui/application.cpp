#include "application.hpp"

#include <QApplication>
#include <QStandardPaths>
#include <csignal>

namespace qps::gui::tests {

void needApplication() {
    if (QCoreApplication::instance() != nullptr) return;
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    std::signal(SIGPIPE, SIG_IGN);  // as the program does: a reader that goes away is no reason to end
    QStandardPaths::setTestModeEnabled(true);
    static int count = 1;
    static char name[] = "test_gui";
    static char* arguments[] = {name, nullptr};
    // Never destroyed: widgets of static life may still need it when the program ends.
    auto* application = new QApplication(count, arguments);
    application->setOrganizationName(QStringLiteral("qpscope-test"));
    application->setApplicationName(QStringLiteral("qpscope-test"));
    QApplication::setStyle(QStringLiteral("Fusion"));
}

}  // namespace qps::gui::tests
