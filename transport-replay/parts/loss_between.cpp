#include <transport-replay/parts/host_clocks.hpp>
#include <transport-replay/parts/loss_between.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace qps::transport {

using namespace dissect;

namespace {

HostNumber number_of(std::uint32_t capture) { return HostNumber{static_cast<std::uint16_t>(capture + 1)}; }

bool was_asked_for(const Recovery& recovery) { return recovery.kind == RecoveryKind::sequence_nak || recovery.asked(); }
bool is_timeout(const Recovery& recovery) { return recovery.kind == RecoveryKind::timeout && !recovery.asked(); }

// The recoveries of each PSN of each way, in the order they began.
using Of = std::tuple<ConnectionId, End, std::uint32_t, bool>;  // whether it was asked for
using Recoveries = std::map<Of, std::vector<Recovery*>>;
Recoveries by_psn(std::vector<Recovery>& recoveries) {
    Recoveries found;
    for (Recovery& recovery : recoveries)
        if (was_asked_for(recovery) || is_timeout(recovery))
            found[{recovery.connection, recovery.requester, recovery.psn.value(), was_asked_for(recovery)}].push_back(
                &recovery);
    return found;
}

// What a capture says of the first sending.
bool has_it(NakCause cause) { return cause == NakCause::lost_behind_tap || cause == NakCause::corrupt; }
bool lacks_it(NakCause cause) { return cause == NakCause::lost_before_tap; }

// The capture that has the first sending and is farthest from the sender, and the one that lacks it and is nearest,
// where they agree.
void combine(Recovery& told, std::uint32_t own, NakCause seen, std::uint32_t capture, bool told_first) {
    const NakCause near = told_first ? told.cause : seen, far = told_first ? seen : told.cause;
    const std::uint32_t near_capture = told_first ? own : capture, far_capture = told_first ? capture : own;
    if (has_it(near) && lacks_it(far)) {  // lost on the way, unless it was damaged before
        told.cause = near == NakCause::corrupt ? NakCause::corrupt : NakCause::lost_before_tap;
        told.passed = near == NakCause::corrupt ? HostNumber{} : number_of(near_capture);
        told.missed = number_of(near == NakCause::corrupt ? near_capture : far_capture);
    } else if (near == NakCause::lost_behind_tap && far == NakCause::corrupt) {
        told.cause = far;
        told.passed = number_of(near_capture);
        told.missed = number_of(far_capture);
    } else if (near == NakCause::lost_behind_tap && has_it(far)) {
        told.cause = far;
        told.passed = number_of(far_capture);
        told.missed = {};
    } else if (lacks_it(near) && lacks_it(far)) {
        told.passed = {};
        told.missed = number_of(near_capture);
    } else if (lacks_it(near) && has_it(far)) {  // one of the captures lost something
        told.cause = NakCause::undecided;
        told.passed = told.missed = {};
    }
}

// A timer ran out: the capture near the requester has all that it sent again, or the answer did not come as far as
// there.
void combine_timeouts(Recovery& told, std::uint32_t own, const Recovery& seen, std::uint32_t capture, bool told_first) {
    const Recovery &near = told_first ? told : seen, &far = told_first ? seen : told;
    const HostNumber near_host = number_of(told_first ? own : capture),
                     far_host = number_of(told_first ? capture : own);
    if (near.first_seen != 0) return;
    const bool request = far.first_seen != 0;
    if (!request && (near.answered() || !far.answered())) return;
    told.passed = request ? near_host : far_host;
    told.missed = request ? far_host : near_host;
    told.missed_answer = !request;
}

void place_by_own(Recovery& recovery, std::uint32_t capture) {
    if (!was_asked_for(recovery)) return;
    if (recovery.cause == NakCause::lost_behind_tap) recovery.passed = number_of(capture);
    if (lacks_it(recovery.cause) || recovery.cause == NakCause::corrupt) recovery.missed = number_of(capture);
}

}  // namespace

void place_losses(std::span<CapturePart> captures, const SharedConnections& shared) {
    std::vector<Recoveries> recoveries;
    for (std::uint32_t capture = 0; capture < captures.size(); ++capture) {
        std::vector<Recovery>& all = captures[capture].report.lanes.tracked.recoveries;
        for (Recovery& recovery : all) place_by_own(recovery, capture);
        recoveries.push_back(by_psn(all));
    }
    for (const SharedConnection& one : shared.all)
        for (const End requester : {End::a, End::b}) {
            const auto told_first = passes_told_first(one, requester);
            if (!told_first) continue;
            const Recoveries& told = recoveries[one.followed_capture];
            const Recoveries& seen = recoveries[one.capture];
            const End there = one.end_of(requester);
            auto each = seen.lower_bound({one.view->uid, there, 0, false});
            for (; each != seen.end() && std::get<0>(each->first) == one.view->uid && std::get<1>(each->first) == there;
                 ++each) {
                const auto& [uid, end, psn, asked] = each->first;
                const auto same = told.find({one.followed->uid, requester, psn, asked});
                if (same == told.end() || same->second.size() != each->second.size()) continue;
                for (std::size_t i = 0; i < each->second.size(); ++i) {
                    Recovery& recovery = *same->second[i];
                    if (asked)
                        combine(recovery, one.followed_capture, each->second[i]->cause, one.capture, *told_first);
                    else combine_timeouts(recovery, one.followed_capture, *each->second[i], one.capture, *told_first);
                }
            }
        }
}

}  // namespace qps::transport
