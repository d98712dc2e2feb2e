// IwarpExchange: both ways of one TCP connection that carries iWARP, for passive checks: its set-up frames, who may
// send when, its FPDUs.
//
// Who sent before it had received something is proven by TCP: what a segment acknowledges, its sender's TCP had. What
// an attacker could feed: any segments. Streams in order have bounds of their own (tcp_stream.hpp), all else a fixed
// size.
#pragma once

#include <transport-replay/checks/passive/fpdu_cutter.hpp>
#include <transport-replay/checks/passive/iwarp_segments.hpp>
#include <transport-replay/iwarp/iwarp_connection.hpp>

#include <array>
#include <optional>

namespace qps::transport::conformance {

inline constexpr std::size_t kSetUpHead = 24;  // bytes of a set-up frame, with IRD and ORD

// The first segment of a way.
struct FirstSegment {
    std::array<std::byte, kSetUpHead> head{};
    std::uint8_t used = 0;  // bytes of it that were captured
    std::uint32_t seq = 0;
    dissect::FrameIndex frame{};
    [[nodiscard]] dissect::Bytes bytes() const { return {head.data(), used}; }
};
[[nodiscard]] FirstSegment first_segment(const TcpSegmentView& segment, dissect::FrameIndex frame);
[[nodiscard]] bool has_request_key(dissect::Bytes segment);
[[nodiscard]] bool has_reply_key(dissect::Bytes segment);

class IwarpExchange {
public:
    // From the initiator, end a, to the responder.
    explicit IwarpExchange(const FlowKey& flow) : flow_(flow) {}

    // Its request was seen before it was known to be one.
    void take_request(const FirstSegment& first, HostTallies& tallies) { take_set_up(End::a, first, {tallies, flow_}); }
    // Its set-up was not: FPDUs look like this.
    void join(const Framing& framing);
    // The MSS that an end announced in its SYN; 0: not known.
    void announce(End by, std::uint16_t mss) { way(by).mss = mss; }
    void observe(const Observation& observation, const TcpSegmentView& segment, HostTallies& tallies);
    // Nothing more comes.
    void finish(HostTallies& tallies);

    [[nodiscard]] const FlowKey& flow() const { return flow_; }
    [[nodiscard]] bool over() const { return reset_ || (ways_[0].ended && ways_[1].ended); }
    [[nodiscard]] std::size_t held_bytes() const { return ways_[0].stream.held_bytes() + ways_[1].stream.held_bytes(); }
    void give_up_gaps() {
        for (Way& way : ways_) way.stream.give_up_gap();
    }

private:
    struct SetUp {
        bool seen = false;
        dissect::FrameIndex frame{};
        std::uint32_t end = 0;  // of the stream, behind it
        std::uint8_t revision = 0;
        bool markers = false;
        bool crc = false;
        bool rejected = false;
        bool enhanced = false;  // with IRD and ORD
        std::uint16_t ird = 0;
        std::uint16_t ord = 0;
        bool peer_to_peer = false;
        std::uint8_t ready = 0;  // the kinds of ready-to-receive messages, as bits of ReadyKind
    };
    // The first segment of a way with bytes behind its set-up frame.
    struct FirstData {
        std::uint32_t acknowledged = 0;
        dissect::FrameIndex frame{};
    };
    struct Way {
        SetUp set_up{};
        std::uint16_t mss = 0;  // that it takes, from its SYN; 0: not known
        bool strange = false;   // it does not begin with a set-up frame
        TcpStream stream{};
        FpduCutter cutter{};
        std::uint32_t acknowledged = 0;  // of the other way, the most that was seen
        bool acknowledges = false;
        std::optional<FirstData> data{};
        std::optional<std::uint32_t> first_fpdu{};  // where it ends
        std::uint64_t good = 0;
        std::uint64_t bad = 0;
        std::uint64_t unchecked = 0;
        std::array<dissect::FrameIndex, 4> bad_frames{};
        dissect::FrameIndex unchecked_frame{};
        bool markers = false;
        bool whole = false;  // so far, from its first FPDU
        bool order_judged = false;
        bool went_on = false;  // although the connection was rejected
        std::optional<std::uint32_t> fin{};
        dissect::FrameIndex fin_frame{};
        bool ended = false;
    };

    [[nodiscard]] Way& way(End end) { return ways_[static_cast<std::size_t>(end)]; }
    void take_set_up(End from, const FirstSegment& first, const EndTallies& tallies);
    void judge_enhanced(End from, const SetUp& set_up, bool room, const EndTallies& tallies) const;
    void agree();
    void take_first_data(const TcpSegmentView& segment, End from, dissect::FrameIndex frame);
    void judge_order(const EndTallies& tallies);
    void judge_rejected(const TcpSegmentView& segment, End from, dissect::FrameIndex frame, const EndTallies& tallies);
    void read_on(End from, const EndTallies& tallies);
    void take_fpdu(End from, const CutFpdu& fpdu, const EndTallies& tallies);
    [[nodiscard]] bool is_trusted(End from, const CutFpdu& fpdu, const EndTallies& tallies);
    void judge_length(End from, const CutFpdu& fpdu, const EndTallies& tallies);
    void judge_ready(const CutFpdu& fpdu, const EndTallies& tallies) const;
    void lose(End from);
    void take_end(End from, const EndTallies& tallies);
    [[nodiscard]] bool has_all_of(End sender, const Way& receiver);

    FlowKey flow_;
    std::array<Way, 2> ways_{};
    IwarpSegments segments_;
    bool joined_ = false;
    bool reset_ = false;
};

}  // namespace qps::transport::conformance
