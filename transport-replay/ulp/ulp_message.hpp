// What upper protocols see of a connection: whole messages, and transfers of memory. It is the same whatever carried
// them.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/model/connection.hpp>

#include <cstdint>
#include <optional>

namespace qps::transport {

// A SEND, when its last packet was seen: whether it was acknowledged is not waited for. Borrowed: valid during the
// call.
struct UlpMessage {
    ConnectionId connection{};
    End from{};
    dissect::Bytes bytes;      // as far as captured
    std::uint64_t length = 0;  // on the wire
    dissect::Instant begun{};  // its first packet
    dissect::Instant time{};   // its last packet
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    dissect::Psn psn;  // of its first packet
    std::optional<std::uint32_t> immediate;
    std::optional<dissect::Rkey> invalidate;

    [[nodiscard]] bool whole() const { return bytes.size() == length; }
};

// A READ that was answered, or a WRITE that was seen to its end.
struct Transfer {
    ConnectionId connection{};
    End requester{};    // who READs or WRITEs: the other end's memory it is
    bool read = false;  // else WRITE
    RemoteAccess access;
    std::uint64_t bytes = 0;  // payload seen
    dissect::Instant begun{};
    dissect::Instant time{};
    dissect::FrameIndex first_frame{};
    dissect::FrameIndex last_frame{};
    std::optional<std::uint32_t> immediate;
    dissect::Bytes payload;  // of those that somebody asked to keep, in order, as far as captured; borrowed
};

}  // namespace qps::transport
