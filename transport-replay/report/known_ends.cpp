// Who is at the ends of each connection, learned while the capture is read.
#include <transport-replay/report/known_ends.hpp>

#include <utility>

namespace qps::transport {

void KnownEnds::learn(const Observation& observation, const PacketRecord& record) {
    if (!record.connection) return;
    const std::size_t uid = std::to_underlying(*record.connection);
    if (ends_.size() <= uid) ends_.resize(uid + 1);
    Endpoint& sender = ends_[uid][static_cast<std::size_t>(record.from)];
    Endpoint& receiver = ends_[uid][static_cast<std::size_t>(other(record.from))];
    sender.address = observation.flow.source;
    receiver.address = observation.flow.destination;
    receiver.qpn = observation.flow.destination_qp;
    if (observation.datagram) sender.qpn = observation.source_qp();
    if (observation.kind != ObservationKind::stream) return;
    sender.qpn = observation.flow.source_qp;
    sender.is_port = receiver.is_port = true;
}

const Endpoint& KnownEnds::end(ConnectionId connection, End end) const {
    static constexpr Endpoint kUnknown{};
    const std::size_t uid = std::to_underlying(connection);
    return uid < ends_.size() ? ends_[uid][static_cast<std::size_t>(end)] : kUnknown;
}

}  // namespace qps::transport
