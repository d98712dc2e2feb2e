#include <transport-replay/ulp/open_operations.hpp>
#include <transport-replay/ulp/operation_sums.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

namespace {

Duration latency_of(const UlpOperation& operation) { return operation.answered - operation.asked; }

void add_failure(UlpReport& report, const UlpOperation& operation) {
    const auto same = [&](const OperationFailures& failures) {
        return failures.connection == operation.connection && failures.code == operation.code &&
               failures.status == operation.status && failures.protocol == operation.protocol &&
               failures.requester == operation.requester;
    };
    auto found = std::ranges::find_if(report.failures, same);
    if (found == report.failures.end()) {
        if (report.failures.size() == kMaxFailureKinds) {
            ++report.failures_left_out;
            return;
        }
        report.failures.push_back(
            {operation.connection, operation.protocol, operation.code, operation.status, 0, {}, operation.requester});
        found = report.failures.end() - 1;
    }
    ++found->count;
    if (found->frames.size() < kFailureFrames) found->frames.push_back(operation.answered_frame);
}

}  // namespace

void OpenOperations::begin(UlpOperation operation, const UlpMessage& message, const Ended& ended) {
    const Key key{operation.tag, operation.requester};
    if (const auto same = open_.find(key); same != open_.end()) {
        same->second.operation.outcome = OperationOutcome::unanswered;
        forget_ranges(key, same->second);
        close(same->second, ended);
        open_.erase(same);
    }
    Charge charge;
    const auto has_room = [&] { return open_.size() < kMaxOpen && charge.hold(ended.shares.operations, kCost); };
    if (!operation.one_way && !has_room()) {
        ended.report.operations_left_out += open_.size();
        close_all(OperationOutcome::unanswered, ended);
        if (!has_room()) {
            ++ended.report.operations_left_out;
            return;
        }
    }
    operation.connection = message.connection;
    operation.asked = message.time;
    operation.asked_frame = message.first_frame;
    operation.outstanding = ++outstanding_[static_cast<std::size_t>(operation.requester)];
    UlpConversation& conversation = ended.conversation;
    if (conversation.operations++ == 0) conversation.first_asked = message.time;
    conversation.most_outstanding = std::max(conversation.most_outstanding, operation.outstanding);
    if (operation.outstanding == 1) ++conversation.alone;
    if (operation.one_way) {
        operation.outcome = OperationOutcome::done;
        Open done{.operation = operation, .ranges = 0, .place = {}};
        close(done, ended);
        return;
    }
    open_.emplace(key, Open{.operation = operation, .ranges = 0, .place = {}, .kept = {}, .charge = std::move(charge)});
}

UlpOperation* OpenOperations::find(End requester, std::uint64_t tag) {
    const auto found = open_.find(Key{tag, requester});
    return found == open_.end() ? nullptr : &found->second.operation;
}

void OpenOperations::expect_of(End owner, End requester, std::uint64_t tag, const RemoteAccess& memory,
                               const UlpShares& shares, bool keep) {
    const auto found = open_.find(Key{tag, requester});
    if (found == open_.end() || memory.length == 0 || ranges_.size() == kMaxRanges) return;
    Charge& charge = found->second.charge;
    if (!charge.hold(shares.operations, charge.bytes() + 2 * sizeof(Range))) return;
    const Range range{owner, memory, found->first, keep};
    ranges_.insert(std::ranges::upper_bound(ranges_, range.place(), {}, &Range::place), range);
    ++found->second.ranges;
    found->second.place = range.place();
}

const OpenOperations::Range* OpenOperations::range_of(End owner, const RemoteAccess& access) const {
    const auto behind =
        std::ranges::upper_bound(ranges_, std::tuple(owner, access.key, access.address), {}, &Range::place);
    if (behind == ranges_.begin()) return nullptr;
    const Range& range = *(behind - 1);
    const bool inside = range.owner == owner && range.memory.key == access.key &&
                        access.address - range.memory.address < range.memory.length;
    return inside ? &range : nullptr;
}

UlpOperation* OpenOperations::owner_of(End owner, const RemoteAccess& access) {
    const Range* range = range_of(owner, access);
    return range == nullptr ? nullptr : find(range->key.requester, range->key.tag);
}

bool OpenOperations::wants(End owner, const RemoteAccess& access) const {
    const Range* range = range_of(owner, access);
    return range != nullptr && range->keep;
}

bool OpenOperations::begins_memory(End owner, const RemoteAccess& access) const {
    const Range* range = range_of(owner, access);
    return range != nullptr && range->memory.address == access.address;
}

std::optional<RefusedAccess> OpenOperations::compare(End owner, const RemoteAccess& access) const {
    using Verdict = RefusedAccess::Verdict;
    RefusedAccess found{.verdict = Verdict::other_key, .offer = {}};
    std::uint64_t left = access.length, at = access.address;  // what no range has yet
    for (const Range& range : ranges_) {                      // in the order of key and address
        if (range.owner != owner) continue;
        ++found.offers;
        if (range.memory.key != access.key) continue;
        if (found.verdict == Verdict::other_key || range.memory.address <= access.address) found.offer = range.memory;
        found.verdict = Verdict::outside;
        if (at - range.memory.address >= range.memory.length) continue;
        const std::uint64_t part = std::min(left, range.memory.length - (at - range.memory.address));
        left -= part;
        at += part;
    }
    if (found.offers == 0) return {};
    if (found.verdict == Verdict::outside && left == 0) found.verdict = Verdict::inside;
    return found;
}

void OpenOperations::moved(UlpOperation& operation, const Transfer& transfer, UlpShares& shares) {
    ++operation.transfers;
    (transfer.read ? operation.read : operation.written) += transfer.bytes;
    if (!operation.has_data() || transfer.begun < operation.data_first) {
        operation.data_first = transfer.begun;
        operation.data_frame = transfer.first_frame;
    }
    operation.data_last = std::max(operation.data_last, transfer.time);
    if (transfer.payload.empty()) return;
    const auto found = open_.find(Key{operation.tag, operation.requester});
    if (found == open_.end()) return;
    HeldBytes& kept = found->second.kept;
    const std::size_t room = std::min(kMaxKept - kept.size(), kMaxKeptOfAll - held_);
    const Bytes more = slice(transfer.payload, 0, room);
    if (kept.append(shares.payload, more)) held_ += more.size();
}

Bytes OpenOperations::kept(End requester, std::uint64_t tag) const {
    const auto found = open_.find(Key{tag, requester});
    return found == open_.end() ? Bytes{} : found->second.kept.bytes();
}

bool OpenOperations::end(End requester, std::uint64_t tag, OperationOutcome outcome, std::uint32_t status,
                         const UlpMessage& answer, const Ended& ended) {
    const auto found = open_.find(Key{tag, requester});
    if (found == open_.end()) return false;
    UlpOperation& operation = found->second.operation;
    operation.outcome = outcome;
    operation.status = status;
    operation.answered = answer.time;
    operation.answered_frame = answer.first_frame;
    forget_ranges(found->first, found->second);
    close(found->second, ended);
    open_.erase(found);
    return true;
}

void OpenOperations::close_all(OperationOutcome outcome, const Ended& ended) {
    std::vector<Open> all;
    for (auto& [key, open] : open_) all.push_back(std::move(open));
    open_.clear();
    ranges_.clear();
    std::ranges::sort(all, {}, [](const Open& open) { return open.operation.asked_frame; });
    for (Open& open : all) {
        open.operation.outcome = outcome;
        close(open, ended);
    }
}

void OpenOperations::forget_ranges(const Key& key, Open& open) {
    if (open.ranges == 0) return;
    if (open.ranges == 1) {  // as most have: found by its place, so that many open ones cost little
        const auto same_place = std::ranges::equal_range(ranges_, open.place, {}, &Range::place);
        const auto found = std::ranges::find(same_place, key, &Range::key);
        if (found != same_place.end()) ranges_.erase(found);
    } else {
        std::erase_if(ranges_, [&](const Range& range) { return range.key == key; });
    }
    open.ranges = 0;
}

void OpenOperations::close(Open& open, const Ended& ended) {
    const UlpOperation& operation = open.operation;
    --outstanding_[static_cast<std::size_t>(operation.requester)];
    held_ -= open.kept.size();
    UlpConversation& conversation = ended.conversation;
    conversation.bytes += operation.in_message + operation.written + operation.read;
    const bool answered = operation.has_answer();
    if (operation.outcome == OperationOutcome::failed) ++conversation.failed;
    if (!answered && !operation.one_way) {
        ++conversation.unanswered;
        if (ended.report.unanswered.size() < kMaxUnanswered) ended.report.unanswered.push_back(operation);
    }
    if (answered) {
        conversation.latency.add(latency_of(operation));
        conversation.last_answered = operation.answered;
    }
    add(ended.apart != nullptr ? *ended.apart : ended.report.sums, operation);
    if (operation.outcome == OperationOutcome::failed) add_failure(ended.report, operation);
    if (ended.sink) ended.sink(operation);
}

}  // namespace qps::transport
