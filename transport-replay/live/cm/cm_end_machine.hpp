// One end of a connection as tables: what a consumer may ask for, what a peer may say and what a timer may do, in each
// state (12.9). The observer's machine (cm_machine.hpp) sees both ends at once; this one is either of them.
//
// What has no edge is refused: a call with wrong_state, a datagram with a count. Edges from a state to itself say that
// the answer is given again (12.9.8). Nothing in here can grow or fail; an attacker's datagram is a look-up.
#pragma once

#include <transport-replay/model/edges.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport::live {

enum class CmEndState : std::uint8_t {
    idle,
    // active
    req_sent,
    mra_req_rcvd,
    rep_rcvd,
    mra_rep_sent,
    // passive
    req_rcvd,
    mra_req_sent,
    rep_sent,
    mra_rep_rcvd,
    // both
    established,
    dreq_sent,
    timewait,
    rejected,  // by us: the REJ is remembered for repetitions of what it answered
    // SIDR
    sidr_req_sent,
    sidr_req_rcvd,
    sidr_answered,  // remembered too
    closed,         // nothing more: the id is forgotten
};
inline constexpr std::array<std::string_view, 17> kCmEndStateNames{
    "idle",         "req-sent",      "mra-req-rcvd",  "rep-rcvd",      "mra-rep-sent", "req-rcvd",
    "mra-req-sent", "rep-sent",      "mra-rep-rcvd",  "established",   "dreq-sent",    "timewait",
    "rejected",     "sidr-req-sent", "sidr-req-rcvd", "sidr-answered", "closed"};

enum class CmEndEvent : std::uint8_t {
    // the consumer's
    connect,
    accept,
    ready,
    reject,
    delay,  // an MRA of the consumer's wish
    disconnect,
    abandon,
    sidr_request,
    sidr_reply,
    // the peer's
    req,
    mra_of_req,
    mra_of_rep,
    rej,
    rep,
    rtu,
    data,  // stands for an RTU that was lost (12.9.7.1)
    dreq,
    drep,
    sidr_req,
    sidr_rep,
    stale,  // its queue pair turns up in another REQ or REP (12.9.8.3.1)
    // the clock's, and what is short
    retry,    // nobody answered in time, once more
    gave_up,  // nobody answered, or the consumer did not decide
    elapsed,  // TIMEWAIT, or what was remembered
    crowded,  // kMaxHalfOpen: the oldest makes room
};
inline constexpr std::array<std::string_view, 25> kCmEndEventNames{
    "connect",  "accept",     "ready",      "reject", "delay",   "disconnect", "abandon", "sidr request", "sidr reply",
    "REQ",      "MRA of REQ", "MRA of REP", "REJ",    "REP",     "RTU",        "data",    "DREQ",         "DREP",
    "SIDR_REQ", "SIDR_REP",   "stale",      "retry",  "gave up", "elapsed",    "crowded"};

namespace cm_end_edges {
using E = Edge<CmEndState, CmEndEvent>;
using S = CmEndState;
using V = CmEndEvent;
inline constexpr std::array kAll{
    E{S::idle, V::connect, S::req_sent},
    E{S::idle, V::req, S::req_rcvd},
    E{S::idle, V::sidr_request, S::sidr_req_sent},
    E{S::idle, V::sidr_req, S::sidr_req_rcvd},

    E{S::req_sent, V::rep, S::rep_rcvd},
    E{S::req_sent, V::mra_of_req, S::mra_req_rcvd},
    E{S::req_sent, V::rej, S::closed},
    E{S::req_sent, V::stale, S::rejected},  // the REP names a queue pair that has a connection
    E{S::req_sent, V::retry, S::req_sent},
    E{S::req_sent, V::gave_up, S::closed},
    E{S::req_sent, V::abandon, S::closed},

    E{S::mra_req_rcvd, V::rep, S::rep_rcvd},
    E{S::mra_req_rcvd, V::mra_of_req, S::mra_req_rcvd},
    E{S::mra_req_rcvd, V::rej, S::closed},
    E{S::mra_req_rcvd, V::stale, S::rejected},
    E{S::mra_req_rcvd, V::retry, S::req_sent},  // the time it asked for is over
    E{S::mra_req_rcvd, V::gave_up, S::closed},
    E{S::mra_req_rcvd, V::abandon, S::closed},

    E{S::rep_rcvd, V::rep, S::mra_rep_sent},
    E{S::rep_rcvd, V::ready, S::established},
    E{S::rep_rcvd, V::delay, S::mra_rep_sent},
    E{S::rep_rcvd, V::reject, S::rejected},
    E{S::rep_rcvd, V::rej, S::closed},
    E{S::rep_rcvd, V::gave_up, S::rejected},
    E{S::rep_rcvd, V::abandon, S::rejected},

    E{S::mra_rep_sent, V::rep, S::mra_rep_sent},
    E{S::mra_rep_sent, V::ready, S::established},
    E{S::mra_rep_sent, V::delay, S::mra_rep_sent},
    E{S::mra_rep_sent, V::reject, S::rejected},
    E{S::mra_rep_sent, V::rej, S::closed},
    E{S::mra_rep_sent, V::gave_up, S::rejected},
    E{S::mra_rep_sent, V::abandon, S::rejected},

    E{S::req_rcvd, V::req, S::mra_req_sent},
    E{S::req_rcvd, V::accept, S::rep_sent},
    E{S::req_rcvd, V::delay, S::mra_req_sent},
    E{S::req_rcvd, V::reject, S::rejected},
    E{S::req_rcvd, V::rej, S::closed},
    E{S::req_rcvd, V::gave_up, S::rejected},
    E{S::req_rcvd, V::crowded, S::rejected},
    E{S::req_rcvd, V::abandon, S::rejected},

    E{S::mra_req_sent, V::req, S::mra_req_sent},
    E{S::mra_req_sent, V::accept, S::rep_sent},
    E{S::mra_req_sent, V::delay, S::mra_req_sent},
    E{S::mra_req_sent, V::reject, S::rejected},
    E{S::mra_req_sent, V::rej, S::closed},
    E{S::mra_req_sent, V::gave_up, S::rejected},
    E{S::mra_req_sent, V::crowded, S::rejected},
    E{S::mra_req_sent, V::abandon, S::rejected},

    E{S::rep_sent, V::req, S::rep_sent},  // the REP was lost
    E{S::rep_sent, V::mra_of_rep, S::mra_rep_rcvd},
    E{S::rep_sent, V::rtu, S::established},
    E{S::rep_sent, V::data, S::established},
    E{S::rep_sent, V::rej, S::timewait},
    E{S::rep_sent, V::dreq, S::timewait},  // the RTU was lost, and the peer is done already
    E{S::rep_sent, V::retry, S::rep_sent},
    E{S::rep_sent, V::gave_up, S::timewait},
    E{S::rep_sent, V::crowded, S::timewait},
    E{S::rep_sent, V::abandon, S::timewait},

    E{S::mra_rep_rcvd, V::req, S::mra_rep_rcvd},
    E{S::mra_rep_rcvd, V::mra_of_rep, S::mra_rep_rcvd},
    E{S::mra_rep_rcvd, V::rtu, S::established},
    E{S::mra_rep_rcvd, V::data, S::established},
    E{S::mra_rep_rcvd, V::rej, S::timewait},
    E{S::mra_rep_rcvd, V::dreq, S::timewait},
    E{S::mra_rep_rcvd, V::retry, S::rep_sent},
    E{S::mra_rep_rcvd, V::gave_up, S::timewait},
    E{S::mra_rep_rcvd, V::crowded, S::timewait},
    E{S::mra_rep_rcvd, V::abandon, S::timewait},

    E{S::established, V::req, S::established},
    E{S::established, V::rep, S::established},  // the RTU was lost
    E{S::established, V::rtu, S::established},
    E{S::established, V::disconnect, S::dreq_sent},
    E{S::established, V::dreq, S::timewait},
    E{S::established, V::rej, S::timewait},
    E{S::established, V::stale, S::dreq_sent},
    E{S::established, V::abandon, S::timewait},

    E{S::dreq_sent, V::drep, S::timewait},
    E{S::dreq_sent, V::dreq, S::timewait},  // both at once
    E{S::dreq_sent, V::rej, S::timewait},
    E{S::dreq_sent, V::retry, S::dreq_sent},
    E{S::dreq_sent, V::gave_up, S::timewait},
    E{S::dreq_sent, V::abandon, S::timewait},

    E{S::timewait, V::req, S::timewait},
    E{S::timewait, V::dreq, S::timewait},  // the DREP was lost
    E{S::timewait, V::drep, S::timewait},
    E{S::timewait, V::elapsed, S::closed},

    E{S::rejected, V::req, S::rejected},
    E{S::rejected, V::rep, S::rejected},
    E{S::rejected, V::elapsed, S::closed},

    E{S::sidr_req_sent, V::sidr_rep, S::closed},
    E{S::sidr_req_sent, V::retry, S::sidr_req_sent},
    E{S::sidr_req_sent, V::gave_up, S::closed},
    E{S::sidr_req_sent, V::abandon, S::closed},
    E{S::sidr_req_rcvd, V::sidr_req, S::sidr_req_rcvd},
    E{S::sidr_req_rcvd, V::sidr_reply, S::sidr_answered},
    E{S::sidr_req_rcvd, V::gave_up, S::closed},
    E{S::sidr_req_rcvd, V::crowded, S::closed},
    E{S::sidr_req_rcvd, V::abandon, S::closed},
    E{S::sidr_answered, V::sidr_req, S::sidr_answered},
    E{S::sidr_answered, V::elapsed, S::closed},
};
}  // namespace cm_end_edges

inline constexpr Machine<CmEndState, CmEndEvent, kCmEndStateNames.size(), kCmEndEventNames.size(),
                         cm_end_edges::kAll.size()>
    kCmEndMachine{kCmEndStateNames, kCmEndEventNames, cm_end_edges::kAll};
static_assert(sound(kCmEndMachine));

// Loading an alternate path (12.8), beside the state of the connection, which is established.
enum class AlternateState : std::uint8_t { none, lap_sent, mra_lap_rcvd, lap_rcvd, mra_lap_sent };
enum class AlternateEvent : std::uint8_t { load, answer, delay, lap, mra_of_lap, apr, retry, gave_up };

inline constexpr Machine kAlternateMachine{
    std::array<std::string_view, 5>{"none", "lap-sent", "mra-lap-rcvd", "lap-rcvd", "mra-lap-sent"},
    std::array<std::string_view, 8>{"load", "answer", "delay", "LAP", "MRA of LAP", "APR", "retry", "gave up"},
    std::array{
        Edge{AlternateState::none, AlternateEvent::load, AlternateState::lap_sent},
        Edge{AlternateState::none, AlternateEvent::lap, AlternateState::lap_rcvd},
        Edge{AlternateState::lap_sent, AlternateEvent::mra_of_lap, AlternateState::mra_lap_rcvd},
        Edge{AlternateState::lap_sent, AlternateEvent::apr, AlternateState::none},
        Edge{AlternateState::lap_sent, AlternateEvent::retry, AlternateState::lap_sent},
        Edge{AlternateState::lap_sent, AlternateEvent::gave_up, AlternateState::none},
        Edge{AlternateState::mra_lap_rcvd, AlternateEvent::mra_of_lap, AlternateState::mra_lap_rcvd},
        Edge{AlternateState::mra_lap_rcvd, AlternateEvent::apr, AlternateState::none},
        Edge{AlternateState::mra_lap_rcvd, AlternateEvent::retry, AlternateState::lap_sent},
        Edge{AlternateState::mra_lap_rcvd, AlternateEvent::gave_up, AlternateState::none},
        Edge{AlternateState::lap_rcvd, AlternateEvent::lap, AlternateState::mra_lap_sent},
        Edge{AlternateState::lap_rcvd, AlternateEvent::answer, AlternateState::none},
        Edge{AlternateState::lap_rcvd, AlternateEvent::delay, AlternateState::mra_lap_sent},
        Edge{AlternateState::mra_lap_sent, AlternateEvent::lap, AlternateState::mra_lap_sent},
        Edge{AlternateState::mra_lap_sent, AlternateEvent::answer, AlternateState::none},
        Edge{AlternateState::mra_lap_sent, AlternateEvent::delay, AlternateState::mra_lap_sent},
    },
};
static_assert(sound(kAlternateMachine));

}  // namespace qps::transport::live
