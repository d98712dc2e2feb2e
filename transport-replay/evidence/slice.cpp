#include <dissect/base/parse_value.hpp>
#include <transport-replay/evidence/slice.hpp>
#include <transport-replay/model/renamed.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kMostFrames = std::size_t{1} << 20;  // of a finding

template <class T> void sort_once(std::vector<T>& values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
}

// The way to one end. A queue pair number belongs to its host alone; of a TCP port it takes both.
FlowKey way_to(const Endpoint& from, const Endpoint& to) {
    return {from.address, to.address, *to.qpn, to.is_port ? from.qpn.value_or(Qpn{}) : Qpn{}};
}

FlowKey way_of(const Observation& observation) {
    const Qpn source = observation.kind == ObservationKind::stream ? observation.flow.source_qp : Qpn{};
    return {observation.flow.source, observation.flow.destination, observation.flow.destination_qp, source};
}

// The first segment of a TCP connection either way: its addresses and ports are all that one has of the set-up before
// MPA.
bool opens_stream(const Observation& observation) {
    constexpr std::size_t kFlags = 13;
    constexpr std::uint8_t kSyn = 2;
    return observation.kind == ObservationKind::stream && observation.payload.size() > kFlags &&
           (std::to_integer<std::uint8_t>(observation.payload[kFlags]) & kSyn) != 0;
}

bool proves(const CmAttempt& attempt, std::span<const FrameIndex> evidence) {
    return std::ranges::any_of(attempt.ladder,
                               [&](const CmRung& rung) { return std::ranges::binary_search(evidence, rung.frame); });
}

}  // namespace

std::vector<std::size_t> findings_named(const Timeline& timeline, std::string_view word) {
    if (const auto place = parse_decimal(word)) {
        if (*place == 0 || *place > timeline.findings.size()) return {};
        return {static_cast<std::size_t>(*place) - 1};
    }
    const std::string_view id = current_finding(word);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < timeline.findings.size(); ++i)
        if (timeline.findings[i].id == id) found.push_back(i);
    return found;
}

std::vector<FrameIndex> evidence_of(const Timeline& timeline, std::span<const std::size_t> findings) {
    std::vector<FrameIndex> frames;
    for (const std::size_t place : findings)
        for (const FindingEvent& event : events_of(timeline.findings[place], timeline, kMostFrames))
            frames.push_back(event.frame);
    sort_once(frames);
    return frames;
}

Slice::Slice(const Timeline& timeline, const SliceRequest& request, std::span<const Instant> times)
    : timeline_(timeline), connections_(request.connections), frames_(evidence_of(timeline, request.findings)) {
    if (connections_.empty())
        for (const std::size_t place : request.findings)
            if (const auto connection = timeline.findings[place].connection) connections_.push_back(*connection);
    sort_once(connections_);
    const std::vector<FrameIndex> evidence = frames_;
    for (const ConnectionId uid : connections_)
        if (const Connection* connection = timeline.find(uid)) add_connection(*connection);
    // A set-up that failed has no connection that would lead to it.
    for (const CmAttempt& attempt : timeline.cm.attempts)
        if (proves(attempt, evidence)) add_attempt(attempt);
    sort_once(flows_);
    sort_once(frames_);
    if (request.around) add_windows(times, *request.around);
    // What is of no connection has nothing but the time to tell what belongs to it.
    everything_ = windows_ && (request.everything || connections_.empty());
}

void Slice::add_connection(const Connection& connection) {
    const auto [a, b] = std::tie(connection.ends[0], connection.ends[1]);
    if (b.qpn) flows_.push_back(way_to(a, b));
    if (a.qpn) flows_.push_back(way_to(b, a));
    if (connection.cm_attempt && *connection.cm_attempt < timeline_.cm.attempts.size())
        add_attempt(timeline_.cm.attempts[*connection.cm_attempt]);
}

void Slice::add_attempt(const CmAttempt& attempt) {
    for (const CmRung& rung : attempt.ladder) frames_.push_back(rung.frame);
    set_up_left_out_ += attempt.rungs_dropped;
}

void Slice::add_windows(std::span<const Instant> times, Duration around) {
    std::vector<Instant> sorted(times.begin(), times.end());
    std::ranges::sort(sorted);
    windows_.emplace();
    for (const Instant time : sorted) {
        const Window window{time - around, time + around};
        if (!windows_->empty() && window.begin <= windows_->back().end) windows_->back().end = window.end;
        else windows_->push_back(window);
    }
}

bool Slice::is_close(const Observation& observation) const {
    if (!windows_) return true;
    if (!observation.has_time) return false;
    const auto window = std::ranges::lower_bound(*windows_, observation.time, {}, &Window::end);
    return window != windows_->end() && window->begin <= observation.time;
}

// Packets of a way that was not joined to its connection yet have another number than that in the end, and CNPs have
// none: their addresses tell, unless they are of another connection that had the same numbers.
bool Slice::is_of_connection(const Observation& observation, const PacketRecord& record) const {
    if (record.connection) {
        if (std::ranges::binary_search(connections_, *record.connection)) return true;
        if (timeline_.find(*record.connection) != nullptr) return false;
    }
    return std::ranges::binary_search(flows_, way_of(observation));
}

bool Slice::takes(const Observation& observation, const PacketRecord& record) const {
    if (std::ranges::binary_search(frames_, observation.frame)) return true;
    if (!is_close(observation))
        return opens_stream(observation) && std::ranges::binary_search(flows_, way_of(observation));
    return everything_ || is_of_connection(observation, record);
}

}  // namespace qps::transport
