// MessageFrames: which message each packet of a capture belongs to, and which packets each message has. What only the
// whole capture tells: made of a first reading for fields of a second one. It needs the index no more.
//
// What an attacker could feed: messages that overlap. Every packet is in kMostOfPacket messages at most, beside those
// that it answers.
#pragma once

#include <dissect/base/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace qps::transport {

class CaptureIndex;

class MessageFrames {
public:
    static constexpr std::size_t kMostOfPacket = 8;

    MessageFrames() = default;
    explicit MessageFrames(const CaptureIndex& index);

    // Its number, counted from 1 as message_packets() does; 0: it belongs to none. Of a packet that answers several:
    // the last.
    [[nodiscard]] std::uint64_t message_of(dissect::FrameIndex frame) const;
    // Its packets in order: requests, responses, and what completed it. Empty where there is no such message.
    [[nodiscard]] std::span<const std::uint32_t> frames_of(std::uint64_t message) const;
    [[nodiscard]] std::uint64_t bytes() const {
        return sizeof(std::uint32_t) * (messages_.size() + starts_.size() + frames_.size());
    }

private:
    std::vector<std::uint32_t> messages_;  // by frame, from frame 1 on
    std::vector<std::uint32_t>
        starts_;  // by message, from message 1 on: where its frames begin; and the end of the last
    std::vector<std::uint32_t> frames_;
};

}  // namespace qps::transport
