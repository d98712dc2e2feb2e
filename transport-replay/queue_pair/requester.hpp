// The requester half of a queue pair: work requests in, request packets out, responses in, completions out. No I/O, no
// clock: time is an argument, poll_at() says when the next call is due.
//
// Invariant: PSNs from unacknowledged() to before next() are outstanding; every work request from the front of the
// queue owns the PSNs first .. first + packets - 1 without gaps, so going back to PSN n (go-back-N, partial READ, RNR)
// is nothing but next = n. What is no packet owns no PSN and stands between. A work request completes once, in order.
//
// Local memory is borrowed until the completion of its work request was taken. A payload that lies in one segment is
// sent from where it lies; one that does not is put together in a scratch buffer of one MTU.
//
//   idle --post--> active --rnr_nak--> rnr_wait --rnr_elapsed--> active --all_acknowledged--> idle
//                  any --fatal--> error: the request at fault completes with its status, all others are flushed
//
// A peer can send any response: outside the outstanding PSNs it is ignored (a ghost); inside, lengths are checked
// against what was asked for, and only segments of the very request are written. Credits can be forged; what they
// permit too much the responder refuses (RNR NAK). What grows: the queue of work requests (kMaxWork), completions not
// yet taken (the same bound).
#pragma once

#include <transport-replay/model/edges.hpp>
#include <transport-replay/queue_pair/memory.hpp>
#include <transport-replay/queue_pair/ring.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace qps::transport {

enum class WorkKind : std::uint8_t {
    send,
    send_with_immediate,
    send_with_invalidate,
    write,
    write_with_immediate,
    read,
    fetch_add,
    compare_swap,
    atomic_write,
    flush,
    local_invalidate,  // these three are no packets: see local_due()
    bind_window,
    register_region,
};
inline constexpr std::array<std::string_view, 13> kWorkKindNames{
    "send",           "send_with_immediate", "send_with_invalidate", "write", "write_with_immediate", "read",
    "fetch_add",      "compare_swap",        "atomic_write",         "flush", "local_invalidate",     "bind_window",
    "register_region"};
[[nodiscard]] constexpr bool is_atomic(WorkKind kind) {
    return kind == WorkKind::fetch_add || kind == WorkKind::compare_swap;
}

// Of UD: where one work request goes.
struct DatagramPeer {
    dissect::Qpn qp{};
    dissect::Qkey key{};
};

using InlineBytes = boost::container::small_vector<std::byte, 64>;
inline constexpr std::size_t kMaxInline = 1024;  // bytes: as much as devices take

// Segments are gathered for SEND, WRITE and ATOMIC WRITE (8 bytes), and scattered into for READ and ATOMICs (8 bytes:
// the original value in host byte order). They are the length of the message. A READ or ATOMIC without segments is
// executed all the same, and what it brings is dropped.
struct WorkRequest {
    std::uint64_t id = 0;  // comes back in the completion
    WorkKind kind = WorkKind::send;
    Segments segments{};
    InlineBytes inlined{};  // owned; what is sent, where it is not empty, instead of the segments
    RemoteAccess remote{};  // address and key; the length counts for FLUSH, and for a READ without segments
    AtomicOperands atomic{};
    Flush flush{};
    std::uint32_t immediate = 0;
    dissect::Rkey invalidate{};              // of SEND with invalidate and local invalidate
    std::optional<MemoryWindow> window{};    // of bind_window
    std::optional<Srqn> srq{};               // XRC: the peer's shared receive queue
    std::optional<DatagramPeer> datagram{};  // UD; nothing: the peer and key of the settings
    bool solicited = false;
    bool fence = false;  // waits for every READ, ATOMIC, ATOMIC WRITE and FLUSH before it
    bool unusable =
        false;  // its segments lie in no region (a wrong local key): fails when its turn comes, local protection error
};

// The words of the verbs (11.6.2).
enum class CompletionStatus : std::uint8_t {
    success,
    local_length_error,  // a READ response has another length than was asked for
    remote_invalid_request,
    remote_access_error,
    remote_operational_error,
    bad_response,  // a response that cannot be one of this request
    retry_exceeded,
    rnr_retry_exceeded,
    flushed,
    local_protection_error,  // segments outside of every region
    local_operation_error,   // a local invalidate or a registration that cannot be
    window_bind_error,
};
inline constexpr std::array<std::string_view, 12> kCompletionStatusNames{"success",
                                                                         "local_length_error",
                                                                         "remote_invalid_request",
                                                                         "remote_access_error",
                                                                         "remote_operational_error",
                                                                         "bad_response",
                                                                         "retry_exceeded",
                                                                         "rnr_retry_exceeded",
                                                                         "flushed",
                                                                         "local_protection_error",
                                                                         "local_operation_error",
                                                                         "window_bind_error"};

struct Completion {
    std::uint64_t id = 0;
    WorkKind kind = WorkKind::send;
    CompletionStatus status = CompletionStatus::success;
    dissect::Psn first;
    dissect::Psn last;        // one before the first where the request had no packet
    std::uint32_t bytes = 0;  // of the message, of what was read, 8 of an ATOMIC
};

inline constexpr std::size_t kMaxWork = 1U << 14;           // work requests, as the deepest send queues of devices
inline constexpr std::uint32_t kMaxOutstanding = 1U << 23;  // PSNs (9.7.2)
inline constexpr std::uint8_t kInfiniteRnrRetries = 7;      // 9.7.5.2.8
inline constexpr std::uint8_t kMaxRetries = 7;              // three bits

struct RequesterSettings {
    dissect::Service service = dissect::Service::rc;  // rc, uc, ud or xrc
    dissect::Qpn peer{};
    dissect::Psn first;
    PathMtu mtu = PathMtu::bytes_1024;
    std::uint32_t window = 128;            // PSNs that may be outstanding; a longer READ goes alone
    std::uint32_t ack_request_every = 64;  // packets; besides every end of a message
    std::uint8_t initiator_depth = 16;     // READs and ATOMICs outstanding
    std::uint8_t ack_timeout = 14;         // n of 4.096 us * 2^n, 1..31; 0: none
    std::uint8_t retries = kMaxRetries;
    std::uint8_t rnr_retries = kInfiniteRnrRetries;
    std::optional<Datagram> datagram{};  // UD
    dissect::Pkey pkey{0xffff};
    // Whether the credits of the AETH are obeyed (9.7.7.2): a SEND or WRITE with immediate beyond the limit (LSN = MSN
    // + credits) sends its first packet alone and goes on when that is acknowledged or more credits come. Code 31 lifts
    // the limit.
    bool end_to_end_credits = false;
};

enum class RequesterState : std::uint8_t { idle, active, rnr_wait, error };
enum class RequesterEvent : std::uint8_t { post, acknowledged, all_acknowledged, go_back, rnr_nak, rnr_elapsed, fatal };

inline constexpr Machine kRequesterMachine{
    std::array<std::string_view, 4>{"idle", "active", "rnr_wait", "error"},
    std::array<std::string_view, 7>{"post", "acknowledged", "all_acknowledged", "go_back", "rnr_nak", "rnr_elapsed",
                                    "fatal"},
    std::array{
        Edge{RequesterState::idle, RequesterEvent::post, RequesterState::active},
        Edge{RequesterState::idle, RequesterEvent::fatal, RequesterState::error},
        Edge{RequesterState::active, RequesterEvent::post, RequesterState::active},
        Edge{RequesterState::active, RequesterEvent::acknowledged, RequesterState::active},
        Edge{RequesterState::active, RequesterEvent::all_acknowledged, RequesterState::idle},
        Edge{RequesterState::active, RequesterEvent::go_back, RequesterState::active},
        Edge{RequesterState::active, RequesterEvent::rnr_nak, RequesterState::rnr_wait},
        Edge{RequesterState::active, RequesterEvent::fatal, RequesterState::error},
        Edge{RequesterState::rnr_wait, RequesterEvent::post, RequesterState::rnr_wait},
        Edge{RequesterState::rnr_wait, RequesterEvent::acknowledged, RequesterState::rnr_wait},
        Edge{RequesterState::rnr_wait, RequesterEvent::all_acknowledged, RequesterState::idle},
        Edge{RequesterState::rnr_wait, RequesterEvent::rnr_elapsed, RequesterState::active},
        Edge{RequesterState::rnr_wait, RequesterEvent::fatal, RequesterState::error},
    },
};
static_assert(sound(kRequesterMachine));

// How often things happened; only upwards.
struct RequesterCounts {
    std::uint64_t packets = 0;        // sent, again or not
    std::uint64_t retransmitted = 0;  // of these, with a PSN sent before
    std::uint64_t sequence_naks = 0;  // that made it go back
    std::uint64_t implied_naks = 0;
    std::uint64_t rnr_naks = 0;
    std::uint64_t fatal_naks = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t ghosts = 0;  // responses ignored
};

class Requester {
public:
    explicit Requester(const RequesterSettings& settings);

    // Queues a work request; false where the queue is full, the request cannot be (too long, a kind the service lacks,
    // not 8 bytes for what has 8 bytes), or the queue pair is in error.
    [[nodiscard]] bool post(WorkRequest work);

    // The next packet to send at `now`, or nothing: call until nothing comes. Notices expired timers. Of UC and UD the
    // work request is complete with its last packet: send that before its completion is taken.
    [[nodiscard]] std::optional<TransportPacket> poll(dissect::Instant now);
    // The id of the work request that the packet poll() gave last belongs to.
    [[nodiscard]] std::uint64_t polled() const { return polled_; }
    // When poll() or local_due() is due: the past where something is ready, a timer's time, or nothing at all.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;

    // The local invalidate, bind or registration whose turn it is, or nullptr: everything before it was sent, and
    // nothing after it is until done_locally() has said how it went. It completes in the order of the queue; a status
    // other than success is fatal.
    [[nodiscard]] const WorkRequest* local_due() const;
    void done_locally(CompletionStatus status, dissect::Instant now);

    // What may change while it runs (SQD to RTS): depth, timeout and retries are as in `settings` from now on, all else
    // stays.
    void adjust(const RequesterSettings& settings);
    // Send queue drained (SQD): while true no work request is begun; those begun are brought to their end.
    void drain(bool stop) { draining_ = stop; }
    // Whether nothing that was begun is open.
    [[nodiscard]] bool drained() const;
    // The queue pair goes to error: everything that is open is flushed.
    void flush_all();

    void process(const TransportPacket& response, dissect::Instant now);

    // From a request that asked for an acknowledgment to one that covers it, where no packet since was sent again
    // (Karn); once each. One is measured at a time.
    [[nodiscard]] std::optional<dissect::Duration> take_round_trip() {
        return std::exchange(round_trip_, std::nullopt);
    }

    // Completions since the last call, in the order of the work requests.
    [[nodiscard]] std::vector<Completion> take_completions();
    // The same one by one, without a vector.
    [[nodiscard]] std::optional<Completion> take_completion();

    [[nodiscard]] RequesterState state() const { return state_; }
    [[nodiscard]] const RequesterCounts& counts() const { return counts_; }
    [[nodiscard]] dissect::Psn unacknowledged() const { return unacknowledged_; }
    [[nodiscard]] dissect::Psn next() const { return next_; }
    [[nodiscard]] std::size_t open() const { return work_.size(); }  // work requests queued and not complete

private:
    struct Work {
        WorkRequest request;
        dissect::Psn first;
        std::uint32_t packets = 1;
        std::uint32_t length = 0;    // of the message or of what is read
        std::uint32_t sequence = 0;  // SSN, 24 bits: counts messages from 1
        bool done = false;           // of what is no packet: it was carried out
        CompletionStatus fails =
            CompletionStatus::success;  // what is known already: it fails with this when its turn comes
        [[nodiscard]] dissect::Psn end() const { return first + packets; }
        [[nodiscard]] bool expects_response() const;
        [[nodiscard]] bool takes_receive() const;
        [[nodiscard]] bool local() const { return packets == 0; }
    };

    [[nodiscard]] const Work* current() const;
    [[nodiscard]] bool may_begin(const Work& work) const;
    [[nodiscard]] bool may_send(const Work& work) const;
    [[nodiscard]] bool fails_now() const;
    [[nodiscard]] bool has_credit(const Work& work) const;
    [[nodiscard]] TransportPacket packet_at(const Work& work, dissect::Psn psn);
    [[nodiscard]] dissect::Bytes payload_at(const Work& work, std::uint32_t skipped);
    [[nodiscard]] bool wants_acknowledgment(const Work& work, dissect::Psn psn);

    [[nodiscard]] bool acknowledge_before(dissect::Psn psn, dissect::Instant now);
    void on_acknowledgment(const TransportPacket& response, dissect::Instant now);
    void on_negative(const TransportPacket& response, dissect::Instant now);
    void on_rnr(const TransportPacket& response, dissect::Instant now);
    void on_read_response(const TransportPacket& response, dissect::Instant now);
    void on_atomic_acknowledgment(const TransportPacket& response, dissect::Instant now);
    void take_credits(const Acknowledgment& acknowledgment);
    void progress(dissect::Psn unacknowledged, dissect::Instant now);
    void rewind();
    void step_over_local();
    void complete_local();
    void finish_front(CompletionStatus status);
    void implied_nak(dissect::Instant now);
    void go_back(dissect::Instant now);
    void expire(dissect::Instant now);
    void complete_front(CompletionStatus status);
    void fail(CompletionStatus status);
    void fail_at(dissect::Psn psn, CompletionStatus status);
    void move(RequesterEvent event);
    void arm(dissect::Instant now);

    RequesterSettings settings_;
    RequesterState state_ = RequesterState::idle;
    Ring<Work> work_;
    Ring<Completion> completions_;
    std::vector<std::byte> scratch_;  // one MTU; a payload of several segments
    std::size_t at_ = 0;              // which of work_ owns next_; its size where none does yet
    std::uint32_t awaited_ = 0;       // of those before it, how many expect a response of their own
    std::uint64_t polled_ = 0;
    std::uint32_t posted_messages_ = 0;  // SSN of the last one posted
    std::uint32_t limit_ = 0;            // LSN
    bool limited_ = false;
    bool draining_ = false;
    dissect::Psn unacknowledged_;  // oldest outstanding, or next_
    dissect::Psn next_;            // to be sent
    dissect::Psn sent_;            // one past the last ever sent
    dissect::Psn posted_;          // one past the last that work requests own
    std::uint8_t retries_left_;
    std::uint8_t rnr_retries_left_;
    std::uint32_t unrequested_ = 0;             // packets since the last AckReq
    bool reading_again_ = false;                // an implied NAK was answered; more of them say nothing new
    std::optional<dissect::Instant> deadline_;  // local ACK timeout
    struct Probe {
        dissect::Psn behind;  // the packet that is measured
        dissect::Instant sent{};
    };
    std::optional<Probe> probe_;
    std::optional<dissect::Duration> round_trip_;
    dissect::Instant rnr_until_{};
    RequesterCounts counts_;
};

// The time a code of the local ACK timeout stands for; nothing where it disables the timer.
[[nodiscard]] std::optional<dissect::Duration> ack_timeout_of(std::uint8_t code);

// The opcode of a packet of a work request.
[[nodiscard]] dissect::Opcode request_opcode(dissect::Service service, WorkKind kind, dissect::Place place);

}  // namespace qps::transport
