// WatchedConnection: what is left of watching a connection (conversation_watch.hpp) when its last packet has passed:
// all that conclusions need of it. A value: connections of all parts of a capture stand beside each other.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>
#include <transport-replay/model/connection.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace qps::transport::conformance {

// A frame and when it was.
struct Moment {
    dissect::FrameIndex frame{};
    dissect::Instant time{};
};

// What one end sent.
struct WatchedEnd {
    std::uint32_t messages = 0;  // that ended
    bool ever_asked = false;     // AckReq, READ or ATOMIC
    bool unasked = false;        // the last message did not ask, nor anything after it
    Moment unasked_end;
    std::optional<dissect::FrameIndex> ghost;  // what acknowledged requests of it that the capture does not have
    std::uint32_t mtu = 0;                     // payload of its FIRSTs and MIDDLEs
    std::uint32_t bad = 0;                     // packets with a wrong ICRC
    std::array<dissect::FrameIndex, 2> bad_frames{};
    bool computed_wrongly = false;  // as those of a sender that does not know how
    bool pad_uncovered = false;     // as those of a sender that does not know that the pad is part of it
    std::uint64_t plain_acks = 0;
    std::uint64_t unlimited = 0;  // of them: with the code for unlimited credits
    dissect::FrameIndex unlimited_frame{};
    std::uint64_t data = 0;
    std::uint64_t not_capable = 0;  // of it: without ECN
    dissect::FrameIndex not_capable_frame{};
};

struct WatchedConnection {
    ConnectionId number{};
    bool older = false;  // than the capture
    std::array<WatchedEnd, 2> ends;
    [[nodiscard]] const WatchedEnd& end(End which) const { return ends[static_cast<std::size_t>(which)]; }
};
using WatchedConnections = std::vector<WatchedConnection>;  // by number

}  // namespace qps::transport::conformance
