#include <transport-replay/live/verbs/general_services.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

std::optional<Refusal> GeneralServices::accept(const IncomingPacket& arrival) {
    const TransportPacket& packet = arrival.packet;
    if (packet.opcode != Opcode::ud_send_only) return Refusal::service;
    if (!packet.datagram || packet.datagram->key != live::kGsiQkey) return Refusal::qkey;
    live::ManagementDatagram datagram{.remote = arrival.source,
                                      .local = arrival.destination,
                                      .remote_qp = packet.datagram->source_qp,
                                      .pkey = packet.pkey};
    if (packet.payload.size() != datagram.bytes.size()) return Refusal::datagram_length;
    if (arrived_.size() >= kMaxDatagrams) return Refusal::datagram_queue;
    std::ranges::copy(packet.payload, datagram.bytes.begin());
    arrived_.push_back(datagram);
    return std::nullopt;
}

Result<void> GeneralServices::send(const live::ManagementDatagram& datagram) {
    if (datagram.remote.space == AddressSpace::none || is_multicast(datagram.remote))
        return std::unexpected(VerbsError::invalid_request);
    if (waiting_.size() >= kMaxDatagrams) return std::unexpected(VerbsError::queue_full);
    waiting_.push_back(datagram);
    return {};
}

TransportPacket GeneralServices::next(AddressHandle& to) {
    departing_ = waiting_.front();
    waiting_.pop_front();
    to = handle_to(departing_.remote);
    to.source = departing_.local;
    TransportPacket packet;
    packet.opcode = Opcode::ud_send_only;
    packet.pkey = departing_.pkey;
    packet.dest_qp = departing_.remote_qp;
    packet.psn = psn_;
    packet.datagram = Datagram{.key = live::kGsiQkey, .source_qp = kGsiQpn};
    packet.payload = departing_.bytes;
    psn_ = psn_ + 1;
    return packet;
}

}  // namespace qps::transport::verbs
