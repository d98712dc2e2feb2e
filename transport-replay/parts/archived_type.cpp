#include <transport-replay/parts/archived_type.hpp>

namespace qps::transport::parts {

namespace {

constexpr std::uint64_t kSeed = 0xcbf29ce484222325;
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
    return (seed ^ value) * 0x100000001b3;
}  // FNV-1a

bool is_plain(const Type& type) {
    switch (type.make) {
        case Make::psn:
        case Make::number:
        case Make::signed_number:
        case Make::real:
        case Make::enumeration:
        case Make::text:
        case Make::name: return true;
        default: return false;
    }
}

void* at(void* value, std::size_t offset) { return static_cast<std::byte*>(value) + offset; }

}  // namespace

std::uint64_t shape_of(const Type& type) {
    const auto make = static_cast<std::uint64_t>(type.make);
    std::uint64_t shape = mixed(mixed(mixed(kSeed, make), type.size), type.count);
    if (type.make == Make::enumeration) shape = mixed(shape, type.end);
    if (type.item != nullptr) shape = mixed(shape, shape_of(*type.item));
    if (type.members == nullptr) return shape;
    for (const Member& member : type.members()) shape = mixed(shape, shape_of(*member.type));
    return shape;
}

void for_each_of(void* value, const Type& type, const Type& wanted, const Visit& visit) {
    if (&type == &wanted) return visit(value);
    if (is_plain(type)) return;
    if (type.members != nullptr) {
        for (const Member& member : type.members()) for_each_of(at(value, member.offset), *member.type, wanted, visit);
        return;
    }
    const Type& item = *type.item;
    if (&item != &wanted && is_plain(item)) return;
    const auto descend = [&](const void* found, const Type& of) {
        for_each_of(const_cast<void*>(found), of, wanted, visit);
    };
    switch (type.make) {
        case Make::optional:
        case Make::rare:
            if (const void* found = type.get(value)) descend(found, item);
            return;
        case Make::fixed:
            for (std::size_t i = 0; i < type.count; ++i) descend(at(value, i * type.size), item);
            return;
        case Make::list: return type.each(value, [&](const void* found) { descend(found, item); });
        case Make::map: {
            const Member& mapped = item.members()[1];
            return type.each(value, [&](const void* found) {
                descend(static_cast<const std::byte*>(found) + mapped.offset, *mapped.type);
            });
        }
        default: return;
    }
}

}  // namespace qps::transport::parts
