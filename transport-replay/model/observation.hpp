// Observation: what the transport machines need of one packet, and nothing else of it.
//
// Made from a decoded packet by any worker thread (observe()), consumed in the order of the capture by the trackers.
// It borrows the frame's bytes (payload, management datagram): they are valid only while the batch is. The hashes are
// of what is seen on the wire: changing a flow afterwards leaves them wrong.
#pragma once

#include <dissect/base/packet.hpp>
#include <transport-replay/model/address.hpp>

#include <optional>

namespace qps::transport {

// What kind of packet the trackers see. Everything else is not observed at all.
enum class ObservationKind : std::uint8_t {
    other,       // no RDMA, nothing for us; counted for the quality of the capture
    transport,   // a BTH that could be read
    unreadable,  // RDMA whose BTH the capture cut off
    pause,       // 802.3 PAUSE; the source of its flow is a MAC address, as that of the next
    pfc,         // priority flow control
    stream,  // TCP, which may carry iWARP. payload: its header and what follows; payload_length: what follows, on the
             // wire
    // A packet of Ultra Ethernet. Its flow has packet delivery contexts in place of queue pairs, 0 where it names none;
    // psn: the low bits of its PSN; payload: from its first header on; payload_length: what it carries of a message;
    // ack_request: its kind is answered; fault: trimmed where a switch cut it.
    ultra_ethernet,
    bridging,  // LLDP to the next bridge; the source of its flow is a MAC address. payload: its TLVs
    credits,   // flow control of an InfiniBand link. payload: its six bytes
};

struct RemoteAccess {  // RETH or AtomicETH
    std::uint64_t address = 0;
    dissect::Rkey key{};
    std::uint32_t length = 0;  // DMA length; 8 for atomics
    [[nodiscard]] bool operator==(const RemoteAccess&) const = default;
};

struct AtomicOperands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    [[nodiscard]] bool operator==(const AtomicOperands&) const = default;
};

struct Acknowledgment {  // AETH
    std::uint8_t syndrome = 0;
    dissect::Msn msn{};
    [[nodiscard]] std::uint8_t type() const { return syndrome >> 5 & 3; }  // SyndromeType
    [[nodiscard]] std::uint8_t code() const { return syndrome & 31; }
};

inline constexpr std::uint8_t kNoPcp = 0xff;  // no VLAN tag

// Laid out by cache lines: what every tracker asks of every packet stands in the first two, what few packets have
// behind.
struct alignas(64) Observation {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    FlowKey flow;
    std::uint64_t flow_hash = 0;  // FlowHash of it, of a TCP segment the same both ways; computed by the worker, as the
                                  // others are, to spare the one thread in order
    std::uint64_t packet_hash = 0;  // of all that a copy shares with its original (quality.hpp)
    std::uint32_t hosts_hash = 0;   // of its two addresses, the same both ways
    dissect::Psn psn;
    std::uint32_t wire_length = 0;
    std::uint32_t payload_length = 0;  // on the wire, without pad
    dissect::InterfaceId interface{};
    std::uint16_t ip_id = 0;
    std::uint16_t udp_source_port = 0;
    dissect::Pkey pkey{};
    ObservationKind kind = ObservationKind::other;
    dissect::Fault fault = dissect::Fault::none;
    dissect::Opcode opcode{};
    dissect::CrcStatus icrc = dissect::CrcStatus::not_applicable;
    dissect::Encapsulation encapsulation = dissect::Encapsulation::none;
    bool cut : 1 = false;  // the capture holds less than the wire carried
    bool has_time : 1 = true;
    bool datagram : 1 = false;  // a DETH names the queue pair it comes from
    bool ack_request : 1 = false;
    bool solicited : 1 = false;
    bool congestion_experienced : 1 = false;  // IP ECN 3, or FECN of native InfiniBand
    bool becn : 1 = false;
    bool management : 1 = false;  // a MAD: payload is the whole datagram
    bool about_hosts : 1 =
        false;  // ARP, or IP with neighbour discovery or an ICMP error: payload is from that header on
    std::uint8_t capture_port : 2 = 0;  // of ERF: each direction of a link has its own
    bool has_original : 1 = false;
    bool plain_link : 1 = false;  // RoCE right behind Ethernet or its one VLAN tag: its PCP is what the link goes by
    std::uint8_t dscp = 0;
    std::uint8_t pcp = kNoPcp;
    std::uint8_t hops = 0;   // TTL or hop limit: differs between two taps
    std::uint16_t vlan = 0;  // the innermost tag's VLAN; 0: none
    std::uint16_t file = 0;  // which of the files that are read together

    std::uint32_t icrc_found = 0;  // with ip_id: the same bytes on the wire have the same value
    NetworkId network{};
    std::optional<Acknowledgment> acknowledgment;
    dissect::Bytes payload;  // as far as captured; a pause frame: its parameters
    std::optional<RemoteAccess> access;
    std::optional<std::uint32_t> immediate;
    std::optional<dissect::Rkey> invalidate;
    std::optional<AtomicOperands> atomic;
    std::uint64_t original = 0;  // has_original
    dissect::BitsPerSecond link_speed{};
    std::uint64_t link_destination = 0;  // MAC address, or the eight bytes of an LRH (VL to source LID); 0: neither
    // What memory held before an ATOMIC.
    [[nodiscard]] std::optional<std::uint64_t> atomic_result() const {
        return has_original ? std::optional(original) : std::nullopt;
    }
    [[nodiscard]] std::optional<dissect::Qpn> source_qp() const {
        return datagram ? std::optional(flow.source_qp) : std::nullopt;
    }

    // Who sent it to whom is known, and what copies of it share.
    [[nodiscard]] bool has_hosts() const { return is_numbered() || kind == ObservationKind::stream; }
    // Its sender numbers packets, and sends none twice without a reason.
    [[nodiscard]] bool is_numbered() const {
        return kind == ObservationKind::transport || kind == ObservationKind::ultra_ethernet;
    }
};
static_assert(sizeof(Observation) == 256);  // four lines

void observe(const dissect::Packet& packet, Observation& observation);

}  // namespace qps::transport
