// The requester half of a queue pair: work requests in, request packets out, responses in, completions out. No I/O, no
// clock: time is an argument, poll_at() says when the next call is due.
//
// Invariant: PSNs from unacknowledged() to before next() are outstanding; every work request from the front of the queue owns
// the PSNs first .. first + packets - 1 without gaps, so going back to PSN n (go-back-N, partial READ, RNR) is nothing but
// next = n. A work request completes once, in order.
//
//   idle --post--> active --rnr_nak--> rnr_wait --rnr_elapsed--> active --all_acknowledged--> idle
//                  any --fatal--> error: the request at fault completes with its status, all others are flushed
//
// A peer can send any response: outside the outstanding PSNs it is ignored (a ghost); inside, lengths are checked against
// what was asked for. What grows: the queue of work requests (kMaxWork), completions not yet taken (the same bound).
#pragma once

#include <transport-replay/edges.hpp>
#include <transport-replay/transport_packet.hpp>

#include <cstdint>
#include <deque>
#include <optional>
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
};
inline constexpr std::array<std::string_view, 8> kWorkKindNames{
    "send", "send_with_immediate", "send_with_invalidate", "write", "write_with_immediate", "read", "fetch_add", "compare_swap"};

struct WorkRequest {
    std::uint64_t id = 0;  // comes back in the completion
    WorkKind kind = WorkKind::send;
    std::vector<std::byte> data;  // of SEND and WRITE
    RemoteAccess remote;          // address and key; the length counts for READ alone
    AtomicOperands atomic;
    std::uint32_t immediate = 0;
    dissect::Rkey invalidate{};
    bool solicited = false;
    bool fence = false;  // waits for every READ and ATOMIC before it
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
};
inline constexpr std::array<std::string_view, 9> kCompletionStatusNames{"success",
                                                                        "local_length_error",
                                                                        "remote_invalid_request",
                                                                        "remote_access_error",
                                                                        "remote_operational_error",
                                                                        "bad_response",
                                                                        "retry_exceeded",
                                                                        "rnr_retry_exceeded",
                                                                        "flushed"};

struct Completion {
    std::uint64_t id = 0;
    WorkKind kind = WorkKind::send;
    CompletionStatus status = CompletionStatus::success;
    dissect::Psn first;
    dissect::Psn last;
    std::vector<std::byte> data;  // what a READ read
    std::uint64_t original = 0;   // what an ATOMIC found
};

inline constexpr std::size_t kMaxWork = 1U << 14;           // work requests, as the deepest send queues of devices
inline constexpr std::uint32_t kMaxOutstanding = 1U << 23;  // PSNs (9.7.2)
inline constexpr std::uint8_t kInfiniteRnrRetries = 7;      // 9.7.5.2.8
inline constexpr std::uint8_t kMaxRetries = 7;              // three bits
inline constexpr std::int64_t kAckTimeoutUnit = 4096;       // nanoseconds: the timeout is this times 2^n

struct RequesterSettings {
    dissect::Service service = dissect::Service::rc;  // rc, uc or ud
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
};

enum class RequesterState : std::uint8_t { idle, active, rnr_wait, error };
enum class RequesterEvent : std::uint8_t { post, acknowledged, all_acknowledged, go_back, rnr_nak, rnr_elapsed, fatal };

inline constexpr Machine kRequesterMachine{
    std::array<std::string_view, 4>{"idle", "active", "rnr_wait", "error"},
    std::array<std::string_view, 7>{"post", "acknowledged", "all_acknowledged", "go_back", "rnr_nak", "rnr_elapsed", "fatal"},
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

    // Queues a work request; false where the queue is full, the request cannot be (too long, a kind the service lacks), or
    // the queue pair is in error.
    [[nodiscard]] bool post(WorkRequest work);

    // The next packet to send at `now`, or nothing: call until nothing comes. Notices expired timers.
    [[nodiscard]] std::optional<TransportPacket> poll(dissect::Instant now);
    // When poll() is due: the past where a packet is ready, a timer's time, or nothing at all.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;

    void process(const TransportPacket& response, dissect::Instant now);

    // Completions since the last call, in the order of the work requests.
    [[nodiscard]] std::vector<Completion> take_completions();

    [[nodiscard]] RequesterState state() const { return state_; }
    [[nodiscard]] const RequesterCounts& counts() const { return counts_; }
    [[nodiscard]] dissect::Psn unacknowledged() const { return unacknowledged_; }
    [[nodiscard]] dissect::Psn next() const { return next_; }

private:
    struct Work {
        WorkRequest request;
        dissect::Psn first;
        std::uint32_t packets = 1;
        std::uint32_t length = 0;       // of the message or of what is read
        std::vector<std::byte> data{};  // read so far
        std::uint64_t original = 0;
        [[nodiscard]] dissect::Psn end() const { return first + packets; }
        [[nodiscard]] bool expects_response() const { return request.kind >= WorkKind::read; }
    };

    [[nodiscard]] const Work* work_at(dissect::Psn psn) const;
    [[nodiscard]] bool may_send(const Work& work) const;
    [[nodiscard]] TransportPacket packet_at(const Work& work, dissect::Psn psn) const;
    [[nodiscard]] bool wants_acknowledgment(const Work& work, dissect::Psn psn);

    [[nodiscard]] bool acknowledge_before(dissect::Psn psn, dissect::Instant now);
    void on_acknowledgment(const TransportPacket& response, dissect::Instant now);
    void on_negative(const TransportPacket& response, dissect::Instant now);
    void on_rnr(const TransportPacket& response, dissect::Instant now);
    void on_read_response(const TransportPacket& response, dissect::Instant now);
    void on_atomic_acknowledgment(const TransportPacket& response, dissect::Instant now);
    void progress(dissect::Psn unacknowledged, dissect::Instant now);
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
    std::deque<Work> work_;
    std::vector<Completion> completions_;
    dissect::Psn unacknowledged_;  // oldest outstanding, or next_
    dissect::Psn next_;            // to be sent
    dissect::Psn sent_;            // one past the last ever sent
    dissect::Psn posted_;          // one past the last that work requests own
    std::uint8_t retries_left_;
    std::uint8_t rnr_retries_left_;
    std::uint32_t unrequested_ = 0;             // packets since the last AckReq
    bool reading_again_ = false;                // an implied NAK was answered; more of them say nothing new
    std::optional<dissect::Instant> deadline_;  // local ACK timeout
    dissect::Instant rnr_until_{};
    RequesterCounts counts_;
};

// The time a code of the local ACK timeout stands for; nothing where it disables the timer.
[[nodiscard]] std::optional<dissect::Duration> ack_timeout_of(std::uint8_t code);
// The time a code of the RNR timer stands for.
[[nodiscard]] dissect::Duration rnr_wait_of(std::uint8_t code);

// The opcode of a packet of a work request.
[[nodiscard]] dissect::Opcode request_opcode(dissect::Service service, WorkKind kind, dissect::Place place);

}  // namespace qps::transport
