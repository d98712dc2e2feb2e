#include <dissect/base/types.hpp>
#include <transport-replay/live/replay/answer_comparison.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

std::string value_text(std::uint64_t value) { return value == 0 ? "none or 0" : fmt::format("{:#x}", value); }

// Only where both are known, and the recording tells what became of it.
bool differ(Ending recorded, Ending live) {
    return recorded != Ending::unknown && live != Ending::unknown && recorded != live;
}

void add(ComparedMessage& live, DifferenceKind kind, std::uint64_t recorded, std::uint64_t now) {
    live.differences.push_back({.kind = kind, .recorded = recorded, .live = now});
}

}  // namespace

std::string sentence(const Difference& difference) {
    switch (difference.kind) {
        case DifferenceKind::outcome:
            return fmt::format("recorded {}, live {}", name(Ending{static_cast<std::uint8_t>(difference.recorded)}),
                               name(Ending{static_cast<std::uint8_t>(difference.live)}));
        case DifferenceKind::rnr:
            return fmt::format("recorded {}, live {}", counted(difference.recorded, "RNR NAK"), difference.live);
        case DifferenceKind::data:
            return fmt::format("{} differ{}, from byte {}: recorded {:#04x}, live {:#04x}",
                               counted(difference.bytes, "byte"), difference.bytes == 1 ? "s" : "", difference.offset,
                               difference.recorded, difference.live);
        case DifferenceKind::length:
            return fmt::format("recorded {}, live {}", counted(difference.recorded, "byte"), difference.live);
        case DifferenceKind::verb:
            return difference.live == 0 ? "recorded WRITE with immediate, live SEND"
                                        : "recorded SEND, live WRITE with immediate";
        case DifferenceKind::immediate:
            return fmt::format("immediate data: recorded {}, live {}", value_text(difference.recorded),
                               value_text(difference.live));
        case DifferenceKind::invalidate:
            return fmt::format("invalidated key: recorded {}, live {}", value_text(difference.recorded),
                               value_text(difference.live));
        case DifferenceKind::atomic_result:
            return fmt::format("value: recorded {:#x}, live {:#x}", difference.recorded, difference.live);
        case DifferenceKind::missing: return "recorded only";
        case DifferenceKind::unexpected: return "live only";
    }
    return {};
}

std::optional<Duration> ComparedMessage::latency() const {
    if (progress != Progress::done || posted == Instant{}) return std::nullopt;
    return done - posted;
}

std::uint64_t ReplayComparison::differences() const {
    std::uint64_t sum = extra_count;
    for (const ComparedMessage& each : messages) sum += each.differences.size();
    return sum;
}

Ending recorded_ending(const RecordedMessage& recorded) {
    constexpr std::array kByCode{Ending::other, Ending::invalid_request, Ending::remote_access,
                                 Ending::remote_operational};
    switch (recorded.message.outcome) {
        case Outcome::completed:
        case Outcome::sent: return Ending::completed;
        case Outcome::failed:
            return recorded.message.nak_code < kByCode.size() ? kByCode[recorded.message.nak_code] : Ending::other;
        case Outcome::open:
        case Outcome::gave_up:
        case Outcome::abandoned: return recorded.rnr_naks != 0 ? Ending::rnr_exceeded : Ending::unknown;
    }
    return Ending::unknown;
}

Ending ending_of(verbs::WcStatus status) {
    switch (status) {
        case verbs::WcStatus::success: return Ending::completed;
        case verbs::WcStatus::rem_inv_req_err: return Ending::invalid_request;
        case verbs::WcStatus::rem_access_err: return Ending::remote_access;
        case verbs::WcStatus::rem_op_err: return Ending::remote_operational;
        case verbs::WcStatus::rnr_retry_exc_err: return Ending::rnr_exceeded;
        case verbs::WcStatus::retry_exc_err: return Ending::retry_exceeded;
        case verbs::WcStatus::wr_flush_err: return Ending::flushed;
        default: return Ending::other;
    }
}

std::optional<Difference> compare_bytes(Bytes recorded, Bytes live, std::span<const ByteRange> left_out) {
    const std::size_t count = std::min(recorded.size(), live.size());
    if (count == 0 || std::memcmp(recorded.data(), live.data(), count) == 0) return std::nullopt;
    std::vector<ByteRange> skipped(left_out.begin(), left_out.end());
    std::ranges::sort(skipped, {}, &ByteRange::offset);
    Difference difference{.kind = DifferenceKind::data};
    std::size_t next = 0;
    std::uint64_t skipped_to = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (; next < skipped.size() && skipped[next].offset <= i; ++next)
            skipped_to = std::max(skipped_to, skipped[next].end());
        if (i < skipped_to || recorded[i] == live[i] || difference.bytes++ != 0) continue;
        difference.offset = i;
        difference.recorded = std::to_integer<std::uint64_t>(recorded[i]);
        difference.live = std::to_integer<std::uint64_t>(live[i]);
    }
    if (difference.bytes == 0) return std::nullopt;
    return difference;
}

void compare_answer(const RecordedMessage& recorded, ComparedMessage& live) {
    const Ending before = recorded_ending(recorded);
    if (differ(before, live.ending))
        add(live, DifferenceKind::outcome, std::to_underlying(before), std::to_underlying(live.ending));
    const bool both_completed = before == Ending::completed && live.ending == Ending::completed;
    if (both_completed && (recorded.rnr_naks == 0) != (live.rnr_naks == 0))
        add(live, DifferenceKind::rnr, recorded.rnr_naks, live.rnr_naks);
}

void compare_result(const RecordedMessage& recorded, Bytes result, std::span<const ByteRange> left_out,
                    ComparedMessage& live) {
    if (!recorded.succeeded() || live.ending != Ending::completed) return;
    if (recorded.message.verb == Verb::read_request) {
        std::vector<ByteRange> ranges = recorded.payload.holes;
        ranges.insert(ranges.end(), left_out.begin(), left_out.end());
        if (auto difference = compare_bytes(recorded.payload.bytes, result, ranges))
            live.differences.push_back(*difference);
    } else if (recorded.is_atomic() && recorded.message.atomic_result && result.size() == sizeof(std::uint64_t)) {
        std::uint64_t value = 0;
        std::memcpy(&value, result.data(), sizeof value);
        if (value != *recorded.message.atomic_result)
            add(live, DifferenceKind::atomic_result, *recorded.message.atomic_result, value);
    }
}

void compare_arrival(const RecordedMessage& recorded, const verbs::Wc& wc, std::optional<Rkey> invalidated, Bytes bytes,
                     std::span<const ByteRange> left_out, ComparedMessage& live) {
    const bool is_write = wc.opcode == verbs::WcOpcode::recv_rdma_with_imm;
    const bool was_write = recorded.message.verb == Verb::write;
    if (is_write != was_write) {
        add(live, DifferenceKind::verb, was_write ? 1 : 0, is_write ? 1 : 0);
        return;
    }
    const bool whole = recorded.is_playable();  // else its beginning was not recorded
    const std::uint64_t length = was_write && whole ? recorded.message.access->length : recorded.payload.bytes.size();
    const bool length_known = whole && (was_write || recorded.message.missing == 0 || recorded.message.ends);
    if (length != wc.byte_len && length_known) add(live, DifferenceKind::length, length, wc.byte_len);
    if (!was_write && whole)
        if (auto difference = compare_bytes(recorded.payload.bytes, bytes, left_out))
            live.differences.push_back(*difference);
    const std::optional<std::uint32_t> immediate = wc.flags.with_imm ? std::optional(wc.imm_data) : std::nullopt;
    if (recorded.message.immediate != immediate)
        add(live, DifferenceKind::immediate, recorded.message.immediate.value_or(0), immediate.value_or(0));
    if (recorded.message.invalidate != invalidated)
        add(live, DifferenceKind::invalidate,
            recorded.message.invalidate ? std::to_underlying(*recorded.message.invalidate) : 0,
            invalidated ? std::to_underlying(*invalidated) : 0);
}

}  // namespace qps::transport::live
