// NAKs of an end whose requests were not captured: findings of the same ids as those of episodes.
#pragma once

#include <transport-replay/findings/findings.hpp>

namespace qps::transport::families {

void lone_sequence_naks(const Timeline& timeline, const Emit& emit);  // of go-back-n-loss
void lone_rnr_naks(const Timeline& timeline, const Emit& emit);       // of rnr-stall

}  // namespace qps::transport::families
