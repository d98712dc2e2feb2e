// qpscope-gui: the window. Arguments are read before there is one, so that --help needs no screen.
#include <gui/base/icon.hpp>
#include <gui/base/theme.hpp>
#include <gui/launch/options.hpp>
#include <gui/window/tabs.hpp>
#include <gui/window/views.hpp>
#include <transport-replay/model/large_blocks.hpp>

#include <QApplication>
#include <QSettings>
#include <QSocketNotifier>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>

#include <fcntl.h>
#include <packaging/version/version.hpp>
#include <unistd.h>

using namespace qps::gui;

namespace {

// As cli/exit_code.hpp has them: 0 done, 2 wrong use.
constexpr int kDone = 0;
constexpr int kUsage = 2;

int say(std::FILE* where, const QString& text, int code) {
    std::fputs(text.toLocal8Bit().constData(), where);
    return code;
}

// Who ends the program by a signal ends it as Quit does: temporary folders are removed. Nobody is asked anything.
class EndBySignal {
public:
    EndBySignal() {
        if (::pipe2(ends().data(), O_CLOEXEC | O_NONBLOCK) != 0) return;  // then signals end it at once, as ever
        m_heard = std::make_unique<QSocketNotifier>(ends()[0], QSocketNotifier::Read);
        QObject::connect(m_heard.get(), &QSocketNotifier::activated, qApp, [] { QCoreApplication::exit(kDone); });
        for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, &EndBySignal::hear);
    }

private:
    static std::array<int, 2>& ends() {
        static std::array<int, 2> both{-1, -1};
        return both;
    }
    static void hear(int) {
        const char one = 1;
        [[maybe_unused]] const auto written = ::write(ends()[1], &one, 1);  // full: it was said already
    }
    std::unique_ptr<QSocketNotifier> m_heard;
};

}  // namespace

int main(int argc, char** argv) {
    qps::transport::return_large_blocks();
    QStringList words;
    for (int i = 1; i < argc; ++i) words << QString::fromLocal8Bit(argv[i]);
    QStringList views;
    for (const ViewRow& row : viewRows()) views << QString::fromLatin1(row.id);
    const auto options = parseOptions(words, views);
    if (!options) return say(stderr, QStringLiteral("qpscope-gui: %1\n").arg(options.error()), kUsage);
    if (options->help) return say(stdout, helpText(views), kDone);
    if (options->version)
        return say(stdout, QStringLiteral("qpscope-gui %1\n").arg(QLatin1String(qps::version_text())), kDone);

    std::signal(SIGPIPE, SIG_IGN);  // the reader of what we write may go away: that is an error of a write, not our end
    QApplication application(argc, argv);
    const EndBySignal ending;
    QCoreApplication::setOrganizationName(QStringLiteral("qpscope"));
    QCoreApplication::setApplicationName(QStringLiteral("qpscope"));
    QCoreApplication::setApplicationVersion(QLatin1String(qps::version_text()));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("qpscope"));
    QGuiApplication::setDesktopFileName(QStringLiteral("org.qpscope.qpscope"));
    QApplication::setWindowIcon(programIcon());
    const QString theme =
        options->theme.isEmpty() ? QSettings().value(QStringLiteral("window/theme")).toString() : options->theme;
    use(themeOf(theme).value_or(Theme::Desktop));

    Tabs window(options->jobs, options->memory.value_or(qps::transport::MemoryBudget::of_machine()));
    window.begin(*options);
    window.show();
    return QApplication::exec();
}
