// What a ConnectionManager is inside: its table, its queues and the steps that calls, datagrams and timers share.
//
// Private to the sources of the manager. Invariant: only advance() changes the state of a record, and only along an
// edge of kCmEndMachine; a record that becomes `closed` is forgotten with close() at once.
#pragma once

#include <transport-replay/live/cm/cm_messages.hpp>
#include <transport-replay/live/cm/communication.hpp>
#include <transport-replay/live/cm/connection_table.hpp>

#include <deque>
#include <limits>
#include <map>

namespace qps::transport::live {

inline constexpr dissect::Instant kCmAtOnce{std::numeric_limits<std::int64_t>::min()};

struct ConnectionManager::State {
    explicit State(const ManagerSettings& chosen) : settings(chosen), table(chosen.seed) {}

    // --- what is said ---
    [[nodiscard]] std::uint64_t new_transaction();
    // Puts addresses on a datagram of that connection.
    [[nodiscard]] static ManagementDatagram addressed(ManagementDatagram datagram, const CmConnection& connection);
    void send(const ManagementDatagram& datagram);
    template <class Message>
    void send(const CmConnection& connection, const Message& message, std::uint64_t transaction) {
        if (const auto datagram = write_message(message, transaction)) send(addressed(*datagram, connection));
    }
    // An answer that no record stands behind.
    template <class Message>
    void answer(const ManagementDatagram& to, const Message& message, std::uint64_t transaction) {
        if (auto datagram = write_message(message, transaction)) {
            datagram->remote = to.remote;
            datagram->local = to.local;
            datagram->pkey = to.pkey;
            send(*datagram);
        }
    }
    [[nodiscard]] ConnectionEvent event_of(const CmConnection& connection, ConnectionEventKind kind) const;
    void emit(const CmConnection& connection, const ConnectionEvent& event);
    void refuse(CmRefusal refusal) { ++counts.refused[static_cast<std::size_t>(refusal)]; }

    // --- steps of a record ---
    [[nodiscard]] bool advance(CmConnection& connection, CmEndEvent event);
    [[nodiscard]] bool advance(CmConnection& connection, AlternateEvent event);
    void close(CmConnection& connection) { table.erase(connection.id); }
    // To say it again and again from now on until it is answered.
    void say(CmConnection& connection, const ManagementDatagram& datagram);
    void say_alternate(CmConnection& connection, const ManagementDatagram& datagram);
    void enter_timewait(CmConnection& connection, dissect::Instant now);
    // It was a connection, and is one no longer.
    void part(CmConnection& connection, Parting parting, dissect::Bytes private_data);
    // Sends a REJ and keeps it for repetitions; the record is in `rejected` or TIMEWAIT by then.
    void refuse_peer(CmConnection& connection, const Rejection& rejection, CmAbout about, dissect::Instant now);
    void remember(CmConnection& connection, dissect::Instant now);
    void begin_stale(CmConnection& connection);
    void send_delay(CmConnection& connection, CmAbout about, TimeoutCode service_timeout, dissect::Bytes private_data,
                    std::uint64_t transaction);
    // The records the bound asks for; false where there is no room for another one.
    [[nodiscard]] bool make_room();
    void crowd_out(CmConnection& connection, dissect::Instant now);
    [[nodiscard]] Rejection timeout_rejection() const;

    // --- the consumer's record, or why not ---
    [[nodiscard]] std::expected<CmConnection*, CmError> use(CmId id);
    [[nodiscard]] std::expected<CmConnection*, CmError> use(CmId id, CmEndEvent event, CmMessage message,
                                                            dissect::Bytes private_data);

    // --- arrivals ---
    void on_req(const ManagementDatagram& datagram, std::uint64_t transaction, dissect::Instant now);
    void on_repeated_req(CmConnection& connection, const ManagementDatagram& datagram, dissect::Instant now);
    void begin_passive(const CmReq& req, const ManagementDatagram& datagram, std::uint64_t transaction,
                       dissect::Instant now);
    void on_mra(const ManagementDatagram& datagram, dissect::Instant now);
    void on_rej(const ManagementDatagram& datagram, dissect::Instant now);
    void on_rep(const ManagementDatagram& datagram, std::uint64_t transaction, dissect::Instant now);
    void on_repeated_rep(CmConnection& connection, dissect::Instant now);
    void on_rtu(const ManagementDatagram& datagram);
    void on_dreq(const ManagementDatagram& datagram, std::uint64_t transaction, dissect::Instant now);
    void on_drep(const ManagementDatagram& datagram, dissect::Instant now);
    void on_lap(const ManagementDatagram& datagram, std::uint64_t transaction);
    void on_apr(const ManagementDatagram& datagram, std::uint64_t transaction);
    void on_sidr_req(const ManagementDatagram& datagram, std::uint64_t transaction, dissect::Instant now);
    void on_sidr_rep(const ManagementDatagram& datagram);
    // The connection a message speaks of, or nullptr and a count. `theirs`: the sender's id.
    [[nodiscard]] CmConnection* match(const ManagementDatagram& datagram, std::uint32_t ours, std::uint32_t theirs);
    [[nodiscard]] bool listens(ServiceId service, ListenKind kind) const;

    // --- timers ---
    void on_timer(CmConnection& connection, dissect::Instant now);
    void on_alternate_timer(CmConnection& connection, dissect::Instant now);
    void give_up(CmConnection& connection, dissect::Instant now);

    struct Listener {
        ListenKind kind{};
        std::uint64_t mask = 0;
    };
    ManagerSettings settings;
    ManagerCounts counts;
    ConnectionTable table;
    std::map<ServiceId, Listener> listeners;
    std::deque<ManagementDatagram> outgoing;
    std::vector<ConnectionEvent> events;
    std::uint64_t transactions = 0;
};

// A time a peer asked for, within bounds.
[[nodiscard]] constexpr TimeoutCode bounded(TimeoutCode code) {
    return code < kShortestPeerTimeout ? kShortestPeerTimeout : code > kLongestPeerTimeout ? kLongestPeerTimeout : code;
}
// How long the peer may take to answer: its response time and the way there and back.
[[nodiscard]] dissect::Duration answer_time(TimeoutCode response, TimeoutCode way);
// How long something is kept for the peer's repetitions.
[[nodiscard]] dissect::Duration patience(const CmConnection& connection);
[[nodiscard]] dissect::Duration timewait_of(TimeoutCode ack_timeout);

[[nodiscard]] CmPathFields fields_of(const CmPath& path, TimeoutCode ack_delay);
// The path of the peer's fields as it is seen from here.
[[nodiscard]] CmPath path_of(const CmPathFields& fields);

[[nodiscard]] constexpr std::uint32_t wire(CmId id) { return static_cast<std::uint32_t>(id); }

}  // namespace qps::transport::live
