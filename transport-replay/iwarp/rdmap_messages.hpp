// RdmapMessages: the DDP segments of one connection, in order, become messages: SENDs, WRITEs, READs with their
// responses, atomics.
//
// A SEND or WRITE has completed when TCP says that the other end has it; a READ or an atomic when its response came
// whole. Where other tables have PSNs, these have the number of the FPDU in its way, as far as the capture has them.
// What an attacker could feed: messages that never end, READs that nobody answers. Both have bounds; what is past them
// is told as open.
#pragma once

#include <transport-replay/iwarp/ddp_segment.hpp>
#include <transport-replay/iwarp/fpdu_framer.hpp>
#include <transport-replay/model/byte_share.hpp>
#include <transport-replay/model/iwarp_report.hpp>
#include <transport-replay/model/packet_record.hpp>
#include <transport-replay/ulp/operation_sink.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

namespace qps::transport {

class Tracker;
class UlpTracker;

// Bytes of a message, as one FPDU carried them.
struct StreamPayload {
    End requester{};
    dissect::Psn message;      // Message::first
    std::uint64_t offset = 0;  // in the message
    std::uint32_t length = 0;  // on the wire
    dissect::Bytes bytes{};    // as far as captured
    dissect::FrameIndex frame{};
};
using PayloadSink = std::function<void(const StreamPayload&)>;

// Whom messages are told to.
struct IwarpListeners {
    Tracker& tracker;
    UlpTracker& ulp;
    const OperationSink& sink;
    const PayloadSink* payload = nullptr;  // of who wants to have what they carry
};

class RdmapMessages {
public:
    static constexpr std::size_t kMaxOpen = 1 << 12;  // messages of a way; send queues have 10^2 to 10^3

    explicit RdmapMessages(ConnectionId connection) : connection_(connection) {}

    // The next FPDU of what `from` sends; what completed goes into the record.
    void take(End from, const Fpdu& fpdu, const IwarpListeners& listeners, PacketRecord& record);
    // Its FPDUs were lost track of: messages under way have a hole.
    void interrupted(End from);
    // The other end has everything of what `from` sent before `seq`.
    void acknowledged(End from, std::uint32_t seq, const Observation& observation, const IwarpListeners& listeners,
                      PacketRecord& record);
    // A segment of its stream was on the wire again.
    void resent(End from, std::uint32_t seq, std::uint32_t length);
    // Where the READ requests of that end are in the wrong byte order: the response that proved it.
    [[nodiscard]] dissect::FrameIndex turned_read(End requester) const {
        return ways_[static_cast<std::size_t>(requester)].turned_read;
    }
    [[nodiscard]] const std::optional<Terminated>& terminated() const { return terminated_; }
    // Nothing follows: what is open ends so.
    void finish(Outcome outcome, const IwarpListeners& listeners);

private:
    // A message of which segments are still due.
    struct UnderWay {
        Message message{};
        bool open = false;
        bool keeps = false;  // its payload is wanted
        bool hole = false;   // the payload was not captured, or not kept, to its end
        std::uint32_t seq = 0;
        std::uint32_t msn = 0;
        std::uint64_t next = 0;  // offset of the segment that is due
        HeldBytes bytes{};
    };
    struct Sent {
        Message message{};
        std::uint32_t seq = 0;
        std::uint32_t end = 0;
    };
    struct Asked {  // READ or atomic
        Sent sent{};
        dissect::Rkey sink{};
        std::uint64_t sink_offset = 0;
        std::uint32_t identifier = 0;
    };
    struct Way {
        UnderWay send;
        UnderWay write;
        std::deque<Sent> sent;    // wait for TCP
        std::deque<Asked> asked;  // wait for responses
        std::uint32_t fpdus = 0;
        dissect::FrameIndex
            turned_read{};  // its READ requests are written least significant byte first: the response that proved it
        [[nodiscard]] bool turns_reads() const { return turned_read != dissect::FrameIndex{}; }
    };
    struct At {  // what every step needs
        End from{};
        const Fpdu& fpdu;
        const DdpSegment& segment;
        const IwarpListeners& listeners;
        PacketRecord& record;
    };

    [[nodiscard]] Way& way(End end) { return ways_[static_cast<std::size_t>(end)]; }
    [[nodiscard]] Message begun(const At& at, dissect::Verb verb);
    void add(UnderWay& under_way, const At& at) const;
    void leave(const At& at, UnderWay& under_way);
    static void tell_payload(const At& at, End requester, const Message& message, std::uint64_t offset);
    void take_send(const At& at);
    void take_immediate(const At& at);
    void take_write(const At& at);
    void take_read_request(const At& at);
    void take_read_response(const At& at);
    [[nodiscard]] std::deque<Asked>::iterator find_read(End requester, const DdpSegment& response,
                                                        dissect::FrameIndex frame);
    void turn_reads(End requester, dissect::FrameIndex proof);
    void take_atomic_request(const At& at);
    void take_atomic_response(const At& at);
    void take_terminate(const At& at);
    void wait_for_tcp(const At& at, UnderWay& under_way);
    void ask(const At& at, Asked asked);
    void answered(const At& at, std::size_t which);
    void give_up_before(End requester, std::size_t which, const IwarpListeners& listeners);
    void end(End requester, Message& message, Outcome outcome, const IwarpListeners& listeners, PacketRecord* record);

    ConnectionId connection_;
    std::array<Way, 2> ways_;
    std::optional<Terminated> terminated_;
};

}  // namespace qps::transport
