// Incast: what several hosts send to one: how much each of them over time, and what came of it: marks, notifications,
// packets sent again, NAKs.
//
// What an attacker could feed: any number of hosts: the largest kMostIncastReceivers and kMostIncastSenders stand by
// themselves, the other senders as one.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/series/throughput.hpp>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::transport::series {

inline constexpr std::size_t kMostIncastReceivers = 64;
inline constexpr std::size_t kMostIncastSenders = 6;

struct IncastReceiver {
    Address address;
    std::size_t senders = 0;
    std::uint64_t bursts = 0;  // times that several sent at once, as the analysis has it
    std::uint64_t bytes = 0;   // on the wire, from all of them
};
// Hosts to which two others or more send data; those with the most bursts, then senders, then bytes first. A way that
// only answers (a twentieth of its connection's bytes and less) sends none.
[[nodiscard]] std::vector<IncastReceiver> incast_receivers(const Timeline& timeline);

struct IncastSender {
    Address address;
    std::uint64_t bytes = 0;
    Throughput throughput;
};

struct Incast {
    std::vector<IncastSender> senders;  // the largest first
    std::size_t others = 0;             // senders past these
    Throughput rest;                    // of them together
    std::vector<Point> marks;           // packets to the receiver with congestion experienced
    std::vector<Point> notifications;   // CNPs that slow its senders down
    std::vector<Point> retransmissions;
    std::vector<Point> naks;      // sequence errors that the receiver reports
    std::vector<Point> rnr_naks;  // it had no receive posted
};

// Nothing where it was stopped.
[[nodiscard]] std::optional<Incast> incast(const CaptureIndex& index, const Timeline& timeline, const Address& receiver,
                                           const Range& range, const Stop& stop = {});

}  // namespace qps::transport::series
