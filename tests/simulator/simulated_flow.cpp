#include <tests/simulator/simulated_flow.hpp>

#include <algorithm>
#include <cstring>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Rkey kWriteKey{0x1001}, kReadKey{0x1002}, kAtomicKey{0x1003}, kForbiddenKey{0x1004}, kUnknownKey{0xdead};
constexpr std::uint32_t kFirstInvalidated = 0x0200'0000;  // one key a message
constexpr std::uint64_t kBase = 0x7f00'0000'0000;         // of every region
constexpr std::uint32_t kAtomicBytes = 16;
constexpr std::uint32_t kReceiveBytes = 1U << 22;  // of a posted receive where a message is to be too long for it

// What goes into the region that is written.
bool writes(WorkKind kind) {
    return kind == WorkKind::write || kind == WorkKind::write_with_immediate || kind == WorkKind::atomic_write;
}
bool takes_receive(WorkKind kind) {
    return kind <= WorkKind::send_with_invalidate || kind == WorkKind::write_with_immediate;
}

// The bytes of a message: any two messages differ.
std::byte pattern(std::uint64_t message, std::uint64_t index) {
    std::uint64_t mixed = (message + 1) * 0x9e37'79b9'7f4a'7c15 + (index >> 3) * 0xbf58'476d'1ce4'e5b9;
    mixed ^= mixed >> 29;
    return static_cast<std::byte>(mixed >> (index & 7) * 8);
}

std::vector<std::byte> pattern_of(std::uint64_t message, std::uint32_t length) {
    std::vector<std::byte> bytes(length);
    for (std::uint32_t i = 0; i < length; ++i) bytes[i] = pattern(message, i);
    return bytes;
}

}  // namespace

void lay_out(SimulatedFlow& flow) {
    flow.cells.resize(kAtomicBytes);
    flow.forbidden.resize(kAtomicBytes);
    flow.local.resize(flow.plan.size());
    std::uint32_t longest = 0;
    for (std::size_t i = 0; i < flow.plan.size(); ++i) {
        MessagePlan& message = flow.plan[i];
        if (is_atomic(message.kind) || message.kind == WorkKind::atomic_write) message.bytes = kAtomicLength;
        longest = std::max(longest, message.mistake == Mistake::too_long ? kReceiveBytes : message.bytes);
        std::vector<std::byte>& region = writes(message.kind) ? flow.written : flow.readable;
        if (message.kind == WorkKind::atomic_write)
            region.resize((region.size() + kAtomicLength - 1) / kAtomicLength * kAtomicLength);
        flow.places.push_back(message.kind == WorkKind::flush ? 0 : region.size());
        if (writes(message.kind)) region.resize(region.size() + message.bytes);
        if (message.kind == WorkKind::read) {
            const std::vector<std::byte> content = pattern_of(i, message.bytes);
            region.insert(region.end(), content.begin(), content.end());
        }
        if (message.kind == WorkKind::send_with_invalidate)
            static_cast<void>(flow.memory.add({.key = static_cast<Rkey>(kFirstInvalidated + i), .base = kBase}));
    }
    for (MessagePlan& message : flow.plan) {
        if (message.kind == WorkKind::flush)  // what there is to be flushed
            message.bytes = std::min(message.bytes, static_cast<std::uint32_t>(flow.written.size()));
        flow.truth.messages.push_back({.kind = message.kind, .bytes = message.bytes, .first = {}, .last = {}});
    }
    flow.receive.resize(longest + flow.header_room);
    for (const MemoryRegion& region :
         {MemoryRegion{.key = kWriteKey,
                       .rights = {.write = true, .flush_global = true, .flush_persistent = true},
                       .bytes = flow.written},
          MemoryRegion{.key = kReadKey, .rights = {.read = true}, .bytes = flow.readable},
          MemoryRegion{.key = kAtomicKey, .rights = {.atomic = true}, .bytes = flow.cells},
          MemoryRegion{.key = kForbiddenKey, .bytes = flow.forbidden}}) {
        MemoryRegion placed = region;
        placed.base = kBase;
        static_cast<void>(flow.memory.add(placed));
    }
}

WorkRequest work_of(SimulatedFlow& flow, std::size_t message) {
    const MessagePlan& plan = flow.plan[message];
    WorkRequest work{.id = message, .kind = plan.kind};
    const bool sends = plan.kind <= WorkKind::write_with_immediate || plan.kind == WorkKind::atomic_write;
    std::vector<std::byte>& local = flow.local[message];
    const std::uint32_t length = plan.mistake == Mistake::too_long ? kReceiveBytes + 1 : plan.bytes;
    if (sends) local = pattern_of(message, length);
    else local.resize(length);
    if (plan.kind != WorkKind::flush) work.segments.push_back(local);
    const Rkey key = is_atomic(plan.kind)                                ? kAtomicKey
                     : writes(plan.kind) || plan.kind == WorkKind::flush ? kWriteKey
                                                                         : kReadKey;
    work.remote = {kBase + flow.places[message], key, plan.bytes};
    // FETCH_ADD counts in the first cell; COMPARE_SWAP climbs in the second, from one such message to the next.
    if (plan.kind == WorkKind::fetch_add) work.remote.address = kBase;
    if (plan.kind == WorkKind::compare_swap) work.remote.address = kBase + kAtomicLength;
    work.atomic.swap_or_add = message + 1;
    for (std::size_t before = message; plan.kind == WorkKind::compare_swap && work.atomic.compare == 0 && before-- > 0;)
        if (flow.plan[before].kind == WorkKind::compare_swap) work.atomic.compare = before + 1;
    work.immediate = static_cast<std::uint32_t>(message);
    work.invalidate = static_cast<Rkey>(kFirstInvalidated + message);
    work.fence = plan.fence;
    work.solicited = takes_receive(plan.kind) && message + 1 == flow.plan.size();
    if (plan.mistake == Mistake::wrong_key) work.remote.key = kUnknownKey;
    if (plan.mistake == Mistake::no_right) work.remote.key = kForbiddenKey;
    if (plan.mistake == Mistake::beyond_region) work.remote.address = kBase + kMaxPlanBytes;
    if (plan.mistake == Mistake::misaligned) work.remote.address += 1;
    return work;
}

namespace {

// The receives posted are a number; the queue has the next of them.
void execute(SimulatedFlow& flow, const TransportPacket& packet) {
    if (flow.receives.size() == 0 && flow.posted_receives > 0) {
        --flow.posted_receives;
        PostedReceive receive;
        receive.segments.push_back(flow.receive);
        static_cast<void>(flow.receives.post(std::move(receive)));
    }
    const ResponderActions actions = flow.responder.process(packet, flow.memory, flow.receives);
    if (actions.message_done) ++flow.truth.executed;
    if (!actions.received) return;
    SimulatedArrival& arrived = flow.received.emplace_back(SimulatedArrival{.message = *actions.received, .bytes = {}});
    arrived.message.length -= arrived.message.verb == Verb::send ? flow.header_room : 0;
    const Bytes bytes = slice(flow.receive, flow.header_room, arrived.message.length);
    if (arrived.message.verb == Verb::send) arrived.bytes.assign(bytes.begin(), bytes.end());
}

}  // namespace

void take_request(SimulatedFlow& flow, const TransportPacket& packet) {
    const Psn expected = flow.responder.expected();
    if (flow.selective && expected.before(packet.psn)) {
        SelectiveRepeat::Kept& kept = flow.selective->kept[packet.psn.value()];
        kept.payload.assign(packet.payload.begin(), packet.payload.end());
        kept.packet = packet;
        kept.packet.payload = kept.payload;
    }
    execute(flow, packet);
    if (!flow.selective || flow.responder.expected() == expected) return;
    auto& kept = flow.selective->kept;
    for (auto next = kept.extract(flow.responder.expected().value()); next;
         next = kept.extract(flow.responder.expected().value()))
        execute(flow, next.mapped().packet);
    std::erase_if(kept, [&](const auto& one) { return Psn(one.first).before(flow.responder.expected()); });
    if (!kept.empty()) execute(flow, kept.begin()->second.packet);  // another one is missing: a NAK
}

TransportPacket take_selective_nak(SelectiveRepeat& selective, const TransportPacket& nak) {
    if (const auto sent = selective.sent.find(nak.psn.value()); sent != selective.sent.end())
        selective.asked.push_back(sent->second);
    constexpr std::uint8_t kAck = 31;  // with no credits told
    TransportPacket acknowledges = nak;
    acknowledges.psn = nak.psn.previous();
    acknowledges.acknowledgment->syndrome = kAck;
    return acknowledges;
}

void judge(SimulatedFlow& flow) {
    std::size_t received = 0;
    std::uint64_t counter = 0;  // what the FETCH_ADDs must have found
    std::uint64_t climbed = 0;  // and the COMPARE_SWAPs
    std::vector<const Completion*> completed(flow.plan.size());
    for (const Completion& completion : flow.completions) completed[completion.id] = &completion;
    for (std::size_t i = 0; i < flow.plan.size(); ++i) {
        const MessagePlan& plan = flow.plan[i];
        MessageTruth& message = flow.truth.messages[i];
        message.executed = i < flow.truth.executed;
        if (!message.executed) continue;
        bool right = true;
        if (takes_receive(plan.kind)) {
            const SimulatedArrival* arrived = received < flow.received.size() ? &flow.received[received++] : nullptr;
            right = arrived != nullptr && arrived->message.length == plan.bytes &&
                    (writes(plan.kind) || arrived->bytes == pattern_of(i, plan.bytes));
        }
        if (writes(plan.kind)) {
            const Bytes bytes = slice(flow.written, flow.places[i], plan.bytes);
            right = right && std::ranges::equal(bytes, pattern_of(i, plan.bytes));
        }
        const bool successful = completed[i] != nullptr && completed[i]->status == CompletionStatus::success;
        const auto found = [&] {  // by an ATOMIC
            std::uint64_t value = 0;
            std::memcpy(&value, flow.local[i].data(), kAtomicLength);
            return value;
        };
        if (plan.kind == WorkKind::read) right = !successful || flow.local[i] == pattern_of(i, plan.bytes);
        if (plan.kind == WorkKind::fetch_add) {
            right = !successful || found() == counter;
            counter += i + 1;
        }
        if (plan.kind == WorkKind::compare_swap) {
            right = !successful || found() == climbed;
            climbed = i + 1;
        }
        message.content_right = right;
    }
}

}  // namespace qps::transport
