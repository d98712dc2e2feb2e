// Operations of upper protocols that failed, were never answered, took long, or went one at a time.
//
// What an attacker could feed: operations and failures of every kind; what is looked at is what the report kept, which is bounded.
#include <dissect/types.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/operations.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/ulp/protocols.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;
using dissect::Duration;
using dissect::Instant;

constexpr Duration kLongestWait{1'000'000'000};  // an answer that has not come by then is worth a word
constexpr Duration kSlowAtLeast{1'000'000};   // outliers below are nobody's trouble
constexpr int kOutlier = 10;                  // times the median
constexpr std::uint64_t kEnoughForMedian = 16;
constexpr std::uint64_t kEnoughForSerial = 100;

std::string quoted_operation(UlpProtocol protocol, OperationCode code) { return operation_name(protocol, code); }

// The status that many operations of a connection had, in words.
std::string status_of(const OperationFailures& failures) {
    UlpOperation operation;
    operation.protocol = failures.protocol;
    operation.code = failures.code;
    operation.status = failures.status;
    operation.outcome = OperationOutcome::failed;
    return clean(status_text(operation));
}

// What the requester's own trouble was during an operation.
struct Meanwhile {
    std::uint64_t recoveries = 0;
    std::uint64_t pauses = 0;
};

Meanwhile meanwhile(const Timeline& timeline, const UlpOperation& operation) {
    Meanwhile found;
    const auto overlaps = [&](Instant from, Instant to) { return from <= operation.answered && to >= operation.asked; };
    for (const Recovery& record : timeline.recoveries)
        if (record.connection == operation.connection && overlaps(record.time.begin(), record.time.end())) ++found.recoveries;
    for (const PausePeriod& period : timeline.congestion.periods)
        if (overlaps(period.start, period.end)) ++found.pauses;
    return found;
}

struct Blame {
    Party party{};
    std::string words;   // behind the figures
    std::string advice;  // a sentence
};

// Which part of the slow operations took the time, and what happened on the wire meanwhile.
Blame blame_for(const Timeline& timeline, const std::vector<const UlpOperation*>& slow, const Sides& sides) {
    Duration until{}, data{}, after{}, whole{};
    Meanwhile all;
    for (const UlpOperation* operation : slow) {
        whole = whole + (operation->answered - operation->asked);
        const Meanwhile found = meanwhile(timeline, *operation);
        all.recoveries += found.recoveries;
        all.pauses += found.pauses;
        if (const auto parts = parts_of(*operation)) {
            until = until + parts->until_data;
            data = data + parts->data;
            after = after + parts->to_answer;
        }
    }
    const auto percent = [&](Duration part) {
        return share(static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(part), 0)),
                     static_cast<std::uint64_t>(std::max<std::int64_t>(std::to_underlying(whole), 1)));
    };
    if (all.recoveries != 0)
        return {Party::fabric, fmt::format(", during {} on that connection", counted(all.recoveries, "retransmission episode")),
                "Fix the packet loss first: the findings of that connection say where packets were lost."};
    if (all.pauses != 0)
        return {Party::congestion, fmt::format(", while the link was paused {}", times(all.pauses)),
                "Find the source of the pauses: `qpscope timeline` shows when they occurred."};
    if (data > until && data > after)
        return {Party::undecided, fmt::format("; {} of that was spent on the data transfer", percent(data)),
                fmt::format("Check the path between {} and {}, and the pace of the end that issues READs or WRITEs.", sides.active,
                            sides.passive)};
    if (until > Duration{} || after > Duration{}) {
        const bool before = until >= after;
        return {
            Party::responder,
            fmt::format("; {} of that was spent on {} {}", percent(before ? until : after), sides.passive,
                        before ? "before the data transfer" : "after the data transfer"),
            fmt::format("Check the storage and the CPUs of {}: the data transfer took a small part of the time.",
                        sides.passive)};
    }
    return {Party::responder, fmt::format("; {} transferred no data", sides.passive),
            fmt::format("Check the storage and the CPUs of {}: nothing was retransmitted meanwhile.", sides.passive)};
}

// The requester is the active side.
Sides sides_of_requester(const Timeline& timeline, ConnectionId connection, End requester) {
    UlpConversation asked;
    asked.connection = connection;
    asked.active = requester;
    return sides_of(timeline, asked);
}
Sides sides_of_requester(const Timeline& timeline, const UlpOperation& operation) {
    return sides_of_requester(timeline, operation.connection, operation.requester);
}

// An event of that connection has the packet already: what it says is the same record in better words.
bool is_reported(const Timeline& timeline, ConnectionId connection, dissect::FrameIndex frame) {
    return std::ranges::any_of(timeline.ulp.events, [&](const UlpEvent& event) {
        return event.connection == connection && event.frame == frame && event.kind == UlpEventKind::login_failed;
    });
}

void operation_failed(const Timeline& timeline, const Emit& emit) {
    for (const OperationFailures& failures : timeline.ulp.failures) {
        if (timeline.ulp.find(failures.connection) == nullptr) continue;
        if (!failures.frames.empty() && is_reported(timeline, failures.connection, failures.frames.front())) continue;
        const Sides sides = sides_of_requester(timeline, failures.connection, failures.requester);
        const std::string name = quoted_operation(failures.protocol, failures.code);
        const auto is_everyday = row_of(failures.protocol).everyday;
        const bool everyday = is_everyday != nullptr && is_everyday(failures.status);
        emit({.party = Party::application,
              .connection = failures.connection,
              .old_packets = failures.frames,
              .count = failures.count,
              .old_summary = fmt::format("{} answered {} from {} ({}) {} with {}{}.", sides.passive, clean(name), sides.active,
                                     protocol_name(failures.protocol), times(failures.count), status_of(failures),
                                     everyday ? ", an everyday status" : ""),
              .old_advice = everyday
                            ? fmt::format("Do nothing unless {} misses what it asked for: `qpscope operations --list --failed` lists each.",
                                          sides.active)
                            : fmt::format("Check the log of {} for that time, and whether {} may do this: `qpscope operations --list "
                                          "--failed` lists each.",
                                          sides.passive, sides.active),
              .severity = everyday ? std::optional(Severity::note) : std::nullopt});
    }
}

// In IPoIB's connected mode each host sends on a connection of its own: where the capture has none of the host that was asked, it
// cannot have the answer. A server of Lustre may answer by any network that it and the client have, also by one that has no tap.
bool answers_elsewhere(const Timeline& timeline, const Connection& connection, const UlpOperation& operation) {
    if (operation.protocol == UlpProtocol::lnet && lnet::is_request(operation.code)) return true;
    if (operation.protocol != UlpProtocol::ipoib || connection.service == dissect::Service::ud) return false;
    const Address& asked = connection.end(other(operation.requester)).address;
    const Address& asker = connection.end(operation.requester).address;
    return std::ranges::none_of(timeline.connections, [&](const Connection& each) {
        return each.service == connection.service && std::ranges::any_of(std::array{End::a, End::b}, [&](End from) {
                   return each.way(from).requests != 0 && each.end(from).address == asked && each.end(other(from)).address == asker;
               });
    });
}

// As answers and later packets prove: one of those packets may have been the answer to a request.
bool lacks_packets(const Connection& connection) {
    return std::ranges::any_of(connection.ways, [](const Way& way) { return way.incidents->gaps.tap + way.incidents->gaps.undecided != 0; });
}

// Clocks of both ways are apart: what answers an operation may have been recorded before it.
bool answers_came_early(const Connection& connection) {
    return std::ranges::any_of(connection.ways, [](const Way& way) { return way.incidents->early_answers != 0; });
}

void operation_unanswered(const Timeline& timeline, const Emit& emit) {
    if (!timeline.last) return;
    const bool lacking = recorder_lost_packets(timeline);
    struct Waiting {
        const UlpOperation* first = nullptr;
        std::uint64_t count = 0;
        std::vector<dissect::FrameIndex> frames;
        const CmRung* release = nullptr;  // of who asked; nullptr: it waited until the end
    };
    std::map<std::tuple<ConnectionId, UlpProtocol, OperationCode>, Waiting> found;
    for (const UlpOperation& operation : timeline.ulp.unanswered) {
        const UlpConversation* conversation = timeline.ulp.find(operation.connection);
        const Connection* connection = timeline.find(operation.connection);
        if (conversation == nullptr || connection == nullptr) continue;
        if (connection->one_way()) continue;  // answers were not captured
        if (is_reported(timeline, operation.connection, operation.asked_frame) || answers_elsewhere(timeline, *connection, operation))
            continue;
        const bool forgotten = operation.outcome == OperationOutcome::unanswered;
        // What waits by its nature, for an event say, is not late: others were answered meanwhile, and none of its kind ever was.
        const auto same = [&](const OperationSum& sum) { return sum.protocol == operation.protocol && sum.code == operation.code; };
        const auto sum = std::ranges::find_if(timeline.ulp.sums, same);
        const bool waits = (sum == timeline.ulp.sums.end() || sum->latency.count == 0) && conversation->last_answered > operation.asked;
        // A host disconnects when its timeout is over, which excuses nobody.
        const CmRung* release = connection->released ? own_disconnect(timeline, *connection, operation.requester) : nullptr;
        const bool released = connection->released && release == nullptr;
        const Instant until = release == nullptr ? timeline.end_of(*connection) : release->time;
        if (!forgotten && (waits || released || until - operation.asked < kLongestWait)) continue;
        Waiting& waiting = found[{operation.connection, operation.protocol, operation.code}];
        if (waiting.first == nullptr) waiting.first = &operation;
        waiting.release = release;
        ++waiting.count;
        if (waiting.frames.size() < kMaxEvidence) waiting.frames.push_back(operation.asked_frame);
    }
    for (const auto& [key, waiting] : found) {
        const Sides sides = sides_of_requester(timeline, *waiting.first);
        const Connection& connection = *timeline.find(waiting.first->connection);
        const bool lacks = lacking || lacks_packets(connection), sure = !lacks && !answers_came_early(connection);
        emit({.party = sure ? Party::responder : Party::undecided,
              .connection = waiting.first->connection,
              .old_packets = waiting.frames,
              .count = waiting.count,
              .old_summary = fmt::format("{} never answered {} from {} ({}), requested {}, first {} before {}{}.", sides.passive,
                                     clean(quoted_operation(waiting.first->protocol, waiting.first->code)), sides.active,
                                     protocol_name(waiting.first->protocol), times(waiting.count),
                                     duration_text((waiting.release == nullptr ? timeline.end_of(connection) : waiting.release->time) - waiting.first->asked),
                                     waiting.release == nullptr ? "the capture ended" : fmt::format("{} disconnected", sides.active),
                                     sure    ? ""
                                     : lacks ? "; the capture lacks packets, and perhaps the answer"
                                             : "; other answers were recorded before their requests, and perhaps this one was"),
              .old_advice =
                  fmt::format("Look on {} for requests that hang, and check their timeout on {}; the tap may also have missed answers.",
                              sides.passive, sides.active),
              .severity = sure ? Severity::warning : Severity::note});
    }
}

void operation_slow(const Timeline& timeline, const Emit& emit) {
    const bool cut = timeline.quality.cut != 0;  // so that operations are known in part, and what is usual for them is not
    for (const OperationSum& sum : timeline.ulp.sums) {
        if (sum.histogram.count() < kEnoughForMedian) continue;
        const Duration median = percentile_of(sum, 50);
        const Duration limit{std::max(std::to_underlying(kSlowAtLeast), kOutlier * std::to_underlying(median))};
        std::vector<const UlpOperation*> slow;
        FindingDraft draft;
        for (const UlpOperation& operation : sum.slowest) {  // the worst first
            if (operation.answered - operation.asked < limit) break;
            slow.push_back(&operation);
            draft.old_packets.insert(draft.old_packets.end(), {operation.asked_frame, operation.answered_frame});
        }
        if (slow.empty()) continue;
        const Sides sides = sides_of_requester(timeline, *slow.front());
        const bool one_connection =
            std::ranges::all_of(slow, [&](const UlpOperation* one) { return one->connection == slow.front()->connection; });
        const Blame blame = blame_for(timeline, slow, sides);
        draft.party = blame.party;
        if (one_connection) draft.connection = slow.front()->connection;
        draft.count = slow.size();
        draft.old_summary =
            fmt::format("{} of {}{} took {} (median {}, p99 {}){}.",
                        slow.size() == kSlowestKept ? fmt::format("At least {}", slow.size()) : grouped(slow.size()),
                        counted(sum.count, fmt::format("{} operation", clean(quoted_operation(sum.protocol, sum.code)))), cut ? " that were not truncated" : "",
                        slow.size() == 1 ? duration_text(sum.latency.most) : fmt::format("up to {}", duration_text(sum.latency.most)),
                        duration_text(median), duration_text(percentile_of(sum, 99)), blame.words);
        draft.old_advice = blame.advice;
        if (cut) draft.severity = Severity::note;
        emit(std::move(draft));
    }
}

void serialised_io(const Timeline& timeline, const Emit& emit) {
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.operations < kEnoughForSerial || conversation.most_outstanding != 1) continue;
        const auto whole = std::to_underlying(conversation.last_answered - conversation.first_asked);
        const auto busy = std::to_underlying(conversation.latency.sum);
        if (whole <= 0 || busy < whole / 2) continue;
        const Sides sides = sides_of(timeline, conversation);
        const Connection* connection = timeline.find(conversation.connection);
        emit(
            {.party = Party::application,
             .connection = conversation.connection,
             .old_packets = connection == nullptr ? std::vector<dissect::FrameIndex>{} : std::vector{connection->first_frame()},
             .count = conversation.operations,
             .old_summary = fmt::format("{0} sent {2} to {1} one at a time and never had two outstanding: at {3} each it waited {4} of the "
                                    "time.",
                                    sides.active, sides.passive,
                                    counted(conversation.operations, fmt::format("{} operation", protocol_name(conversation.protocol))),
                                    duration_text(conversation.latency.mean()),
                                    share(static_cast<std::uint64_t>(busy), static_cast<std::uint64_t>(whole))),
             .old_advice = fmt::format("Let the application on {} keep more operations in flight (queue depth, asynchronous I/O, more threads) "
                                   "if it is too slow.",
                                   sides.active)});
    }
}

}  // namespace

Family ulp_operations_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "operation-failed",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "Operations of an upper-layer protocol failed",
                   .draw = operation_failed},
        FindingRow{.id = "operation-unanswered",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "Operations of an upper-layer protocol were never answered",
                   .by_order = true,
                   .draw = operation_unanswered},
        FindingRow{.id = "operation-slow",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "Some operations took far longer than the median of their kind",
                   .draw = operation_slow},
        FindingRow{.id = "serialised-io",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "An application keeps only one operation in flight",
                   .draw = serialised_io},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
