// Observation: what the transport machines need of one packet, and nothing else of it.
//
// Made from a decoded packet by any worker thread (observe()), consumed in the order of the capture by the trackers.
// It borrows the frame's bytes (payload, management datagram): they are valid only while the batch is.
#pragma once

#include <dissect/packet.hpp>
#include <transport-replay/address.hpp>

#include <optional>

namespace qps::transport {

// What kind of packet the trackers see. Everything else is not observed at all.
enum class ObservationKind : std::uint8_t {
    other,       // no RDMA, nothing for us; counted for the quality of the capture
    transport,   // a BTH that could be read
    unreadable,  // RDMA whose BTH the capture cut off
    pause,       // 802.3 PAUSE
    pfc,         // priority flow control
};

struct RemoteAccess {  // RETH or AtomicETH
    std::uint64_t address = 0;
    dissect::Rkey key{};
    std::uint32_t length = 0;  // DMA length; 8 for atomics
};

struct AtomicOperands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
};

struct Acknowledgment {  // AETH
    std::uint8_t syndrome = 0;
    dissect::Msn msn{};
    [[nodiscard]] std::uint8_t type() const { return syndrome >> 5 & 3; }  // SyndromeType
    [[nodiscard]] std::uint8_t code() const { return syndrome & 31; }
};

struct PauseTimes {            // PFC: all eight; PAUSE: the first, with enabled = 1
    std::uint8_t enabled = 0;  // bit n: the timer of priority n counts
    std::array<std::uint16_t, 8> quanta{};
};

inline constexpr std::uint8_t kNoPcp = 0xff;  // no VLAN tag

struct Observation {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    std::uint32_t wire_length = 0;
    dissect::InterfaceId interface{};
    ObservationKind kind = ObservationKind::other;
    dissect::Fault fault = dissect::Fault::none;
    bool cut = false;  // the capture holds less than the wire carried

    FlowKey flow;
    dissect::Encapsulation encapsulation = dissect::Encapsulation::none;
    dissect::Opcode opcode{};
    dissect::Psn psn;
    dissect::CrcStatus icrc = dissect::CrcStatus::not_applicable;
    std::uint32_t icrc_found = 0;  // with ip_id: the same bytes on the wire have the same value
    std::uint16_t ip_id = 0;
    bool ack_request = false;
    bool solicited = false;
    bool congestion_experienced = false;  // IP ECN 3, or FECN of native InfiniBand
    bool becn = false;
    std::uint8_t dscp = 0;
    std::uint8_t pcp = kNoPcp;
    std::uint8_t hops = 0;  // TTL or hop limit: differs between two taps
    std::uint16_t udp_source_port = 0;
    dissect::Pkey pkey{};
    std::optional<dissect::Qpn> source_qp;  // DETH
    std::optional<RemoteAccess> access;
    std::optional<AtomicOperands> atomic;
    std::optional<Acknowledgment> acknowledgment;
    std::optional<std::uint64_t> atomic_result;
    std::optional<std::uint32_t> immediate;
    std::optional<dissect::Rkey> invalidate;
    std::uint32_t payload_length = 0;  // on the wire, without pad
    dissect::Bytes payload;            // as far as captured
    bool management = false;           // a MAD: payload is the whole datagram
    PauseTimes pause;
    dissect::BitsPerSecond link_speed{};
};

void observe(const dissect::Packet& packet, Observation& observation);

}  // namespace qps::transport
