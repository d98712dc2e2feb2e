// UetReport: what packet delivery contexts (PDCs) of Ultra Ethernet say beyond what every connection has. Part of the
// Timeline.
//
// What an attacker could feed: any number of contexts, paths, codes. There is at most one row a context; its paths and
// codes are bounded, and what is past them is counted; frames are listed up to a bound.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kUetFramesKept = 16;  // as findings list them
inline constexpr std::size_t kMostUetPaths = 256;  // entropy values of a way; senders use tens to hundreds
inline constexpr std::size_t kMostUetCodes = 32;   // NACK codes, or return codes, of a way; there are fewer

// Requests that one end sent with the same entropy value: as far as a switch chooses by it, they took the same path.
struct UetPath {
    std::uint16_t entropy = 0;  // the UDP source port
    std::uint64_t packets = 0;
    std::uint64_t resent = 0;   // of them: their PSN was sent again, although nothing had acknowledged it
    std::uint64_t refused = 0;  // of them: answered by a NACK
    std::uint64_t trimmed = 0;
    std::uint64_t marked = 0;  // CE
    DurationSummary delay{};   // from a packet that was sent once to the ACK that names it
};

// NACKs, or return codes, of one number.
struct UetCode {
    std::uint8_t code = 0;
    std::uint64_t count = 0;
    std::vector<dissect::FrameIndex> frames{};  // at most kUetFramesKept
};

// What one end sent, and what was said of it.
struct UetWay {
    std::uint64_t unseen = 0;    // retransmissions by the word of their sender: the first sending is not in the capture
    std::uint64_t needless = 0;  // retransmissions of what an ACK before them had acknowledged
    std::uint64_t after_nack = 0;      // retransmissions of what a NACK had refused
    std::uint64_t after_trimming = 0;  // of these: by a NACK that reports trimming
    std::vector<dissect::FrameIndex> resent_frames{};
    std::uint64_t trimmed = 0;
    std::vector<dissect::FrameIndex> trimmed_frames{};
    std::vector<UetCode> nacks{};        // that the other end sent of its packets, by code
    std::vector<UetCode> refusals{};     // return codes of the other end that are errors, by code
    std::vector<UetPath> paths{};        // by entropy
    std::uint64_t further_paths = 0;     // packets of entropy values past kMostUetPaths
    std::uint64_t further_codes = 0;     // NACKs and refusals past kMostUetCodes
    dissect::FrameIndex acknowledged{};  // the last ACK that acknowledged more than those before; 0: none
    bool ordered = false;                // ROD
    bool unordered = false;              // RUD
};

struct UetConversation {
    ConnectionId connection{};
    std::array<UetWay, 2> ways{};
    bool opened = false;  // a SYN was captured
    [[nodiscard]] const UetWay& way(End end) const { return ways[static_cast<std::size_t>(end)]; }
    // Nothing that a finding could be drawn from.
    [[nodiscard]] bool is_quiet() const;
};

struct UetReport {
    std::vector<UetConversation> conversations{};  // by connection
    std::uint64_t left_out = 0;                    // of those that made place for others, with problems
    std::uint64_t packets_left_out = 0;  // packets and messages under way that were given up for want of memory
    std::uint64_t datagrams = 0;         // packets that name no context: UUD and RUDI
    std::uint64_t secured = 0;           // encrypted packets
    std::uint64_t unread = 0;            // packets of which too little was captured
};

// Whether a NACK of that code tells that a switch trimmed the packet.
[[nodiscard]] constexpr bool reports_trimming(std::uint8_t code) { return code >= 1 && code <= 3; }

}  // namespace qps::transport
