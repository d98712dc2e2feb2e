// ExchangeWatch: which queue pairs programs tell each other over TCP, in text, and NCCL in its own form. Of texts the
// n-th that one end names is the peer of the n-th that the other names; of XRC, which names two of each, who asks is
// that of who serves. The tracker is told of pairs whose addresses are those of the TCP connection: others are of hosts
// that somebody else may follow.
//
// What it believes it does not have to prove: who uses a pair compares its PSNs, and of NCCL the R_Key that is written
// to first. Texts may be cut anywhere. Where the capture lacks a segment or has it out of order, nothing more is
// believed of that connection. What an attacker could feed: texts without end; ends that wait for their peers are
// bounded, and so are connections: past the bound all are forgotten.
#pragma once

#include <transport-replay/model/observation.hpp>
#include <transport-replay/model/peaks.hpp>
#include <transport-replay/set_up/exchange_text.hpp>
#include <transport-replay/set_up/nccl_exchange.hpp>

#include <array>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

class Tracker;
struct TcpSegmentView;

class ExchangeWatch {
public:
    static constexpr std::size_t kMostConnections = 1024;
    static constexpr std::size_t kMostWaiting = 128;  // ends of one side whose peers were not named yet

    // Only for ObservationKind::stream.
    void observe(const Observation& observation, Tracker& tracker);
    void add_peaks(Peaks& peaks) const;

private:
    struct Side {
        bool began = false;
        std::uint32_t next = 0;       // sequence number
        std::vector<std::byte> rest;  // of a text whose end is still to come; of NCCL all
        std::vector<ExchangeText> waiting;
        std::vector<NcclQueuePair> offered;
    };
    struct Exchange {
        bool lost = false;              // a segment, or too many wait; of NCCL also: all is known
        std::optional<End> connects{};  // who said NCCL's hello
        std::array<Side, 2> sides;
    };
    // Of one direction: bytes that come behind those before.
    static void take_texts(Exchange& exchange, const FlowKey& flow, dissect::Bytes fresh, Tracker& tracker);
    static void take_nccl(Exchange& exchange, const FlowKey& flow, dissect::Bytes fresh, Tracker& tracker);
    static void take(Exchange& exchange, const Observation& observation, const TcpSegmentView& segment,
                     Tracker& tracker);

    boost::unordered_flat_map<FlowKey, Exchange, FlowHash> exchanges_;  // by the key that both ways have
    std::size_t most_ = 0;
};

}  // namespace qps::transport
