// IwarpReport: what the set-up and the framing of iWARP connections say beyond what every connection has. Part of the
// Timeline.
//
// What an attacker could feed: any number of connections and errors. There is at most one row a connection, and frames
// are listed up to a bound.
#pragma once

#include <transport-replay/model/cm_attempt.hpp>
#include <transport-replay/model/connection.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kIwarpFramesKept = 16;  // as findings list them

struct Terminated {
    End from{};
    dissect::FrameIndex frame{};
    dissect::Instant time{};
    std::uint8_t layer = 0;
    std::uint8_t type = 0;
    std::uint8_t code = 0;
};

// One way of a connection.
struct IwarpWay {
    std::optional<MpaSetUp> set_up{};  // sent by this end
    // What proves it, 0 where nothing does: a response to a READ whose request is written least significant byte first;
    // a segment whose markers are elsewhere than RFC 5044 has them, or not there at all.
    dissect::FrameIndex turned_read{};
    dissect::FrameIndex odd_markers{};
    bool markers = false;  // its FPDUs have them
    std::uint64_t fpdus = 0;
    std::uint64_t crc_good = 0;
    std::uint64_t crc_bad = 0;
    std::vector<dissect::FrameIndex> crc_bad_frames{};  // where such FPDUs end, at most kIwarpFramesKept
    std::uint64_t missing_bytes = 0;                    // of the stream, that the capture does not have
    std::uint64_t lost_alignment = 0;                   // how often it was not known where FPDUs begin
    std::uint64_t unread_bytes = 0;                     // until it was known again
};

struct IwarpConversation {
    ConnectionId connection{};
    std::array<IwarpWay, 2> ways{};
    bool crc = false;                        // agreed on, or seen
    std::optional<CmAttempt> attempt{};      // what its set-up frames said, as of any other connection
    std::optional<Terminated> terminated{};  // the first
    [[nodiscard]] const IwarpWay& way(End end) const { return ways[static_cast<std::size_t>(end)]; }
    // Nothing that a finding could be drawn from.
    [[nodiscard]] bool is_quiet() const;
};

struct IwarpReport {
    std::vector<IwarpConversation> conversations{};  // by connection
    std::uint64_t left_out = 0;                      // of those that made place for others, with problems
};

}  // namespace qps::transport
