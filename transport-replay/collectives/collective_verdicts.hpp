// Verdicts on the steps of a group of hosts: who keeps the others waiting, and whom many send to at once.
#pragma once

#include <transport-replay/collectives/collective_steps.hpp>

namespace qps::transport {

// Fills the steps' `last` and `waited`, the ranks' counts and, where one rank is late again and again, more than chance
// would have it, the straggler. Of patterns in which all begin together: in a tree somebody is always later.
void judge_stragglers(Collective& collective, std::span<const CollectiveFlow> flows);
// The same where the steps know already whom the others waited for, and how certain that is.
void judge_waits(Collective& collective);
// Fills `incast` where at least kIncastSenders send to one rank at once in most steps.
inline constexpr std::uint32_t kIncastSenders = 4;
void judge_incast(Collective& collective, std::span<const CollectiveFlow> flows);

}  // namespace qps::transport
