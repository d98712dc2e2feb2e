#include <dissect/base/types.hpp>
#include <transport-replay/index/operation_row.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

std::uint64_t nanoseconds(Instant from, Instant to, std::uint64_t most) {
    const std::int64_t time = std::to_underlying(to - from);
    return time <= 0 ? 0 : std::min(static_cast<std::uint64_t>(time), most);
}

std::uint32_t distance(FrameIndex from, FrameIndex to) {
    if (to <= from) return 0;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::to_underlying(to) - std::to_underlying(from), UINT32_MAX));
}

}  // namespace

OperationRow::OperationRow(const UlpOperation& operation)
    : subject_(operation.subject),
      tag_(operation.tag),
      asked_(operation.asked),
      asked_frame_(std::to_underlying(operation.asked_frame) & 0xff'ffff'ffffU),
      code_(std::to_underlying(operation.code)),
      protocol_(std::to_underlying(operation.protocol)),
      status_(operation.status) {
    constexpr std::uint32_t kMost24 = 0xffffff;
    std::uint32_t above = std::to_underlying(operation.requester);
    above |= std::uint32_t{std::to_underlying(operation.outcome)} << kOutcome;
    above |= std::uint32_t{operation.one_way} << kOneWay;
    if (operation.has_data()) {
        const std::uint64_t took = nanoseconds(operation.data_first, operation.data_last, kMostTime);
        above |= static_cast<std::uint32_t>(took >> 32U) << kDataTime;
        data_ = static_cast<std::uint32_t>(took);
    }
    word_ = ConnectionWord(operation.connection, above);
    outstanding_ = std::min(operation.outstanding, kMost24) & kMost24;
    transfers_ = std::min(operation.transfers, kMost24) & kMost24;
    bytes_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(operation.in_message + operation.written + operation.read, UINT32_MAX));
    if (operation.has_answer()) {
        answer_distance_ = distance(operation.asked_frame, operation.answered_frame);
        latency_ = nanoseconds(operation.asked, operation.answered, kMostTime) & kMostTime;
    }
    if (!operation.has_data()) return;
    data_distance_ = distance(operation.asked_frame, operation.data_frame);
    until_data_ = nanoseconds(operation.asked, operation.data_first, kMostTime) & kMostTime;
}

FrameIndex OperationRow::last_frame() const {
    return FrameIndex{asked_frame_ + std::max(answer_distance_, data_distance_)};
}

UlpOperation OperationRow::restored() const {
    const auto after = [](Instant from, std::uint64_t time) {
        return from + Duration{static_cast<std::int64_t>(time)};
    };
    UlpOperation operation;
    operation.connection = connection();
    operation.protocol = static_cast<UlpProtocol>(protocol_);
    operation.requester = word_.end();
    operation.code = OperationCode{static_cast<std::uint16_t>(code_)};
    operation.outcome = outcome();
    operation.one_way = (word_.above() >> kOneWay & 1U) != 0;
    operation.tag = tag_;
    operation.status = status_;
    operation.subject = subject_;
    operation.written = bytes_;
    operation.transfers = static_cast<std::uint32_t>(transfers_);
    operation.outstanding = static_cast<std::uint32_t>(outstanding_);
    operation.asked = asked_;
    operation.asked_frame = asked_frame();
    if (answer_distance_ != 0) {
        operation.answered = after(asked_, latency_);
        operation.answered_frame = FrameIndex{asked_frame_ + answer_distance_};
    }
    if (data_distance_ != 0) {
        operation.data_first = after(asked_, until_data_);
        operation.data_last = after(operation.data_first, std::uint64_t{word_.above() >> kDataTime} << 32U | data_);
        operation.data_frame = FrameIndex{asked_frame_ + data_distance_};
    }
    return operation;
}

}  // namespace qps::transport
