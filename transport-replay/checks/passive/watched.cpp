// What is left of watching a connection.
#include <transport-replay/checks/passive/conversation_watch.hpp>

namespace qps::transport::conformance {

namespace {

// A sender that computes an ICRC wrongly does so for all packets of a kind; the wire spoils single ones, of any kind,
// and now and then makes one of another kind of them.
bool is_computed_wrongly(const EndState::Icrcs& icrcs) {
    std::uint32_t never_right = 0;
    std::uint32_t wrong = 0;
    for (std::size_t kind = 0; kind < icrcs.bad_kinds.size(); ++kind) {
        wrong += icrcs.bad_kinds[kind];
        const bool also_right = (icrcs.good_kinds[kind / 64] >> kind % 64 & 1) != 0;
        if (!also_right) never_right += icrcs.bad_kinds[kind];
    }
    return never_right > 1 && 2 * never_right >= wrong;
}

// Wrong in every packet with a pad, right in others.
bool is_pad_uncovered(const EndState::Icrcs& icrcs) {
    std::uint32_t wrong = 0;
    bool right_without = false;
    for (std::size_t kind = 0; kind < kPacketKinds; ++kind) {
        const bool right = (icrcs.good_kinds[kind / 64] >> kind % 64 & 1) != 0;
        const std::uint32_t bad = icrcs.bad_kinds.empty() ? 0 : icrcs.bad_kinds[kind];
        const bool padded = is_padded_kind(kind);
        if (padded ? right : bad != 0) return false;
        right_without |= right;
        wrong += bad;
    }
    return wrong > 1 && right_without;
}

WatchedEnd summary_of(const EndState& state) {
    return {.messages = state.count.messages,
            .ever_asked = state.asking.ever,
            .unasked = state.asking.unasked,
            .unasked_end = state.asking.end,
            .ghost = state.acknowledged.ghost ? std::optional(state.acknowledged.ghost->frame) : std::nullopt,
            .mtu = state.lengths.mtu,
            .bad = state.icrcs.bad,
            .bad_frames = state.icrcs.bad_frames,
            .computed_wrongly = is_computed_wrongly(state.icrcs),
            .pad_uncovered = is_pad_uncovered(state.icrcs),
            .plain_acks = state.credits.plain_acks,
            .unlimited = state.credits.unlimited,
            .unlimited_frame = state.credits.unlimited_frame,
            .data = state.congestion.data,
            .not_capable = state.congestion.not_capable,
            .not_capable_frame = state.congestion.not_capable_frame};
}

}  // namespace

WatchedConnection ConversationWatch::summary(ConnectionId number) const {
    return {.number = number, .older = older_, .ends = {summary_of(states_[0]), summary_of(states_[1])}};
}

}  // namespace qps::transport::conformance
