// A reconstruction for programs.
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/bounds.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/findings.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/rdma_packets.hpp>
#include <transport-replay/report/ultra_ethernet.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::size_t kPiece = 1U << 16;  // of text that is held before it is written

template <class Kinds> void add_messages(Document& document, const Kinds& counts) {
    for (std::size_t kind = 0; kind < kMessageKindNames.size(); ++kind)
        document.add(kMessageKindNames[kind], counts[kind]);
}

void add_quality(Document& document, const Timeline& timeline) {
    const CaptureQuality& quality = timeline.quality;
    document.open("quality");
    document.add("packets", quality.packets);
    document.add("rdma_packets", rdma_packets(timeline));
    document.add("cut_packets", quality.cut);
    document.add("longest_whole_bytes", quality.longest_whole);
    document.add("shortest_cut_bytes", quality.shortest_cut);
    document.add("unreadable_packets", quality.unreadable);
    document.add("faulty_packets", quality.faulty);
    document.add("ip_fragments", quality.fragments);
    document.add("copies_of_other_taps", quality.copies_of_other_taps);
    document.add("copies_of_same_tap", quality.copies_of_same_tap);
    document.add("ambiguous_repetitions", quality.ambiguous_repetitions);
    document.add("same_tap_systematic", quality.same_tap_systematic);
    document.add("min_copy_distance_ns", quality.least_copy_distance);
    document.add("max_copy_distance_ns", quality.most_copy_distance);
    document.add("window_displaced", quality.window_displaced);
    document.open("vantage_points");
    document.add("taps", quality.vantage.taps);
    document.add("host_pairs", quality.vantage.hosts);
    document.add("clock_offset_ns", quality.vantage.offset.middle());
    document.add("clock_drift_ns", quality.vantage.offset.drift());
    document.add("packets_left_out", quality.left_out);
    document.close();
    document.add("backwards_timestamps", quality.backwards);
    document.add("largest_step_back_ns", quality.largest_step_back);
    document.add("largest_step_frame", quality.largest_step_frame);
    document.add("clock_resolution_ns", quality.clock_resolution);
    document.add("host_pairs", quality.host_pairs);
    document.add("packets_of_pairs_left_out", quality.pairs_dropped);
    document.open_list("one_way");
    for (const OneWay& pair : quality.one_way) {
        document.open();
        document.add("source", text(pair.source));
        document.add("destination", text(pair.destination));
        document.add("packets", pair.packets);
        document.add("reliable", pair.reliable);
        document.close();
    }
    document.close_list();
    document.open("drops");
    document.add("known", quality.drops.known);
    document.add("received", quality.drops.received);
    document.add("by_interface", quality.drops.dropped);
    document.add("by_system", quality.drops.dropped_by_system);
    document.close();
    document.close();
}

}  // namespace

void add_extent(Document& document, const Timeline& timeline) {
    document.add_texts("incomplete", timeline.incomplete);
    document.add("nothing_judged", saw_anything(timeline) ? std::nullopt : std::optional(kNothingSeen));
}

namespace {

void add_capture(Document& document, std::span<const std::string> inputs, const Timeline& timeline) {
    document.add_texts("files", inputs);
    document.add("packets", timeline.packets);
    document.add("bytes", timeline.bytes);
    document.add("first_ns", timeline.first);
    document.add("last_ns", timeline.last);
    add_extent(document, timeline);
    add_quality(document, timeline);
    if (timeline.hosts.empty()) return;
    document.open_list("hosts");
    for (const CapturedHost& host : timeline.hosts) {
        document.open();
        document.add("name", dissect::printable(host.name));
        document.add_texts("files", host.inputs);
        document.add("packets", host.packets);
        document.add("frames_before", host.frames_before);
        document.add("frames", host.frames);
        document.add("shared_connections", host.shared);
        document.add("clock_offset_ns", host.clock_ahead);
        document.add("clock_uncertainty_ns", host.clock_within);
        document.add("management_left_out", host.management_left_out);
        document.close();
    }
    document.close_list();
}

void add_icrc(Document& document, const CaptureQuality& quality) {
    document.add("good", quality.icrc_good);
    document.add("bad", quality.icrc_bad);
    document.add("not_judged", quality.icrc_not_judged);
    document.add("not_checkable", quality.icrc_not_checkable);
}

void add_totals(Document& document, const Totals& totals) {
    document.add("retransmitted_packets", totals.retransmitted_packets);
    document.add("duplicated_packets", totals.duplicated_packets);
    document.add("sequence_naks", totals.sequence_naks);
    document.add("rnr_naks", totals.rnr_naks);
    document.add("fatal_naks", totals.fatal_naks);
    document.add("acks", totals.acks);
    document.add("ce_marked", totals.ce_marked);
    document.add("cnps", totals.cnps);
    document.add("timeouts", totals.timeouts);
    document.add("message_bytes", totals.message_bytes);
    document.add("management_datagrams", totals.management);
}

void add_gaps(Document& document, std::string_view name, const Gaps& gaps) {
    document.open(name);
    document.add("skipped", gaps.skipped);
    document.add("reordered", gaps.reordered);
    document.add("network", gaps.network);
    document.add("tap", gaps.tap);
    document.add("undecided", gaps.undecided);
    document.add("came", gaps.came);
    document.add("again", gaps.again);
    document.close();
}

template <class Values> void add_few(Document& document, std::string_view name, const Values& values) {
    document.open_list(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        document.open();
        document.add("value", values[i].value);
        document.add("packets", values[i].packets);
        document.close();
    }
    document.close_list();
}

void add_recovery_sums(Document& document, const Way& way) {
    document.open("recoveries");
    for (std::size_t kind = 0; kind < kRecoveryKindNames.size(); ++kind) {
        const RecoverySum& sum = way.incidents->recovery(static_cast<RecoveryKind>(kind));
        if (sum.episodes == 0) continue;
        document.open(kRecoveryKindNames[kind]);
        document.add("episodes", sum.episodes);
        document.add("triggers", sum.triggers);
        document.add("resent_packets", sum.resent);
        document.add("first_seen_packets", sum.first_seen);
        document.add("resent_bytes", sum.resent_bytes);
        document.add("stalled_ns", sum.lost);
        document.add("wait_ns", sum.waited);
        document.add("max_stalled_ns", sum.most_lost);
        document.close();
    }
    document.close();
}

void add_way_messages(Document& document, const Way& way) {
    document.open("messages");
    add_messages(document, way.messages);
    document.close();
    document.add("message_bytes", way.message_bytes);
    document.add("completed", way.completed);
    document.add("failed", way.incidents->failed);
    document.add("abandoned", way.incidents->abandoned);
    document.add("open", way.open);
    document.open("latency");
    document.add("count", way.latency.count);
    document.add("min_ns", way.latency.least);
    document.add("mean_ns", way.latency.mean());
    document.add("max_ns", way.latency.most);
    document.close();
}

void add_way(Document& document, const Way& way) {
    document.open();
    document.add("packets", way.all_packets());
    document.add("bytes", way.all_bytes());
    if (way.packets != 0) {
        document.add("first_frame", way.first_frame);
        document.add("last_frame", way.last_frame);
        document.add("first_ns", way.first_time);
        document.add("last_ns", way.last_time);
    }
    document.add("corrupt", way.incidents->corrupt);
    document.add("ce_marked", way.incidents->congestion_experienced);
    document.add("cnps", way.incidents->cnps);
    document.add("requests", way.requests);
    document.add("retransmitted", way.incidents->retransmitted);
    document.add("duplicated", way.incidents->duplicated);
    document.add("already_answered", way.incidents->already_answered);
    document.add("retransmitted_bytes", way.incidents->retransmitted_bytes);
    document.add("acks", way.acks);
    document.add("sequence_naks", way.incidents->sequence_naks);
    document.add("rnr_naks", way.incidents->rnr_naks);
    document.add("fatal_naks", way.incidents->fatal_naks);
    document.add("read_responses", way.read_responses);
    document.add("atomic_responses", way.atomic_responses);
    document.add("unread_answers", way.incidents->unread_answers);
    document.add("unmatched", way.incidents->unmatched);
    document.add("implied_naks", way.incidents->implied_naks);
    add_gaps(document, "gaps", way.incidents->gaps);
    add_gaps(document, "response_gaps", way.incidents->response_gaps);
    add_recovery_sums(document, way);
    document.add("spurious_timeouts", way.incidents->spurious);
    document.add("ack_timeout_exponent",
                 way.incidents->ack_timer ? std::optional(way.incidents->ack_timer->exponent) : std::nullopt);
    add_way_messages(document, way);
    document.add("path_mtu_bytes", way.path_mtu);
    document.add("first_psn", way.first_psn);
    document.add("max_reads_outstanding", way.most_reads);
    document.add("reads_at_max", way.reads_at_most);
    add_few(document, "pkeys", way.pkeys);
    add_few(document, "dscps", way.dscps);
    add_few(document, "pcps", way.pcps);
    add_few(document, "udp_source_ports", way.udp_ports);
    document.close();
}

// Sums of the two ways, for readers who want no more.
void add_sums(Document& document, const Connection& connection) {
    const auto sum = [&](auto of) { return of(connection.ways[0]) + of(connection.ways[1]); };
    document.add("packets", connection.all_packets());
    document.add("bytes", connection.all_bytes());
    document.add("messages", sum([](const Way& way) { return way.all_messages(); }));
    document.add("retransmitted_packets", sum([](const Way& way) { return way.incidents->retransmitted; }));
    document.add("sequence_naks", sum([](const Way& way) { return way.incidents->sequence_naks; }));
    document.add("rnr_naks", sum([](const Way& way) { return way.incidents->rnr_naks; }));
    document.add("fatal_naks", sum([](const Way& way) { return way.incidents->fatal_naks; }));
    document.add("acks", sum([](const Way& way) { return way.acks; }));
    document.add("timeouts", connection.timeouts(End::a) + connection.timeouts(End::b));
}

void add_connection(Document& document, const Connection& connection) {
    document.add("uid", connection.uid);
    document.add("service", service_name(connection.service));
    document.add("confidence", kConfidenceNames[static_cast<std::size_t>(connection.confidence)]);
    document.add("joined_by", kJoinedByNames[static_cast<std::size_t>(connection.joined_by)]);
    document.add("matches", connection.matches);
    document.add("cm_attempt", connection.cm_attempt);
    document.add("path_mtu", std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu));
    document.add("cm_path_mtu", connection.cm_path_mtu);
    document.add("released", connection.released);
    document.add("failed", connection.failed);
    document.open_list("ends");
    for (const Endpoint& end : connection.ends) {
        document.open();
        document.add("address", text(end.address));
        document.add("qpn", end.qpn);
        document.close();
    }
    document.close_list();
    add_sums(document, connection);
    document.add("first_frame", connection.first_frame());
    document.add("first_ns", connection.first_time());
    document.add("last_ns", connection.last_time());
    document.open_list("directions");
    for (const Way& way : connection.ways) add_way(document, way);
    document.close_list();
}

void add_recovery(Document& document, const Recovery& recovery) {
    document.add("connection", recovery.connection);
    document.add("requester", recovery.requester == End::a ? "a" : "b");
    document.add("kind", kRecoveryKindNames[static_cast<std::size_t>(recovery.kind)]);
    document.add("end", kRecoveryEndNames[static_cast<std::size_t>(recovery.end)]);
    document.add("psn", recovery.psn);
    if (recovery.kind == RecoveryKind::sequence_nak)
        document.add("nak_cause", kNakCauseNames[static_cast<std::size_t>(recovery.cause)]);
    if (recovery.passed != HostNumber{})
        document.add("seen_at_host", std::uint64_t{std::to_underlying(recovery.passed)});
    if (recovery.missed != HostNumber{})
        document.add("missing_at_host", std::uint64_t{std::to_underlying(recovery.missed)});
    if (recovery.missed_answer) document.add("answer_missing", true);
    document.add("lost_packets", recovery.lost);
    document.add("triggers", recovery.triggers);
    document.add("rounds", recovery.rounds);
    document.add("resent_packets", recovery.resent);
    document.add("first_seen_packets", recovery.first_seen);
    document.add("resent_bytes", recovery.resent_bytes);
    document.add("original_frame", recovery.original);
    document.add("trigger_frame", recovery.trigger);
    document.add("resumed_frame", recovery.resumed);
    document.add("last_frame", recovery.last);
    document.add("start_ns", recovery.time.begin());
    document.add("resumed_ns", recovery.resumed_time);
    document.add("end_ns", recovery.time.end());
    document.add("stalled_ns", recovery.lost_time());
    document.add("wait_ns", recovery.waited);
    document.add("max_wait_ns", recovery.longest_wait);
    document.add("silence_ns", recovery.silence);
    document.add("timer_ns", recovery.timer_ran);
    document.add("interval_ns", recovery.interval);
    document.add("rnr_timer", recovery.rnr_timer);
    document.add("nak", recovery.asked());
    document.add("spurious", recovery.spurious());
    document.add("answered", recovery.answered());
    document.add("partial_read", recovery.partial_read());
}

void add_pair(Document& document, const PairCongestion& pair) {
    document.open();
    document.add("source", text(pair.source));
    document.add("destination", text(pair.destination));
    document.add("packets", pair.packets);
    document.add("ce_marked", pair.ce_marked);
    document.add("marked", pair.marked);
    document.add("notifications", pair.notifications);
    document.add("answered", pair.answered);
    document.add("unanswered", pair.unanswered);
    document.add("undecided", pair.undecided);
    document.add("reverse_seen", pair.other_way_seen);
    document.close();
}

void add_stream(Document& document, const CnpStream& stream) {
    document.open();
    document.add("source", text(stream.flow.source));
    document.add("destination", text(stream.flow.destination));
    document.add("destination_qpn", stream.flow.destination_qp);
    document.add("count", stream.count);
    document.add("without_mark", stream.without_mark);
    document.add("first_frame", stream.first_frame);
    document.add("last_frame", stream.last_frame);
    document.add("min_gap_ns", stream.gaps.least());
    document.add("median_gap_ns", stream.gaps.median());
    document.add("median_delay_ns", stream.delays.median());
    document.close();
}

void add_pause(Document& document, const PauseSummary& pause) {
    document.open();
    document.add("interface", pause.interface);
    if (pause.priority == kWholeLink) document.add("priority", std::optional<std::uint8_t>{});
    else document.add("priority", pause.priority);
    document.add("sender", text(pause.sender));
    document.add("stops", pause.stops);
    document.add("resumes", pause.resumes);
    document.add("periods", pause.periods);
    document.add("unknown_lengths", pause.unknown_lengths);
    document.add("storms", pause.storms);
    document.add("paused_ns", pause.paused);
    document.add("least_paused_ns", pause.least_paused);
    document.add("longest_ns", pause.longest);
    document.add("longest_frame", pause.longest_frame);
    document.add("judged_periods", pause.judged);
    document.add("packets_to_sender", pause.packets_to_it);
    document.add("late_packets", pause.late);
    const bool assumed = pause.assumed_speed != dissect::BitsPerSecond{};
    document.add("assumed_link_speed", assumed ? std::optional(std::to_underlying(pause.assumed_speed)) : std::nullopt);
    document.add("traffic_stopped", pause.traffic_stopped);
    document.close();
}

void add_congestion(Document& document, const CongestionReport& congestion) {
    document.add("marked", congestion.marked);
    document.add("cnps", congestion.cnps);
    document.open_list("pairs");
    for (const PairCongestion& pair : congestion.pairs) add_pair(document, pair);
    document.close_list();
    document.open_list("notifications");
    for (const CnpStream& stream : congestion.notifications) add_stream(document, stream);
    document.close_list();
    document.open_list("pauses");
    for (const PauseSummary& pause : congestion.pauses) add_pause(document, pause);
    document.close_list();
    document.open_list("incasts");
    for (const IncastBurst& burst : congestion.incasts) {
        document.open();
        document.add("destination", text(burst.destination));
        document.add("frame", burst.frame);
        document.add("start_ns", burst.start);
        document.add("duration_ns", burst.length);
        document.add("senders", burst.senders);
        document.add("bytes", burst.bytes);
        document.add("marked", burst.marked);
        document.close();
    }
    document.close_list();
    document.open_list("rates");
    for (const RateControl& rate : congestion.rates) {
        document.open();
        add_rate(document, rate);
        document.close();
    }
    document.close_list();
}

void add_left_out(Document& document, const Timeline& timeline) {
    for (const Bound& bound : bounds()) document.add(bound.id, bound.count(timeline));
}

// Objects and lists of objects of a report: in one document, or each in a line of its own with its type.
class Report {
public:
    Report(OutputFormat format, std::span<const ConnectionId> connections, const TextSink& sink)
        : format_(format), connections_(connections), sink_(sink), document_(format, text_) {
        if (lines()) return;
        if (has_rows(format)) text_ = std::string("key") + separator(format) + "value\n";
        document_.open();
        document_.add("schema", kSchema);
    }

    template <class Add> void part(std::string_view name, Add add) {
        document_.open(lines() ? std::string_view{} : name);
        if (lines()) document_.add("type", name);
        add(document_);
        close();
    }
    template <class Elements, class Add>
    void list(std::string_view name, std::string_view one, const Elements& elements, Add add) {
        if (!lines()) document_.open_list(name);
        for (const auto& element : elements) {
            if (!is_wanted(connections_, connection_of(element))) continue;
            document_.open();
            if (lines()) document_.add("type", one);
            add(document_, element);
            close();
        }
        if (!lines()) document_.close_list();
    }
    void end() {
        if (!lines()) document_.close();
        if (format_ == OutputFormat::json) text_ += '\n';
        sink_(text_);
    }

private:
    static std::optional<ConnectionId> connection_of(const Connection& connection) { return connection.uid; }
    static std::optional<ConnectionId> connection_of(const Recovery& recovery) { return recovery.connection; }
    static std::optional<ConnectionId> connection_of(const Finding& finding) { return finding.connection; }
    static std::optional<ConnectionId> connection_of(const UlpConversation& conversation) {
        return conversation.connection;
    }
    static std::optional<ConnectionId> connection_of(const OperationSum&) { return {}; }  // of all connections
    static std::optional<ConnectionId> connection_of(const OperationFailures& failures) { return failures.connection; }
    static std::optional<ConnectionId> connection_of(const UlpEvent& event) { return event.connection; }
    static std::optional<ConnectionId> connection_of(const Collective&) { return {}; }

    [[nodiscard]] bool lines() const { return format_ == OutputFormat::ndjson; }
    void close() {
        document_.close();
        if (lines()) text_ += '\n';
        if (text_.size() < kPiece) return;
        sink_(text_);
        text_.clear();
    }

    OutputFormat format_;
    std::span<const ConnectionId> connections_;
    const TextSink& sink_;
    std::string text_;
    Document document_;
};

}  // namespace

void write_report(const Timeline& timeline, OutputFormat format, std::span<const std::string> inputs,
                  std::span<const ConnectionId> connections, const TextSink& sink) {
    Report report(format, connections, sink);
    report.part("capture", [&](Document& document) { add_capture(document, inputs, timeline); });
    report.part("icrc", [&](Document& document) { add_icrc(document, timeline.quality); });
    report.part("messages", [&](Document& document) { add_messages(document, timeline.totals.messages); });
    report.part("totals", [&](Document& document) { add_totals(document, timeline.totals); });
    report.list("connections", "connection", timeline.connections, add_connection);
    report.list("recoveries", "recovery", timeline.recoveries, add_recovery);
    report.part("cm", [&](Document& document) {
        document.add("messages", timeline.cm.messages);
        document.add("messages_unreadable", timeline.cm.messages_unreadable);
        document.open_list("attempts");
        for (const CmAttempt& attempt : timeline.cm.attempts) {
            document.open();
            add_attempt(document, attempt);
            document.close();
        }
        document.close_list();
    });
    report.list("conversations", "conversation", timeline.ulp.conversations, add_conversation);
    report.list("operations", "operation_sum", timeline.ulp.sums, add_operation_sum);
    report.list("operation_failures", "operation_failure", timeline.ulp.failures, add_operation_failures);
    report.list("upper_events", "upper_event", timeline.ulp.events, add_ulp_event);
    report.part("congestion", [&](Document& document) { add_congestion(document, timeline.congestion); });
    // Few captures have any: the others do not say so.
    if (!timeline.collectives.collectives.empty())
        report.list("collectives", "collective", timeline.collectives.collectives, add_collective);
    if (has_ultra_ethernet(timeline.uet))
        report.part("ultra_ethernet",
                    [&](Document& document) { add_ultra_ethernet(document, timeline.uet, connections); });
    report.list("findings", "finding", timeline.findings,
                [&](Document& document, const Finding& finding) { add_finding(document, finding, timeline); });
    report.part("left_out", [&](Document& document) { add_left_out(document, timeline); });
    report.end();
}

}  // namespace qps::transport
