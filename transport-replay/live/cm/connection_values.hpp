// What a consumer and its connection manager tell each other: identifiers, paths, parameters, events, refusals. Values
// only.
//
// Everything that came from a peer was sanitised before it is in here: MTU codes are of the five that exist, depths and
// counts fit their fields and what both sides can do, timeouts are at most kLongestPeerTimeout. Private data is as long
// as its message has room for (12.6.5 to 12.11.2) and is the peer's word, byte for byte.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/cm/cm_machine.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qps::transport::live {

// A connection, an attempt at one, or a SIDR exchange, of one manager. Connections: the local communication ID
// (12.7.1).
enum class CmId : std::uint32_t {};
enum class ServiceId : std::uint64_t {};  // 12.7.3; ip_cm.hpp has those of TCP and UDP ports
enum class CaGuid : std::uint64_t {};     // 12.7.9: EUI-64 of a channel adapter
enum class VendorId : std::uint32_t {};   // 24 bits

// A CM timeout or lifetime: 4.096 us * 2^exponent, 5 bits (12.7.4). 20 is 4.3 s.
enum class TimeoutCode : std::uint8_t {};
[[nodiscard]] dissect::Duration duration_of(TimeoutCode code);
// The code of twice the lifetime plus a delay, rounded up: what a local ACK timeout is (12.7.34).
[[nodiscard]] TimeoutCode ack_timeout_from(TimeoutCode packet_lifetime, TimeoutCode ack_delay);

// The private data a message has room for, in bytes. A REQ of the RDMA IP CM service leaves 56 of its 92, a SIDR_REQ
// 180.
[[nodiscard]] std::size_t private_room(CmMessage message);
inline constexpr std::size_t kMostPrivateBytes = 224;  // of an RTU and a DREP (12.6.9, 12.6.11)
inline constexpr std::size_t kMostReasonBytes = 72;    // additional reject information (12.6.7)

// Bytes of bounded length, owned.
template <std::size_t kMost> class ShortBytes {
public:
    constexpr ShortBytes() = default;
    // What does not fit is cut off: compare sizes first.
    constexpr explicit ShortBytes(dissect::Bytes bytes) : size_(bytes.size() < kMost ? bytes.size() : kMost) {
        for (std::size_t i = 0; i < size_; ++i) bytes_[i] = bytes[i];
    }
    [[nodiscard]] constexpr dissect::Bytes bytes() const { return dissect::Bytes(bytes_).first(size_); }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr bool operator==(const ShortBytes&) const = default;

private:
    std::array<std::byte, kMost> bytes_{};
    std::size_t size_ = 0;
};
using CmPrivateBytes = ShortBytes<kMostPrivateBytes>;
using RejectInformation = ShortBytes<kMostReasonBytes>;

enum class CmTransport : std::uint8_t { rc, uc, rd, xrc };  // 12.6.5; XRC: A14

// How the packets of a connection travel, seen from here (12.7.10 ff).
struct CmPath {
    Address local{};
    Address remote{};
    TimeoutCode packet_lifetime{18};  // 12.7.34: one way; what Linux 6.1 takes for RoCE
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 64;   // 0 or 1: does not leave the subnet, LIDs count
    std::uint32_t flow_label = 0;  // 20 bits
    std::uint8_t sl = 0;           // 4 bits
    std::uint8_t rate = 0;         // kRates; 0: the port's
    std::uint16_t local_lid = 0;   // InfiniBand only
    std::uint16_t remote_lid = 0;
    [[nodiscard]] bool operator==(const CmPath&) const = default;
};

// What connect() asks for. The defaults are what rdma_cm of Linux 6.1 asks for.
struct ConnectRequest {
    ServiceId service{};
    CmPath path{};
    std::optional<CmPath> alternate{};
    CmTransport transport = CmTransport::rc;
    dissect::Qpn local_qpn{};
    dissect::Psn starting_psn{};  // the first that the PEER shall send us (12.7.31)
    PathMtu mtu = PathMtu::bytes_1024;
    std::uint8_t responder_resources = 1;  // READs and atomics we answer at a time
    std::uint8_t initiator_depth = 1;      // READs and atomics we want outstanding
    std::uint8_t retry_count = 7;          // 3 bits, of both sides' requesters
    std::uint8_t rnr_retry_count = 7;      // 3 bits, of the PEER's requester (12.7.28); 7: for ever
    bool flow_control = true;              // end-to-end credits
    bool shared_receive_queue = false;
    dissect::Pkey pkey{0xffff};
    dissect::Qkey qkey{};  // RD only
    VendorId vendor{};
    TimeoutCode remote_response_timeout{20};  // how soon the peer has to answer
    TimeoutCode local_response_timeout{20};   // how soon we answer
    std::uint8_t max_retries = 15;            // 4 bits, of every message of the exchange, both sides
    dissect::Bytes private_data{};            // copied
};

// What accept() grants. Depths are cut down to what the REQ offered.
struct AcceptParameters {
    dissect::Qpn local_qpn{};
    dissect::Psn starting_psn{};  // the first that the peer shall send us
    std::uint8_t responder_resources = 1;
    std::uint8_t initiator_depth = 1;
    std::uint8_t rnr_retry_count = 7;  // of the peer's requester
    bool flow_control = true;
    bool shared_receive_queue = false;
    dissect::Qkey qkey{};
    dissect::Bytes private_data{};
};

// 12.6.7.2. Named in dissect/mad/names.hpp.
enum class RejectReason : std::uint16_t {
    no_qp = 1,
    no_eec = 2,
    no_resources = 3,
    timeout = 4,
    unsupported = 5,
    invalid_communication_id = 6,
    invalid_communication_instance = 7,
    invalid_service_id = 8,
    invalid_transport = 9,
    stale_connection = 10,
    rdc_does_not_exist = 11,
    primary_gid = 12,
    primary_lid = 13,
    primary_sl = 14,
    primary_traffic_class = 15,
    primary_hop_limit = 16,
    primary_rate = 17,
    alternate_gid = 18,
    alternate_lid = 19,
    alternate_sl = 20,
    alternate_traffic_class = 21,
    alternate_hop_limit = 22,
    alternate_rate = 23,
    port_and_cm_redirect = 24,
    port_redirect = 25,
    invalid_mtu = 26,
    insufficient_resources = 27,
    consumer = 28,
    rnr_retry_count = 29,
    duplicate_communication_id = 30,
    class_version = 31,
    primary_flow_label = 32,
    alternate_flow_label = 33,
    vendor_option = 35,
};

// 12.8.2.1 and 12.11.2.1.
enum class AlternateStatus : std::uint8_t {
    loaded,
    invalid_id,
    unsupported,
    rejected,
    redirect,
    is_current,
    qpn,
    lid,
    gid
};
enum class SidrStatus : std::uint8_t { valid, no_service, rejected, no_qp, redirect, version };

struct Rejection {
    RejectReason reason = RejectReason::consumer;
    RejectInformation information{};  // ARI: what it means depends on the reason
    CmPrivateBytes private_data{};
    bool by_peer = false;  // else this manager gave it up
    [[nodiscard]] bool operator==(const Rejection&) const = default;
};

// What to program the queue pair with: everything of RTR and RTS that the exchange decided.
struct ConnectionParameters {
    CmTransport transport = CmTransport::rc;
    dissect::Qpn remote_qpn{};
    dissect::Psn
        local_psn{};  // what we announced: the first that our responder expects; of a request not accepted yet 0
    dissect::Psn remote_psn{};  // what the peer announced: the first of our requester
    PathMtu mtu = PathMtu::bytes_1024;
    std::uint8_t responder_resources = 0;  // ours
    std::uint8_t initiator_depth = 0;      // ours
    TimeoutCode ack_timeout{};             // of our requester; 0: none
    std::uint8_t retry_count = 0;
    std::uint8_t rnr_retry_count = 0;
    bool flow_control = false;  // the peer's responder sends credits
    bool remote_shared_receive_queue = false;
    dissect::Pkey pkey{0xffff};
    dissect::Qkey remote_qkey{};
    CmPath path{};
    std::optional<CmPath> alternate{};
    [[nodiscard]] bool operator==(const ConnectionParameters&) const = default;
};

enum class ConnectionEventKind : std::uint8_t {
    request,       // passive: a REQ for a service that is listened to. accept(), reject() or delay() it
    reply,         // active: a REP. Program the queue pair, then ready() (or reject())
    established,   // passive: RTU or first packet came. (Active: ready() is it)
    rejected,      // the attempt is over; `rejection` says why and by whom
    unreachable,   // the attempt is over: nobody answered
    delayed,       // the peer sent an MRA: it needs time
    disconnected,  // a connection is over: DREQ, DREP, stale, or REJ. The queue pair goes to error. (Also of one whose
                   // `established` never came: the DREQ overtook the RTU.)
    released,      // TIMEWAIT is over: the queue pair's number may be used again. Last event of any id
    alternate_request,   // passive: a LAP. answer_alternate() it
    alternate_response,  // active: an APR
    sidr_request,        // a SIDR_REQ for a service that is listened to. sidr_reply() it
    sidr_response,       // a SIDR_REP
};
inline constexpr std::array<std::string_view, 12> kConnectionEventNames{
    "request",      "reply",    "established",       "rejected",           "unreachable",  "delayed",
    "disconnected", "released", "alternate_request", "alternate_response", "sidr_request", "sidr_response"};
[[nodiscard]] constexpr std::string_view name(ConnectionEventKind kind) {
    return kConnectionEventNames[static_cast<std::size_t>(kind)];
}

// How a connection ended.
enum class Parting : std::uint8_t {
    by_peer,     // its DREQ
    by_us,       // our DREQ was answered
    unanswered,  // our DREQ was not
    stale,       // the peer asked for another connection of the same queue pair (12.9.8.3.1)
    rejected,    // it sent a REJ: it knows of no such connection
    abandoned,   // abandon()
};

struct SidrAnswer {
    SidrStatus status = SidrStatus::valid;
    dissect::Qpn qpn{};
    dissect::Qkey qkey{};
    ServiceId service{};
    [[nodiscard]] bool operator==(const SidrAnswer&) const = default;
};

struct ConnectionEvent {
    ConnectionEventKind kind{};
    CmId id{};
    dissect::Qpn local_qpn{};                           // of the connection, where it has one already
    ServiceId service{};                                // request, sidr_request: what was asked for
    Address remote{};                                   // and by whom
    Address local{};                                    // at which of our addresses
    ConnectionParameters parameters{};                  // request, reply, established
    CmPrivateBytes private_data{};                      // of the message the event stands for
    Rejection rejection{};                              // rejected
    Parting parting{};                                  // disconnected
    CmPath alternate{};                                 // alternate_request
    std::optional<AlternateStatus> alternate_status{};  // alternate_response: nothing where the peer did not answer
    SidrAnswer sidr{};                                  // sidr_response
    dissect::Pkey pkey{};                               // sidr_request
    bool last = false;                                  // nothing more will be said of this id
};

// Why a call was refused. Nothing changed.
enum class CmError : std::uint8_t {
    unknown_id,         // over already, or never was
    wrong_state,        // the state machine has no such edge
    private_data_long,  // longer than private_room() of the message
    invalid_parameter,  // a number that does not fit its field, a service already listened to, a transport we lack
    too_many,           // kMaxCmIds, kMaxCmListeners
};
inline constexpr std::array<std::string_view, 5> kCmErrorNames{"unknown_id", "wrong_state", "private_data_long",
                                                               "invalid_parameter", "too_many"};
[[nodiscard]] constexpr std::string_view name(CmError error) { return kCmErrorNames[static_cast<std::size_t>(error)]; }

}  // namespace qps::transport::live
