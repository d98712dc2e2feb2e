#include <gui/base/series_job.hpp>

#include <QPromise>
#include <QThreadPool>
#include <memory>
#include <new>

namespace qps::gui {

namespace {
constexpr int kPatience = 200;  // ms: what takes longer is felt as waiting
}

SeriesJob::SeriesJob(QObject* parent) : QObject(parent) {
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatience);
    connect(&m_patience, &QTimer::timeout, this, &SeriesJob::tookLong);
    connect(&m_watcher, &QFutureWatcher<Delivery>::finished, this, &SeriesJob::deliver);
}

SeriesJob::~SeriesJob() { cancel(); }

void SeriesJob::start(Work work) {
    cancel();
    const auto promise = std::make_shared<QPromise<Delivery>>();
    promise->start();
    m_running = true;
    m_watcher.setFuture(promise->future());
    m_patience.start();
    QThreadPool::globalInstance()->start([promise, work = std::move(work)] {
        Delivery delivery;
        try {
            delivery = work([&promise] { return promise->isCanceled(); });
            promise->addResult(std::move(delivery));
        } catch (const std::bad_alloc&) {
            // No result at all: that is how deliver() knows.
        }
        promise->finish();
    });
}

void SeriesJob::cancel() {
    m_patience.stop();
    m_watcher.future().cancel();
}

void SeriesJob::deliver() {
    m_patience.stop();
    m_running = false;
    const QFuture<Delivery> future = m_watcher.future();
    if (future.isCanceled()) {
        // Nobody wants it any more.
    } else if (future.resultCount() == 0) {
        Q_EMIT failed(tr("Out of memory: narrow this graph down with a display filter."));
    } else if (const Delivery delivery = future.result()) {
        delivery();
    }
    Q_EMIT finished();
}

}  // namespace qps::gui
