#include <transport-replay/queue_pair/memory.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace qps::transport {

using namespace dissect;

bool covers(const AccessRights& granted, const AccessRights& wanted) {
    return (granted.local_write || !wanted.local_write) && (granted.read || !wanted.read) &&
           (granted.write || !wanted.write) && (granted.atomic || !wanted.atomic) && (granted.bind || !wanted.bind) &&
           (granted.flush_global || !wanted.flush_global) && (granted.flush_persistent || !wanted.flush_persistent);
}

std::uint64_t length_of(const Segments& segments) {
    std::uint64_t length = 0;
    for (MutableBytes segment : segments) length += segment.size();
    return length;
}

void scatter(const Segments& segments, std::uint64_t offset, Bytes bytes) {
    for (MutableBytes segment : segments) {
        if (bytes.empty()) return;
        if (offset >= segment.size()) {
            offset -= segment.size();
            continue;
        }
        const std::size_t here = std::min<std::size_t>(bytes.size(), segment.size() - offset);
        std::memcpy(segment.data() + offset, bytes.data(), here);
        bytes = bytes.subspan(here);
        offset = 0;
    }
}

Bytes gather(const Segments& segments, std::uint64_t offset, std::uint32_t length, MutableBytes room) {
    std::size_t filled = 0;
    for (MutableBytes segment : segments) {
        if (offset >= segment.size()) {
            offset -= segment.size();
            continue;
        }
        const std::size_t here = std::min<std::size_t>(length - filled, segment.size() - offset);
        if (filled == 0 && here == length) return segment.subspan(offset, here);
        const std::size_t taken = std::min(here, room.size() - filled);
        std::memcpy(room.data() + filled, segment.data() + offset, taken);
        filled += taken;
        offset = 0;
        if (filled == length || filled == room.size()) break;
    }
    return room.first(filled);
}

Memory::Entry* Memory::find(Rkey key) {
    const auto found = entries_.find(std::to_underlying(key));
    return found == entries_.end() ? nullptr : &found->second;
}

const Memory::Entry* Memory::find(Rkey key) const {
    const auto found = entries_.find(std::to_underlying(key));
    return found == entries_.end() ? nullptr : &found->second;
}

bool Memory::add(const MemoryRegion& region) {
    if (entries_.size() >= kMaxRegions) return false;
    return entries_
        .try_emplace(std::to_underlying(region.key), Entry{.base = region.base,
                                                           .bytes = region.bytes,
                                                           .rights = region.rights,
                                                           .valid = region.valid,
                                                           .invalidatable = region.invalidatable})
        .second;
}

bool Memory::bind(const MemoryWindow& window) {
    Entry* region = find(window.region);
    if (region == nullptr || region->window || !region->valid || !region->rights.bind) return false;
    const bool writes = window.rights.write || window.rights.atomic;
    if (window.rights.bind || window.rights.local_write || (writes && !region->rights.local_write)) return false;
    if (window.base < region->base) return false;
    const std::uint64_t offset = window.base - region->base;
    if (offset > region->bytes.size() || window.length > region->bytes.size() - offset) return false;
    if (entries_.size() >= kMaxRegions || find(window.key) != nullptr) return false;
    const Entry entry{.base = window.base,
                      .bytes = region->bytes.subspan(offset, window.length),
                      .rights = window.rights,
                      .window = true,
                      .invalidatable = window.of.has_value(),
                      .region = window.region,
                      .of = window.of};
    ++region->windows;  // before the table moves
    entries_.emplace(std::to_underlying(window.key), entry);
    return true;
}

bool Memory::register_again(Rkey key, const MemoryRegion& region) {
    const Entry* entry = find(key);
    if (entry == nullptr || entry->window || entry->valid || !entry->invalidatable || entry->windows > 0) return false;
    if (region.key != key && find(region.key) != nullptr) return false;
    entries_.erase(std::to_underlying(key));
    return add(region);
}

bool Memory::remove(Rkey key) {
    const Entry* entry = find(key);
    if (entry == nullptr || entry->windows > 0) return false;
    if (entry->window) --find(entry->region)->windows;
    entries_.erase(std::to_underlying(key));
    return true;
}

bool Memory::invalidate(Rkey key, Qpn by) {
    Entry* entry = find(key);
    if (entry == nullptr || !entry->valid || !entry->invalidatable || entry->windows > 0) return false;
    if (!entry->window) {
        entry->valid = false;
        return true;
    }
    return entry->of == by && remove(key);
}

std::optional<MutableBytes> Memory::reach(const RemoteAccess& access, const AccessRights& wanted, Qpn by) const {
    const auto all = reach_all(access.key, wanted, by);
    if (!all) return std::nullopt;
    const std::uint64_t base = find(access.key)->base;
    if (access.address < base) return std::nullopt;
    const std::uint64_t offset = access.address - base;
    if (offset > all->size() || access.length > all->size() - offset) return std::nullopt;
    return all->subspan(offset, access.length);
}

std::optional<MutableBytes> Memory::reach_all(Rkey key, const AccessRights& wanted, Qpn by) const {
    const Entry* entry = find(key);
    if (entry == nullptr || !entry->valid || !covers(entry->rights, wanted)) return std::nullopt;
    if (entry->of && *entry->of != by) return std::nullopt;
    return entry->bytes;
}

std::optional<MutableBytes> Memory::local(Rkey key, std::uint64_t address, std::uint32_t length, bool to_write) const {
    const Entry* entry = find(key);
    if (entry == nullptr || entry->window) return std::nullopt;
    return reach({address, key, length}, {.local_write = to_write}, Qpn{});
}

}  // namespace qps::transport
