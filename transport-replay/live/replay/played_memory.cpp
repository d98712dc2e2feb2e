#include <transport-replay/live/replay/played_memory.hpp>

#include <algorithm>

namespace qps::transport::live {

using namespace dissect;

verbs::Result<PlayedMemory> PlayedMemory::open(verbs::Adapter& adapter, verbs::Pd pd, const ConversationPart& part) {
    PlayedMemory memory;
    memory.part_ = &part;
    for (const MemoryBlock& block : part.memory.blocks) memory.blocks_.push_back(block.initial);
    for (const RecordedRegion& recorded : part.memory.regions) {
        Region region{.recorded = &recorded};
        const std::uint64_t offset = recorded.range.offset - part.memory.blocks[recorded.block].address;
        const MutableBytes bytes = MutableBytes(memory.blocks_[recorded.block]).subspan(offset, recorded.range.length);
        verbs::Access access = recorded.access;
        access.local_write = true;
        access.mw_bind = recorded.invalidated;
        const auto mr = adapter.reg_mr(pd, bytes, access, recorded.range.offset);
        if (!mr) return std::unexpected(mr.error());
        region.mr = *mr;
        region.key = mr->rkey;
        if (recorded.invalidated) {
            const auto window = adapter.alloc_mw(pd, verbs::MwType::type_2);
            if (!window) return std::unexpected(window.error());
            region.window = *window;
            region.key = verbs::next_rkey(window->rkey);  // what the first bind makes of it
            region.at_once = !std::ranges::binary_search(part.advertised_keys, recorded.key);
        }
        memory.regions_.push_back(region);
    }
    std::uint32_t room = kLeastReceive;
    for (const PlannedReceive& receive : part.receives) room = std::max(room, receive.room);
    const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kMaxReceiveBytes / room, 1, kMostReceives));
    memory.slot_bytes_ = room;
    memory.slots_.resize(std::size_t{room} * count);
    const auto mr = adapter.reg_mr(pd, memory.slots_, verbs::kLocalWrite);
    if (!mr) return std::unexpected(mr.error());
    memory.slots_mr_ = *mr;
    for (std::uint32_t slot = count; slot-- > 0;) memory.free_.push_back(slot);
    return memory;
}

void PlayedMemory::fill(const MemoryFill& fill) {
    const MutableBytes into = MutableBytes(blocks_[fill.block]).subspan(fill.offset, fill.bytes.size());
    std::ranges::copy(fill.bytes, into.begin());
}

Bytes PlayedMemory::at(const MemoryTouch& touch) const {
    return Bytes(blocks_[touch.block]).subspan(touch.range.offset, touch.range.length);
}

const PlayedMemory::Region* PlayedMemory::find(Rkey recorded, std::optional<std::uint64_t> address) const {
    const RecordedRegion* found = part_->memory.find(recorded, address);
    if (found == nullptr && address)
        found = part_->memory.find(recorded, std::nullopt);  // before the first byte that was asked for
    if (found == nullptr) return nullptr;
    return &regions_[static_cast<std::size_t>(found - part_->memory.regions.data())];
}

std::optional<LiveMemory> PlayedMemory::live(const Advertisement& advertised) const {
    const std::optional<std::uint64_t> address =
        advertised.address_offset ? std::optional(advertised.address) : std::nullopt;
    const Region* region = find(advertised.key, address);
    if (region == nullptr) return std::nullopt;
    LiveMemory memory{region->key, std::nullopt};
    if (address) memory.address = region->mr.address + (*address - region->recorded->range.offset);
    return memory;
}

std::optional<Rkey> PlayedMemory::recorded_key(Rkey live) const {
    const auto found = std::ranges::find(regions_, live, &Region::key);
    return found == regions_.end() ? std::nullopt : std::optional(found->recorded->key);
}

void PlayedMemory::invalidated(Rkey live) {
    const auto found = std::ranges::find(regions_, live, &Region::key);
    if (found != regions_.end()) found->bound = false;
}

verbs::Result<void> PlayedMemory::bind(verbs::Adapter& adapter, Qpn qp, const Advertisement* of) {
    const Region* only =
        of == nullptr ? nullptr : find(of->key, of->address_offset ? std::optional(of->address) : std::nullopt);
    if (of != nullptr && only == nullptr) return {};
    for (Region& region : regions_) {
        if (!region.window || region.bound || (only == nullptr ? !region.at_once : only != &region)) continue;
        const Rkey key = verbs::next_rkey(region.window->rkey);
        verbs::Access access = region.recorded->access;
        access.local_write = false;  // of regions alone
        const verbs::SendWr wr{.wr_id = kBindRequest | static_cast<std::uint64_t>(&region - regions_.data()),
                               .opcode = verbs::WrOpcode::bind_mw,
                               .send_flags = {.signaled = true},
                               .bind = {.mw = region.window->handle,
                                        .rkey = key,
                                        .lkey = region.mr.lkey,
                                        .address = region.mr.address,
                                        .length = region.mr.length,
                                        .access = access}};
        if (auto posted = adapter.post_send(qp, wr); !posted) return posted;
        region.window->rkey = region.key = key;
        region.bound = true;
    }
    return {};
}

verbs::Result<void> PlayedMemory::post_receive(verbs::Adapter& adapter, Qpn qp, std::uint32_t room) {
    if (free_.empty()) return std::unexpected(verbs::VerbsError::queue_full);
    const std::uint32_t slot = free_.back();
    const verbs::Sge piece{slots_mr_.address + std::uint64_t{slot} * slot_bytes_, std::min(room, slot_bytes_),
                           slots_mr_.lkey};
    if (auto posted = adapter.post_recv(qp, {.wr_id = kReceiveRequest | slot, .sg_list = {&piece, 1}}); !posted)
        return posted;
    free_.pop_back();
    return {};
}

Bytes PlayedMemory::received(std::uint64_t wr_id, std::uint32_t bytes) const {
    const auto slot = static_cast<std::uint32_t>(wr_id & ~kReceiveRequest);
    return Bytes(slots_).subspan(std::size_t{slot} * slot_bytes_, std::min(bytes, slot_bytes_));
}

void PlayedMemory::release(std::uint64_t wr_id) {
    free_.push_back(static_cast<std::uint32_t>(wr_id & ~kReceiveRequest));
}

}  // namespace qps::transport::live
