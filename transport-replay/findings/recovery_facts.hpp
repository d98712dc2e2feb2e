// What the findings about retransmissions share: which episodes are meant, and what their waits and stalls say, as
// facts.
#pragma once

#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/findings/facts.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace qps::transport::families {

template <class Keep> [[nodiscard]] std::vector<const Recovery*> kept(const Episodes& found, Keep keep) {
    std::vector<const Recovery*> episodes;
    std::ranges::copy_if(found.episodes, std::back_inserter(episodes),
                         [&](const Recovery* episode) { return keep(*episode); });
    return episodes;
}
// What is left of a sum without some of its episodes.
[[nodiscard]] RecoverySum without(const Episodes& found, RecoverySum sum, const std::vector<const Recovery*>& others);

[[nodiscard]] inline bool asked_for(const Recovery& episode) {
    return episode.asked() || episode.kind == RecoveryKind::sequence_nak;
}
[[nodiscard]] inline bool gave_up(const Recovery& episode) { return episode.end == RecoveryEnd::gave_up; }
[[nodiscard]] inline bool stopped(const Recovery& episode) { return episode.end == RecoveryEnd::stopped; }

// Who stopped before its retries were used up, as CM negotiated them; and who may have used them up, since CM was not
// captured or the recorder lost packets.
class Ends {
public:
    explicit Ends(const Timeline& timeline);
    [[nodiscard]] bool may_have_given_up(const Recovery& episode) const;
    [[nodiscard]] bool gave_up_or_may(const Recovery& episode) const {
        return gave_up(episode) || may_have_given_up(episode);
    }

private:
    const Timeline& timeline_;
    bool lacking_ = false;
};

// What the waits of episodes say of the timer, beside what CM negotiated.
void add_timer(Facts& facts, const Way& way, const std::vector<const Recovery*>& episodes, const CmAttempt* attempt);
// Of the last of them that stopped although CM leaves it more retries: after how many transmissions, or RNR NAKs.
void add_stop(Facts& facts, const Timeline& timeline, const Episodes& found,
              const std::vector<const Recovery*>& episodes);
// Time without progress; of several stalls also the longest.
void add_stall(Facts& facts, std::uint64_t stalls, dissect::Duration all, dissect::Duration longest);
void add_resent(Facts& facts, const RecoverySum& sum, std::uint64_t rests_of_reads);

// What was seen of the other end, which tells where to look.
struct Silence {
    std::string_view word;  // of facts::kSilence
    Party party{};
    std::string_view advice;
};
inline constexpr std::string_view kFindOutage =
    "Look for a process that died on {responder:host}, a link that flapped or a switch that drops this flow (`rdma statistic`, `ethtool -S`); raise "
    "NCCL_IB_TIMEOUT or the queue pair's timeout only to survive short outages.";
inline constexpr std::array kSilences{
    Silence{
        "answered", Party::fabric,
        "Look for dropped answers on the way to {requester:host}: counters of its port and of the last switch, and a DSCP or priority of ACKs that PFC "
        "does not protect."},
    Silence{"fell_silent", Party::undecided, kFindOutage},
    Silence{
        "cnps", Party::undecided,
        "Check that the tap sees the ACKs of {responder:host} (they may take another path), then that the queue pair on it is in RTR or RTS and expects "
        "this peer (`rdma resource show qp`)."},
    Silence{
        "other_start", Party::undecided,
        "Compare the send PSN of the queue pair on {requester:host} (sq_psn) with {announced_psn}, which {responder:host} announced as Starting PSN: it takes no "
        "packet ahead of what it expects."},
    Silence{
        "elsewhere", Party::responder,
        "Check on {responder:host} that the queue pair exists, is in RTR or RTS and expects this peer (`rdma resource show qp`), and that the exchanged QP "
        "number, GID and P_Key are those of the live process."},
    Silence{"stalled_too", Party::undecided, kFindOutage},
    Silence{
        "absent", Party::undecided,
        "Check on {responder:host} that the queue pair exists and is in RTR (`rdma resource show qp`) and that it is reachable at this GID (`rping`), then "
        "routes and firewalls for UDP port 4791 both ways, and whether the tap sees both directions."},
};
// Of a requester whose answer was captured, or was not. Adds its word and what that is about.
[[nodiscard]] const Silence& add_silence(Facts& facts, const Timeline& timeline, const Case& found, bool answered,
                                         const Heard& heard);

}  // namespace qps::transport::families
