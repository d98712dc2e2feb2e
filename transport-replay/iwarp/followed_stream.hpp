// FollowedStream: what the messages of one iWARP connection carried, byte for byte, for who follows that connection.
//
// PSNs do not say where in a message a segment of TCP belongs, so streams are put in order and framed once more, beside
// the analysis that tells of messages: what it calls them by, this one finds again. What an attacker could feed:
// messages that never end. What waits is bounded, and where the bound is reached the older half goes.
#pragma once

#include <transport-replay/iwarp/iwarp_tracker.hpp>
#include <transport-replay/tracking/payload_store.hpp>
#include <transport-replay/tracking/tracker.hpp>
#include <transport-replay/ulp/ulp_tracker.hpp>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace qps::transport {

// Payload of messages of a stream, until they are complete.
class StreamPayloads {
public:
    static constexpr std::size_t kPieceCost = 128;  // of a segment, beside its payload

    explicit StreamPayloads(std::size_t most) : most_(most) {}
    void keep(const StreamPayload& segment);
    // Hands out what was kept of a message, and forgets it.
    [[nodiscard]] MessagePayload take(End requester, const Message& message);
    // Bytes that were let go because too many waited.
    [[nodiscard]] std::uint64_t let_go() const { return let_go_; }

private:
    struct Piece {
        std::uint64_t offset = 0;  // in the message
        std::uint32_t length = 0;  // on the wire
        std::vector<std::byte> bytes;
    };
    struct Held {
        dissect::FrameIndex last_frame{};
        std::vector<Piece> pieces;
    };
    using Key = std::pair<End, std::uint32_t>;  // requester, first FPDU

    [[nodiscard]] static std::size_t cost_of(const Held& held);
    void forget_older_half();

    std::size_t most_;
    std::map<Key, Held> messages_;
    std::size_t held_ = 0;  // with kPieceCost
    std::uint64_t let_go_ = 0;
};

class FollowedStream {
public:
    explicit FollowedStream(std::size_t most) : payloads_(most) {}
    FollowedStream(const FollowedStream&) = delete;
    FollowedStream& operator=(const FollowedStream&) = delete;
    // Every TCP segment of the capture that is no copy, in order. `followed`: it is of the connection.
    void observe(const Observation& observation, bool followed);
    [[nodiscard]] MessagePayload take(End requester, const Message& message) {
        return payloads_.take(requester, message);
    }
    [[nodiscard]] std::uint64_t let_go() const { return payloads_.let_go(); }

private:
    struct Streams {  // made for the first segment: most captures have none
        Tracker tracker{false};
        UlpTracker ulp{UlpHints{}};
        IwarpTracker iwarp;
    };
    std::unique_ptr<Streams> streams_;
    StreamPayloads payloads_;
    bool followed_ = false;
    OperationSink nobody_;
    PayloadSink keep_ = [this](const StreamPayload& segment) {
        if (followed_) payloads_.keep(segment);
    };
};

}  // namespace qps::transport
