#include <transport-replay/live/replay/recorded_memory.hpp>
#include <transport-replay/model/memory_beside.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::live {

using namespace dissect;

namespace {

constexpr std::uint64_t kAtomicBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kUnusedBytes = 8;       // of a region that nobody used
constexpr std::uint64_t kZeroBased = 1U << 16;  // addresses below are offsets in a region, not of one space
constexpr std::size_t kMaxPlacesOfKey = 256;    // one key reaches few buffers; a key of all memory may
constexpr std::uint8_t kRefusedRequest = 1;     // NAK codes (9.7.5.2.4)
// A byte of a block is there twice, as it was in the beginning and as it is (concluding it needs a bit more), in parts
// of a quarter.
constexpr std::uint64_t kQuartersOfByte = 9;
constexpr std::uint64_t kFillCost =
    3 * sizeof(MemoryFill) + 64;  // beside its bytes: in a list that grows and is sorted, and when it is due

// The answer may have been given: everything but a NAK that was fatal to it.
bool may_have_reached(const RecordedMessage& each) { return each.message.outcome != Outcome::failed; }

ByteRange asked_range(const RecordedMessage& each) {
    if (each.is_atomic() || each.message.verb == Verb::atomic_write)
        return {each.message.access->address, kAtomicBytes};
    return {each.message.access->address, each.message.access->length};
}

bool wraps(const ByteRange& range) { return range.offset + range.length < range.offset; }

void grant(verbs::Access& access, Verb verb) {
    switch (verb) {
        case Verb::write:
        case Verb::atomic_write: access.remote_write = access.local_write = true; break;
        case Verb::read_request: access.remote_read = true; break;
        case Verb::compare_swap:
        case Verb::fetch_add: access.remote_atomic = access.local_write = true; break;
        case Verb::flush: access.flush_global = access.flush_persistent = true; break;
        default: break;
    }
}

std::vector<std::byte> in_memory(std::uint64_t value) {  // as hosts have it; ATOMICs act on that
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::uint64_t after_atomic(const Message& message) {
    const std::uint64_t was = *message.atomic_result;
    if (message.verb == Verb::fetch_add) return was + message.atomic->swap_or_add;
    return was == message.atomic->compare ? message.atomic->swap_or_add : was;
}

// What the queue pair grants: whatever was never refused because of it.
verbs::Access queue_pair_access(const RecordedConversation& conversation, End of) {
    verbs::Access granted;
    verbs::Access refused;
    for (const RecordedMessage& each : conversation.messages) {
        if (each.from == of) continue;
        if (each.message.outcome == Outcome::failed && each.message.nak_code == kRefusedRequest)
            grant(refused, each.message.verb);
        if (each.succeeded()) grant(granted, each.message.verb);
    }
    verbs::Access access = verbs::kEveryAccess;
    access.remote_write = granted.remote_write || !refused.remote_write;
    access.remote_read = granted.remote_read || !refused.remote_read;
    access.remote_atomic = granted.remote_atomic || !refused.remote_atomic;
    access.flush_global = access.flush_persistent = granted.flush_global || !refused.flush_global;
    return access;
}

// Goes through what the other end asked, in order, with what the memory held at each time.
class Concluding {
public:
    Concluding(const RecordedConversation& conversation, End of, std::uint64_t most)
        : conversation_(conversation), of_(of), most_(most) {}

    std::expected<RecordedMemory, std::string> conclude() {
        memory_.access = queue_pair_access(conversation_, of_);
        collect_ranges();
        if (auto refusal = make_blocks()) return std::unexpected(*refusal);
        for (std::size_t i = 0; i < conversation_.messages.size(); ++i) {
            follow(static_cast<std::uint32_t>(i));
            if (memory_.cost > most_) return std::unexpected(refusal());
        }
        std::ranges::stable_sort(memory_.fills, {}, &MemoryFill::before);
        return std::move(memory_);
    }

private:
    struct Look {
        ByteRange range;
        FrameIndex end{};
        std::optional<std::size_t> touch{};  // in memory_.touches
    };
    struct Model {
        std::vector<std::byte> bytes;
        std::vector<bool> known;
        std::vector<Look> looks;
    };

    // Ranges by key; keys of zero-based regions have spaces of their own.
    void collect_ranges() {
        for (const RecordedMessage& each : conversation_.messages) {
            if (each.from == of_) continue;
            if (each.succeeded() && each.message.invalidate) invalidated_.push_back(*each.message.invalidate);
            if (!each.message.access || !each.is_playable() || !may_have_reached(each)) continue;
            const ByteRange range = asked_range(each);
            if (range.length == 0 || wraps(range)) continue;
            std::vector<RecordedRegion>& of_key = by_key_[each.message.access->key];
            auto near = std::ranges::find_if(of_key, [&](const RecordedRegion& region) {
                return range.offset <= region.range.end() + kBlockGap && region.range.offset <= range.end() + kBlockGap;
            });
            if (near == of_key.end() && of_key.size() == kMaxPlacesOfKey)
                near = of_key.begin();  // becomes too long, and is refused
            if (near == of_key.end())
                near = of_key.insert(of_key.end(), RecordedRegion{.key = each.message.access->key, .range = range});
            const std::uint64_t begin = std::min(near->range.offset, range.offset);
            near->range = {begin, std::max(near->range.end(), range.end()) - begin};
            grant(near->access, each.message.verb);
        }
        std::ranges::sort(invalidated_);
        for (const Rkey key : invalidated_)  // shown and taken back, and never used: only the key is known
            if (!by_key_.contains(key)) by_key_[key].push_back({.key = key, .range = {0, kUnusedBytes}});
    }

    std::optional<std::string> make_blocks() {
        for (const auto& [key, of_key] : by_key_)
            for (const RecordedRegion& region : of_key) memory_.regions.push_back(region);
        if (memory_.regions.size() > kMaxRecordedRegions)
            return fmt::format("the recorded memory has more than {}", counted(kMaxRecordedRegions, "region"));
        std::vector<RecordedRegion*> by_address;
        for (RecordedRegion& region : memory_.regions) {
            region.invalidated = std::ranges::binary_search(invalidated_, region.key);
            by_address.push_back(&region);
        }
        std::ranges::stable_sort(by_address, {}, [](const RecordedRegion* region) { return region->range.offset; });
        std::vector<ByteRange> ranges;
        for (RecordedRegion* region : by_address) {
            const bool own_space = region->range.offset < kZeroBased;
            if (own_space || ranges.empty() || ranges.back().offset < kZeroBased ||
                region->range.offset >= ranges.back().end())
                ranges.push_back(region->range);
            ByteRange& block = ranges.back();
            block.length = std::max(block.end(), region->range.end()) - block.offset;
            region->block = static_cast<std::uint32_t>(ranges.size() - 1);
        }
        for (const ByteRange& range : ranges) {
            if (range.length > most_ / kQuartersOfByte * 4) return refusal();
            memory_.cost += range.length / 4 * kQuartersOfByte + kQuartersOfByte;
            if (memory_.cost > most_) return refusal();
        }
        for (const ByteRange& range : ranges) {
            memory_.blocks.push_back({range.offset, std::vector<std::byte>(range.length)});
            models_.push_back({std::vector<std::byte>(range.length), std::vector<bool>(range.length), {}});
        }
        std::ranges::sort(memory_.regions, {},
                          [](const RecordedRegion& region) { return std::pair(region.key, region.range.offset); });
        return std::nullopt;
    }

    [[nodiscard]] std::string refusal() const {
        return fmt::format(
            "the recorded memory and what is put there need more than {}, their part of the memory: --memory grants more",
            bytes_text(most_));
    }

    void follow(std::uint32_t index) {
        const RecordedMessage& each = conversation_.messages[index];
        if (each.from == of_ || !each.succeeded() || !each.message.access || !each.is_playable()) return;
        const ByteRange range = asked_range(each);
        const RecordedRegion* region = memory_.find(each.message.access->key, range.offset);
        if (region == nullptr || range.length == 0 || wraps(range)) return;
        const ByteRange place{range.offset - memory_.blocks[region->block].address, range.length};
        if (each.message.verb == Verb::read_request) {
            if (each.payload.bytes.size() == place.length)
                found(*region, place, each.payload.bytes, each.payload.holes, each);
            look(region->block, {place, end_of(each), {}});
        } else if (each.is_atomic() && each.message.atomic_result) {
            found(*region, place, in_memory(*each.message.atomic_result), {}, each);
            touched(index, region->block, place, in_memory(after_atomic(each.message)));
        } else if (each.is_atomic()) {
            forget(region->block, place, each);
        } else if (each.message.verb == Verb::write || each.message.verb == Verb::atomic_write) {
            if (each.payload.bytes.size() == place.length) touched(index, region->block, place, {});
            else forget(region->block, place, each);
        }
    }

    static FrameIndex end_of(const RecordedMessage& each) {
        return std::max(each.message.last_frame, each.message.answer_frame);
    }

    void look(std::uint32_t block, const Look& look) { models_[block].looks.push_back(look); }

    // Who looked at the range or changed it last; what changed it learns that it is changed at `frame`.
    FrameIndex last_look(std::uint32_t block, const ByteRange& range, FrameIndex frame) {
        std::vector<Look>& looks = models_[block].looks;
        std::optional<FrameIndex> last;
        for (std::size_t i = looks.size(), tried = 0; i-- > 0 && tried < kTouchesLookedAt; ++tried) {
            if (!overlap(looks[i].range, range)) continue;
            if (!last) last = looks[i].end;
            if (!looks[i].touch) continue;
            MemoryTouch& touch = memory_.touches[*looks[i].touch];
            if (!touch.changed) touch.changed = frame;
        }
        if (!last && looks.size() > kTouchesLookedAt) last = looks[looks.size() - kTouchesLookedAt].end;
        return last.value_or(FrameIndex{});
    }

    // The memory held that: always, or from some time on.
    void found(const RecordedRegion& region, const ByteRange& place, Bytes bytes, const std::vector<ByteRange>& holes,
               const RecordedMessage& by) {
        Model& model = models_[region.block];
        std::optional<std::uint64_t> changed;  // from here on
        const auto end_run = [&](std::uint64_t end) {
            if (!changed) return;
            const ByteRange run{place.offset + *changed, end - *changed};
            const FrameIndex after = last_look(region.block, run, by.message.first_frame);
            const Bytes there = bytes.subspan(*changed, run.length);
            memory_.cost += there.size() + kFillCost;
            memory_.fills.push_back({region.block,
                                     run.offset,
                                     {there.begin(), there.end()},
                                     after,
                                     by.message.first_frame,
                                     by.message.first_time});
            changed.reset();
        };
        std::size_t hole = 0;
        for (std::uint64_t i = 0; i < place.length; ++i) {
            while (hole < holes.size() && holes[hole].end() <= i) ++hole;
            const bool unknown = hole < holes.size() && holes[hole].offset <= i;
            const std::uint64_t at = place.offset + i;
            const bool differs = !unknown && model.known[at] && model.bytes[at] != bytes[i];
            if (!unknown && !model.known[at]) memory_.blocks[region.block].initial[at] = bytes[i];
            if (differs && !changed) changed = i;
            if (!differs) end_run(i);
            if (unknown) continue;
            model.known[at] = true;
            model.bytes[at] = bytes[i];
        }
        end_run(place.length);
    }

    void touched(std::uint32_t index, std::uint32_t block, const ByteRange& place, std::vector<std::byte> value) {
        const RecordedMessage& each = conversation_.messages[index];
        static_cast<void>(last_look(block, place, each.message.first_frame));
        memory_.touches.push_back({index, block, place, std::move(value), {}});
        const MemoryTouch& touch = memory_.touches.back();
        const Bytes bytes = expected_bytes(conversation_, touch);
        Model& model = models_[block];
        for (std::uint64_t i = 0; i < place.length; ++i) {
            model.known[place.offset + i] = true;
            model.bytes[place.offset + i] = bytes[i];
        }
        for (const ByteRange& hole : holes_of(conversation_, touch))
            for (std::uint64_t i = hole.offset; i < hole.end(); ++i) model.known[place.offset + i] = false;
        look(block, {place, end_of(each), memory_.touches.size() - 1});
    }

    // Changed, nobody knows to what.
    void forget(std::uint32_t block, const ByteRange& place, const RecordedMessage& each) {
        static_cast<void>(last_look(block, place, each.message.first_frame));
        for (std::uint64_t i = 0; i < place.length; ++i) models_[block].known[place.offset + i] = false;
        look(block, {place, end_of(each), {}});
    }

    const RecordedConversation& conversation_;
    End of_;
    std::uint64_t most_;  // bytes of the memory
    RecordedMemory memory_;
    std::map<Rkey, std::vector<RecordedRegion>> by_key_;
    std::vector<Rkey> invalidated_;
    std::vector<Model> models_;
};

}  // namespace

const RecordedRegion* RecordedMemory::find(Rkey key, std::optional<std::uint64_t> address) const {
    const auto of_key = std::ranges::equal_range(regions, key, {}, &RecordedRegion::key);
    for (const RecordedRegion& region : of_key)
        if (!address || (*address >= region.range.offset && *address < region.range.end())) return &region;
    return nullptr;
}

std::expected<RecordedMemory, std::string> recorded_memory(const RecordedConversation& conversation, End of,
                                                           const MemoryBudget& memory) {
    return Concluding(conversation, of, bytes_beside(memory, Beside::memory)).conclude();
}

Bytes expected_bytes(const RecordedConversation& conversation, const MemoryTouch& touch) {
    if (!touch.value.empty()) return touch.value;
    return conversation.messages[touch.message].payload.bytes;
}

const std::vector<ByteRange>& holes_of(const RecordedConversation& conversation, const MemoryTouch& touch) {
    static const std::vector<ByteRange> kNone;
    return touch.value.empty() ? conversation.messages[touch.message].payload.holes : kNone;
}

}  // namespace qps::transport::live
