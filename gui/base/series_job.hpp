// SeriesJob: computes in a worker thread and hands the result to the thread of the GUI. The newest order counts: a new
// one tells the one before to stop, and what that may still bring is thrown away. Nobody waits for anybody.
#pragma once

#include <transport-replay/series/scope.hpp>

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>
#include <functional>

namespace qps::gui {

class SeriesJob : public QObject {
    Q_OBJECT

public:
    // What is done with a result, in the thread of the GUI.
    using Delivery = std::function<void()>;
    // The work, in a worker thread: touches only what it owns or what never changes. An empty delivery: it was stopped.
    using Work = std::function<Delivery(const transport::series::Stop&)>;

    explicit SeriesJob(QObject* parent = nullptr);
    ~SeriesJob() override;

    void start(Work work);
    void cancel();
    [[nodiscard]] bool running() const { return m_running; }  // until its result is delivered

Q_SIGNALS:
    void tookLong();  // worth telling the user
    void finished();  // delivered, failed or cancelled
    void failed(const QString& sentence);

private:
    void deliver();

    QFutureWatcher<Delivery> m_watcher;
    QTimer m_patience;
    bool m_running = false;
};

}  // namespace qps::gui
