// Data Center Bridging, as both ends of a link announce it by LLDP (IEEE 802.1AB, 802.1Q clause 38, CEE DCBX): what
// BridgingTracker (watch/bridging.hpp) reports. Values; bounds are the tracker's.
#pragma once

#include <transport-replay/model/address.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kLinkPriorities = 8;
using PriorityBits = std::uint8_t;  // bit n: priority n

enum class TransmissionSelection : std::uint8_t { strict, credit_based, enhanced, vendor };

// What becomes of frames of each priority. Numbers of classes and groups mean nothing to the other end: they are left
// out.
struct PriorityShares {
    struct Share {
        TransmissionSelection selection = TransmissionSelection::strict;
        std::uint8_t percent = 0;  // of the bandwidth, where the selection is enhanced: of all priorities of its class
        PriorityBits with = 0;     // likewise: the priorities of its class, itself included
        [[nodiscard]] bool operator==(const Share&) const = default;
    };
    std::array<Share, kLinkPriorities> of{};
    [[nodiscard]] bool operator==(const PriorityShares&) const = default;
};

// What one LLDPDU says. Of CEE only features that are enabled.
struct BridgingAnnouncement {
    // The frame was captured whole, nothing of it is malformed, and it speaks one of both dialects: what is not here
    // was not announced.
    bool whole = false;
    bool ieee = false;
    bool cee = false;
    bool bridge = false;       // capabilities: it is a bridge, and works as one
    bool pfc_willing = false;  // to take the configuration of the other end
    bool shares_willing = false;
    bool applications_willing = false;  // IEEE has no such bit: false
    std::optional<PriorityBits> pfc;
    std::optional<PriorityShares> shares;       // of its own transmission
    std::optional<PriorityShares> recommended;  // for that of the other end
    PriorityBits roce = 0;                      // of the application with UDP port 4791; 0: not announced
    std::array<PriorityBits, 64> dscp{};        // by code point; 0: not announced
    [[nodiscard]] bool operator==(const BridgingAnnouncement&) const = default;
};

// RoCE packets whose priority is none for which the end announced PFC.
struct OutsidePfc {
    std::uint8_t priority = 0;
    std::uint8_t dscp = 0;
    bool tagged = false;  // the priority is that of the VLAN tag; else the end announced it for the DSCP
    std::uint64_t packets = 0;
    dissect::FrameIndex first{};
    dissect::Instant first_time{};
};

struct BridgingEnd {
    Address sender;                  // MAC address
    std::uint64_t station = 0;       // of its chassis and port IDs: some switches have one MAC address for all ports
    std::string name;                // of the system, as much as is kept of it; may be anything
    BridgingAnnouncement announced;  // the last one
    std::uint64_t frames = 0;
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    dissect::Instant first_time{};
    dissect::Instant last_time{};
    dissect::FrameIndex since{};  // the first of those that say the same as the last one
    dissect::Instant since_time{};
    std::uint64_t same = 0;        // how many do
    dissect::Duration lifetime{};  // of the last one; 0: it said that it stops
    dissect::Duration unseen{};    // since the last one: of breaks in the capture of the link
    std::uint64_t repeated = 0;    // since the other end last said something new: how often it said what it said before
    std::vector<OutsidePfc> outside;
    std::uint64_t outside_left_out = 0;  // packets of further priorities and DSCPs
};

struct BridgingLink {
    std::uint16_t file = 0;
    dissect::InterfaceId interface{};
    dissect::Instant last_time{};  // of any packet on it
    dissect::FrameIndex last{};
    std::uint64_t unreadable = 0;   // LLDP of which the capture does not show who sent it
    std::vector<BridgingEnd> ends;  // in the order of their first frames
};

struct BridgingReport {
    std::vector<BridgingLink> links;  // in the order of their first frames
    std::uint64_t left_out = 0;       // LLDP frames of further links and ends
};

}  // namespace qps::transport
