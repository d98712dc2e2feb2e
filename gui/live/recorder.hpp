// Recorder: a capture that is going on. qpscope-capture writes it into a pipe; the session reads it from there.
//
// The window has no rights of its own. The program ends with its standard input, which this process holds: also when
// the window is killed. Wire the signal recording() to Session::capture(), and call stop() when the session captures no
// more: this object cannot see whether anybody still reads.
#pragma once

#include <gui/live/choice.hpp>

#include <QObject>
#include <QProcess>
#include <QString>
#include <memory>

class QSocketNotifier;

namespace qps::gui {

class Recorder : public QObject {
    Q_OBJECT

public:
    // `program` is qpscope-capture, see recorderProgram().
    explicit Recorder(QString program, QObject* parent = nullptr);
    ~Recorder() override;

    // Begins anew; a capture that is going on ends.
    void start(const CaptureChoice& choice);
    // Packets that are under way still arrive; then the pipe ends, and finished() comes.
    void stop();
    [[nodiscard]] bool running() const { return m_process != nullptr; }

Q_SIGNALS:
    // The interface is open: its capture is what is read from `pipe`, which can be opened until the next start().
    void recording(const QString& pipe, const QString& title);
    // Why there is no capture, or why it ended: a sentence that says what to do.
    void failed(const QString& sentence);
    void finished();

private:
    // A descriptor that is closed in the end.
    class Descriptor {
    public:
        explicit Descriptor(int number = -1) : m_number(number) {}
        Descriptor(const Descriptor&) = delete;
        Descriptor& operator=(const Descriptor&) = delete;
        ~Descriptor() { reset(); }
        void reset(int number = -1);
        [[nodiscard]] int number() const { return m_number; }

    private:
        int m_number;
    };

    void listen();
    void abandon();
    void conclude();
    [[nodiscard]] QString failureOf(QProcess& process) const;

    QString m_program;
    QString m_title;
    bool m_stopping = false;
    bool m_remote = false;
    Descriptor m_pipe;  // the end that is read from
    std::unique_ptr<QSocketNotifier> m_beginning;
    std::unique_ptr<QProcess> m_process;
};

}  // namespace qps::gui
