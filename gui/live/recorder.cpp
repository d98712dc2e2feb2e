#include <gui/live/interfaces.hpp>
#include <gui/live/recorder.hpp>
#include <gui/live/remote.hpp>

#include <QSocketNotifier>
#include <QTimer>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace qps::gui {

namespace {

constexpr int kStopPatience = 2000;  // ms until a program that does not end is killed
constexpr int kPipeBytes = 1 << 20;  // what an unprivileged user may have; bridges pauses of the reader
constexpr qsizetype kLongestSentence = 4000;
constexpr int kInterrupted = 130;  // its exit code after a signal: our way to stop it

// What it says on standard error begins with its name, which means nothing to who looks at a window.
QString sentenceOf(const QByteArray& said) {
    QString text = QString::fromUtf8(said.left(kLongestSentence)).trimmed();
    const QLatin1String name("qpscope-capture: ");
    if (text.startsWith(name)) text.remove(0, name.size());
    return text;
}

}  // namespace

void Recorder::Descriptor::reset(int number) {
    if (m_number >= 0) ::close(m_number);
    m_number = number;
}

Recorder::Recorder(QString program, QObject* parent) : QObject(parent), m_program(std::move(program)) {}

Recorder::~Recorder() { abandon(); }

// Ends it here and now. Its output has no reader any more, so it cannot wait for one.
void Recorder::abandon() {
    m_beginning.reset();
    m_pipe.reset();
    if (!m_process) return;
    constexpr int kPatience = 500;  // ms
    m_process->disconnect(this);
    m_process->terminate();
    if (!m_process->waitForFinished(kPatience)) {
        m_process->kill();
        m_process->waitForFinished(kPatience);
    }
    m_process.reset();
}

void Recorder::start(const CaptureChoice& choice) {
    abandon();
    std::array<int, 2> ends{};
    RecorderCommand command = recorderCommand(m_program, choice.host, recorderArguments(choice));
    if (!choice.host.isEmpty() && choice.withoutSsh) {
        CaptureChoice others = choice;
        others.filter.clear();
        command = remoteCapture(choice.host, recorderArguments(others), choice.filter);
    }
    if (command.program.isEmpty()) {
        Q_EMIT failed(noRecorder());
        return;
    }
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        Q_EMIT failed(tr("Cannot create a pipe: %1.").arg(QString::fromLocal8Bit(std::strerror(errno))));
        return;
    }
    m_pipe.reset(ends[0]);
    const Descriptor output(ends[1]);  // the program has its own
    ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
    m_title = captureTitle(choice);
    m_remote = !choice.host.isEmpty();
    m_stopping = false;
    m_process = std::make_unique<QProcess>();
    m_process->setStandardOutputFile(QProcess::nullDevice());  // only so that Qt makes no pipe of its own
    m_process->setChildProcessModifier([number = ends[1]] { ::dup2(number, STDOUT_FILENO); });
    connect(m_process.get(), &QProcess::finished, this, &Recorder::conclude);
    connect(
        m_process.get(), &QProcess::errorOccurred, this,
        [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart) conclude();
        },
        Qt::QueuedConnection);
    m_beginning = std::make_unique<QSocketNotifier>(m_pipe.number(), QSocketNotifier::Read);
    connect(m_beginning.get(), &QSocketNotifier::activated, this, &Recorder::listen);
    m_process->start(command.program, command.arguments);
}

// The first bytes are there, or the program has ended without any. They stay where they are, for the session.
void Recorder::listen() {
    m_beginning->setEnabled(false);
    int waiting = 0;
    if (::ioctl(m_pipe.number(), FIONREAD, &waiting) == 0 && waiting > 0)
        Q_EMIT recording(QStringLiteral("/proc/self/fd/%1").arg(m_pipe.number()), m_title);
}

void Recorder::stop() {
    if (!m_process) return;
    m_stopping = true;
    m_process->closeWriteChannel();
    if (!m_remote) m_process->terminate();  // ssh would leave behind what is under way
    QTimer::singleShot(kStopPatience, m_process.get(), &QProcess::kill);
}

// Empty where it ended as it should.
QString Recorder::failureOf(QProcess& process) const {
    if (process.error() == QProcess::FailedToStart)
        return tr("Cannot start %1: %2.").arg(process.program(), process.errorString());
    if (process.exitStatus() == QProcess::CrashExit)
        return m_stopping ? QString() : tr("%1: terminated unexpectedly.").arg(process.program());
    if (process.exitCode() == 0 || process.exitCode() == kInterrupted) return {};
    const QString said = sentenceOf(process.readAllStandardError());
    return said.isEmpty() ? tr("%1: exited with code %2.").arg(process.program()).arg(process.exitCode()) : said;
}

void Recorder::conclude() {
    if (!m_process) return;
    // It may have ended before its first bytes were looked at.
    if (m_beginning && m_beginning->isEnabled()) listen();
    const std::unique_ptr<QProcess, void (*)(QProcess*)> process(m_process.release(),
                                                                 [](QProcess* ended) { ended->deleteLater(); });
    process->disconnect(this);
    if (const QString failure = failureOf(*process); !failure.isEmpty()) Q_EMIT failed(failure);
    Q_EMIT finished();
}

}  // namespace qps::gui
