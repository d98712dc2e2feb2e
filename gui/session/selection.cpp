#include <gui/session/selection.hpp>
#include <gui/session/session.hpp>
#include <transport-replay/index/named_sets.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <utility>

namespace qps::gui {

using namespace transport;
using dissect::FrameIndex;

namespace {

constexpr std::size_t kMaxVisited = 1000;  // packets that back() goes back over
constexpr std::size_t kMaxFilters = 200;   // that undo remembers

}  // namespace

Selection::Selection(Session& session, QObject* parent) : QObject(parent), m_session(session), m_filters{QString()} {
    connect(&session, &Session::opened, this, &Selection::opened);
    connect(&session, &Session::rowsAdded, this, [this] { m_filtering.grown(m_session.packets()); });
    connect(&session, &Session::timelineChanged, this, &Selection::takeFinalNumbers);
    connect(&session, &Session::timelineChanged, this, &Selection::takeOnlyConnection);
    // What a newer timeline tells of, a filter may ask for.
    connect(&session, &Session::timelineChanged, this, [this] {
        const bool renumbered = !m_session.busy() && m_session.timeline()->numbers.any() && !filter().isEmpty();
        const auto compiled = dissect::Filter::compile(filter().toStdString(), set_names());
        if (renumbered || (compiled && !compiled->sets().empty())) refilter();
    });
    connect(&m_filtering, &Filtering::hitsChanged, this, &Selection::hitsChanged);
}

Selection::~Selection() = default;

// Filters stay: who opens the next file of a series wants to see the same of it. Marks are of packets, which the same
// files have again.
void Selection::opened() {
    m_filtering
        .clear();  // its hits are rows of what was open before: nobody may ask for these while it is told of the rest
    m_packet.reset();
    m_visited.clear();
    m_visit = 0;
    m_connection.reset();
    m_finding.reset();
    m_range.reset();
    if (!m_session.isReadAgain()) m_marks.clear();
    Q_EMIT packetChanged();
    Q_EMIT connectionChanged();
    Q_EMIT findingChanged();
    Q_EMIT rangeChanged();
    Q_EMIT marksChanged();
    refilter();
}

std::optional<FrameIndex> Selection::packet() const { return m_packet; }

void Selection::selectPacket(FrameIndex frame) {
    if (m_packet == frame || !m_session.index()->has(frame)) return;
    if (!m_visited.empty()) m_visited.resize(m_visit + 1);
    if (m_visited.size() == kMaxVisited) m_visited.erase(m_visited.begin());
    m_visited.push_back(frame);
    m_visit = m_visited.size() - 1;
    place(frame);
}

void Selection::place(FrameIndex frame) {
    m_packet = frame;
    Q_EMIT packetChanged();
    if (const auto connection = m_session.index()->row(frame).connection()) selectConnection(*connection);
}

void Selection::back() {
    if (m_visit > 0) place(m_visited[--m_visit]);
}

void Selection::forward() {
    if (m_visit + 1 < m_visited.size()) place(m_visited[++m_visit]);
}

std::optional<ConnectionId> Selection::connection() const { return m_connection; }

void Selection::selectConnection(ConnectionId connection) {
    if (m_connection == connection) return;
    m_connection = connection;
    Q_EMIT connectionChanged();
}

void Selection::stepConnection(int by) {
    const auto& connections = m_session.timeline()->connections;
    if (connections.empty()) return;
    if (!m_connection) return selectConnection(by > 0 ? connections.front().uid : connections.back().uid);
    // They stand by their number.
    auto at = std::ranges::lower_bound(connections, *m_connection, {}, &transport::Connection::uid);
    if (by > 0 && at != connections.end() && at->uid == *m_connection) ++at;
    if (by < 0 && at == connections.begin()) return;
    if (by < 0) --at;
    if (at != connections.end()) selectConnection(at->uid);
}

// A flow may have been chosen before it was known which connection it is a part of.
void Selection::takeFinalNumbers() {
    if (m_session.busy() || !m_connection) return;
    ConnectionId connection = *m_connection;
    End end{};
    m_session.timeline()->numbers.settle(connection, end);
    selectConnection(connection);
}

// Where there is but one there is nothing to choose.
void Selection::takeOnlyConnection() {
    if (m_session.busy()) return;
    const auto& connections = m_session.timeline()->connections;
    if (!m_connection && connections.size() == 1) selectConnection(connections.front().uid);
}

void Selection::selectFinding(const FindingKey& finding) {
    if (m_finding == finding) return;
    m_finding = finding;
    Q_EMIT findingChanged();
}

std::optional<TimeRange> Selection::range() const { return m_range; }

void Selection::setRange(std::optional<TimeRange> range) {
    if (range && range->to < range->from) std::swap(range->from, range->to);
    if (m_range == range) return;
    m_range = range;
    Q_EMIT rangeChanged();
    refilter();
}

QString Selection::filter() const { return m_filters[m_applied]; }

std::optional<dissect::FilterError> Selection::mistake(const QString& text) {
    const std::string plain = text.toStdString();
    const auto compiled = dissect::Filter::compile(plain, set_names());
    if (compiled && compiled->needs_whole_capture())
        return dissect::FilterError{
            1, plain.size(), "fields of messages are not known here: use rdma.message == N", {}};
    return compiled ? std::nullopt : std::optional(compiled.error());
}

bool Selection::applyFilter(const QString& text) {
    const QString trimmed = text.trimmed();
    if (mistake(trimmed)) return false;
    if (trimmed != filter()) {
        m_filters.resize(m_applied + 1);
        if (m_filters.size() == kMaxFilters) m_filters.erase(m_filters.begin());
        m_filters.push_back(trimmed);
        m_applied = m_filters.size() - 1;
    }
    refilter();
    return true;
}

bool Selection::canUndoFilter() const { return m_applied > 0; }
bool Selection::canRedoFilter() const { return m_applied + 1 < m_filters.size(); }

void Selection::undoFilter() {
    if (!canUndoFilter()) return;
    --m_applied;
    refilter();
}

void Selection::redoFilter() {
    if (!canRedoFilter()) return;
    ++m_applied;
    refilter();
}

void Selection::prepareFilter(const QString& text) { Q_EMIT filterPrepared(text); }

void Selection::refilter() {
    m_filtering.clear();
    if (!filter().isEmpty() || m_range)
        m_filtering.start(
            m_session.index(),
            [text = filter().toStdString(), index = m_session.index(), timeline = m_session.timeline(),
             range = m_range](const std::function<bool()>& stop) -> std::optional<RowFilter> {
                auto compiled = dissect::Filter::compile(text, sets_of(*index, *timeline, stop));
                if (!compiled) return std::nullopt;
                return RowFilter(index, std::move(*compiled), range);
            },
            m_session.packets());
    Q_EMIT filterChanged();
    Q_EMIT hitsChanged();
}

const RowSet* Selection::hits() const { return filter().isEmpty() && !m_range ? nullptr : &m_filtering.hits(); }
bool Selection::filtering() const { return m_filtering.running(); }
double Selection::filterProgress() const { return m_filtering.progress(); }
void Selection::stopFiltering() { m_filtering.stop(); }

std::uint64_t Selection::shown() const { return hits() != nullptr ? hits()->size() : m_session.packets(); }

FrameIndex Selection::frameAt(std::uint64_t position) const {
    return hits() != nullptr ? hits()->at(position) : FrameIndex{position + 1};
}

std::uint64_t Selection::positionOf(FrameIndex frame) const {
    if (hits() != nullptr) return hits()->rank(frame);
    return frame == FrameIndex{} ? 0 : std::min(std::to_underlying(frame) - 1, m_session.packets());
}

bool Selection::isShown(FrameIndex frame) const {
    return hits() != nullptr ? hits()->contains(frame)
                             : frame != FrameIndex{} && std::to_underlying(frame) <= m_session.packets();
}

const RowSet& Selection::marks() const { return m_marks; }

void Selection::setMarked(FrameIndex frame, bool marked) {
    if (m_marks.contains(frame) == marked) return;
    m_marks.set(frame, marked);
    Q_EMIT marksChanged();
}

void Selection::clearMarks() {
    m_marks.clear();
    Q_EMIT marksChanged();
}

}  // namespace qps::gui
