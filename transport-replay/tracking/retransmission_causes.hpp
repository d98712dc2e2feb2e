// What made a requester go back: a NAK, or its ACK timer. Decided over all episodes of one way of a connection, for one
// packet cannot tell: a requester that is still sending packets again may ignore a NAK, and then waits for its timer,
// which it would have done without the NAK as well.
//
// Here each episode is closed: what needs the whole way becomes evidence, and the rules of evidence_rules remove what
// it excludes. The exponent of a timer is known where CM announced it, or where the times since the last progress of
// several go-backs agree on it: one alone tells none, and neither do reactions to NAKs, of which there may be many of
// about the same time. Where the answers were not captured at all, nothing is decided: a requester that gave up and
// one that had every answer look the same. Nor is it by a silence about as long as two clocks are apart.
//
// What an attacker could feed: any episodes and times; the cost is that of sorting them.
#pragma once

#include <dissect/base/types.hpp>

namespace qps::transport {

struct Timeline;

// Decides the kind of each episode, of those that began as sequence_nak or timeout, and what the waits of each way
// agree on. Adds the episodes to the sums of their ways: none may have them yet. `apart`: the clocks of two taps that
// only the time tells apart; 0 where there are none.
void judge_causes(Timeline& timeline, dissect::Duration apart = {});

// Whether the recorder is known to have lost packets: it says so, or receivers acknowledged what the capture does not
// have. Any answer that is not there, a NAK or one of an upper protocol, may be among them.
[[nodiscard]] bool recorder_lost_packets(const Timeline& timeline);

}  // namespace qps::transport
