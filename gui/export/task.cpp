#include <gui/export/task.hpp>

#include <atomic>
#include <new>
#include <thread>
#include <utility>

namespace qps::gui {

namespace {
constexpr int kLookEvery = 50;  // ms
}

struct Task::Shared {
    std::atomic<bool> stop = false;
    std::atomic<bool> done = false;
    std::atomic<double> part = 0;
    TaskOutcome outcome;  // once done
    std::thread thread;

    ~Shared() {
        stop = true;
        if (thread.joinable()) thread.join();
    }
};

Task::Task(QObject* parent) : QObject(parent) {
    m_looking.setInterval(kLookEvery);
    connect(&m_looking, &QTimer::timeout, this, &Task::look);
}

Task::~Task() = default;

void Task::start(std::function<TaskOutcome(const TaskWatch&)> work) {
    m_shared = std::make_unique<Shared>();
    m_shared->thread = std::thread([shared = m_shared.get(), work = std::move(work)] {
        const TaskWatch watch{[shared] { return shared->stop.load(); }, [shared](double part) { shared->part = part; }};
        try {
            shared->outcome = work(watch);
        } catch (const std::bad_alloc&) {
            shared->outcome.failed = true;  // no memory for a sentence: look() has one
        }
        shared->done = true;
    });
    m_looking.start();
}

void Task::stop() {
    if (m_shared) m_shared->stop = true;
}

void Task::look() {
    if (!m_shared->done) {
        Q_EMIT progressed(m_shared->part);
        return;
    }
    m_looking.stop();
    const std::unique_ptr<Shared> shared = std::move(m_shared);
    shared->thread.join();
    if (shared->outcome.failed && shared->outcome.sentence.isEmpty()) shared->outcome.sentence = tr("Out of memory.");
    Q_EMIT ended(shared->outcome);
}

}  // namespace qps::gui
