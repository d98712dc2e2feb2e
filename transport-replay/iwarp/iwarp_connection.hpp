// IwarpConnection: both ways of a TCP connection that carries iWARP: put in order, framed, read as messages, and
// counted.
#pragma once

#include <dissect/base/ulp_hint.hpp>
#include <transport-replay/iwarp/fpdu_framer.hpp>
#include <transport-replay/iwarp/mpa_set_up.hpp>
#include <transport-replay/iwarp/rdmap_messages.hpp>
#include <transport-replay/iwarp/segment_order.hpp>
#include <transport-replay/iwarp/tcp_stream.hpp>

namespace qps::transport {

// What following needs of a TCP header.
struct TcpSegmentView {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    bool has_ack = false;
    bool syn = false;
    bool fin = false;
    bool reset = false;
    dissect::Bytes data{};  // as far as captured
    std::uint32_t length = 0;
};
[[nodiscard]] TcpSegmentView tcp_view(const Observation& observation);

class IwarpConnection {
public:
    IwarpConnection(ConnectionId uid, const FlowKey& flow) : flow_(flow), messages_(uid) { summary_.connection = uid; }

    // From end a to end b, ports in the place of queue pairs.
    [[nodiscard]] const FlowKey& flow() const { return flow_; }
    [[nodiscard]] ConnectionId uid() const { return summary_.connection; }
    [[nodiscard]] std::size_t held_bytes() const { return ways_[0].stream.held_bytes() + ways_[1].stream.held_bytes(); }

    // It is in the middle of its stream, both ways: FPDUs look as `framing` says.
    void join(const Framing& framing);
    void observe(const Observation& observation, const TcpSegmentView& segment, End from,
                 const IwarpListeners& listeners, PacketRecord& record);
    // Makes room: what is missing is given up.
    void give_up_gaps();
    // The end of the capture, or of the connection.
    [[nodiscard]] IwarpConversation finish(const IwarpListeners& listeners);

private:
    struct Observed {
        dissect::FrameIndex frame{};
        std::uint32_t seq = 0;
    };
    struct Direction {
        TcpStream stream;
        FpduFramer framer;
        SegmentOrder order{};
        std::uint32_t last_ack = 0;  // that this end sent
        std::uint8_t same_acks = 0;  // how often again, without data
        bool set_up_seen = false;
    };

    [[nodiscard]] Direction& direction(End end) { return ways_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] IwarpWay& way(End end) { return summary_.ways[static_cast<std::size_t>(end)]; }
    void count(const Observation& observation, const TcpSegmentView& segment, End from, Connection& connection) const;
    void take_set_up(const Observation& observation, const TcpSegmentView& segment, End from,
                     const IwarpListeners& listeners, PacketRecord& record);
    void take_attempt(const MpaSetUp& said, const SetUpFrame& frame);
    void take_data(const Observation& observation, const TcpSegmentView& segment, End from,
                   const IwarpListeners& listeners, PacketRecord& record);
    void note_arrival(TcpArrival arrival, const Observation& observation, const TcpSegmentView& segment, End from,
                      Connection& connection, PacketRecord& record);
    void read_on(End from, const Observed* observed, const IwarpListeners& listeners, PacketRecord& record);
    void take_ack(const Observation& observation, const TcpSegmentView& segment, End from,
                  const IwarpListeners& listeners, PacketRecord& record);

    FlowKey flow_;
    IwarpConversation summary_;
    std::array<Direction, 2> ways_{};
    RdmapMessages messages_;
    bool over_ = false;
};

}  // namespace qps::transport
