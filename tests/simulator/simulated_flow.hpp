// One way of a simulated queue pair: its messages, the memory they go through, and whether they arrived as they were
// meant.
//
// Every message has its own place in memory and bytes of its own, so that one executed twice, in the wrong order or in
// part is seen. Everything here is ours; the bounds are the simulation's.
#pragma once

#include <tests/simulator/simulation.hpp>

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qps::transport {

// What arrived in a receive: all receives of a flow are the same memory, so it is looked at as it arrives.
struct SimulatedArrival {
    ReceivedMessage message;
    std::vector<std::byte> bytes;  // of a SEND
};

// Selective repeat: what a responder keeps of what came out of order, and what a requester is to send again alone.
struct SelectiveRepeat {
    struct Kept {
        TransportPacket packet;
        std::vector<std::byte> payload;
    };
    std::unordered_map<std::uint32_t, Kept> kept{};             // by PSN
    std::unordered_map<std::uint32_t, TransportPacket> sent{};  // by PSN
    std::deque<TransportPacket> asked{};
};

// One way of a queue pair: the requester of one end, the responder and the memory of the other.
struct SimulatedFlow {
    Requester requester;
    Responder responder;
    Memory memory{};
    ReceiveQueue receives{1};  // the next of those posted
    std::uint32_t posted_receives = 0;
    std::vector<std::byte> receive{};                                    // the memory of all of them
    std::vector<std::byte> written{}, readable{}, cells{}, forbidden{};  // the regions
    std::vector<std::vector<std::byte>> local{};                         // of each message, at the requester
    std::optional<SelectiveRepeat> selective{};                          // nothing: go-back-N
    std::uint32_t header_room = 0;                                       // before every message received: of UD
    FlowTruth truth{};
    std::uint16_t port = 0;  // of UDP
    std::vector<MessagePlan> plan{};
    std::vector<std::uint64_t> places{};  // of each message in its region
    std::size_t posted = 0;               // messages
    dissect::Instant next_post{};
    std::unordered_map<std::uint32_t, std::uint32_t> attempts{};  // by PSN
    std::vector<SimulatedArrival> received{};
    std::vector<Completion> completions{};
    std::optional<dissect::Instant> last_cnp{};  // sent by the responder's end

    [[nodiscard]] bool open() const {
        return posted < plan.size() || requester.state() == RequesterState::active ||
               requester.state() == RequesterState::rnr_wait;
    }
};

// Gives every message of the plan its place, and the responder its regions.
void lay_out(SimulatedFlow& flow);
// The work request of a message; its memory is the flow's.
[[nodiscard]] WorkRequest work_of(SimulatedFlow& flow, std::size_t message);
// A request arrives at the responder.
void take_request(SimulatedFlow& flow, const TransportPacket& packet);
// A NAK of a selective flow: the packet that it names is to be sent again alone. What it acknowledges, for the
// requester.
[[nodiscard]] TransportPacket take_selective_nak(SelectiveRepeat& selective, const TransportPacket& nak);
// Whether what arrived is what was meant.
void judge(SimulatedFlow& flow);

}  // namespace qps::transport
