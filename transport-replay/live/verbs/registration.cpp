#include <transport-replay/live/verbs/registration.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport::verbs {

using namespace dissect;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxRegionLength = std::uint64_t{1}
                                           << 40;  // far above any memory; sums of addresses stay in range

Rkey key_of(std::uint32_t index, std::uint8_t tag) { return Rkey{index << 8 | tag}; }
std::uint8_t tag_of(Rkey key) { return static_cast<std::uint8_t>(key); }

}  // namespace

AccessRights rights_of(const Access& access) {
    return {.local_write = access.local_write,
            .read = access.remote_read,
            .write = access.remote_write,
            .atomic = access.remote_atomic,
            .bind = access.mw_bind,
            .flush_global = access.flush_global,
            .flush_persistent = access.flush_persistent};
}

std::optional<std::uint32_t> Registrations::take_index() {
    if (!free_.empty()) {
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    if (rows_.size() > kMaxMrs) return std::nullopt;
    rows_.emplace_back();
    return static_cast<std::uint32_t>(rows_.size() - 1);
}

// The tag of the key stays behind, so that the next one differs.
void Registrations::free_index(std::uint32_t index) {
    rows_[index] = Row{.key = next_rkey(rows_[index].key)};
    free_.push_back(index);
}

Registrations::Row* Registrations::find(Rkey key, Kind kind) {
    const std::uint32_t index = index_of(key);
    if (index >= rows_.size() || rows_[index].kind != kind || rows_[index].key != key) return nullptr;
    return &rows_[index];
}

Registrations::Row* Registrations::find_window(Mw window) {
    const std::uint32_t index = std::to_underlying(window);
    return index < rows_.size() && rows_[index].kind == Kind::window ? &rows_[index] : nullptr;
}

Result<Mr> Registrations::add(ProtectionDomain& pd, MutableBytes bytes, const Access& access,
                              std::optional<std::uint64_t> iova) {
    if ((access.remote_write || access.remote_atomic) && !access.local_write)
        return std::unexpected(VerbsError::invalid_request);
    if (bytes.size() > kMaxRegionLength) return std::unexpected(VerbsError::invalid_request);
    const std::uint64_t address = iova.value_or(next_address_);
    if (address + bytes.size() < address) return std::unexpected(VerbsError::invalid_request);
    const auto index = take_index();
    if (!index) return std::unexpected(VerbsError::too_many);
    const Rkey key = key_of(*index, tag_of(rows_[*index].key));
    if (!pd.memory.add(
            {.key = key, .base = address, .rights = rights_of(access), .bytes = bytes, .invalidatable = false})) {
        free_index(*index);
        return std::unexpected(VerbsError::too_many);
    }
    rows_[*index] = Row{.pd = &pd, .kind = Kind::region, .key = key};
    ++pd.users;
    if (!iova) next_address_ += (bytes.size() / kPage + 2) * kPage;  // a page between regions belongs to none
    return Mr{.lkey = key, .rkey = key, .address = address, .length = bytes.size()};
}

Result<Mr> Registrations::allocate(ProtectionDomain& pd, std::uint64_t max_length) {
    if (max_length > kMaxRegionLength) return std::unexpected(VerbsError::invalid_request);
    const auto index = take_index();
    if (!index) return std::unexpected(VerbsError::too_many);
    const Rkey key = key_of(*index, tag_of(rows_[*index].key));
    if (!pd.memory.add({.key = key, .valid = false})) {
        free_index(*index);
        return std::unexpected(VerbsError::too_many);
    }
    rows_[*index] = Row{.pd = &pd, .kind = Kind::region, .key = key, .fast = true, .most = max_length};
    ++pd.users;
    return Mr{.lkey = key, .rkey = key, .address = 0, .length = 0};
}

Result<MemoryRegion> Registrations::prepare(const ProtectionDomain& pd, const MrRegistration& registration) {
    const std::uint32_t index = index_of(registration.lkey);
    if (index >= rows_.size() || rows_[index].kind != Kind::region || rows_[index].pd != &pd)
        return std::unexpected(VerbsError::unknown_handle);
    const Row& row = rows_[index];
    const Access& access = registration.access;
    if (!row.fast) return std::unexpected(VerbsError::unsupported);
    const bool writes = access.remote_write || access.remote_atomic;
    if (index_of(registration.key) != index || registration.bytes.size() > row.most ||
        (writes && !access.local_write) || registration.address + registration.bytes.size() < registration.address)
        return std::unexpected(VerbsError::invalid_request);
    return MemoryRegion{.key = registration.key,
                        .base = registration.address,
                        .rights = rights_of(access),
                        .bytes = registration.bytes};
}

bool Registrations::register_again(const MemoryRegion& region) {
    Row& row = rows_[index_of(region.key)];  // pinned since it was prepared
    if (!row.pd->memory.register_again(row.key, region)) return false;
    row.key = region.key;
    return true;
}

void Registrations::pin(const MemoryRegion& region, Pins& pins) {
    pins.push_back(index_of(region.key));
    ++rows_[pins.back()].users;
}

Result<void> Registrations::remove(Rkey lkey) {
    Row* row = find(lkey, Kind::region);
    if (row == nullptr) return std::unexpected(VerbsError::unknown_handle);
    if (row->users > 0 || !row->pd->memory.remove(lkey)) return std::unexpected(VerbsError::busy);
    --row->pd->users;
    free_index(index_of(lkey));
    return {};
}

Resolved Registrations::resolve(const ProtectionDomain& pd, std::span<const Sge> pieces, bool to_write) {
    Resolved found;
    for (const Sge& piece : pieces) {
        if (piece.length == 0) continue;
        const auto bytes = pd.memory.local(piece.lkey, piece.address, piece.length, to_write);
        if (!bytes) {
            release(found.pins);
            return {.usable = false};
        }
        found.segments.push_back(*bytes);
        found.pins.push_back(index_of(piece.lkey));
        ++rows_[found.pins.back()].users;
    }
    return found;
}

void Registrations::release(const Pins& pins) {
    for (const std::uint32_t index : pins) --rows_[index].users;
}

void Registrations::pin(const MemoryWindow& window, Pins& pins) {
    pins.push_back(index_of(window.key));
    ++rows_[pins.back()].users;
}

Result<Window> Registrations::add_window(ProtectionDomain& pd, MwType type) {
    const auto index = take_index();
    if (!index) return std::unexpected(VerbsError::too_many);
    const Rkey key = key_of(*index, tag_of(rows_[*index].key));
    rows_[*index] = Row{.pd = &pd, .kind = Kind::window, .type = type, .key = key, .given_out = key};
    ++pd.users;
    return Window{.handle = Mw{*index}, .rkey = key, .type = type};
}

Result<void> Registrations::remove_window(Mw window) {
    Row* row = find_window(window);
    if (row == nullptr) return std::unexpected(VerbsError::unknown_handle);
    if (row->users > 0) return std::unexpected(VerbsError::busy);
    if (row->bound) row->pd->memory.remove(row->key);
    --row->pd->users;
    free_index(std::to_underlying(window));
    return {};
}

Result<MemoryWindow> Registrations::prepare(const ProtectionDomain& pd, const MwBind& bind, Qpn by, MwType type) {
    Row* row = find_window(bind.mw);
    if (row == nullptr || row->pd != &pd) return std::unexpected(VerbsError::unknown_handle);
    if (row->type != type) return std::unexpected(VerbsError::unsupported);
    MemoryWindow window{.key = bind.rkey,
                        .region = bind.lkey,
                        .base = bind.address,
                        .length = bind.length,
                        .rights = rights_of(bind.access)};
    if (type == MwType::type_2) {
        if (index_of(bind.rkey) != std::to_underlying(bind.mw)) return std::unexpected(VerbsError::invalid_request);
        window.of = by;
    } else {
        window.key = row->given_out = next_rkey(row->given_out);
    }
    return window;
}

bool Registrations::bind(const MemoryWindow& window) {
    Row* row = find_window(Mw{index_of(window.key)});
    if (row == nullptr || (row->type == MwType::type_2 && row->bound)) return false;  // to be invalidated first
    if (row->bound) row->pd->memory.remove(row->key);
    row->bound = false;
    if (window.length == 0) {
        row->key = window.key;
        return row->type == MwType::type_1;
    }
    if (!row->pd->memory.bind(window)) return false;
    row->key = window.key;
    row->bound = true;
    return true;
}

void Registrations::invalidated(Rkey key) {
    if (Row* row = find(key, Kind::window); row != nullptr) row->bound = false;
}

}  // namespace qps::transport::verbs
