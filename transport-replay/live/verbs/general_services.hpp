// GeneralServices: queue pair 1, which takes and sends management datagrams of the GSI (13.3, C9-42, C13-3).
//
// Anybody may send to it: what is no unreliable datagram with its Q_Key and 256 bytes is refused; of the rest
// kMaxDatagrams wait to be taken, more are refused. What we send waits likewise.
#pragma once

#include <transport-replay/live/cm/management_datagram.hpp>
#include <transport-replay/live/verbs/adapter.hpp>
#include <transport-replay/queue_pair/ring.hpp>

namespace qps::transport::verbs {

class GeneralServices {
public:
    [[nodiscard]] std::optional<Refusal> accept(const IncomingPacket& arrival);
    [[nodiscard]] std::vector<live::ManagementDatagram> take() { return std::exchange(arrived_, {}); }

    [[nodiscard]] Result<void> send(const live::ManagementDatagram& datagram);
    [[nodiscard]] bool pending() const { return !waiting_.empty(); }
    // The packet of the datagram that waits longest, and where it goes; valid until the next call. There must be one.
    [[nodiscard]] TransportPacket next(AddressHandle& to);

private:
    std::vector<live::ManagementDatagram> arrived_;
    Ring<live::ManagementDatagram> waiting_;
    live::ManagementDatagram departing_{};
    dissect::Psn psn_{};
};

}  // namespace qps::transport::verbs
