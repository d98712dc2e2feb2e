// ConnectionManager: chapter 12 of one port, both sides of it, sans I/O: management datagrams of queue pair 1 and time
// are arguments, events are values. It never touches a queue pair: events carry what to program it with.
//
//   ConnectionManager manager({.seed = 7, .guid = CaGuid{0x0200'00ff'fe00'0001}});
//   (void)manager.listen(ip_service(PortSpace::tcp, IpPort{7174}));             // ip_cm.hpp
//   for (;;) {                                                                  // woken by a datagram or at poll_at()
//       if (arrived) manager.process(*arrived, now);
//       while (auto datagram = manager.poll(now)) send_datagram(*datagram);
//       for (const ConnectionEvent& event : manager.take_events()) switch (event.kind) {
//           case ConnectionEventKind::request:                                  // passive side
//               program(qp, event.parameters, RTR);                             // remote QPN, PSNs, MTU, path, depths
//               (void)manager.accept(event.id, {.local_qpn = qp, .starting_psn = psn}, now);
//               break;                                                          // RTS at `established`
//           case ConnectionEventKind::reply:                                    // active side, after connect()
//               program(qp, event.parameters, RTS);
//               (void)manager.ready(event.id, {}, now);                         // the RTU; it is established
//               break;
//           case ConnectionEventKind::disconnected: to_error(event.local_qpn); break;
//           case ConnectionEventKind::released: free(event.local_qpn); break;   // TIMEWAIT is over
//           ...
//       }
//   }
//
// Invariants: every id ends with one event whose `last` is set, and is unknown from then on; one that the consumer
// itself refused or abandoned before it was a connection ends without. A datagram that has no edge in the tables of
// cm_end_machine.hpp changes nothing and is counted by name. The same calls give the same datagrams and events: ids
// come from the seed.
//
// An attacker could feed any bytes from any address in any order. Ids are believed only from the address of their
// connection and beside the peer's own id. What grows: attempts nobody has decided on (kMaxHalfOpen: the oldest are
// refused with REJ "no resources"), connections (kMaxCmIds), answers under way (kMaxCmAnswers), events not taken
// (kMaxCmEvents), services listened to (kMaxCmListeners). Times that a peer asks for end at kLongestPeerTimeout.
#pragma once

#include <transport-replay/live/cm/connection_values.hpp>
#include <transport-replay/live/cm/management_datagram.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace qps::transport::live {

inline constexpr std::size_t kMaxHalfOpen = 1024;  // what listen backlogs of hosts are; 2 MiB
inline constexpr std::size_t kMaxCmIds =
    1U << 14;  // those in TIMEWAIT and refused ones that are remembered included; 32 MiB
inline constexpr std::size_t kMaxRemembered = 1024;     // answers kept for repetitions of what they answer
inline constexpr std::size_t kMaxCmAnswers = 1U << 12;  // datagrams to send at once, 1 MiB; more are lost, as on a wire
inline constexpr std::size_t kMaxCmEvents = 1U << 12;   // not taken; beyond it REQs and SIDR_REQs are ignored
inline constexpr std::size_t kMaxCmListeners = 256;
inline constexpr TimeoutCode kLongestPeerTimeout{24};  // 68.7 s: what Linux asks for in an MRA
inline constexpr TimeoutCode kShortestPeerTimeout{8};  // 1 ms: 15 retries are no flood
inline constexpr TimeoutCode kLongestTimewait{
    21};  // 8.6 s: far above paths that exist (17 to 19), and records must end

// A live peer needs a seed of its own for every start and a GUID nobody else has: Linux knows a peer's messages by its
// GUID and communication ID, and takes a REQ or REP with a pair it still remembers for a repetition, in silence.
struct ManagerSettings {
    std::uint64_t seed = 1;                  // of communication and transaction ids
    CaGuid guid{};                           // of this channel adapter
    TimeoutCode ack_delay{15};               // how late our responder may acknowledge (12.7.33); 134 ms, as rxe says
    PathMtu mtu = PathMtu::bytes_4096;       // the largest of our port
    std::uint8_t responder_resources = 128;  // the most of a queue pair
    std::uint8_t initiator_depth = 128;
    std::vector<dissect::Pkey> pkeys{kDefaultPkey};
    TimeoutCode service_timeout{24};  // what an MRA of our own accord asks for
    bool automatic_mra = true;        // a repeated REQ or REP the consumer has not decided on is answered with an MRA
    bool alternate_paths = false;     // else a proposed one is not accepted, and a LAP answered "unsupported"
    bool xrc = true;                  // accepts requests for XRC (A14)
};

enum class ListenKind : std::uint8_t { connections, datagrams };  // REQ or SIDR_REQ

struct SidrRequest {
    ServiceId service{};
    CmPath path;
    dissect::Pkey pkey{0xffff};
    TimeoutCode response_timeout{20};
    std::uint8_t max_retries = 15;
    dissect::Bytes private_data{};  // copied
};

// Why a datagram was not believed. Only upwards.
enum class CmRefusal : std::uint8_t {
    base_version,      // not 1 (13.4.3)
    management_class,  // not communication management
    class_version,     // not 2: a REQ is answered with REJ "class version"
    method,            // not Send (16.7.2), or a status that is not 0
    attribute,         // none of CM's
    source_qp,         // not from QP 1
    pkey,              // of no partition of ours
    unknown_id,        // speaks of no connection of ours
    wrong_peer,        // an id of ours from another address, or beside another id than the peer's
    wrong_qpn,         // DREQ, LAP: of another queue pair
    wrong_state,       // no edge: out of order, or too late
    repetition,        // said before, and answered again where it must be
    malformed,         // fields that cannot be: a REQ without QPN, a message MRAed that is none
    half_open,         // REQ: too many that nobody has decided on; the oldest made room
    full,              // REQ, SIDR_REQ: kMaxCmIds or kMaxCmEvents
    answers,           // an answer was not sent: kMaxCmAnswers
    mra,               // more MRAs than repetitions could have asked for
};
inline constexpr std::array<std::string_view, 17> kCmRefusalNames{
    "base_version", "management_class", "class_version", "method",    "attribute",   "source_qp",
    "pkey",         "unknown_id",       "wrong_peer",    "wrong_qpn", "wrong_state", "repetition",
    "malformed",    "half_open",        "full",          "answers",   "mra"};

struct ManagerCounts {
    std::array<std::uint64_t, kCmMessages> received{};  // by CmMessage, repetitions included
    std::array<std::uint64_t, kCmMessages> sent{};
    std::array<std::uint64_t, kCmRefusalNames.size()> refused{};
    std::uint64_t retries = 0;   // of what was sent, because nobody answered
    std::uint64_t timeouts = 0;  // exchanges given up
    [[nodiscard]] std::uint64_t of(CmRefusal refusal) const { return refused[static_cast<std::size_t>(refusal)]; }
    [[nodiscard]] bool operator==(const ManagerCounts&) const = default;
};

using CmResult = std::expected<void, CmError>;

class ConnectionManager {
public:
    explicit ConnectionManager(const ManagerSettings& settings);
    ConnectionManager(ConnectionManager&&) noexcept;
    ConnectionManager& operator=(ConnectionManager&&) noexcept;
    ~ConnectionManager();

    // Passive side. A service is all ids that agree with `service` in the bits of `mask`.
    [[nodiscard]] CmResult listen(ServiceId service, ListenKind kind = ListenKind::connections,
                                  std::uint64_t mask = ~std::uint64_t{0});
    [[nodiscard]] CmResult stop_listening(ServiceId service);
    [[nodiscard]] CmResult accept(CmId id, const AcceptParameters& parameters, dissect::Instant now);
    // MRA: the consumer needs the time of that code. Of a REQ, a REP or a LAP, whatever is undecided.
    [[nodiscard]] CmResult delay(CmId id, TimeoutCode service_timeout, dissect::Bytes private_data,
                                 dissect::Instant now);

    // Active side.
    [[nodiscard]] std::expected<CmId, CmError> connect(const ConnectRequest& request, dissect::Instant now);
    [[nodiscard]] CmResult ready(CmId id, dissect::Bytes private_data, dissect::Instant now);

    // Both. reject(): of a REQ or a REP that is undecided. `information` is the ARI (12.6.7.2).
    [[nodiscard]] CmResult reject(CmId id, RejectReason reason, dissect::Bytes information, dissect::Bytes private_data,
                                  dissect::Instant now);
    [[nodiscard]] CmResult disconnect(CmId id, dissect::Bytes private_data, dissect::Instant now);
    // Whatever state it is in: the peer is told what fits (REJ or DREQ), no answer is waited for.
    [[nodiscard]] CmResult abandon(CmId id, dissect::Instant now);
    // A packet came for that queue pair of ours: what an RTU says, where that was lost (12.9.7.1). Cheap to call for
    // nothing.
    void communication_established(dissect::Qpn local, dissect::Instant now);

    // Alternate paths, by the active side of an RC connection (12.8).
    [[nodiscard]] CmResult load_alternate(CmId id, const CmPath& path, dissect::Bytes private_data,
                                          dissect::Instant now);
    [[nodiscard]] CmResult answer_alternate(CmId id, AlternateStatus status, dissect::Bytes private_data,
                                            dissect::Instant now);

    // Datagram services (12.11).
    [[nodiscard]] std::expected<CmId, CmError> sidr_request(const SidrRequest& request, dissect::Instant now);
    [[nodiscard]] CmResult sidr_reply(CmId id, const SidrAnswer& answer, dissect::Bytes private_data,
                                      dissect::Instant now);

    void process(const ManagementDatagram& datagram, dissect::Instant now);
    // The next datagram to send at `now`, or nothing: call until nothing comes. Notices expired timers.
    [[nodiscard]] std::optional<ManagementDatagram> poll(dissect::Instant now);
    // When poll() is due: the lowest instant where a datagram is ready, a timer's time, or nothing at all.
    [[nodiscard]] std::optional<dissect::Instant> poll_at() const;
    // What happened since the last call, in order.
    [[nodiscard]] std::vector<ConnectionEvent> take_events();

    [[nodiscard]] const ManagerCounts& counts() const;
    [[nodiscard]] std::size_t size() const;       // ids that are known
    [[nodiscard]] std::size_t half_open() const;  // of these: requests of peers that are no connections yet

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport::live
