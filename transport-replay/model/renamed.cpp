#include <transport-replay/model/renamed.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::transport {

namespace {

constexpr auto kFinding = RenamedKind::finding, kOption = RenamedKind::option, kColumn = RenamedKind::column,
               kJson = RenamedKind::json, kWord = RenamedKind::word;

// By kind, then by document. docs/schema/README.md has the same rows in the same order.
constexpr std::array kRenamed{
    Renamed{kFinding, {}, "iwarp-sent-again", "iwarp-retransmission"},
    Renamed{kFinding, {}, "iwarp-odd-sender", "iwarp-nonconforming"},
    Renamed{kFinding, {}, "cnp-from-stranger", "cnp-unexpected-source"},
    Renamed{kFinding, {}, "psns-guessed", "psn-conflict"},
    Renamed{kFinding, {}, "lossy-traffic-beside", "shared-traffic-class"},
    Renamed{kFinding, {}, "clocks-apart", "clock-offset"},
    Renamed{kFinding, {}, "capture-cut", "capture-truncated"},
    Renamed{kFinding, {}, "credits-used-up", "credits-exhausted"},
    Renamed{kFinding, {}, "credits-of-one", "single-credit"},
    Renamed{kFinding, {}, "cm-refused-message", "cm-unexpected-message"},

    Renamed{kOption, "conform replay", "--patience", "--timeout"},
    Renamed{kOption, "conform", "--comes-back", "--recovery-time"},

    Renamed{kColumn, "operations", "about", "file"},
    Renamed{kColumn, "operations", "asked_bytes", "requested_bytes"},
    Renamed{kColumn, "operations", "in_message_bytes", "inline_bytes"},
    Renamed{kColumn, "operations", "asked_ns", "request_ns"},
    Renamed{kColumn, "operations", "until_data_ns", "wait_ns"},
    Renamed{kColumn, "operations", "data_ns", "transfer_ns"},
    Renamed{kColumn, "operations", "to_answer_ns", "complete_ns"},
    Renamed{kColumn, "operations", "asked_frame", "request_frame"},
    Renamed{kColumn, "operations", "answered_frame", "answer_frame"},
    Renamed{kColumn, "sums", "during_ns", "duration_ns"},
    Renamed{kColumn, "sums", "latency_most_ns", "latency_max_ns"},
    Renamed{kColumn, "sums", "until_data_mean_ns", "wait_mean_ns"},
    Renamed{kColumn, "sums", "data_mean_ns", "transfer_mean_ns"},
    Renamed{kColumn, "sums", "to_answer_mean_ns", "complete_mean_ns"},
    Renamed{kColumn, "cm", "refused", "unexpected"},
    Renamed{kColumn, "pingpong", "row", "mode"},
    Renamed{kColumn, "pingpong", "lasted_ns", "duration_ns"},
    Renamed{kColumn, "pingpong", "peer_lasted_ns", "peer_duration_ns"},
    Renamed{kColumn, "pingpong", "as_good_as", "ties"},
    Renamed{kColumn, "replay", "recorded_ending", "recorded_outcome"},
    Renamed{kColumn, "replay", "ending", "outcome"},

    Renamed{kJson, "analyze capture.quality", "least_copy_distance_ns", "min_copy_distance_ns"},
    Renamed{kJson, "analyze capture.quality", "most_copy_distance_ns", "max_copy_distance_ns"},
    Renamed{kJson, "analyze capture.hosts", "clock_ahead_ns", "clock_offset_ns"},
    Renamed{kJson, "analyze capture.hosts", "clock_within_ns", "clock_uncertainty_ns"},
    Renamed{kJson, "analyze connections", "ways", "directions"},
    Renamed{kJson, "analyze connections.directions", "most_reads_outstanding", "max_reads_outstanding"},
    Renamed{kJson, "analyze connections.directions", "reads_at_most", "reads_at_max"},
    Renamed{kJson, "analyze connections.directions.latency", "least_ns", "min_ns"},
    Renamed{kJson, "analyze connections.directions.latency", "most_ns", "max_ns"},
    Renamed{kJson, "analyze connections.directions.recoveries", "stories", "episodes"},
    Renamed{kJson, "analyze connections.directions.recoveries", "lost_ns", "stalled_ns"},
    Renamed{kJson, "analyze connections.directions.recoveries", "waited_ns", "wait_ns"},
    Renamed{kJson, "analyze connections.directions.recoveries", "most_lost_ns", "max_stalled_ns"},
    Renamed{kJson, "analyze recoveries", "passed_host", "seen_at_host"},
    Renamed{kJson, "analyze recoveries", "missed_host", "missing_at_host"},
    Renamed{kJson, "analyze recoveries", "missed_answer", "answer_missing"},
    Renamed{kJson, "analyze recoveries", "began_ns", "start_ns"},
    Renamed{kJson, "analyze recoveries", "ended_ns", "end_ns"},
    Renamed{kJson, "analyze recoveries", "lost_time_ns", "stalled_ns"},
    Renamed{kJson, "analyze recoveries", "waited_ns", "wait_ns"},
    Renamed{kJson, "analyze recoveries", "longest_wait_ns", "max_wait_ns"},
    Renamed{kJson, "analyze recoveries", "timer_ran_ns", "timer_ns"},
    Renamed{kJson, "analyze conversations", "most_outstanding", "max_outstanding"},
    Renamed{kJson, "analyze conversations", "alone", "serialised_operations"},
    Renamed{kJson, "analyze conversations", "first_asked_ns", "first_request_ns"},
    Renamed{kJson, "analyze conversations", "last_answered_ns", "last_answer_ns"},
    Renamed{kJson, "analyze conversations", "least_credits", "min_credits"},
    Renamed{kJson, "analyze conversations", "most_credits", "max_credits"},
    Renamed{kJson, "analyze conversations.latency", "least_ns", "min_ns"},
    Renamed{kJson, "analyze conversations.latency", "most_ns", "max_ns"},
    Renamed{kJson, "analyze operations", "until_data", "wait"},
    Renamed{kJson, "analyze operations", "data", "transfer"},
    Renamed{kJson, "analyze operations", "to_answer", "complete"},
    Renamed{kJson, "analyze operations.latency", "least_ns", "min_ns"},
    Renamed{kJson, "analyze operations.latency", "most_ns", "max_ns"},
    Renamed{kJson, "analyze operations.slowest", "about", "file"},
    Renamed{kJson, "analyze operations.slowest", "until_data_ns", "wait_ns"},
    Renamed{kJson, "analyze operations.slowest", "data_ns", "transfer_ns"},
    Renamed{kJson, "analyze operations.slowest", "to_answer_ns", "complete_ns"},
    Renamed{kJson, "analyze operations.slowest", "asked_frame", "request_frame"},
    Renamed{kJson, "analyze operations.slowest", "answered_frame", "answer_frame"},
    Renamed{kJson, "analyze upper_events", "words", "text"},
    Renamed{kJson, "analyze congestion.pairs", "other_way_seen", "reverse_seen"},
    Renamed{kJson, "analyze congestion.notifications", "least_gap_ns", "min_gap_ns"},
    Renamed{kJson, "analyze congestion.incasts", "length_ns", "duration_ns"},
    Renamed{kJson, "analyze congestion.rates", "why", "reason"},
    Renamed{kJson, "analyze congestion.rates", "else", "other"},
    Renamed{kJson, "analyze congestion.rates", "round_trip_least_ns", "round_trip_min_ns"},
    Renamed{kJson, "analyze congestion.rates", "round_trip_most_ns", "round_trip_max_ns"},
    Renamed{kJson, "analyze congestion.rates.at_cnp", "falls", "decreases"},
    Renamed{kJson, "analyze collectives.steps", "begin_ns", "start_ns"},
    Renamed{kJson, "analyze collectives.steps", "length_ns", "duration_ns"},
    Renamed{kJson, "analyze collectives.steps", "waited_ns", "wait_ns"},
    Renamed{kJson, "analyze collectives.steps", "begun", "starts"},
    Renamed{kJson, "analyze collectives.straggler", "waited_ns", "wait_ns"},
    Renamed{kJson, "analyze collectives.incast", "most_senders", "max_senders"},
    Renamed{kJson, "analyze ultra_ethernet.contexts", "ways", "directions"},
    Renamed{kJson, "analyze ultra_ethernet.contexts.directions.paths.delay", "least_ns", "min_ns"},
    Renamed{kJson, "analyze ultra_ethernet.contexts.directions.paths.delay", "most_ns", "max_ns"},
    Renamed{kJson, "analyze left_out", "cm_refusals", "cm_unexpected_messages"},
    Renamed{kJson, "cm attempts", "refused_messages", "unexpected_messages"},
    Renamed{kJson, "cm attempts.ladder", "refused", "unexpected"},
    Renamed{kJson, "cm attempts.rejection", "words", "text"},
    Renamed{kJson, "cm joins", "answered_after_ns", "latency_ns"},
    Renamed{kJson, "fabric links", "walked", "directed_route"},
    Renamed{kJson, "fabric counters", "of", "address"},
    Renamed{kJson, "fabric events", "words", "text"},
    Renamed{kJson, "fabric requests", "fastest_ns", "min_ns"},
    Renamed{kJson, "fabric requests", "slowest_ns", "max_ns"},
    Renamed{kJson, "fabric routing", "trouble", "problem"},
    Renamed{kJson, "pingpong rows", "here", "local"},
    Renamed{kJson, "pingpong rows", "there", "peer"},
    Renamed{kJson, "pingpong rows.local", "processor_ns", "cpu_ns"},
    Renamed{kJson, "pingpong rows.local", "processor_per_million", "cpu_per_million"},
    Renamed{kJson, "pingpong rows.local", "lasted_ns", "duration_ns"},
    Renamed{kJson, "pingpong left_out", "row", "mode"},
    Renamed{kJson, "pingpong textbooks", "here", "verdict"},
    Renamed{kJson, "peer", "lasts_ns", "duration_ns"},
    Renamed{kJson, "replay", "latest_ns", "max_late_ns"},
    Renamed{kJson, "replay left_out", "foreign", "not_ethernet"},
    Renamed{kJson, "replay left_out", "misfits", "wrong_length"},
    Renamed{kJson, "replay", "part", "role"},
    Renamed{kJson, "replay", "words", "reason"},
    Renamed{kJson, "replay not_recorded", "let_go_bytes", "discarded_bytes"},

    Renamed{kWord, "analyze recoveries.nak_cause", "missed_behind_tap", "lost_behind_tap"},
    Renamed{kWord, "analyze upper_events.event", "credits_used_up", "credits_exhausted"},
    Renamed{kWord, "fabric routing.problem", "astray", "wrong_port"},
    Renamed{kWord, "fabric-route end", "astray", "wrong_port"},
};

bool is_listed(std::string_view words, std::string_view word) {
    return fmt::format(" {} ", words).contains(fmt::format(" {} ", word));
}

}  // namespace

std::span<const Renamed> renamed_names() { return kRenamed; }

const Renamed* renamed_finding(std::string_view id) {
    const auto found =
        std::ranges::find_if(kRenamed, [&](const Renamed& row) { return row.kind == kFinding && row.old_name == id; });
    return found == kRenamed.end() ? nullptr : &*found;
}

const Renamed* renamed_option(std::string_view command, std::string_view option) {
    const auto found = std::ranges::find_if(kRenamed, [&](const Renamed& row) {
        return row.kind == kOption && row.old_name == option && is_listed(row.where, command);
    });
    return found == kRenamed.end() ? nullptr : &*found;
}

std::string_view current_finding(std::string_view id) {
    const Renamed* row = renamed_finding(id);
    return row == nullptr ? id : row->new_name;
}

std::string sentence(const Renamed& renamed) {
    return fmt::format("'{}' is now '{}': the old name is accepted until {}", renamed.old_name, renamed.new_name,
                       kAcceptedUntil);
}

}  // namespace qps::transport
