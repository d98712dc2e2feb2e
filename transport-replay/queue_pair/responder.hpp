// The responder half of a queue pair: requests in, execution, acknowledgments and responses out. No I/O, no clock.
//
// process() takes a request through the checks of 9.7.4.1 in their order; what passes all of them is executed, and what
// is to be said about it is queued. poll() gives the responses one by one, in the order of their requests (o9-30), so a
// READ of 2 GiB costs no more memory than one packet. Invariant: memory is touched only where a region, its rights and
// its bounds were checked for that very packet.
//
//            gap                     accept
//   ready ---------> sequence_nak_sent ----> ready        silent about further gaps until the expected PSN arrives
//   (9.7.5.2.8)
//     \  not_ready                   accept
//      `-----------> rnr_nak_sent ---------> ready        likewise
//     any --fatal--> error                                says nothing any more
//
// A SEND goes straight into the segments of the posted receive, a READ is answered from the region itself. Atomics act
// on memory in host byte order, as devices do.
//
// A peer can send any packet at all. What grows with it: the responses queued (kMaxResponses), what is kept for
// duplicates (ResponderSettings::resources).
#pragma once

#include <transport-replay/model/edges.hpp>
#include <transport-replay/queue_pair/memory.hpp>
#include <transport-replay/queue_pair/receive_queue.hpp>
#include <transport-replay/queue_pair/ring.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

inline constexpr std::size_t kMaxResponses = 256;  // jobs queued: more than READs, ATOMICs and ACKs of a full window
inline constexpr std::uint32_t kMaxDmaLength = 1U << 31;  // 9.7.4.1.6 (C9-93)
inline constexpr std::uint8_t kMaxResources =
    128;  // most READs and ATOMICs a device remembers; mlx5 offers 16, others up to 128

struct ResponderSettings {
    dissect::Service service = dissect::Service::rc;  // rc, uc, ud or xrc
    dissect::Qpn peer{};                              // where responses go
    dissect::Psn expected;                            // first PSN
    PathMtu mtu = PathMtu::bytes_1024;
    std::uint32_t ack_every = 1;  // packets per ACK without a request for one; 0: only on request
    std::uint8_t resources = 16;  // READs and ATOMICs at a time, and remembered for duplicates
    std::uint8_t rnr_timer = 14;  // code of kRnrTimer
    // Operations the queue pair permits.
    AccessRights allowed{.read = true, .write = true, .atomic = true, .flush_global = true, .flush_persistent = true};
    dissect::Qkey qkey{};  // UD
    dissect::Qpn local{};  // this queue pair: windows may be bound to it alone
    dissect::Pkey pkey{0xffff};
    bool credits = false;  // ACKs say how many receives are posted, where the queue is not shared; else code 31
};
inline constexpr std::uint32_t kNetworkHeaderBytes =
    40;  // before every UD message in its receive (11.4.1.2, A17.4.5.2)

enum class ResponderState : std::uint8_t { ready, sequence_nak_sent, rnr_nak_sent, error };
enum class ResponderEvent : std::uint8_t { accept, duplicate, gap, not_ready, fatal };

inline constexpr Machine kResponderMachine{
    std::array<std::string_view, 4>{"ready", "sequence_nak_sent", "rnr_nak_sent", "error"},
    std::array<std::string_view, 5>{"accept", "duplicate", "gap", "not_ready", "fatal"},
    std::array{
        Edge{ResponderState::ready, ResponderEvent::accept, ResponderState::ready},
        Edge{ResponderState::ready, ResponderEvent::duplicate, ResponderState::ready},
        Edge{ResponderState::ready, ResponderEvent::gap, ResponderState::sequence_nak_sent},
        Edge{ResponderState::ready, ResponderEvent::not_ready, ResponderState::rnr_nak_sent},
        Edge{ResponderState::ready, ResponderEvent::fatal, ResponderState::error},
        Edge{ResponderState::sequence_nak_sent, ResponderEvent::accept, ResponderState::ready},
        Edge{ResponderState::sequence_nak_sent, ResponderEvent::duplicate, ResponderState::sequence_nak_sent},
        Edge{ResponderState::sequence_nak_sent, ResponderEvent::not_ready, ResponderState::rnr_nak_sent},
        Edge{ResponderState::sequence_nak_sent, ResponderEvent::fatal, ResponderState::error},
        Edge{ResponderState::rnr_nak_sent, ResponderEvent::accept, ResponderState::ready},
        Edge{ResponderState::rnr_nak_sent, ResponderEvent::duplicate, ResponderState::rnr_nak_sent},
        Edge{ResponderState::rnr_nak_sent, ResponderEvent::not_ready, ResponderState::rnr_nak_sent},
        Edge{ResponderState::rnr_nak_sent, ResponderEvent::fatal, ResponderState::error},
    },
};
static_assert(sound(kResponderMachine));

// Which request may follow which (9.7.4.1.2): messages of several packets are not interleaved.
enum class MessageState : std::uint8_t { between, in_send, in_write };
enum class RequestEvent : std::uint8_t {
    send_first,
    send_middle,
    send_last,
    send_only,
    write_first,
    write_middle,
    write_last,
    write_only,
    other
};

inline constexpr Machine kMessageMachine{
    std::array<std::string_view, 3>{"between", "in_send", "in_write"},
    std::array<std::string_view, 9>{"send_first", "send_middle", "send_last", "send_only", "write_first",
                                    "write_middle", "write_last", "write_only", "other"},
    std::array{
        Edge{MessageState::between, RequestEvent::send_first, MessageState::in_send},
        Edge{MessageState::between, RequestEvent::send_only, MessageState::between},
        Edge{MessageState::between, RequestEvent::write_first, MessageState::in_write},
        Edge{MessageState::between, RequestEvent::write_only, MessageState::between},
        Edge{MessageState::between, RequestEvent::other, MessageState::between},
        Edge{MessageState::in_send, RequestEvent::send_middle, MessageState::in_send},
        Edge{MessageState::in_send, RequestEvent::send_last, MessageState::between},
        Edge{MessageState::in_write, RequestEvent::write_middle, MessageState::in_write},
        Edge{MessageState::in_write, RequestEvent::write_last, MessageState::between},
    },
};
static_assert(sound(kMessageMachine));

enum class NakCode : std::uint8_t {
    sequence_error,
    invalid_request,
    remote_access_error,
    remote_operational_error
};  // 9.7.5.2.1

enum class ResponderVerdict : std::uint8_t {
    accept,
    duplicate,                 // answered again
    duplicate_dropped,         // nothing is kept of it that could be answered
    gap,                       // NAK sequence error
    gap_ignored,               // said already
    not_ready,                 // RNR NAK
    invalid_request,           // NAK; fatal
    remote_access_error,       // NAK; fatal
    remote_operational_error,  // NAK; fatal
    invalidate_failed,         // class J: fatal, without a NAK
    dropped,                   // UC and UD refuse silently; so does a queue pair in error
};

// A message that took a posted receive. Its bytes are in the segments of the receive; those of a WRITE in the region.
struct ReceivedMessage {
    dissect::Verb verb = dissect::Verb::send;
    std::uint64_t id = 0;      // of the receive
    std::uint32_t length = 0;  // of UD with the 40 bytes of the network header
    std::optional<std::uint32_t> immediate{};
    std::optional<dissect::Rkey> invalidated{};
    std::optional<dissect::Qpn> source_qp{};  // UD
    bool solicited = false;
    bool has_network_header = false;  // UD: IPv6 or GRH in bytes 0..39, IPv4 in bytes 20..39
};

// A FLUSH that was executed as far as a machine without I/O can: who keeps the memory on a medium writes it there
// before the next poll() answers.
struct FlushedMemory {
    Flush flush;
    dissect::MutableBytes bytes;
};

struct ResponderActions {
    ResponderVerdict verdict = ResponderVerdict::dropped;
    bool message_done = false;  // the request was the last of its message, and executed
    std::optional<ReceivedMessage> received{};
    // Id of the receive that the failed message had taken. Of UC and UD: one whose segments lie nowhere; the queue pair
    // is then for its user to move to error, the peer hears nothing.
    std::optional<std::uint64_t> consumed_with_error{};
    std::optional<FlushedMemory> flushed{};
};

class Responder {
public:
    explicit Responder(const ResponderSettings& settings);

    // Judges and executes one request. Of XRC `memory` and `receives` are those of the shared receive queue that it
    // names, or, in a message, that its first packet named (may_turn()); where it names none that the queue pair may
    // serve, `named` is false.
    [[nodiscard]] ResponderActions process(const TransportPacket& request, Memory& memory, ReceiveQueue& receives,
                                           bool named = true);

    // The next response, or nothing, from the memory of due() where that says one. A READ whose region is gone
    // meanwhile becomes a NAK (remote access error).
    [[nodiscard]] std::optional<TransportPacket> poll(const Memory& memory);
    [[nodiscard]] bool pending() const { return !responses_.empty(); }
    // Of XRC: the shared receive queue that the request of the next response named.
    [[nodiscard]] std::optional<Srqn> due() const { return responses_.empty() ? std::nullopt : responses_.front().srq; }
    // Whether the next request may be for another shared receive queue: no message is under way, nor its receive taken.
    [[nodiscard]] bool may_turn() const { return current_.state == MessageState::between && !receive_; }

    void move_to_error();
    // What may change while it runs: rights, RNR timer and resources are as in `settings` from now on, all else stays.
    void adjust(const ResponderSettings& settings);
    // Receives were posted: where credits are given and the last ACK had none to give, an ACK is queued that says so
    // (unsolicited, 9.7.7.2).
    void advertise(const ReceiveQueue& receives);
    // The receive that an unfinished message has taken, for the caller that resets the queue pair or moves it to error.
    [[nodiscard]] std::optional<PostedReceive> release_receive();

    [[nodiscard]] ResponderState state() const { return state_; }
    [[nodiscard]] dissect::Psn expected() const { return expected_; }
    [[nodiscard]] dissect::Msn msn() const { return dissect::Msn{msn_}; }

private:
    friend struct ResponderChecks;

    struct Current {  // the message being received
        MessageState state = MessageState::between;
        std::uint32_t length = 0;   // received so far
        RemoteAccess target;        // of a WRITE: what is left of it
        std::optional<Srqn> srq{};  // XRC: what its first packet named
    };
    enum class JobKind : std::uint8_t { acknowledge, negative, read, atomic, done };  // done: ATOMIC WRITE and FLUSH
    struct Job {
        JobKind kind = JobKind::acknowledge;
        bool again = false;  // answers a duplicate
        dissect::Psn psn{};
        Acknowledgment acknowledgment{};
        RemoteAccess access{};       // what is left of a READ
        bool begun = false;          // READ: the first response is out
        std::uint64_t original = 0;  // ATOMIC
        std::optional<Srqn> srq{};   // XRC: whose memory is READ
    };
    struct Resource {  // a request with a response of its own that may be asked for again
        dissect::Verb verb = dissect::Verb::read_request;
        dissect::Psn psn{};
        std::uint32_t packets = 1;
        RemoteAccess access{};
        AtomicOperands atomic{};
        Flush flush{};
        std::uint64_t original = 0;
    };

    void move(ResponderEvent event);
    void refuse(const TransportPacket& request, ResponderVerdict verdict);
    void fail_receive(const TransportPacket& request, ReceiveQueue& receives, ResponderActions& actions);
    [[nodiscard]] ResponderVerdict execute(const TransportPacket& request, Memory& memory, ReceiveQueue& receives,
                                           ResponderActions& actions);
    void execute_read(const TransportPacket& request);
    void execute_atomic(const TransportPacket& request, Memory& memory);
    void execute_atomic_write(const TransportPacket& request, Memory& memory);
    void execute_flush(const TransportPacket& request, Memory& memory, ResponderActions& actions);
    void place_payload(const TransportPacket& request, Memory& memory);
    void place_network_header(const TransportPacket& request);
    [[nodiscard]] ReceivedMessage received_by(const TransportPacket& request);
    [[nodiscard]] ResponderVerdict answer_again(const TransportPacket& request);
    [[nodiscard]] bool is_again(const TransportPacket& request, const Resource& resource) const;
    [[nodiscard]] dissect::Psn acknowledgeable_after(dissect::Psn psn) const;
    void acknowledge(dissect::Psn psn, bool requested);
    void remember(const Resource& resource);
    void respond(const Job& job);
    void forget_stale(const Memory& memory);
    [[nodiscard]] TransportPacket read_response(Job& job, const Memory& memory);
    void count_credits(const ReceiveQueue& receives);
    [[nodiscard]] dissect::Opcode of_service(dissect::Opcode opcode) const;
    [[nodiscard]] Acknowledgment positive() const;
    [[nodiscard]] Acknowledgment nak(NakCode code) const;
    [[nodiscard]] Acknowledgment rnr_nak() const;

    ResponderSettings settings_;
    ResponderState state_ = ResponderState::ready;
    dissect::Psn expected_;
    std::uint32_t msn_ = 0;
    std::uint32_t unacknowledged_ = 0;
    std::uint32_t open_ = 0;  // responses queued that take a resource
    std::uint8_t credits_;    // code of the AETH
    Current current_;
    std::optional<PostedReceive>
        receive_;  // taken by the message being received; of UC and UD also by one that was given up
    Ring<Job> responses_;
    Ring<Resource> resources_;
};

// The event of the message machine that an opcode is.
[[nodiscard]] RequestEvent request_event(dissect::Opcode opcode);

}  // namespace qps::transport
