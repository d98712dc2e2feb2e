// OperationRow: what is kept of every operation of an upper protocol in an open capture, in the order in which they
// ended; and of messages which operation they belong to. 80 and 16 bytes.
#pragma once

#include <transport-replay/index/connection_word.hpp>
#include <transport-replay/model/ulp_operation.hpp>

#include <optional>

namespace qps::transport {

class OperationRow {
public:
    OperationRow() = default;
    explicit OperationRow(const UlpOperation& operation);

    [[nodiscard]] ConnectionId connection() const { return word_.connection(); }
    [[nodiscard]] dissect::Instant asked() const { return asked_; }
    [[nodiscard]] std::uint32_t bytes() const { return bytes_; }  // moved, as far as 32 bits go
    [[nodiscard]] OperationOutcome outcome() const {
        return static_cast<OperationOutcome>(word_.above() >> kOutcome & 3U);
    }
    [[nodiscard]] dissect::FrameIndex asked_frame() const { return dissect::FrameIndex{asked_frame_}; }
    // The last of its packets that is known.
    [[nodiscard]] dissect::FrameIndex last_frame() const;
    // The operation again. What moved is one sum: as if it had all been written.
    [[nodiscard]] UlpOperation restored() const;

    // By the thread that writes rows, at the end of the capture.
    void settle(const FinalNumbers& numbers) { word_.settle(numbers); }

private:
    // Where they begin in the word, behind the requester: the last has the highest bits of the time that data took.
    static constexpr unsigned kOutcome = 1, kOneWay = 3, kDataTime = 4;
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
    ConnectionWord word_;
    std::uint32_t data_ = 0;  // the low bits of that time
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
