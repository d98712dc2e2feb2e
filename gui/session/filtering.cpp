#include <gui/session/filtering.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace qps::gui {

using namespace transport;

namespace {

constexpr int kLookEvery = 50;  // ms

std::uint64_t piecesOf(std::uint64_t packets) { return (packets + RowSet::kPieceRows - 1) / RowSet::kPieceRows; }

}  // namespace

// A filter that the first worker makes who needs it; the others wait for that.
struct Filtering::Source {
    Make make;
    std::once_flag once;
    std::optional<RowFilter> made;
};

// Pieces from `first` to before `end`, each taken by the next worker that is free.
struct Filtering::Job {
    std::shared_ptr<const CaptureIndex> index;
    std::shared_ptr<Source> filter;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::atomic<std::uint64_t> next = 0;
    std::atomic<std::uint64_t> answered = 0;
    std::atomic<bool> stop = false;
    std::atomic<bool> exhausted = false;  // no memory, or no filter: what was not asked stays away
    std::mutex mutex;
    std::vector<RowSet::Piece> pieces;  // that the window has not taken yet
    std::vector<std::thread> workers;

    ~Job() {
        stop = true;
        for (std::thread& worker : workers) worker.join();
    }
    void work() {
        try {
            ask();
        } catch (const std::bad_alloc&) {
            exhausted = true;
        }
    }
    void ask() {
        std::call_once(filter->once, [this] { filter->made = filter->make([this] { return stop.load(); }); });
        if (!filter->made) {
            exhausted = true;
            return;
        }
        PacketReader reader(index);
        for (std::uint64_t piece = next++; piece < end && !stop; piece = next++) {
            RowSet::Piece made = filter->made->piece(piece, reader, stop);
            if (stop) return;
            const std::lock_guard lock(mutex);
            pieces.push_back(std::move(made));
            ++answered;
        }
    }
    [[nodiscard]] bool done() const { return answered == end - first; }
};

Filtering::Filtering(QObject* parent) : QObject(parent) {
    m_looking.setInterval(kLookEvery);
    connect(&m_looking, &QTimer::timeout, this, &Filtering::look);
}

Filtering::~Filtering() = default;

void Filtering::start(std::shared_ptr<const CaptureIndex> index, Make make, std::uint64_t packets) {
    clear();
    m_index = std::move(index);
    m_filter = std::make_shared<Source>();
    m_filter->make = std::move(make);
    m_wanted = packets;
    ask(0);
}

void Filtering::grown(std::uint64_t packets) {
    if (m_filter == nullptr || m_stopped) return;
    m_wanted = packets;
    if (m_job == nullptr && m_wanted > m_asked) ask(m_asked / RowSet::kPieceRows);
}

void Filtering::ask(std::uint64_t fromPiece) {
    m_asked = m_wanted;
    const std::uint64_t end = piecesOf(m_wanted);
    if (fromPiece >= end) return;
    m_job = std::make_unique<Job>();
    m_job->index = m_index;
    m_job->filter = m_filter;
    m_job->first = fromPiece;
    m_job->next = fromPiece;
    m_job->end = end;
    const std::uint64_t threads =
        std::min<std::uint64_t>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U), end - fromPiece);
    for (std::uint64_t i = 0; i < threads; ++i) m_job->workers.emplace_back([job = m_job.get()] { job->work(); });
    m_looking.start();
}

void Filtering::look() {
    if (m_job == nullptr) return m_looking.stop();
    std::vector<RowSet::Piece> pieces;
    bool done = false;
    {
        const std::lock_guard lock(m_job->mutex);
        pieces.swap(m_job->pieces);
        done = m_job->done();
    }
    for (const RowSet::Piece& piece : pieces) m_hits.put(piece);
    if (m_job->exhausted) return stop();
    if (done) {
        m_job.reset();
        if (m_wanted > m_asked) ask(m_asked / RowSet::kPieceRows);
        else m_looking.stop();
    }
    if (done || !pieces.empty()) Q_EMIT hitsChanged();
}

void Filtering::stop() {
    m_stopped = true;
    if (m_job == nullptr) return;
    m_job.reset();
    Q_EMIT hitsChanged();
}

void Filtering::clear() {
    m_job.reset();
    m_looking.stop();
    m_filter.reset();
    m_index.reset();
    m_hits.clear();
    m_asked = m_wanted = 0;
    m_stopped = false;
}

double Filtering::progress() const {
    if (m_job == nullptr) return 1;
    return static_cast<double>(m_job->answered.load()) /
           static_cast<double>(std::max<std::uint64_t>(1, m_job->end - m_job->first));
}

}  // namespace qps::gui
