// Findings about operations of upper protocols that failed, were never answered, took long, or went one at a time.
//
// What an attacker could feed: operations and failures of every kind; what is looked at is what the report kept, which
// is bounded.
#include <dissect/base/types.hpp>
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/operations.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/ulp/protocols.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;
using dissect::Duration;
using dissect::Instant;

constexpr FactRow kUpperStatus{"upper_status", Unit::text, "the status in words of the protocol"};
constexpr FactRow kFailures{"failures", Unit::count, "operations that failed with that status"};
constexpr FactRow kEverydayStatus{"everyday_status", Unit::flag,
                                  "the status is one that healthy programs see all the time"};
constexpr FactRow kUnanswered{"unanswered", Unit::count, "operations that had no answer"};
constexpr FactRow kFirstWaited{
    "first_waited", Unit::duration,
    "time from the first of them to the end of the capture, or until the requester disconnected"};
constexpr FactRow kEarlyAnswers{"early_answers", Unit::flag,
                                "other answers were recorded before their requests, and perhaps one of these was"};
constexpr FactRow kSlowOperations{"slow_operations", Unit::count, "operations that took at least ten times the median"};
constexpr FactRow kMoreWereSlow{"more_were_slow", Unit::flag, "that is as many as are kept: there may have been more"};
constexpr FactRow kTruncated{"truncated", Unit::flag, "packets were truncated, so that operations are known in part"};
constexpr FactRow kSlowest{"slowest", Unit::duration, "time of the slowest"};
constexpr FactRow kMedian{"median", Unit::duration, "median of all of that kind, within the 1/16 of a histogram"};
constexpr FactRow kP99{"p99", Unit::duration, "their 99th percentile, alike"};
constexpr FactRow kEpisodesMeanwhile{"episodes_meanwhile", Unit::count,
                                     "retransmission episodes of their connection during slow operations"};
constexpr FactRow kPausesMeanwhile{"pauses_meanwhile", Unit::count, "pauses of the link during slow operations"};
constexpr FactRow kSlowPart{
    "slow_part", Unit::word,
    "what took the most of their time: transfer (the packets of data), before (the responder, before them), after (the responder, "
    "after them), none (no data was transferred)"};
constexpr FactRow kMeanLatency{"mean_latency", Unit::duration, "mean time from request to answer"};

constexpr Duration kLongestWait{1'000'000'000};  // an answer that has not come by then is worth a word
constexpr Duration kSlowAtLeast{1'000'000};      // outliers below are nobody's trouble
constexpr int kOutlier = 10;                     // times the median
constexpr std::uint64_t kEnoughForMedian = 16;
constexpr std::uint64_t kEnoughForSerial = 100;

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
        if (record.connection == operation.connection && overlaps(record.time.begin(), record.time.end()))
            ++found.recoveries;
    for (const PausePeriod& period : timeline.congestion.periods)
        if (overlaps(period.start, period.end)) ++found.pauses;
    return found;
}

// Which part of the slow operations took the time, and what happened on the wire meanwhile: where to look.
struct Blame {
    Party party{};
    std::string_view advice;
    Facts facts{};
};

struct PartsOfTime {
    Duration until_data{}, data{}, after_data{}, whole{};

    void add(const UlpOperation& operation) {
        whole = whole + (operation.answered - operation.asked);
        const auto parts = parts_of(operation);
        if (!parts) return;
        until_data = until_data + parts->until_data;
        data = data + parts->data;
        after_data = after_data + parts->to_answer;
    }
    [[nodiscard]] double share(Duration part) const {
        const auto ns = [](Duration duration, std::int64_t least) {
            return static_cast<double>(std::max(std::to_underlying(duration), least));
        };
        return ns(part, 0) / ns(whole, 1);
    }
};

Blame blame_for(const Timeline& timeline, const std::vector<const UlpOperation*>& slow) {
    PartsOfTime parts;
    Meanwhile all;
    for (const UlpOperation* operation : slow) {
        parts.add(*operation);
        const Meanwhile found = meanwhile(timeline, *operation);
        all.recoveries += found.recoveries;
        all.pauses += found.pauses;
    }
    if (all.recoveries != 0)
        return {Party::fabric,
                "Fix the packet loss first: the findings of that connection say where packets were lost.",
                {{kEpisodesMeanwhile, all.recoveries}}};
    if (all.pauses != 0)
        return {Party::congestion,
                "Find the source of the pauses: `qpscope timeline` shows when they occurred.",
                {{kPausesMeanwhile, all.pauses}}};
    if (parts.data > parts.until_data && parts.data > parts.after_data)
        return {
            Party::undecided,
            "Check the path between {requester:host} and {responder:host}, and the pace of the end that issues READs or WRITEs.",
            {{kSlowPart, "transfer"}, {kShareOfTime, parts.share(parts.data)}}};
    if (parts.until_data > Duration{} || parts.after_data > Duration{}) {
        const bool before = parts.until_data >= parts.after_data;
        return {Party::responder,
                "Check the storage and the CPUs of {responder:host}: the data transfer took a small part of the time.",
                {{kSlowPart, before ? "before" : "after"},
                 {kShareOfTime, parts.share(before ? parts.until_data : parts.after_data)}}};
    }
    return {Party::responder,
            "Check the storage and the CPUs of {responder:host}: nothing was retransmitted meanwhile.",
            {{kSlowPart, "none"}}};
}

// Who asked, whom, and what.
Facts asked_facts(const Connection& connection, End requester, UlpProtocol protocol, OperationCode code) {
    return {{kRequester, connection.end(requester)},
            {kResponder, connection.end(other(requester))},
            {kUpperProtocol, protocol_name(protocol)},
            {kUpperOperation, clean(operation_name(protocol, code))}};
}

// An event of that connection has the packet already: what it says is the same record in better words.
bool is_reported(const Timeline& timeline, ConnectionId connection, dissect::FrameIndex frame) {
    return std::ranges::any_of(timeline.ulp.events, [&](const UlpEvent& event) {
        return event.connection == connection && event.frame == frame && event.kind == UlpEventKind::login_failed;
    });
}

constexpr std::string_view kFailedAdvice =
    "Check the log of {responder:host} for that time, and whether {requester:host} may do this: `qpscope operations --list --failed` lists each.";
constexpr std::string_view kEverydayAdvice =
    "Do nothing unless {requester:host} misses what it asked for: `qpscope operations --list --failed` lists each.";

void operation_failed(const Timeline& timeline, const Emit& emit) {
    for (const OperationFailures& failures : timeline.ulp.failures) {
        const Connection* const connection = timeline.find(failures.connection);
        if (timeline.ulp.find(failures.connection) == nullptr || connection == nullptr) continue;
        if (!failures.frames.empty() && is_reported(timeline, failures.connection, failures.frames.front())) continue;
        const auto is_everyday = row_of(failures.protocol).everyday;
        const bool everyday = is_everyday != nullptr && is_everyday(failures.status);
        FindingDraft draft{.party = Party::application,
                           .connection = failures.connection,
                           .count = failures.count,
                           .severity = everyday ? std::optional(Severity::note) : std::nullopt,
                           .advice = everyday ? kEverydayAdvice : kFailedAdvice,
                           .facts = asked_facts(*connection, failures.requester, failures.protocol, failures.code)};
        draft.facts.emplace_back(kFailures, failures.count);
        draft.facts.emplace_back(kUpperStatus, status_of(failures));
        draft.facts.emplace_back(kEverydayStatus, everyday);
        for (const dissect::FrameIndex frame : failures.frames) draft.events.push_back({frame});
        emit(std::move(draft));
    }
}

// In IPoIB's connected mode each host sends on a connection of its own: where the capture has none of the host that was
// asked, it cannot have the answer. A server of Lustre may answer by any network that it and the client have, also by
// one that has no tap.
bool answers_elsewhere(const Timeline& timeline, const Connection& connection, const UlpOperation& operation) {
    if (operation.protocol == UlpProtocol::lnet && lnet::is_request(operation.code)) return true;
    if (operation.protocol != UlpProtocol::ipoib || connection.service == dissect::Service::ud) return false;
    const Address& asked = connection.end(other(operation.requester)).address;
    const Address& asker = connection.end(operation.requester).address;
    return std::ranges::none_of(timeline.connections, [&](const Connection& each) {
        return each.service == connection.service && std::ranges::any_of(std::array{End::a, End::b}, [&](End from) {
                   return each.way(from).requests != 0 && each.end(from).address == asked &&
                          each.end(other(from)).address == asker;
               });
    });
}

// As answers and later packets prove: one of those packets may have been the answer to a request.
bool lacks_packets(const Connection& connection) {
    return std::ranges::any_of(
        connection.ways, [](const Way& way) { return way.incidents->gaps.tap + way.incidents->gaps.undecided != 0; });
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
        std::vector<FindingEvent> events{};
        const CmRung* release = nullptr;  // of who asked; nullptr: it waited until the end
    };
    std::map<std::tuple<ConnectionId, UlpProtocol, OperationCode>, Waiting> found;
    for (const UlpOperation& operation : timeline.ulp.unanswered) {
        const UlpConversation* conversation = timeline.ulp.find(operation.connection);
        const Connection* connection = timeline.find(operation.connection);
        if (conversation == nullptr || connection == nullptr) continue;
        if (connection->one_way()) continue;  // answers were not captured
        if (is_reported(timeline, operation.connection, operation.asked_frame) ||
            answers_elsewhere(timeline, *connection, operation))
            continue;
        const bool forgotten = operation.outcome == OperationOutcome::unanswered;
        // What waits by its nature, for an event say, is not late: others were answered meanwhile, and none of its kind
        // ever was.
        const auto same = [&](const OperationSum& sum) {
            return sum.protocol == operation.protocol && sum.code == operation.code;
        };
        const auto sum = std::ranges::find_if(timeline.ulp.sums, same);
        const bool waits = (sum == timeline.ulp.sums.end() || sum->latency.count == 0) &&
                           conversation->last_answered > operation.asked;
        // A host disconnects when its timeout is over, which excuses nobody.
        const CmRung* release =
            connection->released ? own_disconnect(timeline, *connection, operation.requester) : nullptr;
        const bool released = connection->released && release == nullptr;
        const Instant until = release == nullptr ? timeline.end_of(*connection) : release->time;
        if (!forgotten && (waits || released || until - operation.asked < kLongestWait)) continue;
        Waiting& waiting = found[{operation.connection, operation.protocol, operation.code}];
        if (waiting.first == nullptr) waiting.first = &operation;
        waiting.release = release;
        ++waiting.count;
        waiting.events.push_back({operation.asked_frame, EventRole::original, operation.asked});
    }
    for (auto& [key, waiting] : found) {
        const UlpOperation& first = *waiting.first;
        const Connection& connection = *timeline.find(first.connection);
        const bool lacks = lacking || lacks_packets(connection), early = !lacks && answers_came_early(connection),
                   sure = !lacks && !early;
        FindingDraft draft{.party = sure ? Party::responder : Party::undecided,
                           .connection = first.connection,
                           .count = waiting.count,
                           .severity = sure ? Severity::warning : Severity::note,
                           .facts = asked_facts(connection, first.requester, first.protocol, first.code),
                           .events = std::move(waiting.events)};
        draft.facts.emplace_back(kUnanswered, waiting.count);
        draft.facts.emplace_back(
            kFirstWaited,
            (waiting.release == nullptr ? timeline.end_of(connection) : waiting.release->time) - first.asked);
        draft.facts.emplace_back(kRequesterDisconnected, waiting.release != nullptr);
        draft.facts.emplace_back(kLacksPackets, lacks);
        draft.facts.emplace_back(kEarlyAnswers, early);
        emit(std::move(draft));
    }
}

void operation_slow(const Timeline& timeline, const Emit& emit) {
    const bool cut =
        timeline.quality.cut != 0;  // so that operations are known in part, and what is usual for them is not
    for (const OperationSum& sum : timeline.ulp.sums) {
        if (sum.histogram.count() < kEnoughForMedian) continue;
        const Duration median = percentile_of(sum, 50);
        const Duration limit{std::max(std::to_underlying(kSlowAtLeast), kOutlier * std::to_underlying(median))};
        std::vector<const UlpOperation*> slow;
        FindingDraft draft;
        for (const UlpOperation& operation : sum.slowest) {  // the worst first
            if (operation.answered - operation.asked < limit) break;
            slow.push_back(&operation);
            draft.events.push_back({operation.asked_frame, EventRole::evidence, operation.asked});
            draft.events.push_back({operation.answered_frame, EventRole::end, operation.answered});
        }
        const Connection* const connection = slow.empty() ? nullptr : timeline.find(slow.front()->connection);
        if (connection == nullptr) continue;
        const bool one_connection =
            std::ranges::all_of(slow, [&](const UlpOperation* one) { return one->connection == connection->uid; });
        Blame blame = blame_for(timeline, slow);
        draft.party = blame.party;
        if (one_connection) draft.connection = connection->uid;
        draft.count = slow.size();
        draft.advice = blame.advice;
        draft.facts = asked_facts(*connection, slow.front()->requester, sum.protocol, sum.code);
        draft.facts.emplace_back(kSlowOperations, slow.size());
        draft.facts.emplace_back(kMoreWereSlow, slow.size() == kSlowestKept);
        draft.facts.emplace_back(kOperations, sum.count);
        draft.facts.emplace_back(kTruncated, cut);
        draft.facts.emplace_back(kSlowest, sum.latency.most);
        draft.facts.emplace_back(kMedian, median);
        draft.facts.emplace_back(kP99, percentile_of(sum, 99));
        std::ranges::move(blame.facts, std::back_inserter(draft.facts));
        if (cut) draft.severity = Severity::note;
        emit(std::move(draft));
    }
}

void serialised_io(const Timeline& timeline, const Emit& emit) {
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.operations < kEnoughForSerial || conversation.most_outstanding != 1) continue;
        const auto whole = std::to_underlying(conversation.last_answered - conversation.first_asked);
        const auto busy = std::to_underlying(conversation.latency.sum);
        const Connection* const connection = timeline.find(conversation.connection);
        if (whole <= 0 || busy < whole / 2 || connection == nullptr) continue;
        emit({.party = Party::application,
              .connection = conversation.connection,
              .count = conversation.operations,
              .facts = {{kRequester, connection->end(conversation.active)},
                        {kResponder, connection->end(other(conversation.active))},
                        {kUpperProtocol, protocol_name(conversation.protocol)},
                        {kOperations, conversation.operations},
                        {kMeanLatency, conversation.latency.mean()},
                        {kShareOfTime, static_cast<double>(busy) / static_cast<double>(whole)}},
              .events = {{connection->first_frame(), EventRole::evidence, connection->first_time()}}});
    }
}

}  // namespace

Family ulp_operations_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "operation-failed",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Operations of an upper-layer protocol failed",
            .sentence =
                "{responder:host} answered {upper_operation} from {requester:host} ({upper_protocol}) {failures:times} with {upper_status}"
                "[everyday_status?, an everyday status].",
            .advice = kFailedAdvice,
            .alike =
                "Programs probe: a file that is not there or a command that a device does not have is an answer that they expect, and then nothing "
                "is wrong.",
            .limits =
                "The status is what the other end said: why it said so, and whether the program minded, is not in the packets.",
            .draw = operation_failed},
        FindingRow{
            .id = "operation-unanswered",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Operations of an upper-layer protocol were never answered",
            .by_order = true,
            .sentence =
                "{responder:host} never answered {upper_operation} from {requester:host} ({upper_protocol}), requested {unanswered:times}, first "
                "{first_waited} before [requester_disconnected?{requester:host} disconnected|the capture ended][capture_lacks_packets?; the capture lacks "
                "packets, and perhaps the answer][early_answers?; other answers were recorded before their requests, and perhaps this one was].",
            .advice =
                "Look on {responder:host} for requests that hang, and check their timeout on {requester:host}; the tap may also have missed answers.",
            .alike =
                "An answer that the tap missed, and a request that waits for an event by its nature, look the same; those of which others of the kind "
                "were never answered either are left out while later requests are.",
            .limits =
                "That an answer was sent and lost cannot be told from one that was never made, nor what the other end did meanwhile.",
            .draw = operation_unanswered},
        FindingRow{
            .id = "operation-slow",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "Some operations took far longer than the median of their kind",
            .sentence =
                "[more_were_slow?At least ]{slow_operations} of {operations} {upper_operation} operations[truncated? that were not truncated] took "
                "[slow_operations=1?|up to ]{slowest} (median {median}, p99 {p99})[, during {episodes_meanwhile:retransmission episode} on that connection]"
                "[, while the link was paused {pauses_meanwhile:times}]"
                "[slow_part=transfer?; {share_of_time} of that was spent on the data transfer]"
                "[slow_part=before?; {share_of_time} of that was spent on {responder:host} before the data transfer]"
                "[slow_part=after?; {share_of_time} of that was spent on {responder:host} after the data transfer]"
                "[slow_part=none?; {responder:host} transferred no data].",
            .advice = "Check the storage and the CPUs of {responder:host}: nothing was retransmitted meanwhile.",
            .alike =
                "Operations of one name differ in size: a few large ones among many small ones are slow without any fault, and so is the first access "
                "to a cold cache.",
            .limits =
                "Times are those at the tap, so that the way between it and the ends is part of them; that a retransmission or a pause fell into the "
                "time of an operation does not prove that it caused all of the delay.",
            .draw = operation_slow},
        FindingRow{
            .id = "serialised-io",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "An application keeps only one operation in flight",
            .sentence =
                "{requester:host} sent {operations} {upper_protocol} operations to {responder:host} one at a time and never had two outstanding: at "
                "{mean_latency} each it waited {share_of_time} of the time.",
            .advice =
                "Let the application on {requester:host} keep more operations in flight (queue depth, asynchronous I/O, more threads) if it is too "
                "slow.",
            .alike =
                "A benchmark of latency, a database's log and a boot do so on purpose: each operation depends on the one before.",
            .limits =
                "Other connections between the two are not counted together: a program may have one operation in flight on each of many.",
            .draw = serialised_io},
    };
    static constexpr std::array kOwn{
        &kUpperStatus,       &kFailures,        &kEverydayStatus, &kUnanswered,  &kFirstWaited, &kEarlyAnswers,
        &kSlowOperations,    &kMoreWereSlow,    &kTruncated,      &kSlowest,     &kMedian,      &kP99,
        &kEpisodesMeanwhile, &kPausesMeanwhile, &kSlowPart,       &kMeanLatency,
    };
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
