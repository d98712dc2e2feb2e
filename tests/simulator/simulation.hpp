// Simulations: two hosts, a link and a plan become a capture and the truth about it.
//
// The hosts run the very requester and responder that serve a live endpoint; the link has the faults, the tap the
// capture. The same scenario gives the same bytes. The truth tells what the network did and, separately, what the tap
// saw of it.
//
// Everything here is ours. Bounds: steps (kMaxSteps), virtual time (Scenario::limit), bytes of messages
// (kMaxPlanBytes), and those of the link; Truth::complete says whether the simulation came to its own end.
#pragma once

#include <dissect/capture/writer.hpp>
#include <transport-replay/live/sim_link.hpp>
#include <transport-replay/queue_pair/requester.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <expected>
#include <string>
#include <vector>

namespace qps::transport {

// What a message does wrong, so that the responder refuses it for good.
enum class Mistake : std::uint8_t {
    none,
    wrong_key,      // no region has it: remote access error
    beyond_region,  // leaves the region: remote access error
    no_right,       // the region does not grant it: remote access error
    too_long,       // longer than the posted receive: invalid request
    misaligned,     // an atomic whose address is no multiple of 8: invalid request
};

struct MessagePlan {
    WorkKind kind = WorkKind::send;
    std::uint32_t bytes = 64;  // 8 for atomics, whatever stands here
    End from = End::a;
    bool fence = false;
    Mistake mistake = Mistake::none;
};

// Receives are posted at once, and again at intervals while messages are open.
struct ReceivePlan {
    std::uint32_t initial = 1U << 16;
    std::uint32_t refill = 0;
    dissect::Duration every{};
    std::uint8_t rnr_timer = 14;  // code of kRnrTimer: 1.28 ms
};

struct Scenario {
    std::uint64_t seed = 1;
    dissect::Network network = dissect::Network::roce_v2_ipv4;
    dissect::Service service = dissect::Service::rc;
    std::uint32_t queue_pairs = 1;   // all with the same messages
    bool same_numbers = false;       // both ends have the same QPN
    dissect::Qpn first_qpn{0x11};    // of end a; end b counts from 0x10000 above
    dissect::Psn first_psn_a{1000};  // of requests from end a; queue pairs differ by 4096
    dissect::Psn first_psn_b{500'000};
    PathMtu mtu = PathMtu::bytes_1024;
    std::vector<MessagePlan> messages;
    dissect::Duration between_posts{};  // from one message to the next; 0: all at once
    std::uint32_t window = 128;
    std::uint32_t ack_request_every = 64;
    std::uint32_t ack_every = 16;
    std::uint8_t initiator_depth = 16;
    std::uint8_t resources = 16;
    std::uint8_t ack_timeout = 10;  // 4.2 ms
    std::uint8_t retries = kMaxRetries;
    std::uint8_t rnr_retries = kInfiniteRnrRetries;
    bool selective_repeat =
        false;  // responders keep what comes out of order, requesters send again only what a NAK names
    bool counts_identifications = true;  // IPv4: the sender counts its packets; else a constant 0
    bool credits = false;  // given and obeyed; a host posts the next receive when the last is taken, so they are few
    ReceivePlan receives;
    LinkSettings link;  // its seed is the scenario's
    TapSettings tap;
    bool notifies_congestion = true;               // CNPs answer marked packets
    dissect::Duration cnp_gap = microseconds(50);  // between CNPs of one queue pair
    dissect::Duration limit = nanoseconds(60'000'000'000);
};

inline constexpr dissect::Instant kSimulationStart{1'700'000'000'000'000'000};
inline constexpr std::uint64_t kMaxSteps = 50'000'000;      // moments at which something happened
inline constexpr std::uint64_t kMaxPlanBytes = 1ULL << 28;  // of the messages of all queue pairs
inline constexpr std::uint32_t kMaxQueuePairs = 4096;

// How many packets of what kind.
struct PacketCounts {
    std::uint64_t requests = 0;
    std::uint64_t request_bytes = 0;  // payload
    std::uint64_t retransmitted = 0;  // requests whose PSN was sent before
    std::uint64_t read_responses = 0;
    std::uint64_t atomic_acknowledges = 0;
    std::uint64_t acknowledges = 0;  // positive
    std::uint64_t sequence_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t cnps = 0;  // that ask the requester to slow down
    std::uint64_t marked = 0;
    [[nodiscard]] bool operator==(const PacketCounts&) const = default;
};

struct Transmission {
    dissect::Instant time{};
    dissect::Psn psn;
    dissect::Opcode opcode{};
    std::uint32_t attempt = 1;  // of a request: 1 the first time its PSN is sent
    std::uint8_t syndrome = 0;  // of a response with an AETH
    Disposition disposition;
};

struct MessageTruth {
    WorkKind kind = WorkKind::send;
    std::uint32_t bytes = 0;
    dissect::Psn first;
    dissect::Psn last;
    dissect::Instant posted{};
    dissect::Instant completed{};              // when the requester knew
    std::optional<CompletionStatus> status{};  // nothing: never posted, or still open at the end
    bool executed = false;                     // by the responder, once
    bool content_right = false;  // what arrived (memory, receive, READ data, atomic result) is what was meant
};

// One way of a queue pair: requests from one end and their responses.
struct FlowTruth {
    End from = End::a;
    dissect::Qpn requester_qp{};
    dissect::Qpn responder_qp{};
    std::vector<MessageTruth> messages;
    std::vector<Transmission> requests;
    std::vector<Transmission> responses;
    PacketCounts sent;  // into the network
    PacketCounts seen;  // by the tap, once or oftener
    RequesterCounts requester;
    std::uint32_t executed = 0;  // messages
};

struct Truth {
    std::vector<FlowTruth> flows;  // both ways of each queue pair, in order; those without messages too
    TapCounts tap;
    bool complete = false;  // everything completed or failed, and the network is empty
};

struct Simulated {
    dissect::LinkType link = dissect::LinkType::ethernet;
    std::vector<CapturedFrame> frames;
    Truth truth;
};

[[nodiscard]] Simulated simulate(const Scenario& scenario);

// Addresses of the ends, as the network has them.
[[nodiscard]] Address address_of(End end, dissect::Network network);

// Writes the frames as a nanosecond pcap file.
[[nodiscard]] std::expected<void, dissect::OutputProblem> write_capture(const Simulated& simulated,
                                                                        const std::string& path);

}  // namespace qps::transport
