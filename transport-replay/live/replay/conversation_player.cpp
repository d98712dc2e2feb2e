#include <dissect/base/types.hpp>
#include <transport-replay/live/replay/playing.hpp>

#include <utility>

namespace qps::transport::live {

using namespace dissect;

ConversationPlayer::ConversationPlayer(const RecordedConversation& conversation, ConversationPart part,
                                       PlayerSettings settings)
    : state_(new Playing{.conversation = conversation, .part = std::move(part), .settings = std::move(settings)}) {}
ConversationPlayer::ConversationPlayer(ConversationPlayer&&) noexcept = default;
ConversationPlayer& ConversationPlayer::operator=(ConversationPlayer&&) noexcept = default;
ConversationPlayer::~ConversationPlayer() = default;

std::expected<void, std::string> ConversationPlayer::begin(Endpoint& endpoint, Instant now) {
    return state_->begin(endpoint, now);
}

void ConversationPlayer::poll(Endpoint& endpoint, Instant now) {
    Playing& state = *state_;
    state.settled = state.phase == Playing::Phase::over;
    state.wake.reset();
    const std::vector<ConnectionEvent> events = endpoint.connections().take_events();
    for (const ConnectionEvent& event : events)
        if (event.kind == ConnectionEventKind::established) state.take(endpoint, event, now);
    if (state.memory) {
        state.count_naks(endpoint);
        state.drain(endpoint, now);  // what completed before the end counts
        state.take_refusals(endpoint, now);
    }
    for (const ConnectionEvent& event : events)
        if (event.kind != ConnectionEventKind::established) state.take(endpoint, event, now);
    if (state.phase == Playing::Phase::running) state.advance(endpoint, now);
    if (state.phase == Playing::Phase::lingering) {
        const bool ours_to_end =
            state.conversation.taken_down_by.value_or(state.conversation.requester) == state.part.ours;
        const Instant until = ours_to_end ? state.linger_until : state.last_progress + state.settings.patience;
        if (now >= until) state.conclude(endpoint, ReplayEnd::complete, {}, now);
        else state.wake_at(until);
    }
    if (state.phase == Playing::Phase::connecting && state.settings.connect) {
        const Instant until = state.last_progress + state.settings.patience;
        if (now >= until) {
            state.conclude(endpoint, ReplayEnd::not_connected, "no answer", now);
        } else {
            state.wake_at(until);
        }
    }
    if (state.phase == Playing::Phase::leaving) {
        if (now >= state.leave_until) {
            if (state.id) (void)endpoint.manager().abandon(*state.id, now);
            state.phase = Playing::Phase::over;
        } else {
            state.wake_at(state.leave_until);
        }
    }
    if (state.phase == Playing::Phase::over && !state.settled) state.wake_at(kAtOnce);
}

std::optional<Instant> ConversationPlayer::poll_at() const { return state_->wake; }

void ConversationPlayer::stop(Endpoint& endpoint, Instant now) {
    state_->conclude(endpoint, ReplayEnd::stopped, {}, now);
}

bool ConversationPlayer::done() const { return state_->phase == Playing::Phase::over && state_->settled; }
std::vector<std::string> ConversationPlayer::take_lines() { return std::exchange(state_->lines, {}); }
ProgramCounts ConversationPlayer::counts() const { return state_->counts; }
std::vector<KeyMapping> ConversationPlayer::untold_keys() const { return state_->unadvertised; }
void ConversationPlayer::map_keys(std::span<const KeyMapping> keys) {
    state_->settings.keys.insert(state_->settings.keys.end(), keys.begin(), keys.end());
}
const ReplayComparison& ConversationPlayer::comparison() const { return state_->result; }

}  // namespace qps::transport::live
