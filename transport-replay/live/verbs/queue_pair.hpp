// QueuePair: the two machines of a queue pair, its work queues and what its owner said of it. Adapter's own; not for
// applications.
//
// Invariant: sends holds a record of every work request that the requester has, in the same order; the id there is the
// record's number, counted from first_send. A requester exists from RTS on, a responder from RTR on.
#pragma once

#include <transport-replay/live/verbs/completion_queue.hpp>
#include <transport-replay/live/verbs/posted_receives.hpp>
#include <transport-replay/live/verbs/rate_control.hpp>
#include <transport-replay/live/verbs/schedule.hpp>
#include <transport-replay/queue_pair/requester.hpp>
#include <transport-replay/queue_pair/responder.hpp>

#include <memory>

namespace qps::transport::verbs {

struct SendRecord {
    std::uint64_t wr_id = 0;
    WcOpcode opcode = WcOpcode::send;
    bool signaled = false;
    Pins pins{};
    AddressHandle to{};                      // UD
    std::unique_ptr<MemoryRegion> region{};  // of a fast registration
};

// A congestion notification that waits for its turn; a newer one for the same queue pair says nothing more.
struct PendingCnp {
    dissect::Qpn to_qp{};
    AddressHandle to{};
};

struct QueuePair {
    dissect::Qpn number{};
    Slot slot{};
    QpInitAttr init{};
    ProtectionDomain* pd = nullptr;
    CompletionQueue* send_cq = nullptr;
    CompletionQueue* recv_cq = nullptr;
    SharedReceives* shared =
        nullptr;  // nullptr: it has receives of its own; of an XRC target the one that it serves just now
    ExtendedDomain* domain = nullptr;  // XRC target
    PostedReceives own;

    QpState state = QpState::reset;
    QpAttr attr{};
    AddressHandle to{};  // of connected services, with its source
    std::uint16_t udp_source_port = kFirstUdpSourcePort;

    std::optional<Requester> requester{};
    std::optional<Responder> responder{};
    Ring<SendRecord> sends{};
    std::uint64_t first_send = 0;

    std::optional<RateControl> rate{};  // where it is on
    CnpPacer cnps{};
    std::optional<PendingCnp> cnp{};

    bool mute = false;          // in error, and not to say any more what was queued
    bool communicated = false;  // the event of the first packet in RTR was given
    bool drain_reported = false;
    bool overrun = false;  // a completion queue of it has no room
    QpCounts counts{};

    [[nodiscard]] PostedReceives& receives() { return shared != nullptr ? shared->receives : own; }
    [[nodiscard]] bool connected() const { return init.qp_type != QpType::ud; }
    [[nodiscard]] dissect::Service service() const {
        return is_xrc(init.qp_type) ? dissect::Service::xrc : static_cast<dissect::Service>(init.qp_type);
    }
    [[nodiscard]] bool acknowledged() const { return is_acknowledged(service()); }
    [[nodiscard]] bool may_receive() const {
        return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
    }
    [[nodiscard]] bool may_send() const { return state == QpState::rts || state == QpState::sqd; }
};

// What a posted work request is for the machines, by its opcode.
struct WrKind {
    WrOpcode opcode;
    WorkKind kind;
    WcOpcode completion;
    bool writes_locally;    // its pieces are written: READ and ATOMICs
    std::uint8_t services;  // bit n: service n has it
    bool eight_bytes;       // the message has 8 bytes (a READ-like one may have no pieces at all)
};
[[nodiscard]] const WrKind& kind_of(WrOpcode opcode);
[[nodiscard]] WcStatus status_of(CompletionStatus status);

// Whether modify_qp() may do this to the queue pair: the edge exists, the attributes are those of the table, each in
// its range.
[[nodiscard]] Result<QpState> judge(const QueuePair& qp, const QpAttr& attr, const AdapterSettings& settings);
// Takes over what was judged to be right. The state is the caller's.
void take_over(QueuePair& qp, const QpAttr& attr, const AdapterSettings& settings);
[[nodiscard]] RequesterSettings requester_settings(const QueuePair& qp, const AdapterSettings& settings);
[[nodiscard]] ResponderSettings responder_settings(const QueuePair& qp, const AdapterSettings& settings);
// An address handle that names its source: the adapter's first address of the kind, where it says none.
[[nodiscard]] AddressHandle with_source(const AddressHandle& to, const AdapterSettings& settings);

}  // namespace qps::transport::verbs
