#include <gui/live/remote.hpp>

#include <algorithm>

namespace qps::gui {

namespace {

// The shell of the other machine reads it as one word, whatever is in it.
QString quoted(QString word) { return QLatin1Char('\'') + word.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\''); }

}  // namespace

bool isHost(const QString& host) {
    constexpr qsizetype kLongest = 255;
    const QString others = QStringLiteral("._-@:[]%");
    return !host.isEmpty() && host.size() <= kLongest && !host.startsWith(QLatin1Char('-')) && std::ranges::all_of(host, [&](QChar letter) {
        return (letter.unicode() < 0x80 && letter.isLetterOrNumber()) || others.contains(letter);
    });
}

RecorderCommand recorderCommand(const QString& local, const QString& host, const QStringList& arguments) {
    if (host.isEmpty()) return {local, arguments};
    // Packages put it where no shell looks.
    QString command = QStringLiteral("PATH=$PATH:/usr/libexec:/usr/local/libexec exec qpscope-capture");
    for (const QString& each : arguments) command += QLatin1Char(' ') + quoted(each);
    return {QStringLiteral("ssh"),
            {QStringLiteral("-T"), QStringLiteral("-o"), QStringLiteral("BatchMode=yes"), QStringLiteral("-o"), QStringLiteral("ConnectTimeout=8"),
             QStringLiteral("--"), host, command}};
}

}  // namespace qps::gui
