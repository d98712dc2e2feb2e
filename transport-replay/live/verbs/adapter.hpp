// Adapter: a channel adapter of one port, without I/O: what ibv_context and everything made from it are to an
// application.
//
// An application opens protection domains, memory, completion queues and queue pairs, posts work and polls completions,
// as with ibverbs. The owner of a wire hands in what arrived (process) and sends what is due (poll). Time is an
// argument everywhere.
//
//   Adapter adapter({.addresses = {mine}});
//   const Pd pd = *adapter.alloc_pd();
//   const Mr mr = *adapter.reg_mr(pd, memory, kEveryAccess);                    // std::span<std::byte> memory: ours to
//   the end const Cq cq = *adapter.create_cq(64); const dissect::Qpn qp = *adapter.create_qp({.pd = pd, .send_cq = cq,
//   .recv_cq = cq}); if (!adapter.modify_qp(qp, {.qp_state = QpState::init, .pkey = dissect::Pkey{0xffff}, .access =
//   kEveryAccess})) ...  // rtr, rts if (const auto posted = adapter.post_send(qp, ...); !posted) ...            //
//   verbs.hpp; posted.error() says why not while (const auto out = adapter.poll(now)) device.send(out->packet,
//   route_of(*out)); adapter.process({.packet = in, .source = from, .destination = mine}, now); while (const
//   std::size_t count = adapter.poll_cq(cq, done)) ... if (const auto due = adapter.poll_at()) ... // when poll() has
//   something again
//
// Invariants: every posted work request completes exactly once, in order, or silently where it was not signaled and
// succeeded; borrowed memory is touched only while a region that shows it is registered; the order of departures
// depends on nothing but the calls. A call that fails changes nothing.
//
// A peer, or anybody who can send a frame, can send any Arrival: every one that is not for one of our queue pairs, from
// its peer, with its keys, is refused and counted by name (Refusal). What grows: the objects and the work in them, each
// by a call of the application and bounded below; what peers make us remember (responses, datagrams, events, CNPs) is
// bounded per object.
#pragma once

#include <transport-replay/live/device/device.hpp>
#include <transport-replay/live/verbs/dcqcn.hpp>
#include <transport-replay/live/verbs/timely.hpp>
#include <transport-replay/live/verbs/verbs.hpp>

#include <memory>
#include <vector>

namespace qps::transport::live {
struct ManagementDatagram;  // live/cm/management_datagram.hpp
}

namespace qps::transport::verbs {

using live::kAtOnce;

inline constexpr std::size_t kMaxPds = 1U << 12;
inline constexpr std::size_t kMaxMrs = 1U << 16;  // regions and windows together: the index of a key has 24 bits
inline constexpr std::size_t kMaxCqs = 1U << 15;  // two for each queue pair
inline constexpr std::size_t kMaxSrqs = 1U << 12;
inline constexpr std::size_t kMaxXrcds = 1U << 10;
inline constexpr std::size_t kMaxQps = 1U << 14;     // of some kilobytes each
inline constexpr std::uint32_t kMaxQpWr = 1U << 14;  // of a work queue, as the deepest of devices
inline constexpr std::uint32_t kMaxCqe = 1U << 22;   // of a completion queue, as the deepest of devices
inline constexpr std::uint32_t kMaxSge = 16;
inline constexpr std::uint32_t kMaxInlineData = 256;
inline constexpr std::uint8_t kMaxRdAtomic = 128;  // what the responder remembers at most
inline constexpr std::size_t kMaxMcastGroups = 1U << 10;
inline constexpr std::size_t kMaxMcastAttached = 64;      // queue pairs of one group: each gets a copy of every packet
inline constexpr std::size_t kMaxAsyncEvents = 1U << 12;  // not taken; more are counted
inline constexpr std::size_t kMaxDatagrams = 1U << 10;    // of queue pair 1, each way, of 256 bytes
inline constexpr std::uint32_t kResponsesInARow = 64;  // then one request has its turn: READs of a peer starve nobody

struct AdapterSettings {
    std::vector<Address>
        addresses{};  // of the port (none: whatever comes is ours); the first of a kind is the source of who names none
    std::vector<dissect::Pkey> pkeys{dissect::Pkey{0xffff}};
    PathMtu mtu = PathMtu::bytes_4096;             // of the port: the longest UD message
    dissect::Qpn first_qp{0x11};                   // numbers are given out upwards from here
    std::uint64_t first_address = 0x10'0000'0000;  // iova of the first region; the next lie behind it
    std::optional<DcqcnSettings> dcqcn{};    // paces all queue pairs; each may say otherwise (QpAttr::rate_control)
    std::optional<TimelySettings> timely{};  // likewise, in its place: by round trips, not by CNPs
    bool ecn_capable = true;                 // data goes out as ECT(0)
    bool end_to_end_credits = true;          // of RC (9.7.7.2): given, and heeded
    std::uint32_t window = 512;              // PSNs a queue pair has outstanding: a peer that sleeps wakes for many
    std::uint32_t ack_every = 16;  // packets an unasked ACK covers (one costs as much as a packet); 0: only on request
    bool tagged = false;           // frames have a VLAN tag, and the service level for their priority
};

// A packet that came, checked for its ICRC and decoded. transport_version is that of the BTH.
struct IncomingPacket {
    TransportPacket packet{};
    Address source{};
    Address destination{};
    std::uint64_t source_mac = 0;
    Ecn ecn = Ecn::not_capable;
    std::uint8_t hops = 0;
    std::uint8_t transport_version = 0;
};

// A packet to send. References are valid until the adapter is called again.
struct OutgoingPacket {
    const TransportPacket& packet;
    const AddressHandle& to;  // source always set, where the adapter has an address of that kind
    dissect::Qpn from{};
    std::uint16_t udp_source_port = kFirstUdpSourcePort;
    Ecn ecn = Ecn::not_capable;
};
// How it travels: all but MAC addresses, VLAN and the identification of IPv4.
[[nodiscard]] Route route_of(const OutgoingPacket& departure);

// Why an arrival was dropped.
enum class Refusal : std::uint8_t {
    transport_version,  // not 0 (9.6.1.1)
    undefined_opcode,   //
    management_qp,      // QP 0 does not exist on RoCE
    destination,        // not an address of this port
    unknown_qp,         // no such queue pair
    qp_state,           // it does not take that in its state
    service,            // opcodes of another service (9.6.1.2)
    pkey,               // no match (10.9.3)
    qkey,               // another Q_Key, or none
    source,             // not from the queue pair's peer
    multicast_service,  // to the multicast queue pair, and not an unreliable datagram to a group
    multicast_group,    // nobody is attached
    no_receive,         // UD: nothing posted
    datagram_length,    // UD: longer than the receive; QP 1: not 256 bytes
    datagram_queue,     // QP 1: kMaxDatagrams wait
    unusable,           // UC and UD: refused in silence for any other reason
};
inline constexpr std::array<std::string_view, 16> kRefusalNames{"transport_version",
                                                                "undefined_opcode",
                                                                "management_qp",
                                                                "destination",
                                                                "unknown_qp",
                                                                "qp_state",
                                                                "service",
                                                                "pkey",
                                                                "qkey",
                                                                "source",
                                                                "multicast_service",
                                                                "multicast_group",
                                                                "no_receive",
                                                                "datagram_length",
                                                                "datagram_queue",
                                                                "unusable"};

// arrivals + copies == accepted + all that were refused.
struct AdapterCounts {
    std::uint64_t arrivals = 0;
    std::uint64_t copies = 0;  // of packets to groups, for every queue pair behind the first
    std::uint64_t accepted =
        0;  // by a queue pair: its machines know what to make of them, duplicates and NAKs included
    std::uint64_t departures = 0;
    std::array<std::uint64_t, kRefusalNames.size()> refused{};
    std::uint64_t marked = 0;  // arrived with congestion experienced
    std::uint64_t cnps_sent = 0;
    std::uint64_t cnps_received = 0;
    std::uint64_t events_lost = 0;  // beyond kMaxAsyncEvents
    [[nodiscard]] std::uint64_t of(Refusal why) const { return refused[static_cast<std::size_t>(why)]; }
};

inline constexpr std::size_t kVerbs = static_cast<std::size_t>(dissect::Verb::notify) + 1;
struct QpCounts {
    std::uint64_t packets_sent = 0;
    std::uint64_t packets_received = 0;
    std::uint64_t bytes_sent = 0;  // of payload
    std::uint64_t bytes_received = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t sequence_naks = 0;  // received
    std::uint64_t rnr_naks = 0;       // received
    std::uint64_t timeouts = 0;
    std::uint64_t ghosts = 0;  // responses to nothing outstanding
    std::uint64_t cnps_sent = 0;
    std::uint64_t cnps_received = 0;
    std::array<std::uint64_t, kVerbs> served{};  // messages of the peer that were executed, each once; by Verb
    [[nodiscard]] std::uint64_t of(dissect::Verb verb) const { return served[static_cast<std::size_t>(verb)]; }
};

struct QpStatus {
    QpState state = QpState::reset;
    QpInitAttr init{};
    QpAttr attr{};  // all that was ever set, and is
    QpCounts counts{};
    std::uint32_t sends = 0;                       // posted and not complete
    std::uint32_t receives = 0;                    // likewise, of its own queue
    std::optional<dissect::BitsPerSecond> rate{};  // where rate control limited it when something was last sent
};

// A shared receive queue of an XRC domain, and the number by which the peer's requests name it.
struct XrcSrq {
    Srq handle{};
    Srqn number{};
};

enum class MwType : std::uint8_t { type_1 = 1, type_2 = 2 };  // type 2: bound by a work request, to one queue pair
struct Window {
    Mw handle{};
    dissect::Rkey rkey{};
    MwType type = MwType::type_1;
};

struct AdapterState;  // adapter_state.hpp, nobody's but the adapter's

class Adapter {
public:
    explicit Adapter(const AdapterSettings& settings);
    Adapter(Adapter&&) noexcept;
    Adapter& operator=(Adapter&&) noexcept;
    ~Adapter();

    // Protection domains, memory. What is in use is busy. The bytes stay the caller's, and must stay, until dereg_mr().
    [[nodiscard]] Result<Pd> alloc_pd();
    [[nodiscard]] Result<void> dealloc_pd(Pd pd);
    [[nodiscard]] Result<Mr> reg_mr(Pd pd, dissect::MutableBytes bytes, Access access,
                                    std::optional<std::uint64_t> iova = std::nullopt);
    [[nodiscard]] Result<void> dereg_mr(dissect::Rkey lkey);
    // For fast registration by work requests (WrOpcode::reg_mr), of so many bytes at most; until then its key opens
    // nothing.
    [[nodiscard]] Result<Mr> alloc_mr(Pd pd, std::uint64_t max_length);
    [[nodiscard]] Result<Window> alloc_mw(Pd pd, MwType type);
    // Type 1: posts the bind to the queue pair's send queue; the new key.
    [[nodiscard]] Result<dissect::Rkey> bind_mw(dissect::Qpn qp, std::uint64_t wr_id, const MwBind& bind,
                                                SendFlags flags = {});
    [[nodiscard]] Result<void> dealloc_mw(Mw mw);

    // Completion queues. A notification is asked for once (req_notify_cq) and comes once.
    [[nodiscard]] Result<Cq> create_cq(std::uint32_t depth);
    [[nodiscard]] Result<void> resize_cq(Cq cq, std::uint32_t depth);
    [[nodiscard]] Result<void> destroy_cq(Cq cq);
    std::size_t poll_cq(Cq cq, std::span<Wc> into);
    [[nodiscard]] Result<void> req_notify_cq(Cq cq, bool solicited_only = false);
    [[nodiscard]] std::vector<Cq> take_notifications();

    // Shared receive queues. An armed limit (> 0) gives one event when fewer receives than that are left.
    [[nodiscard]] Result<Srq> create_srq(Pd pd, std::uint32_t max_wr, std::uint32_t max_sge = 4);
    // Of an XRC domain (A14): its messages complete in `cq`, and what comes through a target reaches the memory of
    // `pd`. It is busy while a target has received a part of a message into it.
    [[nodiscard]] Result<Xrcd> open_xrcd();
    [[nodiscard]] Result<void> close_xrcd(Xrcd xrcd);
    [[nodiscard]] Result<XrcSrq> create_xrc_srq(Pd pd, Xrcd xrcd, Cq cq, std::uint32_t max_wr,
                                                std::uint32_t max_sge = 4);
    [[nodiscard]] Result<void> modify_srq(Srq srq, std::uint32_t limit);
    [[nodiscard]] Result<void> destroy_srq(Srq srq);
    [[nodiscard]] Result<void> post_srq_recv(Srq srq, const RecvWr& wr);

    // Queue pairs. modify_qp() without qp_state changes attributes in the state it is in.
    [[nodiscard]] Result<dissect::Qpn> create_qp(const QpInitAttr& init);
    [[nodiscard]] Result<void> modify_qp(dissect::Qpn qp, const QpAttr& attr);
    [[nodiscard]] Result<QpStatus> query_qp(dissect::Qpn qp) const;
    [[nodiscard]] Result<void> destroy_qp(dissect::Qpn qp);
    [[nodiscard]] Result<void> post_send(dissect::Qpn qp, const SendWr& wr);
    [[nodiscard]] Result<void> post_recv(dissect::Qpn qp, const RecvWr& wr);
    [[nodiscard]] Result<void> attach_mcast(dissect::Qpn qp, const Address& group);
    [[nodiscard]] Result<void> detach_mcast(dissect::Qpn qp, const Address& group);
    // The groups somebody is attached to, for who must tell the network.
    [[nodiscard]] std::vector<Address> groups() const;

    [[nodiscard]] std::vector<AsyncEvent> take_async_events();

    // Queue pair 1, which always exists.
    [[nodiscard]] Result<void> send_datagram(const live::ManagementDatagram& datagram);
    [[nodiscard]] std::vector<live::ManagementDatagram> take_datagrams();

    // The wire.
    void process(const IncomingPacket& arrival, dissect::Instant now);
    // The next packet to send, or nothing: call until nothing comes.
    [[nodiscard]] std::optional<OutgoingPacket> poll(dissect::Instant now);
    // Bit n: nothing of priority n departs until another call (PAUSE and PFC). What was sent is as it was: answers to
    // it are taken, and its timers run; what they want to send again, like all else, waits until the priority is free,
    // and then counts as one retry.
    void hold(std::uint8_t priorities);
    // When poll() is due: kAtOnce where something is ready, a timer's time, or nothing at all.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;

    [[nodiscard]] const AdapterCounts& counts() const;
    [[nodiscard]] const AdapterSettings& settings() const;

private:
    std::unique_ptr<AdapterState> state_;
};

}  // namespace qps::transport::verbs
