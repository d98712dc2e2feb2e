// Connections: what rdma_cm is to an application: queue pairs are connected by address and port, and somebody else
// programs them.
//
// Stands between an application, the connection manager (live/cm), which knows messages, and the adapter (live/verbs),
// which knows queue pairs: what the exchange decided is what the queue pair is programmed with.
//
//   auto id = connections.connect(qp, {.address = peer, .port = IpPort{7174}}, {}, now);   // qp: just created
//   (void)connections.listen(PortSpace::tcp, IpPort{7174});
//   for (const ConnectionEvent& event : connections.take_events()) switch (event.kind) {
//       case ConnectionEventKind::request:      (void)connections.accept(event.id, new_qp(), {}, now); break;
//       case ConnectionEventKind::established:  start(event.local_qpn); break;        // of either side: the queue pair
//       is in RTS case ConnectionEventKind::disconnected: break;                                // it is in error, its
//       work was flushed case ConnectionEventKind::released:     (void)adapter.destroy_qp(event.local_qpn); break;
//       ...
//   }
//
// Events are those of the connection manager; `reply` never comes out (it becomes `established`), and a queue pair that
// cannot be programmed as the peer asks ends in `rejected`. Receives are posted before accept() or connect(): the queue
// pair is in INIT then.
//
// Everything in an event is the peer's word, bounded by the connection manager. Nothing grows here but events not yet
// taken, as many as the connection manager holds.
#pragma once

#include <transport-replay/live/cm/ip_cm.hpp>
#include <transport-replay/live/verbs/adapter.hpp>

#include <expected>
#include <map>
#include <optional>
#include <vector>

namespace qps::transport::live {

struct Target {
    Address address;  // of a peer
    IpPort port{};
    PortSpace space = PortSpace::tcp;
};

// What a connection is to be like; the peer may have less.
struct ConnectOptions {
    verbs::Access access{verbs::kEveryAccess};  // of peers, through the queue pair
    std::uint8_t responder_resources = 16;
    std::uint8_t initiator_depth = 16;
    // Code of our requester's timer, 1 to 31; where it is not set, CM derives one of the path's lifetime and of how
    // late the peer says it may answer: 19, 2.15 s, with Linux.
    std::optional<std::uint8_t> ack_timeout{};
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry_count = 7;  // 7: for ever
    std::uint8_t min_rnr_timer = 12;   // code of the table of 9.7.5.2.8: 0.64 ms
    bool shared_receive_queue = false;
    dissect::Bytes private_data{};  // copied
};

// What of a host the connections go out with; one address of each kind at most is used.
struct ConnectionSettings {
    std::vector<Address> addresses;
    PathMtu mtu = PathMtu::bytes_1024;  // of the path: the most a packet carries
    std::uint8_t dscp = 0;
    std::uint8_t sl = 0;
    std::uint64_t seed = 1;  // of first PSNs and of our ports
};

class Connections {
public:
    // Both must outlive this, and stay where they are.
    Connections(verbs::Adapter& adapter, ConnectionManager& manager, const ConnectionSettings& settings);

    [[nodiscard]] CmResult listen(PortSpace space, IpPort port);
    // The queue pair is in RESET or INIT, of type RC or UC. Fails where no address of ours is of the target's kind
    // (invalid_parameter).
    [[nodiscard]] std::expected<CmId, CmError> connect(dissect::Qpn qp, const Target& target,
                                                       const ConnectOptions& options, dissect::Instant now);
    // At `request`: the queue pair goes to RTS, the peer hears of it.
    [[nodiscard]] CmResult accept(CmId id, dissect::Qpn qp, const ConnectOptions& options, dissect::Instant now);
    [[nodiscard]] CmResult reject(CmId id, dissect::Bytes private_data, dissect::Instant now);
    // The queue pair goes to error at once, so that its work is flushed (as rdma_disconnect does).
    [[nodiscard]] CmResult disconnect(CmId id, dissect::Instant now);

    // Datagrams (SIDR): which queue pair and Q_Key serve a port; ends in `sidr_response`.
    [[nodiscard]] std::expected<CmId, CmError> resolve(const Target& target, dissect::Bytes private_data,
                                                       dissect::Instant now);
    // At `sidr_request`. The queue pair is brought to RTS by activate_datagrams().
    [[nodiscard]] CmResult answer(CmId id, dissect::Qpn qp, dissect::Qkey qkey, dissect::Bytes private_data,
                                  dissect::Instant now);
    // A UD queue pair from RESET to RTS with that Q_Key.
    [[nodiscard]] verbs::Result<void> activate_datagrams(dissect::Qpn qp, dissect::Qkey qkey);

    // Takes what the connection manager and the adapter have to tell. To be called before take_events(), and by
    // Endpoint::poll().
    void poll(dissect::Instant now);
    [[nodiscard]] std::vector<ConnectionEvent> take_events();
    // Events of the adapter that are nobody's here.
    [[nodiscard]] std::vector<verbs::AsyncEvent> take_async_events();

    // Our address of the same kind as another, or none.
    [[nodiscard]] Address source_for(const Address& destination) const;
    // How packets get there: from that address, with the DSCP and the service level of all connections.
    [[nodiscard]] verbs::AddressHandle path_to(const Address& destination) const;

private:
    struct Ours {
        dissect::Qpn qp{};
        ConnectOptions options;  // without private data
    };
    [[nodiscard]] verbs::Result<void> to_init(dissect::Qpn qp, const ConnectOptions& options, dissect::Pkey pkey);
    [[nodiscard]] verbs::Result<void> program(const Ours& ours, const ConnectionParameters& parameters,
                                              dissect::Psn expected);
    void take(ConnectionEvent event, dissect::Instant now);
    [[nodiscard]] bool refuse_unreadable(const ConnectionEvent& event, dissect::Instant now);
    void finish_active(ConnectionEvent& event, dissect::Instant now);
    [[nodiscard]] dissect::Psn next_psn();

    verbs::Adapter* adapter_;
    ConnectionManager* manager_;
    ConnectionSettings settings_;
    std::uint64_t draws_;
    std::uint16_t next_port_;
    std::map<std::uint32_t, Ours> ours_;                       // by CmId: connections that have a queue pair
    std::map<std::uint32_t, ConnectionParameters> requested_;  // by CmId: requests nobody has decided on
    std::vector<ConnectionEvent> events_;
    std::vector<verbs::AsyncEvent> async_;
};

}  // namespace qps::transport::live
