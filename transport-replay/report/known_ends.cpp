// Learns who is at the ends of each connection while the capture is read.
#include <transport-replay/report/known_ends.hpp>

#include <utility>

namespace qps::transport {

void KnownEnds::learn(const Observation& observation, const PacketRecord& record) {
    if (!record.connection) return;
    auto& ends = ends_[*record.connection];
    Endpoint& sender = ends[static_cast<std::size_t>(record.from)];
    Endpoint& receiver = ends[static_cast<std::size_t>(other(record.from))];
    sender.address = observation.flow.source;
    receiver.address = observation.flow.destination;
    if (observation.kind == ObservationKind::ultra_ethernet) {  // 0: it names none
        if (observation.flow.destination_qp != dissect::Qpn{}) receiver.qpn = observation.flow.destination_qp;
        if (observation.flow.source_qp != dissect::Qpn{}) sender.qpn = observation.flow.source_qp;
        return;
    }
    receiver.qpn = observation.flow.destination_qp;
    if (observation.datagram) sender.qpn = observation.source_qp();
    if (observation.kind != ObservationKind::stream) return;
    sender.qpn = observation.flow.source_qp;
    sender.is_port = receiver.is_port = true;
}

const Endpoint& KnownEnds::end(ConnectionId connection, End end) const {
    static constexpr Endpoint kUnknown{};
    const auto found = ends_.find(connection);
    return found == ends_.end() ? kUnknown : found->second[static_cast<std::size_t>(end)];
}

}  // namespace qps::transport
