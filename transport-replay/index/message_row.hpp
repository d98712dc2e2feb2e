// MessageRow: what is kept of every message of an open capture, in the order in which they ended. 24 bytes; operands,
// keys and addresses stand in the packet that begins it.
#pragma once

#include <transport-replay/index/packet_row.hpp>
#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/message.hpp>

#include <optional>

namespace qps::transport {

class MessageRow {
public:
    MessageRow() = default;
    MessageRow(ConnectionId connection, End requester, const Message& message);

    [[nodiscard]] ConnectionId connection() const { return word_.connection(); }
    [[nodiscard]] End requester() const { return word_.end(); }
    [[nodiscard]] MessageKind kind() const { return static_cast<MessageKind>(word_.above() >> kKind & 7U); }
    [[nodiscard]] Outcome outcome() const { return static_cast<Outcome>(word_.above() >> kOutcome & 7U); }
    [[nodiscard]] std::uint8_t nak_code() const {  // where it failed
        return static_cast<std::uint8_t>(word_.above() >> kNak);
    }
    // Its request packets: the first that was seen, and the last, 2^24 - 1 frames later at most.
    [[nodiscard]] dissect::FrameIndex first_frame() const { return dissect::FrameIndex{first_frame_}; }
    [[nodiscard]] dissect::FrameIndex last_frame() const { return dissect::FrameIndex{first_frame_ + last_distance_}; }
    // What completed or failed it; nothing where nobody did, or 2^32 frames later.
    [[nodiscard]] std::optional<dissect::FrameIndex> answer_frame() const {
        return answer_distance_ == 0 ? std::nullopt
                                     : std::optional(dissect::FrameIndex{first_frame_ + answer_distance_});
    }
    [[nodiscard]] std::uint32_t psns() const { return psns_; }    // how many are its own; a READ's: of its responses
    [[nodiscard]] std::uint32_t bytes() const { return bytes_; }  // payload seen, each PSN once
    [[nodiscard]] std::uint8_t retransmissions() const { return retransmissions_; }  // 255: or more

    // By the thread that writes rows, at the end of the capture.
    void settle(const FinalNumbers& numbers) { word_.settle(numbers); }

private:
    static constexpr unsigned kOutcome = 1, kKind = 4, kNak = 7;  // where they begin in the word, behind the requester
    std::uint64_t first_frame_ : 40 = 0;
    std::uint64_t psns_ : 24 = 0;
    std::uint32_t last_distance_ : 24 = 0;
    std::uint32_t retransmissions_ : 8 = 0;
    std::uint32_t answer_distance_ = 0;
    std::uint32_t bytes_ = 0;
    ConnectionWord word_;
};
static_assert(sizeof(MessageRow) == 24);

// Whether a packet, of either end of its connection, has a PSN of the message: over TCP, bytes of it. `first` and
// `last` are those of its request packets. When the packet was does not count: PSNs come again.
[[nodiscard]] bool carries(const MessageRow& message, const PacketRow& first, const PacketRow& last,
                           const PacketRow& packet);

}  // namespace qps::transport
