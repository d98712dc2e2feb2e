// Messages, events and states of communication management (chapter 12) as a third party sees them. Which may follow
// which is in cm/cm_machine.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qps::transport {

// The attribute ids of 12.6, 12.8 and 12.11, counted from 0x10.
enum class CmMessage : std::uint8_t { req, mra, rej, rep, rtu, dreq, drep, sidr_req, sidr_rep, lap, apr };
inline constexpr std::size_t kCmMessages = 11;

enum class CmEvent : std::uint8_t {
    req,
    mra_of_req,
    rej_by_passive,
    rej_by_active,
    rep,
    mra_of_rep,
    rtu,
    data,  // a packet of the active side's QP where an RTU is missing: communication established (12.9.7)
    lap,
    mra_of_lap,
    apr,
    dreq,
    drep,
    sidr_req,
    sidr_rep,
};
inline constexpr std::size_t kCmEvents = 15;

enum class CmState : std::uint8_t {
    unseen,        // nothing of this conversation yet
    req_sent,      // waits for a REP
    mra_req_sent,  // the passive side asked for time
    rep_sent,      // waits for an RTU
    mra_rep_sent,  // the active side asked for time
    established,
    lap_sent,   // established, an alternate path is being loaded
    rejected,   // by the passive side
    withdrawn,  // by the active side: it rejected the REP or gave up
    dreq_sent,  // waits for a DREP
    timewait,   // released
    sidr_req_sent,
    sidr_answered,
};
inline constexpr std::size_t kCmStates = 13;

[[nodiscard]] std::string_view name(CmMessage message);  // "SIDR_REQ"
[[nodiscard]] std::string_view name(CmEvent event);      // "REJ by the passive side"
[[nodiscard]] std::string_view name(CmState state);      // "req-sent"

inline constexpr std::array<std::string_view, kCmStates> kCmStateNames{
    "unseen",   "req-sent",  "mra-req-sent", "rep-sent", "mra-rep-sent",  "established",  "lap-sent",
    "rejected", "withdrawn", "dreq-sent",    "timewait", "sidr-req-sent", "sidr-answered"};
inline constexpr std::array<std::string_view, kCmEvents> kCmEventNames{"REQ",
                                                                       "MRA of the REQ",
                                                                       "REJ by the passive side",
                                                                       "REJ by the active side",
                                                                       "REP",
                                                                       "MRA of the REP",
                                                                       "RTU",
                                                                       "data",
                                                                       "LAP",
                                                                       "MRA of the LAP",
                                                                       "APR",
                                                                       "DREQ",
                                                                       "DREP",
                                                                       "SIDR_REQ",
                                                                       "SIDR_REP"};

}  // namespace qps::transport
