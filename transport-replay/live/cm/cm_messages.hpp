// The messages of communication management as values, and their bytes: one list of fields for each, read and written by
// it.
//
// Fields lie where the tables of dissect/mad/cm.hpp say. read() believes nothing but places: any 232 bytes are a
// message. write() refuses a number that does not fit its field.
#pragma once

#include <transport-replay/live/cm/connection_values.hpp>
#include <transport-replay/live/cm/management_datagram.hpp>

#include <cstdint>
#include <expected>
#include <optional>

namespace qps::transport::live {

// What a REQ or LAP says of a path; from the sender's point of view.
struct CmPathFields {
    std::uint16_t local_lid = 0;
    std::uint16_t remote_lid = 0;
    Address local_gid{};
    Address remote_gid{};
    std::uint32_t flow_label = 0;
    std::uint8_t rate = 0;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
    std::uint8_t sl = 0;
    bool subnet_local = false;
    TimeoutCode ack_timeout{};
};

struct CmReq {
    std::uint32_t local_id = 0;
    VendorId vendor{};
    ServiceId service{};
    CaGuid guid{};
    dissect::Qkey qkey{};
    dissect::Qpn qpn{};
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    TimeoutCode remote_response_timeout{};
    TimeoutCode local_response_timeout{};
    std::uint8_t transport = 0;
    std::uint8_t extended_transport = 0;
    bool flow_control = false;
    dissect::Psn starting_psn{};
    std::uint8_t retry_count = 0;
    std::uint8_t rnr_retry_count = 0;
    dissect::Pkey pkey{};
    std::uint8_t mtu = 0;
    std::uint8_t max_retries = 0;
    bool shared_receive_queue = false;
    CmPathFields primary{};
    CmPathFields alternate{};
    CmPrivateBytes private_data{};
};

// 12.6.6: the message an MRA speaks of. 12.6.7: of a REJ 2 is "no message".
enum class CmAbout : std::uint8_t { req, rep, other };

struct CmMra {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    CmAbout about{};
    TimeoutCode service_timeout{};
    CmPrivateBytes private_data{};
};

struct CmRej {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    CmAbout about{};
    RejectReason reason{};
    std::uint8_t information_length = 0;
    RejectInformation information{};
    CmPrivateBytes private_data{};
};

struct CmRep {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    dissect::Qkey qkey{};
    dissect::Qpn qpn{};
    dissect::Qpn context{};  // EECN; of XRC the QPN (A14)
    dissect::Psn starting_psn{};
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    TimeoutCode target_ack_delay{};
    std::uint8_t failover_accepted = 0;
    bool flow_control = false;
    std::uint8_t rnr_retry_count = 0;
    bool shared_receive_queue = false;
    CaGuid guid{};
    CmPrivateBytes private_data{};
};

struct CmRtu {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    CmPrivateBytes private_data{};
};
struct CmDreq {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    dissect::Qpn remote_qpn{};
    CmPrivateBytes private_data{};
};
struct CmDrep {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    CmPrivateBytes private_data{};
};

struct CmLap {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    dissect::Qpn remote_qpn{};
    TimeoutCode remote_response_timeout{};
    CmPathFields path{};
    CmPrivateBytes private_data{};
};
struct CmApr {
    std::uint32_t local_id = 0;
    std::uint32_t remote_id = 0;
    AlternateStatus status{};
    CmPrivateBytes private_data{};
};

struct CmSidrReq {
    std::uint32_t request_id = 0;
    dissect::Pkey pkey{};
    ServiceId service{};
    CmPrivateBytes private_data{};
};
struct CmSidrRep {
    std::uint32_t request_id = 0;
    SidrStatus status{};
    dissect::Qpn qpn{};
    ServiceId service{};
    dissect::Qkey qkey{};
    CmPrivateBytes private_data{};
};

// Which message each of them is.
template <class Message> inline constexpr CmMessage kMessageOf = CmMessage::req;
template <> inline constexpr CmMessage kMessageOf<CmMra> = CmMessage::mra;
template <> inline constexpr CmMessage kMessageOf<CmRej> = CmMessage::rej;
template <> inline constexpr CmMessage kMessageOf<CmRep> = CmMessage::rep;
template <> inline constexpr CmMessage kMessageOf<CmRtu> = CmMessage::rtu;
template <> inline constexpr CmMessage kMessageOf<CmDreq> = CmMessage::dreq;
template <> inline constexpr CmMessage kMessageOf<CmDrep> = CmMessage::drep;
template <> inline constexpr CmMessage kMessageOf<CmSidrReq> = CmMessage::sidr_req;
template <> inline constexpr CmMessage kMessageOf<CmSidrRep> = CmMessage::sidr_rep;
template <> inline constexpr CmMessage kMessageOf<CmLap> = CmMessage::lap;
template <> inline constexpr CmMessage kMessageOf<CmApr> = CmMessage::apr;

inline constexpr std::uint8_t kCmClassVersion = 2;  // 16.7.1

// The message, of 232 bytes; addresses in it are of that space. Private data is all there is room for.
template <class Message> [[nodiscard]] Message read_message(dissect::Bytes body, AddressSpace space);

// The whole datagram but its addresses; nothing where a number does not fit its field, or private data its room.
template <class Message>
[[nodiscard]] std::optional<ManagementDatagram> write_message(Message message, std::uint64_t transaction);

}  // namespace qps::transport::live
