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

// Where it is.
inline constexpr FactRow kDscp{"dscp", Unit::number, "DSCP of the packets"};
inline constexpr FactRow kInterface{"interface", Unit::number, "interface of the capture that has the packets"};

inline constexpr FactRow kClocksDiffer{"clocks_differ", Unit::flag, "the clocks of the two directions differ, so that their order proves nothing"};

inline constexpr std::array kShared{
    &kRequester, &kResponder, &kSender, &kReceiver, &kHost, &kPeer, &kPsn, &kOperation, &kPackets, &kAllPackets, &kConnections, &kHosts,
    &kRetransmitted, &kRetransmittedBytes, &kNewToTap, &kRestsOfReads, &kStalled, &kLongestStall, &kWaited, &kClocksDiffer,
    &kFirstEnd, &kSecondEnd, &kFromHost, &kToHost, &kDscp, &kInterface,
};

}  // namespace qps::transport::facts
