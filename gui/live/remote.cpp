#include <gui/live/remote.hpp>

#include <algorithm>

namespace qps::gui {

namespace {

// The shell of the other machine reads it as one word, whatever is in it.
QString quoted(QString word) {
    return QLatin1Char('\'') + word.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

RecorderCommand byShell(const QString& host, const QString& command) {
    return {QStringLiteral("ssh"),
            {QStringLiteral("-T"), QStringLiteral("-o"), QStringLiteral("BatchMode=yes"), QStringLiteral("-o"),
             QStringLiteral("ConnectTimeout=8"), QStringLiteral("--"), host, command}};
}

}  // namespace

bool isHost(const QString& host) {
    constexpr qsizetype kLongest = 255;
    const QString others = QStringLiteral("._-@:[]%");
    return !host.isEmpty() && host.size() <= kLongest && !host.startsWith(QLatin1Char('-')) &&
           std::ranges::all_of(host, [&](QChar letter) {
               return (letter.unicode() < 0x80 && letter.isLetterOrNumber()) || others.contains(letter);
           });
}

RecorderCommand recorderCommand(const QString& local, const QString& host, const QStringList& arguments) {
    if (host.isEmpty()) return {local, arguments};
    // Packages put it where no shell looks.
    QString command = QStringLiteral("PATH=$PATH:/usr/libexec:/usr/local/libexec exec qpscope-capture");
    for (const QString& each : arguments) command += QLatin1Char(' ') + quoted(each);
    return byShell(host, command);
}

// The shell there knows the connection, as sshd tells it: address and port of the client, then of the server. An
// address may have a zone, which filters have not. What is left out comes first: behind "vlan" a filter means another
// place.
RecorderCommand remoteCapture(const QString& host, const QStringList& arguments, const QString& filter) {
    QString command =
        QStringLiteral("PATH=$PATH:/usr/libexec:/usr/local/libexec; own=; ") +
        QStringLiteral("if [ -n \"$SSH_CONNECTION\" ]; then set -- $SSH_CONNECTION; ") +
        QStringLiteral("own=\"not (tcp and host ${1%%%*} and port $2 and port $4)\"; fi; exec qpscope-capture");
    for (const QString& each : arguments) command += QLatin1Char(' ') + quoted(each);
    if (filter.isEmpty()) command += QStringLiteral(" ${own:+-f \"$own\"}");
    else command += QStringLiteral(" -f \"${own:+$own and }\"") + quoted(QStringLiteral("(%1)").arg(filter));
    return byShell(host, command);
}

}  // namespace qps::gui
