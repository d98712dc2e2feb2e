// Who could not be reached: requests for MAC addresses that nobody answered (ARP, RFC 826; neighbour discovery, RFC
// 4861), and ICMP errors about RoCEv2 packets (RFC 792, RFC 4443). What ReachabilityTracker (watch/reachability.hpp)
// reports. Values; bounds are the tracker's.
#pragma once

#include <transport-replay/model/address.hpp>

#include <array>
#include <vector>

namespace qps::transport {

// Since it last said anything by ARP or neighbour discovery, to whomever.
struct UnansweredNeighbour {
    Address asker;
    Address target;
    std::uint64_t requests = 0;
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    dissect::Instant first_time{};
    dissect::Instant last_time{};
    dissect::Duration rest{};  // from the last one to the end of the capture
    bool answers_are_heard =
        false;            // the capture has answers to the one that asks: of the target before, or of two others
    bool tagged = false;  // with a VLAN tag
};

struct IcmpError {
    Address reporter;
    Address source;  // of the RoCEv2 packet that is quoted
    Address destination;
    bool too_big = false;  // fragmentation needed, packet too big
    std::uint8_t code = 0;
    std::uint32_t mtu = 0;  // the smallest that was named; 0: none
    std::uint64_t count = 0;
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    dissect::Instant first_time{};
    dissect::Instant last_time{};
};

// Two MAC addresses answered for one IP address, to the same request.
struct AddressConflict {
    Address host;
    std::array<Address, 2> macs{};  // in the order of their answers
    std::uint64_t requests = 0;     // that both answered
    std::array<dissect::FrameIndex, 2> first{};
    dissect::FrameIndex last{};
    std::array<dissect::Instant, 2> first_time{};
    dissect::Instant last_time{};
};

// Two LIDs sent with one GID of InfiniBand, in turn.
struct GidConflict {
    Address gid;
    std::array<Address, 2> lids{};                // in the order of their first packets
    std::uint64_t changes = 0;                    // from either to the other
    std::array<dissect::FrameIndex, 4> frames{};  // the first that changed from one to the other, with the one before
    dissect::FrameIndex last{};
    std::array<dissect::Instant, 4> times{};
    dissect::Instant last_time{};
};

struct ReachabilityReport {
    std::vector<UnansweredNeighbour> neighbours;  // by asker and target
    std::vector<IcmpError> errors;                // by source, destination, reporter, kind and code
    std::vector<AddressConflict> conflicts;       // by host, one each
    std::vector<GidConflict> gids;                // by GID, one each
    std::uint64_t left_out = 0;                   // requests, answers and errors of further hosts
};

}  // namespace qps::transport
