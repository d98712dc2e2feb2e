// BesideTracker: bytes of TCP, UDP and RDMA by the host that they go to, class and interval, as long as an interval
// lasts; what remains are sums of the intervals in which that class was marked, paused or lost.
//
// All that goes to one host in one class waits in one queue at least, the last before it. Observations in the order of
// the capture go in, those of no capture without large packets of TCP or UDP (any()). What an attacker could feed: any
// number of hosts and classes; a table of kMaxBeside places, and a count of the packets that found none.
#pragma once

#include <transport-replay/model/beside_report.hpp>
#include <transport-replay/model/kept_packets.hpp>
#include <transport-replay/model/observation.hpp>

#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxBeside = 1024;             // hosts and classes
inline constexpr std::uint32_t kBulkBytes = 512;            // of a packet: what is shorter asks and acknowledges
inline constexpr std::uint64_t kFewestBesideIntervals = 4;  // with an event, below which it may be chance

class BesideTracker {
public:
    // Whether there was anything that RDMA could meet; before, packets of RDMA matter to nobody.
    [[nodiscard]] bool any() const { return any_; }
    [[nodiscard]] static bool is_bulk(const Observation& observation) {
        return observation.wire_length >= kBulkBytes &&
               (observation.kind == ObservationKind::stream || observation.kind == ObservationKind::other);
    }
    void observe(const Observation& observation);
    // Those where it was more than chance, by destination and class. `dropped`: packets past the bound are added to it.
    [[nodiscard]] std::vector<LossyBeside> finish(std::uint64_t& dropped);

private:
    struct Class {
        std::int64_t interval = 0;                 // the one that lasts
        std::uint64_t tcp = 0, udp = 0, rdma = 0;  // bytes in it
        std::uint32_t marks = 0, naks = 0, pauses = 0;
        TimedFrame event, beside;
        std::uint64_t port = 0;  // MAC address by which packets go to that host
        LossyBeside sums;
        bool taken = false;
    };
    [[nodiscard]] Class* find(const Address& destination, std::uint8_t pcp, std::uint8_t dscp, bool make);
    void take_pause(const Observation& observation);
    static void begin(Class& one, dissect::Instant time);
    static void close(Class& one);

    bool any_ = false;
    std::uint64_t dropped_ = 0;
    std::vector<Class> classes_;  // open addressing; none before any()
};

}  // namespace qps::transport
