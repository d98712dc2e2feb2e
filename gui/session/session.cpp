#include <dissect/capture/capture_file.hpp>
#include <dissect/headers/roce_ports.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/index/indexer.hpp>
#include <transport-replay/model/numbering.hpp>
#include <transport-replay/model/timeline.hpp>

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace qps::gui {

using namespace transport;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollEvery = 50;    // ms
constexpr int kWatchEvery = 500;  // ms: a call of the system for each file
constexpr std::chrono::milliseconds kFirstTimeline{
    1000};  // a small capture is done by then, of a large one something is seen
constexpr std::chrono::milliseconds kWakeEvery{2};
constexpr int kWakeUp = SIGUSR1;
constexpr int kTimelineShare = 20;  // showing what is known so far takes no more than this part of the time

QString sentence(const dissect::InputProblem& problem) {
    QString text =
        QString::fromStdString(problem.file) + QStringLiteral(": ") + QString::fromStdString(problem.sentence);
    if (problem.kind == dissect::InputProblemKind::damaged)
        text += QStringLiteral(" (at offset %L1)").arg(problem.offset);
    return text;
}

// The first packet of a file as it is now; nothing where it has none, or cannot be read.
struct FirstPacket {
    dissect::Instant time{};
    std::uint32_t length = 0;  // on the wire
    bool timed = false;
};
std::optional<FirstPacket> firstPacketOf(const std::string& path) {
    auto file = dissect::CaptureFile::open(path);
    dissect::Batch batch;
    if (!file || !file->read(batch) || batch.frames.empty()) return std::nullopt;
    const dissect::Frame& first = batch.frames.front();
    return FirstPacket{first.time, first.wire_length, first.has_time};
}

// Whether that packet is one of the first `packets` that are open, from whichever file it came: what two files have
// counts once.
bool hasRow(const CaptureIndex& index, std::uint64_t packets, const FirstPacket& first, dissect::Duration moved) {
    for (std::uint64_t at = 0; at < packets; ++at) {
        const PacketRow& row = index.packets[at];
        if (row.wire_length() != first.length || row.has(Mark::timeless) == first.timed) continue;
        if (!first.timed || row.time() == first.time + moved) return true;
    }
    return false;
}

dissect::Jobs jobsFor(std::size_t wanted) {
    constexpr unsigned kEnough = 8;
    return {wanted != 0 ? wanted : std::clamp(std::thread::hardware_concurrency(), 1U, kEnough)};
}

}  // namespace

// What the worker and the window share while a capture is read. The worker holds it as well, so the window may leave it
// alone.
struct Session::Work {
    std::atomic<bool> stop = false;
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> read = 0;
    std::atomic<std::uint64_t> all = 0;  // 0: not known
    std::mutex mutex;
    std::shared_ptr<const transport::Timeline> newest;  // that the window has not taken yet
    std::uint64_t shown = 0;                            // packets that the last one knows
    Indexing indexing;
    Indexed outcome;         // once done
    bool exhausted = false;  // memory
    std::thread thread;

    ~Work();
    void wake() { pthread_kill(thread.native_handle(), kWakeUp); }
    void run(CaptureIndex& index);
};

// A thread that waits for a pipe hears of it by a signal, which does nothing but interrupt waiting.
Session::Work::~Work() {
    stop = true;
    if (!thread.joinable()) return;
    while (!done.load(std::memory_order_acquire)) {
        wake();
        std::this_thread::sleep_for(kWakeEvery);
    }
    thread.join();
}

void Session::Work::run(CaptureIndex& index) {
    Clock::time_point next = Clock::now() + kFirstTimeline;
    Clock::time_point asked;
    const IndexWatch watch{
        .stopped = [this] { return stop.load(std::memory_order_relaxed); },
        .progressed =
            [this](std::uint64_t bytes, std::optional<std::uint64_t> size) {
                read.store(bytes, std::memory_order_relaxed);
                all.store(size.value_or(0), std::memory_order_relaxed);
            },
        .wants_timeline =
            [&] {
                asked = Clock::now();
                return asked >= next;
            },
        .timeline =
            [&](transport::Timeline&& soFar) {
                auto shared = std::make_shared<const transport::Timeline>(std::move(soFar));
                const std::lock_guard lock(mutex);
                newest = std::move(shared);
                shown = index.packets.size();
                const auto now = Clock::now();
                next = now + std::max<Clock::duration>(std::chrono::seconds(1), (now - asked) * kTimelineShare);
            },
    };
    try {
        outcome = build_index(index, indexing, watch);
    } catch (const std::bad_alloc&) {
        exhausted = true;
    }
    done.store(true, std::memory_order_release);
}

Session::Session(std::size_t jobs, QObject* parent)
    : QObject(parent),
      m_jobs(jobs),
      m_index(std::make_shared<CaptureIndex>()),
      m_timeline(std::make_shared<const transport::Timeline>()) {
    m_looking.setInterval(kPollEvery);
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(kWakeUp, &action, nullptr);
    connect(&m_looking, &QTimer::timeout, this, &Session::look);
    m_watching.setInterval(kWatchEvery);
    connect(&m_watching, &QTimer::timeout, this, &Session::lookAtFiles);
}

Session::~Session() { end(); }

// Whatever is going on ends, and nothing is open.
void Session::end() {
    m_looking.stop();
    m_watching.stop();
    if (m_work) m_work->stop = true;
    m_work.reset();
    m_files.clear();
    m_title.clear();
    m_problems.clear();
    m_toldFiles.clear();
    m_damaged = false;
    m_leftOut = 0;
    m_hints.clear();
    m_clocks = {};
    m_packets = 0;
    m_index = std::make_shared<CaptureIndex>();
    m_timeline = std::make_shared<const transport::Timeline>();
    m_state = State::Empty;
    m_live = false;
}

void Session::begin(State state, const QStringList& files, const QString& title, const UlpHints& hints, Files which,
                    const Clocks& clocks) {
    end();
    m_hints = hints;
    m_clocks = clocks;
    m_files = files;
    m_title = title;
    m_state = state;
    m_live = state == State::Capturing;
    Indexing indexing{.files = {},
                      .jobs = jobsFor(m_jobs),
                      .spool_folder = QDir::tempPath().toStdString(),
                      .hints = m_hints,
                      .icrc = m_reading.icrc,
                      .unordered = m_reading.unorderedHosts,
                      .by_time = m_clocks.byTime,
                      .offsets = m_clocks.offsets,
                      .link_speed = m_reading.linkSpeed,
                      .memory = m_memory};
    for (const QString& file : files) indexing.files.push_back(file.toStdString());
    start(std::move(indexing), which);
}

void Session::start(Indexing indexing, Files which) {
    m_work = std::make_unique<Work>();
    m_work->indexing = std::move(indexing);
    m_work->thread = std::thread([this, work = m_work.get(), index = m_index] {
        work->run(*index);
        QMetaObject::invokeMethod(this, &Session::look, Qt::QueuedConnection);  // joined before this session ends
    });
    m_looking.start();
    m_readAgain = which == Files::Same;
    Q_EMIT opened();
    Q_EMIT stateChanged();
}

// The same files, with what was learned of all of them: what is shown so far may be of several taps mixed.
void Session::readAgain(Indexing indexing) {
    m_problems.clear();
    m_damaged = false;
    m_leftOut = 0;
    m_packets = 0;
    m_index = std::make_shared<CaptureIndex>();
    m_timeline = std::make_shared<const transport::Timeline>();
    start(std::move(indexing), Files::Same);
}

QStringList Session::whyNotOpened(const QStringList& files) {
    QStringList why;
    for (const QString& file : files) {
        const QFileInfo info(file);
        const bool waits = file == QStringLiteral("-") || (info.exists() && !info.isFile() && !info.isDir());
        if (waits) return {};
        const auto opened = dissect::CaptureFile::open(file.toStdString());
        if (opened) return {};
        why.push_back(sentence(opened.error()));
    }
    return why;
}

QString Session::fileFilter() {
    return tr("Captures (*.pcap *.pcapng *.cap *.erf *.pcap.gz *.pcapng.gz *.pcap.zst *.pcapng.zst);;All files (*)");
}

void Session::open(const QStringList& files, const Clocks& clocks) {
    if (files.isEmpty()) return close();
    read(files, {}, Files::Others, clocks);
}

void Session::setReading(const Reading& reading) {
    dissect::set_roce_ports(reading.rocePorts);
    dissect::set_uet_protocol(reading.uetProtocol);
    if (m_reading == reading) return;
    m_reading = reading;
    if (canDecodeAs()) reload();
}

void Session::setNames(std::shared_ptr<const Names> names) {
    if (m_names == nullptr && names == nullptr) return;
    m_names = std::move(names);
    Q_EMIT namesChanged();
}

void Session::setClocks(const Clocks& clocks) {
    if (m_clocks != clocks && canDecodeAs()) read(QStringList(m_files), UlpHints(m_hints), Files::Same, Clocks(clocks));
}

// What was open would be gone if a file cannot be opened any more, and what is known of packets by their numbers would
// be of others if it is another capture now.
bool Session::mayReadAgain() {
    if (m_packets == 0) return true;
    QStringList gone, others;
    for (std::size_t i = 0; i < static_cast<std::size_t>(m_files.size()); ++i) {
        const QString& name = m_files[static_cast<qsizetype>(i)];
        if (name == QStringLiteral("-")) gone << tr("Standard input cannot be read again.");
        else if (const auto opened = dissect::CaptureFile::open(name.toStdString()); !opened)
            gone << sentence(opened.error());
        if (!gone.isEmpty()) continue;
        const dissect::Duration moved = i < m_clocks.offsets.size() ? m_clocks.offsets[i] : dissect::Duration{};
        const auto now = firstPacketOf(name.toStdString());
        if (now ? !hasRow(*m_index, m_packets, *now, moved) : m_files.size() == 1)
            others << tr("%1 no longer begins with the same packet.").arg(name);
    }
    if (gone.isEmpty() && others.isEmpty()) return true;
    Q_EMIT readAgainRefused(gone + others, gone.isEmpty());
    return false;
}

void Session::read(const QStringList& files, const UlpHints& hints, Files which, const Clocks& clocks) {
    if (which == Files::Same && !mayReadAgain()) return;
    const QString first =
        files.front() == QStringLiteral("-") ? tr("standard input") : QFileInfo(files.front()).fileName();
    begin(State::Reading, files,
          files.size() == 1 ? first : tr("%1 and %n more", nullptr, static_cast<int>(files.size()) - 1).arg(first),
          hints, which, clocks);
}

bool Session::canDecodeAs() const { return !m_live && !m_files.isEmpty() && !m_files.contains(QStringLiteral("-")); }

void Session::decodeAs(ConnectionId connection, UlpProtocol protocol) {
    if (!canDecodeAs()) return;
    UlpHints hints = m_hints;
    const ConnectionId given = given_numbers(m_timeline->numbers, connection).back();
    hints.insert_or_assign(std::to_underlying(given), UlpDeclared(protocol));
    read(QStringList(m_files), hints, Files::Same, Clocks(m_clocks));
}

void Session::capture(const QString& pipe, const QString& title) { begin(State::Capturing, {pipe}, title); }

void Session::reload() {
    if (!m_live && !m_files.isEmpty()) read(QStringList(m_files), UlpHints(m_hints), Files::Same, Clocks(m_clocks));
}

void Session::close() {
    end();
    m_readAgain = false;
    Q_EMIT opened();
    Q_EMIT stateChanged();
}

// The signal may come just before the worker begins to wait: look() wakes it again.
void Session::stop() {
    if (!m_work) return;
    m_work->stop = true;
    m_work->wake();
}

std::optional<double> Session::progress() const {
    if (!m_work) return std::nullopt;
    const auto all = static_cast<double>(m_work->all.load(std::memory_order_relaxed));
    if (all == 0) return std::nullopt;
    return std::min(1.0, static_cast<double>(m_work->read.load(std::memory_order_relaxed)) / all);
}

// Takes over what the worker has brought since the last time.
void Session::look() {
    if (!m_work) return;
    const bool done = m_work->done.load(std::memory_order_acquire);
    if (const std::uint64_t packets = m_index->packets.size(); packets != m_packets) {
        m_packets = packets;
        Q_EMIT rowsAdded();
    }
    if (done) return finish();
    if (m_work->stop) m_work->wake();
    std::shared_ptr<const transport::Timeline> newest;
    bool behind = false;
    {
        const std::lock_guard lock(m_work->mutex);
        newest = std::exchange(m_work->newest, nullptr);
        behind = m_work->shown != m_packets;
    }
    // After the last packets of a burst the worker waits for more, and would say nothing of these.
    if (m_state == State::Capturing && behind) m_work->wake();
    if (newest) {
        m_timeline = std::move(newest);
        Q_EMIT timelineChanged();
    }
    Q_EMIT progressChanged();
}

void Session::finish() {
    m_looking.stop();
    const std::unique_ptr<Work> work = std::move(m_work);
    work->thread.join();
    Indexed& outcome = work->outcome;
    if (!m_live && !work->exhausted)
        if (auto again = second_reading(work->indexing, outcome)) return readAgain(std::move(*again));
    for (const dissect::InputProblem& problem : outcome.problems) {
        m_problems.push_back(sentence(problem));
        m_toldFiles.insert(QString::fromStdString(problem.file));
    }
    m_damaged = work->exhausted || !outcome.problems.empty();
    if (work->exhausted)
        m_problems.push_back(tr("Out of memory: the packets read so far are shown, without a complete analysis."));
    m_leftOut = outcome.left_out;
    if (outcome.left_out != 0)
        m_problems.push_back(
            tr("%L1 packets beyond the limit of the packet list are analysed but not shown (--memory).")
                .arg(outcome.left_out));
    if (outcome.messages_left_out != 0)
        m_problems.push_back(
            tr("%L1 messages beyond the limit of the list of messages are analysed but not shown (--memory).")
                .arg(outcome.messages_left_out));
    m_state = outcome.stopped ? State::Stopped : State::Done;
    if (!work->exhausted) m_timeline = std::make_shared<const transport::Timeline>(std::move(outcome.timeline));
    Q_EMIT timelineChanged();
    Q_EMIT stateChanged();
    m_watching.start();
    lookAtFiles();
}

// Rows are there to be looked at for hours. Who wants one of a file that was truncated meanwhile is told in the row;
// from where on they are gone is told once.
void Session::lookAtFiles() {
    const std::vector<IndexedFile> files = m_index->files();
    bool more = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].spooled) continue;
        const auto lost = m_index->lost_from(i);
        const QString name = QString::fromStdString(files[i].name);
        if (!lost || !m_toldFiles.insert(name).second) continue;
        m_problems.push_back(
            tr("%1 was truncated after it was read (at offset %L2): packets behind that are in the analysis, but cannot be shown any more.")
                .arg(name)
                .arg(*lost));
        more = true;
    }
    if (more) Q_EMIT problemsChanged();
}

}  // namespace qps::gui
