// What is left of watching a connection.
#include <transport-replay/checks/passive/conversation_watch.hpp>

namespace qps::transport::conformance {

namespace {

// A sender that computes an ICRC wrongly does so for all packets of a kind; the wire spoils single ones, of any kind,
// and now and then makes one of another kind of them.
bool is_computed_wrongly(const EndState& state) {
    std::uint32_t never_right = 0;
    std::uint32_t wrong = 0;
    for (std::size_t kind = 0; kind < state.bad_kinds.size(); ++kind) {
        wrong += state.bad_kinds[kind];
        const bool also_right = (state.good_kinds[kind / 64] >> kind % 64 & 1) != 0;
        if (!also_right) never_right += state.bad_kinds[kind];
    }
    return never_right > 1 && 2 * never_right >= wrong;
}

// Wrong in every packet with a pad, right in others.
bool is_pad_uncovered(const EndState& state) {
    std::uint32_t wrong = 0;
    bool right_without = false;
    for (std::size_t kind = 0; kind < kPacketKinds; ++kind) {
        const bool right = (state.good_kinds[kind / 64] >> kind % 64 & 1) != 0;
        const std::uint32_t bad = state.bad_kinds.empty() ? 0 : state.bad_kinds[kind];
        const bool padded = is_padded_kind(kind);
        if (padded ? right : bad != 0) return false;
        right_without |= right;
        wrong += bad;
    }
    return wrong > 1 && right_without;
}

WatchedEnd summary_of(const EndState& state) {
    return {.messages = state.messages,
            .ever_asked = state.ever_asked,
            .unasked = state.unasked,
            .unasked_end = state.unasked_end,
            .ghost = state.ghost ? std::optional(state.ghost->frame) : std::nullopt,
            .mtu = state.mtu,
            .bad = state.bad,
            .bad_frames = state.bad_frames,
            .computed_wrongly = is_computed_wrongly(state),
            .pad_uncovered = is_pad_uncovered(state),
            .plain_acks = state.plain_acks,
            .unlimited = state.unlimited,
            .unlimited_frame = state.unlimited_frame,
            .data = state.data,
            .not_capable = state.not_capable,
            .not_capable_frame = state.not_capable_frame};
}

}  // namespace

WatchedConnection ConversationWatch::summary(ConnectionId number) const {
    return {.number = number, .older = older_, .ends = {summary_of(states_[0]), summary_of(states_[1])}};
}

}  // namespace qps::transport::conformance
