// What a connection manager remembers: a record for every id, found by id, by the peer's ids and by queue pair; and
// when each is due.
//
// Invariants: an index holds an id only while its record lives; a record is half open, remembered or neither, as its
// state says. Keys of peers are ordered, never hashed: an attacker chooses them. Bounds are the manager's to keep; the
// table knows which half-open or remembered record is the oldest.
#pragma once

#include <transport-replay/live/cm/cm_end_machine.hpp>
#include <transport-replay/live/cm/connection_values.hpp>
#include <transport-replay/live/cm/management_datagram.hpp>

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace qps::transport::live {

struct CmConnection {
    CmId id{};
    CmEndState state = CmEndState::idle;
    AlternateState alternate_state = AlternateState::none;
    bool active = false;
    bool datagram = false;  // a SIDR exchange
    bool silent = false;    // the consumer has done with it: no more events but `released`
    bool in_use = false;  // a queue pair was named to the peer as ready: `released` will say when it may be used again
    bool parted = false;  // `disconnected` was said

    Address remote;
    Address local;
    dissect::Pkey pkey{};
    ServiceId service{};
    dissect::Qpn local_qpn{};
    std::optional<std::uint32_t> remote_id{};  // not known until a REP
    std::uint64_t transaction = 0;             // of the REQ or SIDR_REQ, and so of all that answers it
    std::uint64_t loading = 0;                 // of the LAP that is undecided, ours or the peer's
    std::optional<std::uint64_t> loaded{};     // of the peer's LAP that was answered last
    ConnectionParameters parameters;
    CmPath proposed{};               // alternate path of the LAP
    bool alternate_refused = false;  // the REQ named one, and we have none

    dissect::Duration interval{};  // how long an answer is waited for
    dissect::Duration timewait{};
    std::uint8_t max_retries = 0;
    std::uint8_t retries_left = 0;
    std::uint8_t alternate_retries_left = 0;
    std::uint8_t delays = 0;  // MRAs of the peer
    bool unsent = false;      // `sent` was never sent: the next time is no retry
    bool alternate_unsent = false;
    Parting parting{};
    TimeoutCode service_timeout{};      // of our MRA
    ManagementDatagram sent;            // what is repeated: by timeout, or when what it answers is repeated
    ManagementDatagram alternate_sent;  // LAP or APR
    ManagementDatagram delay_sent;      // our MRA

    // The table's.
    std::uint64_t born = 0;
    std::optional<dissect::Instant> deadline{};
    std::optional<dissect::Instant> alternate_deadline{};
    std::optional<std::tuple<Address, std::uint32_t, bool>> request_key{};
    std::optional<std::pair<Address, dissect::Qpn>> remote_qp_key{};
};

class ConnectionTable {
public:
    explicit ConnectionTable(std::uint64_t seed) : seed_(seed) {}

    [[nodiscard]] CmConnection& add();
    void erase(CmId id);
    [[nodiscard]] CmConnection* find(CmId id);
    // The passive record a REQ or SIDR_REQ of that peer began.
    [[nodiscard]] CmConnection* find_request(const Address& remote, std::uint32_t remote_id, bool datagram);
    // The one whose peer's queue pair that is.
    [[nodiscard]] CmConnection* find_remote_qp(const Address& remote, dissect::Qpn qpn);
    // The one that waits for an RTU for that queue pair of ours.
    [[nodiscard]] CmConnection* find_waiting(dissect::Qpn local);

    // Puts it into the indexes of what is set in it by now.
    void index_request(CmConnection& connection);
    void index_remote_qp(CmConnection& connection);
    void move(CmConnection& connection, CmEndState to);

    void arm(CmConnection& connection, std::optional<dissect::Instant> deadline);
    void arm_alternate(CmConnection& connection, std::optional<dissect::Instant> deadline);

    struct Timer {
        dissect::Instant time{};
        CmId id{};
        bool alternate = false;
        [[nodiscard]] auto operator<=>(const Timer&) const = default;
    };
    [[nodiscard]] std::optional<Timer> next_timer() const;

    [[nodiscard]] std::size_t size() const { return records_.size(); }
    [[nodiscard]] std::size_t half_open() const { return half_open_.size(); }
    [[nodiscard]] std::size_t remembered() const { return remembered_.size(); }
    [[nodiscard]] CmConnection* oldest_half_open();
    [[nodiscard]] CmConnection* oldest_remembered();

private:
    using Ages = std::set<std::pair<std::uint64_t, CmId>>;

    void forget_places(CmConnection& connection);
    [[nodiscard]] CmConnection* oldest(const Ages& ages);

    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
    std::uint64_t born_ = 0;
    std::map<CmId, CmConnection> records_;
    std::map<std::tuple<Address, std::uint32_t, bool>, CmId> requests_;
    std::map<std::pair<Address, dissect::Qpn>, CmId> remote_qps_;
    std::map<dissect::Qpn, CmId> waiting_;
    Ages half_open_;
    Ages remembered_;
    std::set<Timer> timers_;
};

[[nodiscard]] constexpr bool waits_for_rtu(CmEndState state) {
    return state == CmEndState::rep_sent || state == CmEndState::mra_rep_rcvd;
}
[[nodiscard]] constexpr bool is_half_open(CmEndState state) {
    return state == CmEndState::req_rcvd || state == CmEndState::mra_req_sent || state == CmEndState::sidr_req_rcvd ||
           waits_for_rtu(state);
}
[[nodiscard]] constexpr bool is_remembered(CmEndState state) {
    return state == CmEndState::rejected || state == CmEndState::sidr_answered;
}

}  // namespace qps::transport::live
