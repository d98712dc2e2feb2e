// The observed conversation of communication management (chapter 12) as tables: which message may follow which.
//
// A third party sees both sides at once, so the states are those of the conversation, named after the messages that
// were seen, not those of either side (12.9). A capture that started late or sees one side only skips messages: such
// edges have a table of their own, of gaps. What neither has is refused, and a refusal is a value.
// An attacker could feed any message in any order: step() only looks things up.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/model/cm_states.hpp>
#include <transport-replay/model/edges.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qps::transport {

namespace cm_edges {
using E = Edge<CmState, CmEvent>;
using S = CmState;
using V = CmEvent;
// Repetitions are edges to the same state: both sides repeat what they sent until it is answered (12.9.8).
inline constexpr std::array kWhole{
    E{S::unseen, V::req, S::req_sent},
    E{S::unseen, V::sidr_req, S::sidr_req_sent},

    E{S::req_sent, V::req, S::req_sent},
    E{S::req_sent, V::mra_of_req, S::mra_req_sent},
    E{S::req_sent, V::rep, S::rep_sent},
    E{S::req_sent, V::rej_by_passive, S::rejected},
    E{S::req_sent, V::rej_by_active, S::withdrawn},

    E{S::mra_req_sent, V::req, S::mra_req_sent},
    E{S::mra_req_sent, V::mra_of_req, S::mra_req_sent},
    E{S::mra_req_sent, V::rep, S::rep_sent},
    E{S::mra_req_sent, V::rej_by_passive, S::rejected},
    E{S::mra_req_sent, V::rej_by_active, S::withdrawn},

    E{S::rep_sent, V::req, S::rep_sent},
    E{S::rep_sent, V::mra_of_req, S::rep_sent},  // overtaken by the REP
    E{S::rep_sent, V::rep, S::rep_sent},
    E{S::rep_sent, V::mra_of_rep, S::mra_rep_sent},
    E{S::rep_sent, V::rtu, S::established},
    E{S::rep_sent, V::data, S::established},
    E{S::rep_sent, V::rej_by_active, S::withdrawn},
    E{S::rep_sent, V::rej_by_passive, S::rejected},  // no RTU came

    E{S::mra_rep_sent, V::req, S::mra_rep_sent},
    E{S::mra_rep_sent, V::rep, S::mra_rep_sent},
    E{S::mra_rep_sent, V::mra_of_rep, S::mra_rep_sent},
    E{S::mra_rep_sent, V::rtu, S::established},
    E{S::mra_rep_sent, V::data, S::established},
    E{S::mra_rep_sent, V::rej_by_active, S::withdrawn},
    E{S::mra_rep_sent, V::rej_by_passive, S::rejected},

    E{S::established, V::req, S::established},  // late repetitions: the RTU is then repeated too
    E{S::established, V::rep, S::established},
    E{S::established, V::mra_of_rep, S::established},
    E{S::established, V::rtu, S::established},
    E{S::established, V::data, S::established},
    E{S::established, V::lap, S::lap_sent},
    E{S::established, V::rej_by_passive, S::rejected},  // a stale connection (12.9.8.3.1)
    E{S::established, V::rej_by_active, S::withdrawn},
    E{S::established, V::dreq, S::dreq_sent},

    E{S::lap_sent, V::lap, S::lap_sent},
    E{S::lap_sent, V::mra_of_lap, S::lap_sent},
    E{S::lap_sent, V::apr, S::established},
    E{S::lap_sent, V::data, S::lap_sent},
    E{S::lap_sent, V::rej_by_passive, S::rejected},
    E{S::lap_sent, V::rej_by_active, S::withdrawn},
    E{S::lap_sent, V::dreq, S::dreq_sent},

    E{S::rejected, V::req, S::rejected},  // repeated before the REJ arrived
    E{S::rejected, V::rej_by_passive, S::rejected},
    E{S::withdrawn, V::rep, S::withdrawn},
    E{S::withdrawn, V::rej_by_active, S::withdrawn},

    E{S::dreq_sent, V::dreq, S::dreq_sent},
    E{S::dreq_sent, V::drep, S::timewait},
    E{S::dreq_sent, V::rej_by_passive, S::timewait},  // the other side knows of no such connection
    E{S::dreq_sent, V::rej_by_active, S::timewait},
    E{S::timewait, V::dreq, S::timewait},
    E{S::timewait, V::drep, S::timewait},

    E{S::sidr_req_sent, V::sidr_req, S::sidr_req_sent},
    E{S::sidr_req_sent, V::sidr_rep, S::sidr_answered},
    E{S::sidr_answered, V::sidr_req, S::sidr_answered},
    E{S::sidr_answered, V::sidr_rep, S::sidr_answered},
};
// Only where the capture missed a message before: it began later, or sees one side.
inline constexpr std::array kGaps{
    E{S::unseen, V::mra_of_req, S::mra_req_sent},
    E{S::unseen, V::rej_by_passive, S::rejected},
    E{S::unseen, V::rej_by_active, S::withdrawn},
    E{S::unseen, V::rep, S::rep_sent},
    E{S::unseen, V::mra_of_rep, S::mra_rep_sent},
    E{S::unseen, V::rtu, S::established},
    E{S::unseen, V::lap, S::lap_sent},
    E{S::unseen, V::mra_of_lap, S::lap_sent},
    E{S::unseen, V::apr, S::established},
    E{S::unseen, V::dreq, S::dreq_sent},
    E{S::unseen, V::drep, S::timewait},
    E{S::unseen, V::sidr_rep, S::sidr_answered},
    E{S::req_sent, V::mra_of_rep, S::mra_rep_sent},
    E{S::req_sent, V::rtu, S::established},
    E{S::req_sent, V::lap, S::lap_sent},
    E{S::req_sent, V::apr, S::established},
    E{S::req_sent, V::dreq, S::dreq_sent},
    E{S::req_sent, V::drep, S::timewait},
    E{S::mra_req_sent, V::mra_of_rep, S::mra_rep_sent},
    E{S::mra_req_sent, V::rtu, S::established},
    E{S::mra_req_sent, V::lap, S::lap_sent},
    E{S::mra_req_sent, V::apr, S::established},
    E{S::mra_req_sent, V::dreq, S::dreq_sent},
    E{S::mra_req_sent, V::drep, S::timewait},
    E{S::rep_sent, V::lap, S::lap_sent},
    E{S::rep_sent, V::apr, S::established},
    E{S::rep_sent, V::dreq, S::dreq_sent},
    E{S::rep_sent, V::drep, S::timewait},
    E{S::mra_rep_sent, V::lap, S::lap_sent},
    E{S::mra_rep_sent, V::apr, S::established},
    E{S::mra_rep_sent, V::dreq, S::dreq_sent},
    E{S::mra_rep_sent, V::drep, S::timewait},
    E{S::established, V::mra_of_lap, S::lap_sent},
    E{S::established, V::apr, S::established},
    E{S::established, V::drep, S::timewait},
    E{S::lap_sent, V::drep, S::timewait},
};
}  // namespace cm_edges

inline constexpr Machine<CmState, CmEvent, kCmStates, kCmEvents, cm_edges::kWhole.size()> kCmConversation{
    kCmStateNames, kCmEventNames, cm_edges::kWhole};
static_assert(sound(kCmConversation));
inline constexpr Machine<CmState, CmEvent, kCmStates, kCmEvents, cm_edges::kGaps.size()> kCmGaps{
    kCmStateNames, kCmEventNames, cm_edges::kGaps};
static_assert(std::ranges::none_of(cm_edges::kGaps, [](const auto& gap) {
    return step(kCmConversation, gap.from, gap.event).has_value();
}));

struct CmStep {
    CmState to;
    bool gap;  // possible only because the capture missed a message
};

// Nothing where the event is impossible in that state.
[[nodiscard]] std::optional<CmStep> step(CmState state, CmEvent event);

// Whether that side may cause the event at all.
[[nodiscard]] constexpr bool may_come_from(CmEvent event, bool active) {
    switch (event) {
        case CmEvent::req:
        case CmEvent::mra_of_rep:
        case CmEvent::rtu:
        case CmEvent::data:
        case CmEvent::lap:
        case CmEvent::rej_by_active:
        case CmEvent::sidr_req: return active;
        case CmEvent::mra_of_req:
        case CmEvent::rep:
        case CmEvent::mra_of_lap:
        case CmEvent::apr:
        case CmEvent::rej_by_passive:
        case CmEvent::sidr_rep: return !active;
        case CmEvent::dreq:
        case CmEvent::drep: break;
    }
    return true;
}

// What identifies a CM message: who it belongs to.
struct CmDatagram {
    CmMessage message{};
    std::uint64_t transaction = 0;
    std::uint32_t local_id =
        0;  // of the sender; 0 where it has none yet (REJ of a REQ) or the message has no such field
    std::uint32_t remote_id = 0;  // of the receiver
    std::uint8_t about = 0;       // MRA, REJ: the code of the message they speak of
    dissect::Bytes body;          // after the common header, as far as captured
};

// Reads a management datagram of any class; nothing where it is no CM message of the known version or its ids were not
// captured.
[[nodiscard]] std::optional<CmDatagram> read_cm(dissect::Bytes datagram);

[[nodiscard]] CmEvent event_of(const CmDatagram& datagram, bool from_active);

}  // namespace qps::transport
