// What upper protocols say of themselves: refusals, logins that failed, sessions that ended, keep-alives and credits.
#include <transport-replay/findings/families.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>
#include <transport-replay/tracking/retransmission_causes.hpp>
#include <transport-replay/ulp/credit_wait.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace qps::transport::families {

namespace {

using namespace words;

constexpr std::size_t kEventGroups = 4096;  // that many different summaries nobody reads

// Events of one kind that are the same summary: the same ends, side and words.
struct EventSummary {
    const UlpEvent* first = nullptr;
    std::uint64_t count = 0;
    std::uint64_t most = 0;  // of their numbers
    std::uint64_t least = 0;
    std::vector<dissect::FrameIndex> frames;
};

std::vector<EventSummary> summaries(const Timeline& timeline, UlpEventKind kind) {
    using Key = std::tuple<std::optional<ConnectionId>, std::string, UlpProtocol, bool, std::string_view>;
    std::map<Key, EventSummary> found;
    for (const UlpEvent& event : timeline.ulp.events) {
        if (event.kind != kind) continue;
        const Sides sides = sides_of(timeline, event);
        const Key key{event.connection, sides.active + ">" + sides.passive, event.protocol, event.by_active, event.words};
        if (found.size() == kEventGroups && !found.contains(key)) continue;
        EventSummary& summary = found[key];
        if (summary.first == nullptr) {
            summary.first = &event;
            summary.least = event.number;
        }
        ++summary.count;
        summary.most = std::max(summary.most, event.number);
        summary.least = std::min(summary.least, event.number);
        if (summary.frames.size() < kMaxEvidence) summary.frames.push_back(event.frame);
    }
    std::vector<EventSummary> all;
    for (auto& [key, summary] : found) all.push_back(std::move(summary));
    return all;
}

FindingDraft draft_of(const EventSummary& summary, Party party) {
    return {.party = party,
            .connection = summary.first->connection,
            .old_packets = summary.frames,
            .count = summary.count,
            .old_summary = {},
            .old_advice = {}};
}

void protocol_refused(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::refused)) {
        const Sides sides = sides_of(timeline, *summary.first);
        FindingDraft draft = draft_of(summary, Party::application);
        draft.old_summary = fmt::format("{} refused {} from {} {}: {}.", sides.passive, protocol_name(summary.first->protocol), sides.active,
                                    times(summary.count), clean(summary.first->words));
        draft.old_advice = fmt::format("Compare what {} requests with what {} is configured to allow, starting with that reason.", sides.active,
                                   sides.passive);
        emit(std::move(draft));
    }
}

// What failed because no answer came, and not because one said so.
bool is_by_silence(const UlpEvent& event) { return event.words.ends_with("without an answer"); }

void login_failed(const Timeline& timeline, const Emit& emit) {
    const bool lacking = recorder_lost_packets(timeline);
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::login_failed)) {
        const Sides sides = sides_of(timeline, *summary.first);
        FindingDraft draft = draft_of(summary, Party::application);
        const bool unsure = lacking && is_by_silence(*summary.first);
        if (unsure) draft.severity = Severity::note;
        draft.old_summary = fmt::format("{} failed to log in to {} ({}) {}: {}{}.", sides.active, sides.passive,
                                    protocol_name(summary.first->protocol), times(summary.count), clean(summary.first->words),
                                    unsure ? "; the capture lacks packets, and perhaps the answer" : "");
        draft.old_advice = fmt::format("Check the name, the credentials and the access list on {} for {}.", sides.passive, sides.active);
        emit(std::move(draft));
    }
}

void session_terminated(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::terminated)) {
        const Sides sides = sides_of(timeline, *summary.first);
        FindingDraft draft = draft_of(summary, Party::application);
        draft.old_summary = fmt::format("{} terminated {} with {} because of an error: {}.",
                                    summary.first->by_active ? sides.active : sides.passive, protocol_name(summary.first->protocol),
                                    summary.first->by_active ? sides.passive : sides.active, clean(summary.first->words));
        draft.old_advice =
            fmt::format("Check what {} sent just before these packets, and the log of {} for its side.",
                        summary.first->by_active ? sides.passive : sides.active, summary.first->by_active ? sides.active : sides.passive);
        emit(std::move(draft));
    }
}

void protocol_error(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::error_message)) {
        const Sides sides = sides_of(timeline, *summary.first);
        const std::string& speaker = summary.first->by_active ? sides.active : sides.passive;
        const std::string& listener = summary.first->by_active ? sides.passive : sides.active;
        FindingDraft draft = draft_of(summary, Party::application);
        draft.old_summary = fmt::format("{} reported to {} an error of {} {}: {}.", speaker, listener, protocol_name(summary.first->protocol),
                                    times(summary.count), clean(summary.first->words));
        draft.old_advice = fmt::format("Check what {} sent before: `qpscope follow CONNECTION --decode` shows it in order.", listener);
        emit(std::move(draft));
    }
}

void message_malformed(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::malformed)) {
        const Sides sides = sides_of(timeline, *summary.first);
        const std::string& speaker = summary.first->by_active ? sides.active : sides.passive;
        FindingDraft draft = draft_of(summary, Party::application);
        draft.old_summary = fmt::format("{} sent {} {} of {} that {} the format: {}.", speaker, summary.first->by_active ? sides.passive : sides.active,
                                    counted(summary.count, "message"), protocol_name(summary.first->protocol), summary.count == 1 ? "breaks" : "break",
                                    clean(summary.first->words));
        draft.old_advice = fmt::format("Update the software of {}, or find what changes its messages: a receiver cannot answer them.", speaker);
        emit(std::move(draft));
    }
}

void keep_alive_late(const Timeline& timeline, const Emit& emit) {
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::keep_alive_late)) {
        const Sides sides = sides_of(timeline, *summary.first);
        FindingDraft draft = draft_of(summary, Party::requester);
        const auto silent =
            dissect::Duration{static_cast<std::int64_t>(std::min<std::uint64_t>(summary.most, INT64_MAX / 1'000'000)) * 1'000'000};
        draft.old_summary = fmt::format("{} sent a keep-alive of {} to {} too late {}, after {} at worst{}.", sides.active,
                                    protocol_name(summary.first->protocol), sides.passive, times(summary.count), duration_text(silent),
                                    summary.first->words.empty() ? "" : fmt::format(" ({})", clean(summary.first->words)));
        draft.old_advice = fmt::format("Find out what stopped {} during that time: {} drops the association when its timer expires.",
                                   sides.active, sides.passive);
        emit(std::move(draft));
    }
}

struct Credits {
    const EventSummary& summary;
    const Sides& sides;
    [[nodiscard]] std::string protocol() const { return std::string(protocol_name(summary.first->protocol)); }
    [[nodiscard]] std::string granted() const {
        return summary.most == 0 ? std::string("credits") : fmt::format("{}", counted(summary.most, "credit"));
    }
    [[nodiscard]] std::string_view clause() const { return summary.first->protocol == UlpProtocol::rpc_rdma ? " (RFC 8166 3.3.1)" : ""; }
};

FindingDraft waited_for_credits(const Credits& credits) {
    FindingDraft draft = draft_of(credits.summary, Party::responder);
    draft.old_summary = fmt::format("{} used up the {} that {} grants for {} {}; the next request followed only when one was granted again.",
                                credits.sides.active, credits.granted(), credits.sides.passive, credits.protocol(),
                                times(credits.summary.count));
    draft.old_advice = fmt::format("Let {} grant more credits (receive buffers, slot table entries) if requests of {} are too slow.",
                               credits.sides.passive, credits.sides.active);
    return draft;
}

// Answers that the capture lacks would have given credits back.
FindingDraft more_than_granted(const Credits& credits, bool lacking) {
    FindingDraft draft = draft_of(credits.summary, lacking ? Party::undecided : Party::requester);
    draft.old_summary = fmt::format("{} had more requests of {} outstanding than the {} that {} granted{}.", credits.sides.active,
                                credits.protocol(), credits.granted(), credits.sides.passive,
                                lacking ? "; the capture lacks packets, and perhaps answers" : "");
    draft.old_advice = fmt::format("Update the client of {}: it must not exceed its grant{}, since {} has receives for no more.",
                               credits.sides.active, credits.clause(), credits.sides.passive);
    return draft;
}

FindingDraft no_credits(const Credits& credits) {
    FindingDraft draft = draft_of(credits.summary, Party::responder);
    draft.old_summary = fmt::format("{} granted {} no credits for {} {}: no request may follow{}.", credits.sides.passive,
                                credits.sides.active, credits.protocol(), times(credits.summary.count), credits.clause());
    draft.old_advice = fmt::format("Update the server of {}, or see why it has no receive buffers left.", credits.sides.passive);
    return draft;
}

void credits_exhausted(const Timeline& timeline, const Emit& emit) {
    const bool lacking = recorder_lost_packets(timeline);
    for (const EventSummary& summary : summaries(timeline, UlpEventKind::credits_exhausted)) {
        const Sides sides = sides_of(timeline, *summary.first);
        const Credits credits{summary, sides};
        if (summary.first->words == kMoreThanGranted) emit(more_than_granted(credits, lacking));
        else emit(summary.first->words == kNoCredits ? no_credits(credits) : waited_for_credits(credits));
    }
}

void single_credit(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kEnough = 16;  // operations: before, credits are still being raised
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.most_credits != 1U || conversation.operations < kEnough) continue;
        const Connection* connection = timeline.find(conversation.connection);
        const Sides sides = sides_of(timeline, conversation);
        emit({.party = Party::responder,
              .connection = conversation.connection,
              .old_packets = connection == nullptr ? std::vector<dissect::FrameIndex>{} : first_frames(*connection),
              .count = conversation.operations,
              .old_summary = fmt::format("{} never granted {} more than one credit for {}, so {} were sent one at a time.", sides.passive,
                                     sides.active, protocol_name(conversation.protocol), counted(conversation.operations, "operation")),
              .old_advice = fmt::format("Check the number of receives or slots of that transport on {}, and memory pressure.",
                                    sides.passive)});
    }
}

}  // namespace

Family ulp_events_family() {
    static constexpr std::array kRows{
        FindingRow{.id = "protocol-refused",
                   .severity = Severity::error,
                   .clause = kObserved,
                   .meaning = "An upper-layer protocol refused a connection",
                   .draw = protocol_refused},
        FindingRow{.id = "login-failed",
                   .severity = Severity::error,
                   .clause = kObserved,
                   .meaning = "A login of an upper-layer protocol failed",
                   .draw = login_failed},
        FindingRow{.id = "session-terminated",
                   .severity = Severity::error,
                   .clause = kObserved,
                   .meaning = "A session of an upper-layer protocol was terminated because of an error",
                   .draw = session_terminated},
        FindingRow{.id = "protocol-error",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "One end reported an error of an upper-layer protocol to the other",
                   .draw = protocol_error},
        FindingRow{.id = "message-malformed",
                   .severity = Severity::warning,
                   .clause = "RFC 8166 4",
                   .meaning = "A message of an upper-layer protocol breaks its format",
                   .draw = message_malformed},
        FindingRow{.id = "keep-alive-late",
                   .severity = Severity::warning,
                   .clause = kObserved,
                   .meaning = "A keep-alive of an upper-layer protocol was late",
                   .draw = keep_alive_late},
        FindingRow{.id = "credits-exhausted",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "Credits of an upper protocol were used up, exceeded or not granted",
                   .draw = credits_exhausted},
        FindingRow{.id = "single-credit",
                   .severity = Severity::note,
                   .clause = kObserved,
                   .meaning = "One end granted a single credit at a time",
                   .draw = single_credit},
    };
    return {kRows, {}};
}

}  // namespace qps::transport::families
