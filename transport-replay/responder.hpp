// The responder half of a queue pair: requests in, execution, acknowledgments and responses out. No I/O, no clock.
//
// process() takes a request through the checks of 9.7.4.1 in their order; what passes all of them is executed, and what
// is to be said about it is queued. poll() gives the responses one by one, in the order of their requests (o9-30), so a
// READ of 2 GiB costs no more memory than one packet. Invariant: memory is touched only where a region, its rights and
// its bounds were checked for that very packet.
//
//            gap                     accept
//   ready ---------> sequence_nak_sent ----> ready        silent about further gaps until the expected PSN arrives (9.7.5.2.8)
//     \  not_ready                   accept
//      `-----------> rnr_nak_sent ---------> ready        likewise
//     any --fatal--> error                                says nothing any more
//
// A peer can send any packet at all. What grows with it: the message being received (at most the posted receive), the
// responses queued (kMaxResponses), what is kept for duplicates (ResponderSettings::resources).
#pragma once

#include <transport-replay/edges.hpp>
#include <transport-replay/transport_packet.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace qps::transport {

struct AccessRights {
    bool read = false;
    bool write = false;
    bool atomic = false;
};

struct MemoryRegion {
    dissect::Rkey key{};
    std::uint64_t base = 0;
    AccessRights rights;
    std::vector<std::byte> bytes;
    bool valid = true;  // false once invalidated
};

// What the queue pairs of a protection domain may reach.
struct Memory {
    std::vector<MemoryRegion> regions;

    // The bytes, or nothing where the key is unknown or invalid, the range leaves the region, or a right is missing.
    [[nodiscard]] std::optional<dissect::MutableBytes> reach(const RemoteAccess& access, AccessRights wanted);
    [[nodiscard]] MemoryRegion* find(dissect::Rkey key);
};

inline constexpr std::size_t kMaxResponses = 256;         // jobs queued: more than READs, ATOMICs and ACKs of a full window
inline constexpr std::uint32_t kMaxDmaLength = 1U << 31;  // 9.7.4.1.6 (C9-93)
inline constexpr std::uint8_t kMaxResources = 128;        // most READs and ATOMICs a device remembers; mlx5 offers 16, others up to 128

struct ResponderSettings {
    dissect::Service service = dissect::Service::rc;  // rc, uc or ud
    dissect::Qpn peer{};                              // where responses go
    dissect::Psn expected;                            // first PSN
    PathMtu mtu = PathMtu::bytes_1024;
    std::uint32_t ack_every = 1;                                        // packets per ACK without a request for one; 0: only on request
    std::uint8_t resources = 16;                                        // READs and ATOMICs at a time, and remembered for duplicates
    std::uint8_t rnr_timer = 14;                                        // code of kRnrTimer
    AccessRights allowed{.read = true, .write = true, .atomic = true};  // operations the queue pair permits
    std::uint32_t receive_bytes = 1U << 22;                             // size of every posted receive
    dissect::Qkey qkey{};                                               // UD
};

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
    std::array<std::string_view, 9>{"send_first", "send_middle", "send_last", "send_only", "write_first", "write_middle", "write_last",
                                    "write_only", "other"},
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

// A message that took a posted receive.
struct ReceivedMessage {
    dissect::Verb verb = dissect::Verb::send;
    std::uint32_t length = 0;
    std::vector<std::byte> bytes;  // of a SEND; what a WRITE wrote is in memory
    std::optional<std::uint32_t> immediate;
    std::optional<dissect::Rkey> invalidated;
    std::optional<dissect::Qpn> source_qp;  // UD
    bool solicited = false;
};

struct ResponderActions {
    ResponderVerdict verdict = ResponderVerdict::dropped;
    bool message_done = false;  // the request was the last of its message, and executed
    std::optional<ReceivedMessage> received;
};

class Responder {
public:
    explicit Responder(const ResponderSettings& settings);

    // Judges and executes one request.
    [[nodiscard]] ResponderActions process(const TransportPacket& request, Memory& memory);

    // The next response, or nothing. A READ whose region is gone meanwhile becomes a NAK (remote access error).
    [[nodiscard]] std::optional<TransportPacket> poll(Memory& memory);
    [[nodiscard]] bool pending() const { return !responses_.empty(); }

    void post_receives(std::uint32_t count);
    void move_to_error();

    [[nodiscard]] ResponderState state() const { return state_; }
    [[nodiscard]] dissect::Psn expected() const { return expected_; }
    [[nodiscard]] dissect::Msn msn() const { return dissect::Msn{msn_}; }
    [[nodiscard]] std::uint32_t receives() const { return receives_; }

private:
    friend struct ResponderChecks;

    struct Current {  // the message being received
        MessageState state = MessageState::between;
        std::uint32_t length = 0;  // received so far
        RemoteAccess target;       // of a WRITE: what is left of it
        std::vector<std::byte> bytes;
    };
    enum class JobKind : std::uint8_t { acknowledge, negative, read, atomic };
    struct Job {
        JobKind kind;
        bool again = false;  // answers a duplicate
        dissect::Psn psn;
        Acknowledgment acknowledgment;
        RemoteAccess access;         // what is left of a READ
        bool begun = false;          // READ: the first response is out
        std::uint64_t original = 0;  // ATOMIC
    };
    struct Resource {  // a READ or ATOMIC that may be asked for again
        dissect::Psn psn;
        std::uint32_t packets = 1;
        RemoteAccess access;
        std::optional<AtomicOperands> atomic;
        std::uint64_t original = 0;
    };

    void move(ResponderEvent event);
    void refuse(const TransportPacket& request, ResponderVerdict verdict);
    [[nodiscard]] ResponderVerdict execute(const TransportPacket& request, Memory& memory, ResponderActions& actions);
    void execute_read(const TransportPacket& request);
    void execute_atomic(const TransportPacket& request, Memory& memory);
    void place_payload(const TransportPacket& request, Memory& memory);
    [[nodiscard]] ResponderVerdict answer_again(const TransportPacket& request);
    [[nodiscard]] dissect::Psn acknowledgeable_after(dissect::Psn psn) const;
    void acknowledge(dissect::Psn psn, bool requested);
    void remember(Resource resource);
    void respond(Job job);
    [[nodiscard]] TransportPacket read_response(Job& job, Memory& memory);
    [[nodiscard]] Acknowledgment positive() const;

    ResponderSettings settings_;
    ResponderState state_ = ResponderState::ready;
    dissect::Psn expected_;
    std::uint32_t msn_ = 0;
    std::uint32_t receives_ = 0;
    std::uint32_t unacknowledged_ = 0;
    Current current_;
    std::deque<Job> responses_;
    std::deque<Resource> resources_;
};

// The event of the message machine that an opcode is.
[[nodiscard]] RequestEvent request_event(dissect::Opcode opcode);

}  // namespace qps::transport
