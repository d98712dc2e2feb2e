// Facts that findings of several families have. What one family alone has stands in its source.
#pragma once

#include <transport-replay/model/fact.hpp>

#include <array>

namespace qps::transport::facts {

// Who: the ends of a connection, or hosts.
inline constexpr FactRow kRequester{"requester", Unit::end, "who sent the requests"};
inline constexpr FactRow kResponder{"responder", Unit::end, "who had to answer them"};
inline constexpr FactRow kSender{"sender", Unit::end, "who sent the packets"};
inline constexpr FactRow kReceiver{"receiver", Unit::end, "to whom they were sent"};
inline constexpr FactRow kFirstEnd{"first_end", Unit::end, "one end of the connection"};
inline constexpr FactRow kSecondEnd{"second_end", Unit::end, "the other end of the connection"};
inline constexpr FactRow kFromHost{"from_host", Unit::host, "host that sent the packets"};
inline constexpr FactRow kToHost{"to_host", Unit::host, "host to which they were sent"};
inline constexpr FactRow kHost{"host", Unit::host, "the host that it is about"};
inline constexpr FactRow kPeer{"peer", Unit::host, "the host that it has to do with"};
inline constexpr FactRow kActiveSide{"active_side", Unit::end, "the active side: who requested the connection"};
inline constexpr FactRow kPassiveSide{"passive_side", Unit::end, "the passive side: of whom it was requested"};

// What it is about.
inline constexpr FactRow kPsn{"psn", Unit::psn, "PSN of the packet"};
inline constexpr FactRow kOperation{"operation", Unit::word,
                                    "the work request: SEND, RDMA WRITE, RDMA READ or another"};
inline constexpr FactRow kPackets{"packets", Unit::count, "packets that it is about"};
inline constexpr FactRow kAllPackets{"all_packets", Unit::count, "packets of which they are a part"};
inline constexpr FactRow kShare{"share", Unit::share, "the part that they are"};
inline constexpr FactRow kConnections{"connections", Unit::count, "connections that it is about"};
inline constexpr FactRow kHosts{"hosts", Unit::list, "hosts that it is about"};

// What became of it.
inline constexpr FactRow kRetransmitted{"retransmitted", Unit::count, "packets sent again"};
inline constexpr FactRow kRetransmittedBytes{"retransmitted_bytes", Unit::bytes, "their bytes on the wire"};
inline constexpr FactRow kNewToTap{"new_to_tap", Unit::count,
                                   "of them, those whose first sending did not pass the tap"};
inline constexpr FactRow kRestsOfReads{"rests_of_reads", Unit::count, "of them, requests for the rest of a READ"};
inline constexpr FactRow kStalled{"stalled", Unit::duration, "time without progress, in total"};
inline constexpr FactRow kLongestStall{"longest_stall", Unit::duration, "the longest of several stalls"};
inline constexpr FactRow kWaited{"waited", Unit::duration, "time until the first packet was sent again"};

// Of a requester that sent no more: gave up, or stopped before its retries were used up.
inline constexpr FactRow kTransmissions{"transmissions", Unit::count, "times that the packet was sent"};
inline constexpr FactRow kNegotiatedRetries{"negotiated_retries", Unit::number, "retries that CM negotiated"};
inline constexpr FactRow kStoppedAfter{
    "stopped_after", Unit::count,
    "transmissions, or RNR NAKs, after which the requester sent no more, although its retries are not known to have been used up"};
inline constexpr FactRow kAllowedTransmissions{
    "allowed_transmissions", Unit::count,
    "transmissions, or RNR NAKs, after which it would have given up, as CM negotiated"};
inline constexpr FactRow kEndlessRetries{"endless_retries", Unit::flag, "CM negotiated RNR retries without end"};

// Of a timer: what the waits before packets were sent again say of it.
inline constexpr FactRow kInterval{"interval", Unit::duration,
                                   "the shortest time from a transmission, or progress since, to the next"};
inline constexpr FactRow kSingleWait{"single_wait", Unit::flag, "there was one such wait"};
inline constexpr FactRow kExponent{"exponent", Unit::number,
                                   "local ACK timeout exponent that the waits fit: 4.096 us * 2^n"};
inline constexpr FactRow kLongestExponent{"longest_exponent", Unit::number,
                                          "the greatest exponent that they fit, where it is another"};
inline constexpr FactRow kExponentTime{"exponent_time", Unit::duration, "the time of that exponent"};
inline constexpr FactRow kAgreeingWaits{"agreeing_waits", Unit::count, "waits that agree on it"};
inline constexpr FactRow kNegotiatedExponent{"negotiated_exponent", Unit::number,
                                             "local ACK timeout exponent that CM negotiated"};
inline constexpr FactRow kNegotiatedTime{"negotiated_time", Unit::duration, "the time of that exponent"};

// Of who had to answer.
inline constexpr FactRow kSilence{
    "silence", Unit::word,
    "what was seen of the responder: answered (its answer was captured), fell_silent (it had answered before), cnps (CNPs alone), "
    "other_start (nothing, and its first request may have the wrong PSN), elsewhere (nothing on this connection, but other "
    "traffic), stalled_too (likewise, and that stalled at the same time), absent (nothing)"};
inline constexpr FactRow kStartingPsn{"starting_psn", Unit::psn, "PSN of the first request that was captured"};
inline constexpr FactRow kAnnouncedPsn{"announced_psn", Unit::psn,
                                       "Starting PSN that the connection manager announced"};
inline constexpr FactRow kCnps{"cnps", Unit::count, "CNPs of the responder"};
inline constexpr FactRow kRnrNaks{"rnr_naks", Unit::count, "RNR NAKs of the responder"};
inline constexpr FactRow kRnrTimer{
    "rnr_timer", Unit::duration,
    "the RNR timer that was asked for: the longest, or the last where the requests were not captured"};
inline constexpr FactRow kRnrCode{"rnr_code", Unit::number, "the code of that timer (IBA table 45)"};
inline constexpr FactRow kSequenceNaks{"sequence_naks", Unit::count, "sequence NAKs of the responder"};
// Where it is.
inline constexpr FactRow kDscp{"dscp", Unit::number, "DSCP of the packets"};
inline constexpr FactRow kInterface{"interface", Unit::number, "interface of the capture that has the packets"};

inline constexpr FactRow kTotalWait{"total_wait", Unit::duration, "the sum of these waits"};
inline constexpr FactRow kAmbiguous{"ambiguous", Unit::flag,
                                    "other queue pairs with the same PSNs may be meant by requests or answers"};
inline constexpr FactRow kClocksDiffer{"clocks_differ", Unit::flag,
                                       "the clocks of the two directions differ, so that their order proves nothing"};

// Of connections that are set up, and of upper-layer protocols on them.
inline constexpr FactRow kByActive{"by_active", Unit::flag, "the active side did it, and not the passive side"};
inline constexpr FactRow kRequesterDisconnected{"requester_disconnected", Unit::flag,
                                                "the requester disconnected before there was an answer"};
inline constexpr FactRow kRequestsSent{"requests_sent", Unit::count, "requests that were sent, repeated ones included"};
inline constexpr FactRow kMadStatus{"mad_status", Unit::number, "status of the management datagram that answered"};
inline constexpr FactRow kUpperProtocol{"upper_protocol", Unit::word,
                                        "the upper-layer protocol: NVMe over RDMA, iSER, RPC over RDMA or another"};
inline constexpr FactRow kUpperOperation{"upper_operation", Unit::text,
                                         "the operation, as its upper-layer protocol calls it"};
inline constexpr FactRow kOperations{"operations", Unit::count,
                                     "operations of the upper-layer protocol, of which what is said is true or a part"};
inline constexpr FactRow kLacksPackets{"capture_lacks_packets", Unit::flag,
                                       "the capture lacks packets, one of which may have been the answer"};
inline constexpr FactRow kSpan{"span", Unit::duration, "time from the first to the last of what it is about"};
inline constexpr FactRow kShareOfTime{"share_of_time", Unit::share, "the part of the time that it took"};

// So many of so many packets.
inline void add_part(Facts& facts, std::uint64_t part, std::uint64_t whole) {
    facts.emplace_back(kPackets, part);
    facts.emplace_back(kAllPackets, whole);
    facts.emplace_back(kShare, whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole));
}

inline constexpr std::array kShared{
    &kRequester,
    &kResponder,
    &kSender,
    &kReceiver,
    &kHost,
    &kPeer,
    &kPsn,
    &kOperation,
    &kPackets,
    &kAllPackets,
    &kConnections,
    &kHosts,
    &kRetransmitted,
    &kRetransmittedBytes,
    &kNewToTap,
    &kRestsOfReads,
    &kStalled,
    &kLongestStall,
    &kWaited,
    &kTransmissions,
    &kNegotiatedRetries,
    &kStoppedAfter,
    &kAllowedTransmissions,
    &kEndlessRetries,
    &kTotalWait,
    &kAmbiguous,
    &kClocksDiffer,
    &kShare,
    &kInterval,
    &kSingleWait,
    &kExponent,
    &kLongestExponent,
    &kExponentTime,
    &kAgreeingWaits,
    &kNegotiatedExponent,
    &kNegotiatedTime,
    &kSilence,
    &kStartingPsn,
    &kAnnouncedPsn,
    &kCnps,
    &kRnrNaks,
    &kRnrTimer,
    &kRnrCode,
    &kSequenceNaks,
    &kActiveSide,
    &kPassiveSide,
    &kFirstEnd,
    &kSecondEnd,
    &kFromHost,
    &kToHost,
    &kDscp,
    &kInterface,
    &kByActive,
    &kRequesterDisconnected,
    &kRequestsSent,
    &kMadStatus,
    &kUpperProtocol,
    &kUpperOperation,
    &kOperations,
    &kLacksPackets,
    &kSpan,
    &kShareOfTime,
};

}  // namespace qps::transport::facts
