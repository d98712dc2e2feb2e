// Task: one long piece of work on a thread of its own. It tells how far it is and can be asked to stop; what became of
// it is heard in the thread of the window.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>

namespace qps::gui {

struct TaskOutcome {
    bool failed = false;
    QString sentence;      // what was done, or why it was not
    bool written = false;  // all of it, as asked: neither failed nor cancelled
};

// For the work, in its thread.
struct TaskWatch {
    std::function<bool()> stopped;
    std::function<void(double part)> progressed;  // 0 to 1
};

class Task : public QObject {
    Q_OBJECT

public:
    explicit Task(QObject* parent = nullptr);
    ~Task() override;  // asks the work to stop and waits for it

    // Only while none is running. `work` throws nothing but std::bad_alloc.
    void start(std::function<TaskOutcome(const TaskWatch&)> work);
    void stop();
    [[nodiscard]] bool running() const { return m_shared != nullptr; }

Q_SIGNALS:
    void progressed(double part);
    void ended(const qps::gui::TaskOutcome& outcome);  // running() is false

private:
    struct Shared;
    void look();

    std::unique_ptr<Shared> m_shared;
    QTimer m_looking;
};

}  // namespace qps::gui
