// How qpscope-capture is run: on this machine, or by ssh on another one, where it is installed too.
#pragma once

#include <QString>
#include <QStringList>

namespace qps::gui {

struct RecorderCommand {
    QString program;
    QStringList arguments;
};

// `local`: the program of this machine. `host`: "host", "user@host" or a name of ~/.ssh/config; empty: this machine. Of
// a host ssh is asked that needs no password: there is no terminal to ask for one.
[[nodiscard]] RecorderCommand recorderCommand(const QString& local, const QString& host, const QStringList& arguments);
// To capture there, without the packets of the connection that they come over: each of them would make another.
// `filter`: BPF, whatever is in `arguments` beside it.
[[nodiscard]] RecorderCommand remoteCapture(const QString& host, const QStringList& arguments, const QString& filter);

// Whether it can be the name of a host: nothing of it may be an option of ssh or a word of a shell.
[[nodiscard]] bool isHost(const QString& host);

}  // namespace qps::gui
