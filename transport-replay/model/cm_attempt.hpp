// Attempts at connections, as CM messages tell of them, or the set-up frames of MPA: what CmTracker (cm/cm_ladder.hpp)
// and IwarpTracker report. Values; what was not captured is nothing, not zero. Bounds are the tracker's.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/model/cm_states.hpp>
#include <transport-replay/model/mpa_set_up.hpp>

#include <vector>

namespace qps::transport {

inline constexpr std::size_t kPrivateBytesKept = 64;  // what upper protocols put there: NVMe 32, iSER 28, RDS 24

struct CmRung {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    CmMessage message{};
    bool from_active = false;
    bool duplicate = false;  // the same message of the same side was there before
    bool refused = false;    // it cannot come in that state, or from that side
    CmState state{};         // after it
};

// Private data of the consumer, behind the header of the RDMA IP CM service where there is one.
struct PrivateData {
    std::uint16_t room = 0;  // bytes the message has for it
    std::uint16_t used = 0;  // bytes up to the last that is not zero, as far as captured
    std::array<std::byte, kPrivateBytesKept> first{};
    [[nodiscard]] dissect::Bytes bytes() const { return dissect::slice(first, 0, used); }
};

enum class CmService : std::uint8_t {
    rc,
    uc,
    rd,
    xrc,
    other,
    datagram,
    iwarp
};  // 12.6.5; A14; datagram: SIDR; iwarp: MPA
[[nodiscard]] std::string_view name(CmService service);  // "RC"

// What a side says of itself in its REQ or REP. Nothing: not seen or not captured.
struct CmSide {
    Address address;
    std::optional<std::uint32_t> communication_id;
    std::optional<dissect::Qpn> qpn;
    std::optional<dissect::Psn> starting_psn;
    std::optional<std::uint8_t> responder_resources;  // READs and atomics it answers at a time
    std::optional<std::uint8_t> initiator_depth;      // READs and atomics it wants to have outstanding
    std::optional<std::uint8_t> rnr_retry_count;      // 7: for ever
    std::optional<bool> shared_receive_queue;
    std::optional<bool> flow_control;  // end-to-end
    std::optional<NetworkId> network;  // of its messages
    std::optional<MpaSetUp> mpa;       // of iWARP, whose queue pair number is a TCP port
    PrivateData private_data;
};

// A11: what the service id and the private data of a REQ or SIDR_REQ say of IP.
struct CmIpService {
    std::uint8_t protocol = 0;  // IP protocol number of the port space: 6 for RDMA_PS_TCP, 17 for RDMA_PS_UDP
    std::uint16_t port = 0;
    bool addressed = false;  // the private data has what follows
    std::uint16_t source_port = 0;
    Address source{};  // of AddressSpace::none: IP addresses, whatever the network is
    Address destination{};
};

struct CmRejection {
    std::uint16_t reason = 0;
    bool by_active = false;
    std::uint8_t rejected_message = 0;  // 0 REQ, 1 REP, 2 no message
    PrivateData private_data;
};
// "Invalid service ID"; empty for a number that the specification does not have.
[[nodiscard]] std::string_view reject_reason(std::uint16_t reason);

enum class CmOutcome : std::uint8_t {
    open,  // the capture ended before anybody had to give up
    established,
    rejected,               // see CmAttempt::rejection
    no_answer,              // a REQ or SIDR_REQ without REP or REJ within its timeout, or given up by REJ "Timeout"
    half_open,              // a REP that neither an RTU nor data followed
    disconnected,           // established and released
    resolved,               // SIDR: QPN and Q_Key known
    unresolved,             // SIDR: answered with another status
    disconnect_unanswered,  // established; its DREQ was repeated and not answered
};
[[nodiscard]] std::string_view name(CmOutcome outcome);  // "half-open"
[[nodiscard]] constexpr bool was_set_up(CmOutcome outcome) {
    return outcome == CmOutcome::established || outcome == CmOutcome::disconnected ||
           outcome == CmOutcome::disconnect_unanswered;
}

struct CmAttempt {
    std::uint32_t uid = 0;  // counts attempts in the order of their first message
    CmSide active;          // who sent the REQ; without a REQ: who must have
    CmSide passive;
    bool roles_guessed = false;  // only DREQ or DREP were seen, which either side may send
    bool incomplete = false;     // the capture lacks a message that must have been there
    std::uint64_t transaction = 0;
    CmState state = CmState::unseen;
    CmOutcome outcome = CmOutcome::open;
    std::optional<CmService> service;
    std::optional<std::uint64_t> service_id;
    std::optional<CmIpService> ip;

    std::optional<dissect::Pkey> pkey;
    std::optional<std::uint32_t> path_mtu;                // bytes of payload
    std::optional<std::uint8_t> retry_count;              // of the transport
    std::optional<std::uint8_t> local_ack_timeout;        // exponents t: 4.096 us * 2^t
    std::optional<std::uint8_t> target_ack_delay;         // of the REP
    std::optional<std::uint8_t> remote_response_timeout;  // how long the active side waits for a REP
    std::optional<std::uint8_t> local_response_timeout;   // how soon it says it will answer
    std::optional<std::uint8_t> mra_service_timeout;      // how much time the last MRA asked for
    std::optional<std::uint8_t> max_cm_retries;
    std::optional<CmRejection> rejection;
    std::optional<std::uint8_t> alternate_path_status;  // of the last APR
    std::optional<std::uint8_t> sidr_status;
    std::optional<dissect::Qkey> sidr_qkey;  // its QPN is the passive side's

    std::vector<CmRung> ladder;
    std::uint32_t rungs_dropped = 0;
    std::uint32_t refused = 0;
    std::array<std::uint16_t, kCmMessages> repeats{};     // of each message, by either side
    std::optional<dissect::Instant> requested;            // first REQ or SIDR_REQ
    std::optional<dissect::Instant> answered;             // first REP, REJ of the passive side or SIDR_REP
    std::optional<dissect::Instant> confirmed;            // first RTU, or data in its place
    std::optional<dissect::FrameIndex> data_without_rtu;  // data of the active side where no RTU was seen
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    dissect::Instant last_time{};

    [[nodiscard]] std::uint16_t repeats_of(CmMessage message) const {
        return repeats[static_cast<std::size_t>(message)];
    }
    // REQ to RTU, or to what was seen last of REP, REJ and SIDR_REP; nothing without a REQ or an answer.
    [[nodiscard]] std::optional<dissect::Duration> setup_time() const;
};

struct MulticastJoin {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    Address member;           // who asked
    Address group;            // MGID
    Address port;             // the port GID that joins
    std::uint8_t method = 0;  // Set joins, Delete leaves, Get asks
    std::uint8_t join_state = 0;
    std::optional<std::uint16_t> status;  // of the answer's MAD; 0 is success
    std::optional<dissect::Duration> answered_after;
    std::optional<std::uint16_t> mlid;
    std::optional<dissect::Qkey> qkey;
};

// A message that cannot come in that state, or from that side.
struct CmRefusal {
    std::uint32_t uid = 0;
    CmState state{};
    CmEvent event{};
    bool from_active = false;
    dissect::FrameIndex frame{};
};

struct CmReport {
    std::vector<CmAttempt> attempts;  // in the order of their uid
    std::vector<MulticastJoin> joins;
    std::vector<CmRefusal> refusals;
    std::uint64_t messages = 0;             // of CM
    std::uint64_t messages_unreadable = 0;  // of CM: another version, or their ids were not captured
    std::uint64_t messages_dropped = 0;     // of further attempts
    std::uint64_t joins_dropped = 0;
    std::uint64_t refusals_dropped = 0;
};

}  // namespace qps::transport
