// Followed: an Analysis under test. It remembers what was told of each packet and each message, and demands that
// episodes, messages and the Timeline agree, whatever was observed.
#pragma once

#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <source_location>

#include <fmt/format.h>

namespace qps::fuzz {

// Ends the process where it does not hold, and says which of the demands below it was.
inline void demand(bool holds, std::source_location where = std::source_location::current()) {
    if (holds) return;
    fmt::print(stderr, "{}:{}: this does not hold\n", where.file_name(), where.line());
    std::abort();
}

class Followed {
public:
    Followed()
        : analysis_({.message = [this](transport::ConnectionId id, transport::End, const transport::Message& m) {
              take(id, m);
          }}) {}
    Followed(const Followed&) = delete;
    Followed& operator=(const Followed&) = delete;
    ~Followed() = default;

    void observe(const transport::Observation& observation);
    void finish();

private:
    void take(transport::ConnectionId id, const transport::Message& message);
    void check_connection(const transport::Connection& connection) const;
    void check_totals(const transport::Timeline& timeline) const;
    void check_findings(const transport::Timeline& timeline) const;

    transport::Analysis analysis_;
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t retransmissions_ = 0;
    std::uint64_t duplicated_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t last_frame_ = 0;
    bool rehearsal_ = false;  // a copy is being finished: its messages come again
};

inline void Followed::observe(const transport::Observation& observation) {
    const transport::PacketRecord record = analysis_.observe(observation);
    ++packets_;
    bytes_ += observation.wire_length;
    last_frame_ = std::max(last_frame_, static_cast<std::uint64_t>(observation.frame));
    retransmissions_ += record.retransmission ? 1 : 0;
    duplicated_ += record.duplicated ? 1 : 0;
    const bool classified =
        record.arrival || record.retransmission || record.unmatched || record.completed != 0 || record.missing != 0;
    if (classified) demand(record.connection && !record.mirror_copy);
    if (record.corrupt) demand(!record.arrival && !record.unmatched && record.completed == 0);
    if (record.duplicated) demand(record.retransmission);
    if (record.retransmission)  // late: the first sending was corrupt
        demand(record.corrupt || record.arrival == transport::Arrival::repeated ||
               record.arrival == transport::Arrival::late);
    if (record.missing != 0) demand(record.arrival == transport::Arrival::ahead);
    if (record.latency) demand(record.completed != 0);
    if (record.connection) demand(*record.connection != transport::ConnectionId{});
}

inline void Followed::take(transport::ConnectionId id, const transport::Message& message) {
    if (rehearsal_) return;
    ++messages_;
    demand(static_cast<std::uint32_t>(id) >= 1);
    demand(!message.last.before(message.first));
    demand(message.packets >= 1);
    if (message.outcome == transport::Outcome::completed || message.outcome == transport::Outcome::failed)
        demand(message.answer_frame != dissect::FrameIndex{} || message.verb == dissect::Verb::read_request);
}

inline void Followed::check_connection(const transport::Connection& connection) const {
    for (const transport::Way& way : connection.ways) {
        for (const transport::Gaps& gaps : {way.incidents->gaps, way.incidents->response_gaps})
            demand(gaps.reordered + gaps.network + gaps.tap + gaps.undecided == gaps.skipped);
        demand(way.incidents->retransmitted + way.incidents->doubled.identified <= way.requests &&
               way.requests <= way.packets);
        demand(way.incidents->already_answered <= way.incidents->retransmitted);
        demand(way.packets == 0 || way.first_frame <= way.last_frame);
        demand(static_cast<std::uint64_t>(way.last_frame) <= last_frame_);
        demand(way.completed + way.incidents->failed + way.incidents->abandoned + way.open <= way.all_messages());
        demand(way.latency.count <= way.completed + way.incidents->failed);
    }
    demand(connection.packets() >= 1 || connection.cm_attempt);  // CM may speak of one that the capture does not hold
}

inline void Followed::check_totals(const transport::Timeline& timeline) const {
    transport::Totals sum;
    transport::ConnectionId before{};
    for (const transport::Connection& each : timeline.connections) {
        demand(each.uid > before);  // in the order of their first packets; numbers of ways that were joined are gone
        before = each.uid;
        check_connection(each);
        for (const transport::Way& way : each.ways) {
            for (std::size_t i = 0; i < sum.messages.size(); ++i) sum.messages[i] += way.messages[i];
            sum.message_bytes += way.message_bytes;
            sum.retransmitted_packets += way.incidents->retransmitted;
            sum.duplicated_packets += way.incidents->duplicated;
            sum.sequence_naks += way.incidents->sequence_naks;
            sum.rnr_naks += way.incidents->rnr_naks;
            sum.fatal_naks += way.incidents->fatal_naks;
            sum.acks += way.acks;
        }
    }
    const transport::Totals& totals = timeline.totals;
    demand(timeline.packets == packets_ && timeline.bytes == bytes_);
    demand(totals.messages == sum.messages && totals.message_bytes == sum.message_bytes);
    demand(totals.retransmitted_packets == sum.retransmitted_packets &&
           totals.retransmitted_packets <= retransmissions_);  // copies by the network are marked too
    demand(totals.duplicated_packets == sum.duplicated_packets && totals.duplicated_packets == duplicated_);
    demand(totals.sequence_naks == sum.sequence_naks && totals.rnr_naks == sum.rnr_naks);
    demand(totals.fatal_naks == sum.fatal_naks && totals.acks == sum.acks);
}

inline void Followed::check_findings(const transport::Timeline& timeline) const {
    demand(std::ranges::is_sorted(timeline.findings, std::ranges::greater{}, &transport::Finding::severity));
    for (const transport::Finding& finding : timeline.findings) {
        demand(!finding.id.empty() && !finding.summary.empty() && finding.count >= 1);
        demand(finding.packets.size() <= transport::kMaxEvidence && std::ranges::is_sorted(finding.packets));
        for (const dissect::FrameIndex frame : finding.packets)
            demand(frame != dissect::FrameIndex{} && static_cast<std::uint64_t>(frame) <= last_frame_);
        if (finding.connection) demand(timeline.find(*finding.connection) != nullptr);
    }
    for (const transport::Recovery& recovery : timeline.recoveries)
        demand(timeline.find(recovery.connection) != nullptr);
    for (const transport::Fatality& fatality : timeline.fatalities)
        demand(timeline.find(fatality.connection) != nullptr);
}

inline void Followed::finish() {
    rehearsal_ = true;
    transport::Analysis copy = analysis_;
    const transport::Timeline known = copy.finish();
    rehearsal_ = false;
    const transport::Timeline timeline = analysis_.finish();
    demand(known.connections.size() == timeline.connections.size() &&
           known.findings.size() == timeline.findings.size());
    check_totals(timeline);
    check_findings(timeline);
    std::uint64_t messages = 0;
    for (const std::uint64_t kind : timeline.totals.messages) messages += kind;
    demand(messages <= messages_);
}

}  // namespace qps::fuzz
