// Packets of RoCEv2, made one by one from a few numbers, into an analysis: for tests of many connections, where
// building and decoding frames would take the time.
#pragma once

#include <transport-replay/analysis/analysis.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace qps::tests {

inline constexpr std::uint8_t kRcSendFirst = 0x00, kRcSendMiddle = 0x01, kRcSendOnly = 0x04, kRcAcknowledge = 0x11,
                              kUcSendOnly = 0x24;
inline constexpr std::uint8_t kAccessError = 0x62;  // syndrome: NAK, remote access error

struct AnalysedWire {
    explicit AnalysedWire(transport::AnalysisSettings settings = {}) : analysis(std::move(settings)) {}

    transport::Analysis analysis;
    std::uint64_t clock = 0;
    std::uint64_t nanoseconds = 0;  // where the test keeps time itself
    dissect::Bytes payload{};       // of what carries some
    std::uint32_t payload_length = 16;
    std::optional<transport::RemoteAccess> access{};  // of requests

    static transport::Address host(std::uint32_t number) {
        return {{0, std::uint64_t{0xffff0a000000} | number}, transport::AddressSpace::roce_v2};
    }

    transport::PacketRecord packet(std::uint32_t from, std::uint32_t to, std::uint32_t qp, std::uint8_t opcode,
                                   std::uint32_t psn, std::uint8_t syndrome = 0) {
        transport::Observation made;
        made.kind = transport::ObservationKind::transport;
        made.encapsulation = dissect::Encapsulation::roce_v2;
        made.frame = dissect::FrameIndex{++clock};
        made.time = dissect::Instant{static_cast<std::int64_t>(nanoseconds != 0 ? nanoseconds : clock * 1000)};
        made.flow = {host(from), host(to), dissect::Qpn{qp}, {}};
        made.flow_hash = transport::FlowHash{}(made.flow);
        made.packet_hash = transport::mix(clock);
        made.opcode = static_cast<dissect::Opcode>(opcode);
        made.psn = dissect::Psn(psn);
        made.ip_id = static_cast<std::uint16_t>(clock);
        made.wire_length = 100;
        made.payload_length = opcode == kRcAcknowledge ? 0 : payload_length;
        if (opcode != kRcAcknowledge) made.payload = payload;
        made.ack_request = opcode == kRcSendOnly;
        if (opcode != kRcAcknowledge) made.access = access;
        if (opcode == kRcAcknowledge) made.acknowledgment = transport::Acknowledgment{syndrome, dissect::Msn{1}};
        return analysis.observe(made);
    }
    // A SEND and its ACK, of a connection of host 1 with host 2.
    void exchange(std::uint32_t connection, std::uint32_t psn, std::uint8_t syndrome = 0) {
        packet(1, 2, 0x100000 + connection, kRcSendOnly, psn);
        packet(2, 1, 0x800000 + connection, kRcAcknowledge, psn, syndrome);
    }
};

}  // namespace qps::tests
