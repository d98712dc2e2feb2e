// OperationRow: what is kept of every operation of an upper protocol in an open capture, in the order in which they
// ended; and of messages which operation they belong to. 80 and 16 bytes.
#pragma once

#include <transport-replay/model/ulp_operation.hpp>

#include <optional>

namespace qps::transport {

class OperationRow {
public:
    OperationRow() = default;
    explicit OperationRow(const UlpOperation& operation);

    [[nodiscard]] ConnectionId connection() const { return ConnectionId{static_cast<std::uint32_t>(connection_)}; }
    [[nodiscard]] dissect::Instant asked() const { return asked_; }
    [[nodiscard]] std::uint32_t bytes() const { return bytes_; }  // moved, as far as 32 bits go
    [[nodiscard]] OperationOutcome outcome() const { return static_cast<OperationOutcome>(outcome_); }
    [[nodiscard]] dissect::FrameIndex asked_frame() const { return dissect::FrameIndex{asked_frame_}; }
    // The last of its packets that is known.
    [[nodiscard]] dissect::FrameIndex last_frame() const;
    // The operation again. What moved is one sum: as if it had all been written.
    [[nodiscard]] UlpOperation restored() const;

private:
    static constexpr std::uint64_t kMostTime =
        (std::uint64_t{1} << 40) - 1;  // ns, 18 minutes; what is longer counts as so long

    std::array<std::uint64_t, 2> subject_{};
    std::uint64_t tag_ = 0;
    dissect::Instant asked_{};
    std::uint64_t asked_frame_ : 40 = 0;
    std::uint64_t code_ : 16 = 0;
    std::uint64_t protocol_ : 8 = 0;
    std::uint32_t data_distance_ = 0;    // frames from the one that asked; 0: none
    std::uint32_t answer_distance_ = 0;  // the same
    std::uint64_t until_data_ : 40 = 0;
    std::uint64_t outstanding_ : 24 = 0;
    std::uint64_t data_ : 40 = 0;
    std::uint64_t connection_ : 20 = 0;
    std::uint64_t requester_ : 1 = 0;
    std::uint64_t outcome_ : 2 = 0;
    std::uint64_t one_way_ : 1 = 0;
    std::uint64_t latency_ : 40 = 0;
    std::uint64_t transfers_ : 24 = 0;
    std::uint32_t status_ = 0;
    std::uint32_t bytes_ = 0;
};
static_assert(sizeof(OperationRow) == 80);

// Of the message with that number among the rows of messages.
class LabelRow {
public:
    LabelRow() = default;
    LabelRow(std::uint64_t message, const UlpLabel& label)
        : tag_(label.tag),
          message_(message & 0xff'ffff'ffffU),
          code_(std::to_underlying(label.code)),
          protocol_(std::to_underlying(label.protocol) & 31U),
          part_(static_cast<std::uint64_t>(label.part) & 3U) {}

    [[nodiscard]] std::uint64_t message() const { return message_; }
    [[nodiscard]] UlpLabel label() const {
        return {static_cast<UlpLabel::Part>(part_), static_cast<UlpProtocol>(protocol_),
                OperationCode{static_cast<std::uint16_t>(code_)}, tag_};
    }

private:
    std::uint64_t tag_ = 0;
    std::uint64_t message_ : 40 = 0;
    std::uint64_t code_ : 16 = 0;
    std::uint64_t protocol_ : 5 = 0;
    std::uint64_t part_ : 2 = 0;
};
static_assert(sizeof(LabelRow) == 16);
static_assert(static_cast<std::size_t>(UlpProtocol::count_) <= 32);

}  // namespace qps::transport
