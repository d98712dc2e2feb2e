// Answers that were recorded before their requests: captures of several queues may have them first, and those of two
// ports or hosts whose clocks are apart have all of them so. They wait for their requests, in order, for some
// milliseconds.
#include <dissect/base/types.hpp>
#include <dissect/headers/infiniband.hpp>
#include <transport-replay/tracking/tracker.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::int32_t kFewLate = 64;        // requests that were recorded late, at most
constexpr std::int32_t kManyLate = 1 << 16;  // where clocks are apart
constexpr std::uint32_t kProven = 2;         // requests that came after their answers
constexpr std::uint32_t kEnoughReads = 8;    // likewise, READs and ATOMICs
constexpr std::size_t kMaxEarly = 4096;      // answers of a way
constexpr std::size_t kMaxWays = 1 << 14;    // that have such answers, some 700 bytes each

bool goes_on_with_read(const Observation& answer) {
    return info(answer.opcode).verb == Verb::read_response && !begins_message(info(answer.opcode).place);
}

// What is acknowledged is not sent again; what a NAK names, and a READ, may be.
bool is_ack(const Observation& answer) {
    return info(answer.opcode).verb == Verb::acknowledge && answer.acknowledgment &&
           static_cast<SyndromeType>(answer.acknowledgment->type()) == SyndromeType::ack;
}

void note_early(Way& way, const Observation& answer, Instant request, std::uint32_t count = 1) {
    Incidents& incidents = way.incidents.made();
    incidents.early_answers += count;
    incidents.earliest_answer = std::max(incidents.earliest_answer, request - answer.time);
    incidents.note(Oddity::early, answer.frame);
}

}  // namespace

// Whether the capture may begin in the middle of the connection, with what its requester sends again.
bool Tracker::may_have_begun(const Entry& entry, Instant now) {
    return !entry.connection.cm_attempt && now - entry.made <= kSlowestReaction;
}

// Whether it answers a request that was not recorded yet, and how long that one may take then; nothing where it does
// not.
std::optional<Tracker::Early> Tracker::came_early(const Entry& entry, End requester, const Observation& answer,
                                                  bool proven) const {
    const Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    if (!direction.requests.started() || answer.cut) return std::nullopt;
    // The request that is due next.
    const OpcodeRow& row = info(answer.opcode);
    const std::int32_t ahead = answer.psn - direction.requests.next();
    const Early again{proven ? kLatestRequest : kLatestAgain, false};
    if (ahead >= 0) {
        if (ahead >= (proven ? kManyLate : kFewLate)) return std::nullopt;
        if (row.verb != Verb::read_response) return Early{kLatestRequest, true};
        if (direction.requests.may_reach(answer.psn, path_mtu(entry))) return std::nullopt;
        // What is asked for again soon was answered before.
        return !proven && may_have_begun(entry, answer.time) ? again : Early{kLatestRequest, true};
    }
    // The rest of a READ that nobody asked for from there.
    if (row.verb == Verb::read_response && begins_message(row.place)) {
        const Message* read = direction.requests.covering(answer.psn);
        if (read != nullptr && read->verb == Verb::read_request && answer.psn != read->first &&
            answer.psn != read->asked_again)
            return again;
    }
    // A PSN that was refused, and not sent again since.
    const auto refused = direction.watch.awaits_receive();
    if (!refused || answer.psn.before(*refused)) return std::nullopt;
    if (row.verb != Verb::acknowledge) return again;
    if (!answer.acknowledgment) return std::nullopt;
    switch (static_cast<SyndromeType>(answer.acknowledgment->type())) {
        case SyndromeType::ack: return again;
        // What comes when its timer runs out comes because of it.
        case SyndromeType::rnr_nak: {
            if (answer.psn != *refused) return std::nullopt;
            return Early{
                std::min(again.patience, Duration{std::to_underlying(rnr_wait(answer.acknowledgment->code())) / 2}),
                false};
        }
        default: return std::nullopt;
    }
}

// False where it is to be taken now.
bool Tracker::wait_early(WayOf where, const Observation& observation) {
    const Entry& entry = entries_[where.index()];
    auto found = early_.empty() ? early_.end() : early_.find(where.word());
    const bool proven = found != early_.end() && found->second.proven >= kProven;
    if (found != early_.end() && !found->second.waiting.empty()) {
        const std::deque<EarlyAnswer>& waiting = found->second.waiting;
        const bool has_room = waiting.size() < kMaxEarly && pending_answers_ < kMaxPendingAnswersOfAll;
        // Of what is sent again one waits, for what comes next tells.
        if (!has_room || (!waiting.front().early.due && !proven)) {
            settle_early(where, Settle::all, observation.time);
            found = early_.find(where.word());
        }
    }
    if (found != early_.end() && found->second.lacks_first && found->second.waiting.empty()) {
        if (goes_on_with_read(observation)) return false;
        found->second.lacks_first = false;
    }
    const bool follows = found != early_.end() && (!found->second.waiting.empty() || found->second.systematic());
    const std::optional<Early> early = came_early(entry, other(where.from()), observation, proven || follows);
    if (found != early_.end() && !early) ++found->second.in_time;
    if ((!early && !follows) || pending_answers_ >= kMaxPendingAnswersOfAll) return false;
    if (found == early_.end() && early_.size() >= kMaxWays) return false;
    EarlyAnswers& way = early_[where.word()];
    way.waiting.push_back({early.value_or(Early{kLatestRequest, false}), observation});
    way.waiting.back().answer.payload = {};
    if (!early && way.asked + 1 == way.waiting.size()) ++way.asked;
    most_pending_ = std::max(most_pending_, ++pending_answers_);
    return true;
}

// Whether the first request was recorded behind its answer, so that others are as well: what a requester sends again
// when the capture begins was answered before with all that followed it.
bool Tracker::lead_requests(WayOf where, const std::vector<Observation>& answers) {
    Entry& entry = entries_[where.index()];
    const End requester = other(where.from());
    const Way& way = entry.connection.way(requester);
    const auto answers_first = [&](const Observation& answer) {
        const Message* asked = entry.directions[static_cast<std::size_t>(requester)].requests.covering(answer.psn);
        return is_ack(answer) && asked != nullptr && asked->first_frame == way.first_frame &&
               answer.time < way.first_time && way.first_time - answer.time <= kLatestRequest;
    };
    const auto first = std::ranges::find_if(answers, answers_first);
    if (first == answers.end() || early_.size() >= kMaxWays) return false;
    EarlyAnswers& early = early_[where.word()];
    early.proven = std::max(early.proven, kProven);
    early.lead = std::max(early.lead, way.first_time - first->time);
    note_early(entry.connection.way(where.from()), *first, way.first_time);
    return true;
}

// A request came: whose answers those are that it was the last to wait for.
void Tracker::ask_early(EarlyAnswers& early, WayOf answers) {
    Entry& entry = entries_[answers.index()];
    const End requester = other(answers.from());
    const Direction& direction = entry.directions[static_cast<std::size_t>(requester)];
    const Instant request = entry.connection.way(requester).last_time;
    for (; early.asked < early.waiting.size(); ++early.asked) {
        const auto& [waits, answer] = early.waiting[early.asked];
        if (came_early(entry, requester, answer, true)) return;
        if (!waits.due || request - answer.time > waits.patience || !direction.requests.waits_for(answer.psn)) continue;
        std::uint32_t count = 1;
        if (!is_ack(answer)) {
            const Message* asked = direction.requests.covering(answer.psn);
            if (!asked->has_response() || asked->first != answer.psn || ++early.reads < kEnoughReads) continue;
            if (early.reads == kEnoughReads) count = kEnoughReads;
        }
        early.proven += count;
        early.lead = std::max(early.lead, request - answer.time);
        note_early(entry.connection.way(answers.from()), answer, request, count);
    }
}

// Those whose requests are there now, or would be by now.
void Tracker::settle_early(WayOf answers, Settle which, Instant now) {
    const auto found = early_.find(answers.word());
    if (found == early_.end()) return;
    EarlyAnswers& early = found->second;
    Entry& entry = entries_[answers.index()];
    const End requester = other(answers.from());
    const bool all = which == Settle::all || (which == Settle::sent_again && early.proven < kProven);
    if (which != Settle::overdue && !all) ask_early(early, answers);
    while (!early.waiting.empty()) {
        const auto& [waits, first] = early.waiting.front();
        // Without its first responses a READ would seem to lack them.
        const bool lacks_first = early.lacks_first && early.asked == 0 && goes_on_with_read(first);
        const bool overdue = lacks_first || now - first.time > waits.patience;
        early.lacks_first =
            lacks_first || (overdue && early.asked == 0 && waits.due && info(first.opcode).verb == Verb::read_response);
        if (!all && !overdue && (early.asked == 0 || now - first.time < early.hold())) break;
        Observation answer = first;
        answer.time = std::max(answer.time + early.hold(), entry.connection.way(requester).last_time);
        early.waiting.pop_front();
        --pending_answers_;
        if (early.asked != 0) --early.asked;
        PacketRecord record;
        apply_answer(entry, requester, answer, record);
        hand_on(entry, requester);
        record_episodes(entry, requester);
    }
    if (early.waiting.empty() && early.proven + early.reads == 0 && !early.lacks_first) early_.erase(found);
}

// At the end, all of them.
void Tracker::settle_early() {
    std::vector<FlowIndex::Where> ways;
    for (const auto& [way, early] : early_) ways.push_back(way);
    std::ranges::sort(ways);
    for (const FlowIndex::Where way : ways) settle_early(WayOf(way), Settle::all, now_);
}

}  // namespace qps::transport
