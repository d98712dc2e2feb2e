// What the messages of one connection of an open capture carried, byte for byte, each once, as `follow` has it on the
// command line: some of them at a time, so that a connection of any length can be followed.
//
// What an attacker could feed: messages that claim much and carry little; the bytes that wait are bounded, and what was
// let go is told.
#pragma once

#include <transport-replay/index/extract.hpp>
#include <transport-replay/tracking/payload_store.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace qps::transport {

struct FollowedMessage {
    std::uint64_t number = 0;  // of the connection, from 1, in the order in which they ended
    End requester{};
    Message message;
    dissect::UlpHint hint;  // what a SEND of this end is, where that is known
    MessagePayload payload;
};

struct FollowedPart {
    std::uint64_t messages = 0;  // of the connection
    std::vector<FollowedMessage> followed;
    std::uint64_t let_go = 0;  // bytes of payload that waited too long
};

// Messages `first` .. `first` + `most` - 1 of the connection, counted from 1; fewer where their payload is more than
// `most_bytes` in sum: the last of them may go past it. Nothing where `stopped` said so.
[[nodiscard]] std::optional<FollowedPart> follow(const std::shared_ptr<const CaptureIndex>& index,
                                                 ConnectionId connection, std::uint64_t first, std::size_t most,
                                                 std::size_t most_bytes, const std::function<bool()>& stopped = {});

// Who sent what a message carried: of a READ the end that was asked.
[[nodiscard]] constexpr End payload_sender(const FollowedMessage& followed) {
    return followed.message.verb == dissect::Verb::read_request ? other(followed.requester) : followed.requester;
}

// The number, as above, of the message that a packet of the connection is of, or answers; nothing where it is of none.
[[nodiscard]] std::optional<std::uint64_t> followed_number(const CaptureIndex& index, ConnectionId connection,
                                                           dissect::FrameIndex packet);

// The packet that carried a byte of a message, by its place in the payload: of several that did the last, whose bytes
// are those that are shown. 0: no captured packet did.
[[nodiscard]] dissect::FrameIndex packet_of_byte(const CaptureIndex& index, ConnectionId connection,
                                                 const FollowedMessage& followed, std::size_t byte);

}  // namespace qps::transport
