// Tracker: observations in the order of the capture become flows, pairs of flows become connections, and the requests of
// each become messages. The first layer of the reconstruction: it counts and pairs, findings are drawn from it later.
//
// What an attacker could feed: any number of flows. kMaxFlows bounds them; past it packets of new flows are only counted.
#pragma once

#include <transport-replay/pairing.hpp>
#include <transport-replay/request_stream.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

inline constexpr std::size_t kMaxFlows = 1 << 20;  // of about 400 bytes

// How sure it is that two flows are the two ways of one connection.
enum class Confidence : std::uint8_t {
    none,     // one way only, or undecided
    likely,   // answers matched requests once or twice
    strong,   // three times and more, never otherwise
    certain,  // the connection manager said so, or the packets name both ends
};

struct FlowCounts {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // on the wire
    std::uint64_t requests = 0;
    std::uint64_t responses = 0;
    std::uint64_t retransmitted = 0;  // request packets whose PSN had been on the wire before
    std::uint64_t missing = 0;        // PSNs skipped when they were due
    std::uint64_t late = 0;           // of those, how many came after all
    std::uint64_t unseen = 0;         // PSNs acknowledged that the capture does not have: the tap missed them
    std::uint64_t acks = 0;           // what came back for the requests of this flow:
    std::uint64_t sequence_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t implied_naks = 0;
    std::uint64_t unmatched = 0;  // answers that no request waits for
    std::uint64_t congestion_experienced = 0;
    std::uint64_t bad_icrc = 0;  // dropped by whoever received them, so not followed
    std::uint64_t messages = 0;
    std::uint64_t message_bytes = 0;
};

struct Flow {
    FlowKey key;
    dissect::Service service{};
    std::optional<FlowId> partner;  // the flow that answers this one
    std::uint32_t matches = 0;      // answers that fitted
    RequestStream requests;
    FlowCounts counts;
    std::uint32_t pmtu = 0;  // bytes; the longest payload of a FIRST or MIDDLE seen
    dissect::Instant first_time{};
    dissect::Instant last_time{};
    dissect::FrameIndex first_frame{};
};

class Tracker {
public:
    // Called with each message when nothing more can happen to it.
    using Sink = std::function<void(FlowId, const Message&)>;
    explicit Tracker(Sink sink) : sink_(std::move(sink)) {}

    void observe(const Observation& observation);
    // The end of the capture: everything open goes to the sink.
    void finish();

    [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
    [[nodiscard]] Confidence confidence(const Flow& flow) const;
    [[nodiscard]] std::uint64_t untracked() const { return untracked_; }  // packets of flows past kMaxFlows

private:
    [[nodiscard]] Flow* flow_of(const Observation& observation, FlowId& id);
    void request(Flow& flow, FlowId id, const Observation& observation);
    void answer(Flow& flow, FlowId id, const Observation& observation);
    void acknowledged(Flow& requester, const Observation& observation);
    void hand_on(FlowId id, Flow& flow);

    Sink sink_;
    std::vector<Flow> flows_;
    boost::unordered_flat_map<FlowKey, FlowId, FlowHash> index_;
    WaitingRequests waiting_;
    std::vector<Message> done_;
    std::uint64_t untracked_ = 0;
};

}  // namespace qps::transport
