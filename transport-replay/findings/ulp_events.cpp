// What upper protocols say of themselves: refusals, logins that failed, sessions that ended, keep-alives and credits.
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/ulp_words.hpp>
#include <transport-replay/findings/words.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace qps::transport::draw {

using namespace words;

namespace {

constexpr std::size_t kEventGroups = 4096;  // that many different stories nobody reads

// Events of one kind that are the same story: the same ends, side and words.
struct Story {
    const UlpEvent* first = nullptr;
    std::uint64_t count = 0;
    std::uint64_t most = 0;  // of their numbers
    std::uint64_t least = 0;
    std::vector<dissect::FrameIndex> frames;
};

std::vector<Story> stories(const Timeline& timeline, UlpEventKind kind) {
    using Key = std::tuple<std::optional<ConnectionId>, std::string, UlpProtocol, bool, std::string_view>;
    std::map<Key, Story> found;
    for (const UlpEvent& event : timeline.ulp.events) {
        if (event.kind != kind) continue;
        const Sides sides = sides_of(timeline, event);
        const Key key{event.connection, sides.active + ">" + sides.passive, event.protocol, event.by_active, event.words};
        if (found.size() == kEventGroups && !found.contains(key)) continue;
        Story& story = found[key];
        if (story.first == nullptr) {
            story.first = &event;
            story.least = event.number;
        }
        ++story.count;
        story.most = std::max(story.most, event.number);
        story.least = std::min(story.least, event.number);
        if (story.frames.size() < kMaxEvidence) story.frames.push_back(event.frame);
    }
    std::vector<Story> all;
    for (auto& [key, story] : found) all.push_back(std::move(story));
    return all;
}

FindingDraft draft_of(const Story& story, Party party) {
    return {
        .party = party, .connection = story.first->connection, .packets = story.frames, .count = story.count, .summary = {}, .advice = {}};
}

}  // namespace

void protocol_refused(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::refused)) {
        const Sides sides = sides_of(timeline, *story.first);
        FindingDraft draft = draft_of(story, Party::application);
        draft.summary = fmt::format("{} refused {} from {} {}: {}.", sides.passive, protocol_name(story.first->protocol), sides.active,
                                    times(story.count), clean(story.first->words));
        draft.advice = fmt::format("Compare what {} requests with what {} is configured to allow, starting with that reason.", sides.active,
                                   sides.passive);
        emit(std::move(draft));
    }
}

void login_failed(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::login_failed)) {
        const Sides sides = sides_of(timeline, *story.first);
        FindingDraft draft = draft_of(story, Party::application);
        draft.summary = fmt::format("{} failed to log in to {} ({}) {}: {}.", sides.active, sides.passive,
                                    protocol_name(story.first->protocol), times(story.count), clean(story.first->words));
        draft.advice = fmt::format("Check the name, the credentials and the access list on {} for {}.", sides.passive, sides.active);
        emit(std::move(draft));
    }
}

void session_terminated(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::terminated)) {
        const Sides sides = sides_of(timeline, *story.first);
        FindingDraft draft = draft_of(story, Party::application);
        draft.summary = fmt::format("{} terminated {} with {} because of an error: {}.", story.first->by_active ? sides.active : sides.passive,
                                    protocol_name(story.first->protocol), story.first->by_active ? sides.passive : sides.active,
                                    clean(story.first->words));
        draft.advice =
            fmt::format("Check what {} sent just before these packets, and the log of {} for its side.",
                        story.first->by_active ? sides.passive : sides.active, story.first->by_active ? sides.active : sides.passive);
        emit(std::move(draft));
    }
}

void protocol_error(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::error_message)) {
        const Sides sides = sides_of(timeline, *story.first);
        const std::string& speaker = story.first->by_active ? sides.active : sides.passive;
        const std::string& listener = story.first->by_active ? sides.passive : sides.active;
        FindingDraft draft = draft_of(story, Party::application);
        draft.summary = fmt::format("{} reported to {} an error of {} {}: {}.", speaker, listener, protocol_name(story.first->protocol),
                                    times(story.count), clean(story.first->words));
        draft.advice = fmt::format("Check what {} sent before: `qpscope follow CONNECTION --decode` shows it in order.", listener);
        emit(std::move(draft));
    }
}

void keep_alive_late(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::keep_alive_late)) {
        const Sides sides = sides_of(timeline, *story.first);
        FindingDraft draft = draft_of(story, Party::requester);
        const auto silent =
            dissect::Duration{static_cast<std::int64_t>(std::min<std::uint64_t>(story.most, INT64_MAX / 1'000'000)) * 1'000'000};
        draft.summary = fmt::format("{} sent a keep-alive of {} to {} too late {}, after {} at worst{}.", sides.active,
                                    protocol_name(story.first->protocol), sides.passive, times(story.count), duration_text(silent),
                                    story.first->words.empty() ? "" : fmt::format(" ({})", clean(story.first->words)));
        draft.advice = fmt::format("Find out what stopped {} during that time: {} drops the association when its timer expires.",
                                   sides.active, sides.passive);
        emit(std::move(draft));
    }
}

void credits_used_up(const Timeline& timeline, const Emit& emit) {
    for (const Story& story : stories(timeline, UlpEventKind::credits_used_up)) {
        const Sides sides = sides_of(timeline, *story.first);
        const std::string& waited = story.first->by_active ? sides.active : sides.passive;
        const std::string& grants = story.first->by_active ? sides.passive : sides.active;
        FindingDraft draft = draft_of(story, Party::responder);
        draft.summary = fmt::format("{} used up the {} that {} grants for {} {}; further requests had to wait.", waited,
                                    counted(story.most, "credit"), grants, protocol_name(story.first->protocol), times(story.count));
        draft.advice =
            fmt::format("Let {} grant more credits (receive buffers, slot table entries) if requests of {} are too slow.", grants, waited);
        emit(std::move(draft));
    }
}

void credits_of_one(const Timeline& timeline, const Emit& emit) {
    constexpr std::uint64_t kEnough = 16;  // operations: before, credits are still being raised
    for (const UlpConversation& conversation : timeline.ulp.conversations) {
        if (conversation.most_credits != 1U || conversation.operations < kEnough) continue;
        const Connection* connection = timeline.find(conversation.connection);
        const Sides sides = sides_of(timeline, conversation);
        emit({.party = Party::responder,
              .connection = conversation.connection,
              .packets = connection == nullptr ? std::vector<dissect::FrameIndex>{} : first_frames(*connection),
              .count = conversation.operations,
              .summary = fmt::format("{} never granted {} more than one credit for {}, so {} were sent one at a time.", sides.passive,
                                     sides.active, protocol_name(conversation.protocol), counted(conversation.operations, "operation")),
              .advice = fmt::format("Check the number of receives or slots of that transport on {}, and memory pressure.",
                                    sides.passive)});
    }
}

}  // namespace qps::transport::draw
