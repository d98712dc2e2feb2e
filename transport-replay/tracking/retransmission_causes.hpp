// What made a requester go back: a NAK, or its ACK timer. Decided over all episodes of one way of a connection, for one
// packet cannot tell: a requester that is still sending packets again may ignore a NAK, and then waits for its timer,
// which it would have done without the NAK as well.
//
// What proves what:
//  * A queue pair has one timer, of at least 4.096 us * 2^n and at most four times that (9.7.6.1.3). It may run from
//  the first
//    packet sent after the last progress, or anew from each packet: a go-back by the timer shows only that the timer
//    was no longer than the time since that progress, and no shorter than a quarter of the longest silence.
//  * So the exponent is known where CM announced it, or where the times since the last progress of several go-backs
//  agree on it.
//    One alone tells none, and neither do reactions to NAKs, of which there may be many of about the same time.
//  * With the timer known, a go-back to a PSN that a NAK asked for is the timer's (and the NAK was ignored) where the
//  timer can
//    have run out; the answer to the NAK where less than a quarter of the timer had passed; undecided between the two.
//  * That the NAK reached the requester is proven where it alone acknowledged all before its PSN, and the requester
//  went back to just
//    that PSN: else it may have been lost behind the tap, and nobody ignored it. One
//    such go-back can still be chance, for the first packets that the timer sent again may be lost as well.
//  * Without, it is the answer where it came as quickly as software notices, and undecided otherwise.
//  * A go-back that no NAK asked for is the timer's after a silence that no reaction explains, unless the capture lacks
//  packets
//    (the NAK may be among them) or the timer, as other waits show it, cannot have run out. Without such a silence it
//    is undecided. A READ that is asked for again from its middle needs no NAK: a response that did not come is one.
//  * Where the answers were not captured at all, nothing is decided: neither the NAK that was not seen nor the silence
//  proves
//    anything. A requester that gave up and one that had every answer look the same.
//  * Where two taps are told apart by the time alone, a silence about as long as their clocks are apart decides
//  nothing: what one tap
//    alone recorded comes so late.
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
