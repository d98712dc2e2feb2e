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
inline constexpr FactRow kHost{"host", Unit::host, "the host that it is about"};
inline constexpr FactRow kPeer{"peer", Unit::host, "the host that it has to do with"};

// What it is about.
inline constexpr FactRow kPsn{"psn", Unit::psn, "PSN of the packet"};
inline constexpr FactRow kOperation{"operation", Unit::word, "the work request: SEND, RDMA WRITE, RDMA READ, ..."};
inline constexpr FactRow kPackets{"packets", Unit::count, "packets that it is about"};
inline constexpr FactRow kAllPackets{"all_packets", Unit::count, "packets of which they are a part"};
inline constexpr FactRow kConnections{"connections", Unit::count, "connections that it is about"};
inline constexpr FactRow kHosts{"hosts", Unit::list, "hosts that it is about"};

// What became of it.
inline constexpr FactRow kRetransmitted{"retransmitted", Unit::count, "packets sent again"};
inline constexpr FactRow kRetransmittedBytes{"retransmitted_bytes", Unit::bytes, "their bytes on the wire"};
inline constexpr FactRow kNewToTap{"new_to_tap", Unit::count, "of them, those whose first sending did not pass the tap"};
inline constexpr FactRow kRestsOfReads{"rests_of_reads", Unit::count, "of them, requests for the rest of a READ"};
inline constexpr FactRow kStalled{"stalled", Unit::duration, "time without progress, in total"};
inline constexpr FactRow kLongestStall{"longest_stall", Unit::duration, "the longest of several stalls"};
inline constexpr FactRow kWaited{"waited", Unit::duration, "time until the first packet was sent again"};

inline constexpr FactRow kClocksDiffer{"clocks_differ", Unit::flag, "the clocks of the two directions differ, so that their order proves nothing"};

// Of connections that are set up, and of upper-layer protocols on them.
inline constexpr FactRow kActiveSide{"active_side", Unit::end, "the active side: who requested the connection"};
inline constexpr FactRow kPassiveSide{"passive_side", Unit::end, "the passive side: of whom it was requested"};
inline constexpr FactRow kByActive{"by_active", Unit::flag, "the active side did it, and not the passive side"};
inline constexpr FactRow kRequestsSent{"requests_sent", Unit::count, "requests that were sent, repeated ones included"};
inline constexpr FactRow kMadStatus{"mad_status", Unit::number, "status of the management datagram that answered"};
inline constexpr FactRow kUpperProtocol{"upper_protocol", Unit::word, "the upper-layer protocol: NVMe over RDMA, iSER, RPC over RDMA, ..."};
inline constexpr FactRow kUpperOperation{"upper_operation", Unit::text, "the operation, as its upper-layer protocol calls it"};
inline constexpr FactRow kOperations{"operations", Unit::count, "operations of the upper-layer protocol, of which what is said is true or a part"};
inline constexpr FactRow kLacksPackets{"capture_lacks_packets", Unit::flag, "the capture lacks packets, one of which may have been the answer"};
inline constexpr FactRow kSpan{"span", Unit::duration, "time from the first to the last of what it is about"};
inline constexpr FactRow kShareOfTime{"share_of_time", Unit::share, "the part of the time that it took"};

inline constexpr std::array kShared{
    &kRequester, &kResponder, &kSender, &kReceiver, &kHost, &kPeer, &kPsn, &kOperation, &kPackets, &kAllPackets, &kConnections, &kHosts,
    &kRetransmitted, &kRetransmittedBytes, &kNewToTap, &kRestsOfReads, &kStalled, &kLongestStall, &kWaited, &kClocksDiffer,
    &kActiveSide, &kPassiveSide, &kByActive, &kRequestsSent, &kMadStatus, &kUpperProtocol, &kUpperOperation, &kOperations, &kLacksPackets, &kSpan, &kShareOfTime,
};

}  // namespace qps::transport::facts
