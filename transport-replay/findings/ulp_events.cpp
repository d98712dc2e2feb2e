// Findings about what upper protocols say of themselves: refusals, logins that failed, sessions that ended, keep-alives
// and credits.
#include <transport-replay/findings/facts.hpp>
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/ulp/credit_wait.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace qps::transport::families {

namespace {

using namespace facts;

constexpr FactRow kOccurrences{"occurrences", Unit::count, "how often it happened"};
constexpr FactRow kSaid{"said", Unit::text, "what the upper-layer protocol said of it, or what was wrong by its rules"};
constexpr FactRow kWithoutKeepAlive{"without_keep_alive", Unit::duration,
                                    "the longest time without one, in whole milliseconds"};
constexpr FactRow kGranted{"granted", Unit::count, "credits that were granted"};

constexpr std::size_t kEventGroups = 4096;  // that many different summaries nobody reads

// Events of one kind that are the same summary: the same ends, side and words.
struct EventSummary {
    const UlpEvent* first = nullptr;
    std::uint64_t count = 0;
    std::uint64_t most = 0;  // of their numbers
    Sides sides{};
    std::vector<FindingEvent> events{};
};

std::vector<EventSummary> summaries(const Timeline& timeline, UlpEventKind kind) {
    using Side = std::optional<Address>;
    using Key = std::tuple<std::optional<ConnectionId>, Side, Side, UlpProtocol, bool, std::string_view>;
    const auto host = [](const std::optional<Endpoint>& end) { return end ? Side(end->address) : Side(); };
    std::map<Key, EventSummary> found;
    for (const UlpEvent& event : timeline.ulp.events) {
        if (event.kind != kind) continue;
        const Sides sides = sides_of(timeline, event);
        const Key key{event.connection, host(sides.active), host(sides.passive),
                      event.protocol,   event.by_active,    event.words};
        if (found.size() == kEventGroups && !found.contains(key)) continue;
        EventSummary& summary = found[key];
        if (summary.first == nullptr) {
            summary.first = &event;
            summary.sides = sides;
        }
        ++summary.count;
        summary.most = std::max(summary.most, event.number);
        summary.events.push_back({event.frame, EventRole::evidence, event.time});
    }
    std::vector<EventSummary> all;
    for (auto& [key, summary] : found) all.push_back(std::move(summary));
    return all;
}

FindingDraft draft_of(const EventSummary& summary, Party party) {
    const UlpEvent& first = *summary.first;
    return {.party = party,
            .connection = first.connection,
            .count = summary.count,
            .facts = {{kActiveSide, summary.sides.active},
                      {kPassiveSide, summary.sides.passive},
                      {kUpperProtocol, protocol_name(first.protocol)},
                      {kByActive, first.by_active},
                      {kOccurrences, summary.count}},
            .events = summary.events};
}

void protocol_refused(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::refused)) {
        FindingDraft draft = draft_of(summary, Party::application);
        draft.facts.emplace_back(kSaid, clean(summary.first->words));
        emit(std::move(draft));
    }
}

// What failed because no answer came, and not because one said so.
bool is_by_silence(const UlpEvent& event) { return event.words.ends_with("without an answer"); }

void login_failed(const Timeline& timeline, const Emit& emit) {
    const bool lacking = recorder_lost_packets(timeline);
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::login_failed)) {
        FindingDraft draft = draft_of(summary, Party::application);
        const bool unsure = lacking && is_by_silence(*summary.first);
        if (unsure) draft.severity = Severity::note;
        draft.facts.emplace_back(kSaid, clean(summary.first->words));
        draft.facts.emplace_back(kLacksPackets, unsure);
        emit(std::move(draft));
    }
}

void session_terminated(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::terminated)) {
        FindingDraft draft = draft_of(summary, Party::application);
        draft.facts.emplace_back(kSaid, clean(summary.first->words));
        emit(std::move(draft));
    }
}

void protocol_error(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::error_message)) {
        FindingDraft draft = draft_of(summary, Party::application);
        draft.facts.emplace_back(kSaid, clean(summary.first->words));
        emit(std::move(draft));
    }
}

void message_malformed(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::malformed)) {
        FindingDraft draft = draft_of(summary, Party::application);
        draft.facts.emplace_back(kSaid, clean(summary.first->words));
        emit(std::move(draft));
    }
}

void keep_alive_late(const Timeline& timeline, const Emit& emit) {
    constexpr std::int64_t kMillisecond = 1'000'000;
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::keep_alive_late)) {
        FindingDraft draft = draft_of(summary, Party::requester);
        const auto milliseconds =
            static_cast<std::int64_t>(std::min<std::uint64_t>(summary.most, INT64_MAX / kMillisecond));
        draft.facts.emplace_back(kWithoutKeepAlive, dissect::Duration{milliseconds * kMillisecond});
        if (!summary.first->words.empty()) draft.facts.emplace_back(kSaid, clean(summary.first->words));
        emit(std::move(draft));
    }
}

// Credits: all used, more used than there were, or none granted.

constexpr std::string_view kMoreThanGrantedSentence =
    "{>active} had more requests of {upper_protocol} outstanding than the [granted?{granted:credit}|credits] that {>passive} granted[capture_lacks_packets?; "
    "the capture lacks packets, and perhaps answers].";
constexpr std::string_view kMoreThanGrantedAdvice =
    "Update the client of {>active}: it must not exceed its grant[upper_protocol=RPC over RDMA? (RFC 8166 3.3.1)], since {>passive} has receives for no more.";
constexpr std::string_view kNoCreditsSentence =
    "{>passive} granted {>active} no credits for {upper_protocol} {occurrences:times}: no request may follow[upper_protocol=RPC over RDMA? (RFC 8166 3.3.1)].";
constexpr std::string_view kNoCreditsAdvice =
    "Update the server of {>passive}, or see why it has no receive buffers left.";

void credits_exhausted(const Timeline& timeline, const Emit& emit) {
    const bool lacking = recorder_lost_packets(timeline);
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::credits_exhausted)) {
        const bool more = summary.first->words == kMoreThanGranted, none = summary.first->words == kNoCredits;
        FindingDraft draft = draft_of(summary, !more     ? Party::responder
                                               : lacking ? Party::undecided
                                                         : Party::requester);
        if (!none) draft.facts.emplace_back(kGranted, nonzero(summary.most));
        if (more) {
            draft.sentence = kMoreThanGrantedSentence;
            draft.advice = kMoreThanGrantedAdvice;
            draft.facts.emplace_back(kLacksPackets,
                                     lacking);  // answers that the capture lacks would have given credits back
        } else if (none) {
            draft.sentence = kNoCreditsSentence;
            draft.advice = kNoCreditsAdvice;
        }
        emit(std::move(draft));
    }
}

void single_credit(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kEnough = 16;  // operations: before, credits are still being raised
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.most_credits != 1U || conversation.operations < kEnough) continue;
        const Connection* connection = timeline.find(conversation.connection);
        const Sides sides = sides_of(timeline, conversation);
        FindingDraft draft{.party = Party::responder,
                           .connection = conversation.connection,
                           .count = conversation.operations,
                           .facts = {{kActiveSide, sides.active},
                                     {kPassiveSide, sides.passive},
                                     {kUpperProtocol, protocol_name(conversation.protocol)},
                                     {kOperations, conversation.operations}}};
        if (connection != nullptr)
            for (const Way& way : connection->ways)
                draft.events.push_back({way.first_frame, EventRole::evidence, way.first_time});
        emit(std::move(draft));
    }
}

}  // namespace

Family ulp_events_family() {
    static constexpr std::array kRows{
        FindingRow{
            .id = "protocol-refused",
            .severity = Severity::error,
            .clause = kObserved,
            .meaning = "An upper-layer protocol refused a connection",
            .sentence = "{>passive} refused {upper_protocol} from {>active} {occurrences:times}: {said}.",
            .advice =
                "Compare what {>active} requests with what {>passive} is configured to allow, starting with that reason.",
            .alike =
                "A program that tries several parameters, or a service that is just starting, is refused first and accepted later.",
            .limits =
                "The reason is the other end's own word for it: how that end is configured is not in the packets.",
            .draw = protocol_refused},
        FindingRow{
            .id = "login-failed",
            .severity = Severity::error,
            .clause = kObserved,
            .meaning = "A login of an upper-layer protocol failed",
            .sentence =
                "{>active} failed to log in to {>passive} ({upper_protocol}) {occurrences:times}: {said}[capture_lacks_packets?; the capture lacks "
                "packets, and perhaps the answer].",
            .advice = "Check the name, the credentials and the access list on {>passive} for {>active}.",
            .alike =
                "Discovery asks targets that it may not use, and a controller that is not ready refuses hosts until it is: the same host then logs in "
                "later.",
            .limits =
                "Where the connection ended without an answer, the packets do not tell whether the login was refused or the other end failed.",
            .draw = login_failed},
        FindingRow{
            .id = "session-terminated",
            .severity = Severity::error,
            .clause = kObserved,
            .meaning = "A session of an upper-layer protocol was terminated because of an error",
            .sentence =
                "[by_active?{>active}|{>passive}] terminated {upper_protocol} with [by_active?{>passive}|{>active}] because of an error: {said}.",
            .advice =
                "Check what [by_active?{>passive}|{>active}] sent just before these packets, and the log of [by_active?{>active}|{>passive}] for its "
                "side.",
            .alike =
                "An administrator who removes a target or restarts a service ends sessions with the same messages.",
            .limits = "Who terminated it is known, but not whether the error was its own or the other end's.",
            .draw = session_terminated},
        FindingRow{
            .id = "protocol-error",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "One end reported an error of an upper-layer protocol to the other",
            .sentence =
                "[by_active?{>active}|{>passive}] reported to [by_active?{>passive}|{>active}] an error of {upper_protocol} {occurrences:times}: "
                "{said}.",
            .advice =
                "Check what [by_active?{>passive}|{>active}] sent before: `qpscope follow CONNECTION --decode` shows it in order.",
            .alike = "Ends that negotiate versions or features by trial report errors and go on with less.",
            .limits =
                "Which message the error is about is often not said, nor whether the end that reports it is right.",
            .draw = protocol_error},
        FindingRow{
            .id = "message-malformed",
            .severity = Severity::warning,
            .clause = "RFC 8166 4",
            .meaning = "A message of an upper-layer protocol breaks its format",
            .sentence =
                "[by_active?{>active}|{>passive}] sent [by_active?{>passive}|{>active}] {occurrences:message} of {upper_protocol} that "
                "[occurrences=1?breaks|break] the format: {said}.",
            .advice =
                "Update the software of [by_active?{>active}|{>passive}], or find what changes its messages: a receiver cannot answer them.",
            .alike =
                "A connection whose protocol was recognised wrongly, or named so by --decode-as: then most of its messages break the format.",
            .limits =
                "Whether the sender wrote it so or something changed it in its memory; on the way the ICRC would tell.",
            .draw = message_malformed},
        FindingRow{
            .id = "keep-alive-late",
            .severity = Severity::warning,
            .clause = kObserved,
            .meaning = "A keep-alive of an upper-layer protocol was late",
            .sentence =
                "{>active} sent a keep-alive of {upper_protocol} to {>passive} too late {occurrences:times}, after {without_keep_alive} at worst[ "
                "({said})].",
            .advice =
                "Find out what stopped {>active} during that time: {>passive} drops the association when its timer expires.",
            .alike = "A keep-alive that the tap missed, or a host that was suspended on purpose, looks the same.",
            .limits = "Times are those at the tap: a keep-alive that was delayed in the network counts as late too.",
            .draw = keep_alive_late},
        FindingRow{
            .id = "credits-exhausted",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "Credits of an upper protocol were used up, exceeded or not granted",
            .sentence =
                "{>active} used up the [granted?{granted:credit}|credits] that {>passive} grants for {upper_protocol} {occurrences:times}; the next "
                "request followed only when one was granted again.",
            .advice =
                "Let {>passive} grant more credits (receive buffers, slot table entries) if requests of {>active} are too slow.",
            .alike =
                "A client that happens to pause with all credits in use looks as if it waited for them; and using all of them is how a busy client "
                "should be.",
            .limits =
                "Whether more requests were waiting in the client is not in the packets, so nor is what more credits would gain.",
            .draw = credits_exhausted},
        FindingRow{
            .id = "single-credit",
            .severity = Severity::note,
            .clause = kObserved,
            .meaning = "One end granted a single credit at a time",
            .sentence =
                "{>passive} never granted {>active} more than one credit for {upper_protocol}, so {operations:operation} were sent one at a time.",
            .advice = "Check the number of receives or slots of that transport on {>passive}, and memory pressure.",
            .alike =
                "A backchannel, or a server that is configured for many small clients, grants one credit on purpose.",
            .limits = "Why no more were granted, configuration or a lack of memory, is not in the packets.",
            .draw = single_credit},
    };
    static constexpr std::array kOwn{&kOccurrences, &kSaid, &kWithoutKeepAlive, &kGranted};
    return {kRows, kOwn};
}

}  // namespace qps::transport::families
