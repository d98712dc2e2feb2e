#include <transport-replay/parts/archive.hpp>

#include <bit>
#include <cstring>
#include <mutex>
#include <set>

namespace qps::transport::parts {

namespace {

// Integers of 1, 2, 4 or 8 bytes, as they lie in memory.
template <class Wide, class... Narrow> Wide load(const void* at, std::size_t size) {
    Wide wide{};
    const auto take = [&]<class T>(T value) {
        if (size != sizeof(T)) return;
        std::memcpy(&value, at, sizeof value);
        wide = Wide{value};
    };
    (take(Narrow{}), ..., take(Wide{}));
    return wide;
}
std::uint64_t load_unsigned(const void* at, std::size_t size) {
    return load<std::uint64_t, std::uint8_t, std::uint16_t, std::uint32_t>(at, size);
}
std::int64_t load_signed(const void* at, std::size_t size) {
    return load<std::int64_t, std::int8_t, std::int16_t, std::int32_t>(at, size);
}

void store(void* at, std::size_t size, std::uint64_t value) {
    const auto put = [&]<class T>(T) {
        const auto narrow = static_cast<T>(value);
        if (size == sizeof(T)) std::memcpy(at, &narrow, sizeof narrow);
    };
    put(std::uint8_t{}), put(std::uint16_t{}), put(std::uint32_t{}), put(std::uint64_t{});
}

// The largest unsigned number of so many bytes.
std::uint64_t largest(std::size_t size) { return std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * size); }

double load_real(const void* at, std::size_t size) {
    return size == sizeof(float) ? static_cast<double>(as<float>(at)) : as<double>(at);
}

// Takes no memory but its own size.
bool is_flat(const Type& type) { return type.make <= Make::enumeration; }

const void* behind(const void* at, std::size_t offset) { return static_cast<const std::byte*>(at) + offset; }
void* behind(void* at, std::size_t offset) { return static_cast<std::byte*>(at) + offset; }

}  // namespace

// Names are few: those that upper protocols give to their facts.
std::string_view interned(std::string_view name) {
    static constexpr std::size_t kMostNames = 256;
    static constexpr std::size_t kLongest = 64;
    static std::mutex mutex;
    static std::set<std::string, std::less<>> names;
    const std::scoped_lock lock(mutex);
    if (const auto found = names.find(name); found != names.end()) return *found;
    if (names.size() == kMostNames || name.size() > kLongest) return {};
    return *names.emplace(name).first;
}

void Writer::put(const void* value, const Type& type) {
    switch (type.make) {
        case Make::psn: return number(as<dissect::Psn>(value).value());
        case Make::number: return number(load_unsigned(value, type.size));
        case Make::signed_number: return signed_number(load_signed(value, type.size));
        case Make::real: return number(std::bit_cast<std::uint64_t>(load_real(value, type.size)));
        case Make::enumeration:
            return type.is_signed ? signed_number(load_signed(value, type.size))
                                  : number(load_unsigned(value, type.size));
        case Make::text: return text(as<std::string>(value));
        case Make::name: return text(as<std::string_view>(value));
        case Make::optional:
        case Make::rare: {
            const void* there = type.get(value);
            number(there != nullptr ? 1 : 0);
            if (there != nullptr) put(there, *type.item);
            return;
        }
        case Make::fixed:
            for (std::size_t i = 0; i < type.count; ++i) put(behind(value, i * type.size), *type.item);
            return;
        case Make::list:
        case Make::set:
        case Make::map:
            number(type.length(value));
            return type.each(value, [this, item = type.item](const void* found) { put(found, *item); });
        case Make::record:
        case Make::object:
            for (const Member& member : type.members()) put(behind(value, member.offset), *member.type);
    }
}

void Writer::number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
}

void Writer::text(std::string_view value) {
    number(value.size());
    bytes_ += value;
}

std::uint64_t ArchivedBytes::number(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (failed_ || left_.empty()) return fail();
        const auto byte = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        const std::uint64_t part = byte & 0x7fU;
        if (shift == 63 && part > 1) return fail();
        value |= part << shift;
        if (byte < 0x80) return value <= most ? value : fail();
    }
    return fail();
}

std::string_view ArchivedBytes::text() {
    const std::uint64_t size = count();
    if (size > left_.size()) return fail(), std::string_view{};
    const std::string_view found = left_.substr(0, size);
    left_.remove_prefix(size);
    return found;
}

std::uint64_t ArchivedBytes::fail() {
    failed_ = true;
    left_ = {};
    return 0;
}

void Reader::take(void* value, const Type& type) {
    take_whole(value, type);
    if (type.sound != nullptr && !failed() && !type.sound(value)) fail();
}

void Reader::take_whole(void* value, const Type& type) {
    switch (type.make) {
        case Make::psn:
            as<dissect::Psn>(value) = dissect::Psn(static_cast<std::uint32_t>(number(dissect::Psn::kMask)));
            return;
        case Make::number: return store(value, type.size, number(type.is_bool ? 1 : largest(type.size)));
        case Make::signed_number: return store(value, type.size, static_cast<std::uint64_t>(signed_number(type.size)));
        case Make::real: {
            const auto real = std::bit_cast<double>(number());
            if (type.size == sizeof(float)) as<float>(value) = static_cast<float>(real);
            else as<double>(value) = real;
            return;
        }
        case Make::enumeration: return enumeration(value, type);
        case Make::text: as<std::string>(value) = text(); return;
        case Make::name: return name(as<std::string_view>(value));
        case Make::optional:
        case Make::rare:
            if (void* there = type.renew(value, number(1) != 0)) take(there, *type.item);
            return;
        case Make::fixed:
            for (std::size_t i = 0; i < type.count; ++i) take(behind(value, i * type.size), *type.item);
            return;
        case Make::list: type.clear(value); [[fallthrough]];
        case Make::set:
        case Make::map: {
            const std::uint64_t items = count();
            for (std::uint64_t i = 0; i < items && !failed(); ++i)
                type.add(value, [this, item = type.item](void* fresh) { take(fresh, *item); });
            return;
        }
        case Make::record:
        case Make::object:
            for (const Member& member : type.members()) take(behind(value, member.offset), *member.type);
    }
}

std::int64_t Reader::signed_number(std::size_t size) {
    const std::uint64_t coded = number();
    const auto wide = static_cast<std::int64_t>(coded >> 1U ^ (0 - (coded & 1U)));
    const auto most = static_cast<std::int64_t>(largest(size) >> 1U);
    if (wide < -most - 1 || wide > most) return static_cast<std::int64_t>(fail());
    return wide;
}

void Reader::enumeration(void* value, const Type& type) {
    std::uint64_t number =
        type.is_signed ? static_cast<std::uint64_t>(signed_number(type.size)) : this->number(largest(type.size));
    if (type.end != kAnyValue && number >= type.end) number = fail();
    store(value, type.size, number);
}

void Reader::name(std::string_view& value) {
    const std::string_view found = text();
    value = interned(found);
    if (value.size() != found.size()) fail();
}

// As a Reader reads, but for what a number means.
void Measure::walk(const Type& type) {
    switch (type.make) {
        case Make::psn:
        case Make::number:
        case Make::signed_number:
        case Make::real:
        case Make::enumeration: number(); return;
        case Make::text: built_ += text().size(); return;
        case Make::name: text(); return;  // interned
        case Make::optional:
        case Make::rare:
            if (number(1) == 0) return;
            built_ += type.cost;
            return walk(*type.item);
        case Make::fixed:
            for (std::size_t i = 0; i < type.count && !failed(); ++i) walk(*type.item);
            return;
        case Make::list:
        case Make::set:
        case Make::map: {
            const std::uint64_t items = count();
            for (std::uint64_t i = 0; i < items && !failed(); ++i) {
                built_ += type.cost;
                walk(*type.item);
            }
            return;
        }
        case Make::record:
        case Make::object:
            for (const Member& member : type.members()) walk(*member.type);
    }
}

std::uint64_t built_of(const void* value, const Type& type) {
    std::uint64_t built = 0;
    switch (type.make) {
        case Make::text: return as<std::string>(value).size();
        case Make::optional:
        case Make::rare:
            if (const void* there = type.get(value)) built = type.cost + built_of(there, *type.item);
            return built;
        case Make::fixed:
            if (is_flat(*type.item)) return 0;
            for (std::size_t i = 0; i < type.count; ++i) built += built_of(behind(value, i * type.size), *type.item);
            return built;
        case Make::list:
        case Make::set:
        case Make::map:
            built = type.length(value) * type.cost;
            if (!is_flat(*type.item)) type.each(value, [&](const void* item) { built += built_of(item, *type.item); });
            return built;
        case Make::record:
        case Make::object:
            for (const Member& member : type.members()) built += built_of(behind(value, member.offset), *member.type);
            return built;
        default: return 0;
    }
}

}  // namespace qps::transport::parts
