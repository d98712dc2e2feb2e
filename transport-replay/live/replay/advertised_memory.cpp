#include <transport-replay/live/replay/advertised_memory.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

template <class T> T read_as(Bytes bytes, std::size_t offset, bool big_endian) {
    return big_endian ? read_be<T>(bytes, offset) : read_le<T>(bytes, offset);
}

template <class T> void write_as(MutableBytes bytes, std::size_t offset, bool big_endian, T value) {
    if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const std::size_t shift = 8 * (big_endian ? sizeof(T) - 1 - i : i);
        bytes[offset + i] = static_cast<std::byte>(value >> shift & 0xff);
    }
}

// Only what the other end's application gets to know of.
bool may_advertise(const RecordedMessage& each) {
    if (!each.is_visible()) return false;
    return each.message.verb == Verb::send || each.payload.bytes.size() <= kTellingWrite;
}

bool fits(Bytes bytes, std::size_t offset, std::size_t size) {
    return bytes.size() >= size && offset <= bytes.size() - size;
}

// Descriptors are made of words: of two ways to read the same bytes, that is the right one (a round address reads alike
// in both byte orders, a byte apart).
bool in_words(std::size_t key_offset, std::size_t address_offset) {
    return (key_offset - address_offset) % sizeof(std::uint32_t) == 0;
}

// Whether an address that was told is about that one.
bool reaches(std::uint64_t advertised, std::uint64_t asked) {
    if (advertised < kSmallAddress) return advertised == asked;
    return advertised <= asked && asked - advertised < kReachOfAddress;
}
bool is_near(std::uint64_t advertised, std::uint64_t asked) {
    return reaches(advertised, asked) ||
           (advertised >= kSmallAddress && asked < advertised && advertised - asked < kReachOfAddress);
}

}  // namespace

AdvertisedMemory::AdvertisedMemory(const RecordedConversation& conversation, End advertiser)
    : conversation_(&conversation), teller_(advertiser) {
    for (const RecordedMessage& each : conversation.messages) {
        if (each.from == advertiser) continue;
        if (each.message.access)
            places_.try_emplace(std::to_underlying(each.message.access->key)).first->second.asked =
                each.message.access->address;
        if (each.message.invalidate) places_.try_emplace(std::to_underlying(*each.message.invalidate));
    }
    if (places_.empty()) return;
    search(bytes_of(kInPrivateData), kInPrivateData);
    for (std::size_t i = 0; i < conversation.messages.size(); ++i)
        if (conversation.messages[i].from == advertiser && may_advertise(conversation.messages[i]))
            search(bytes_of(static_cast<std::uint32_t>(i)), static_cast<std::uint32_t>(i));
}

Bytes AdvertisedMemory::bytes_of(std::uint32_t message) const {
    if (message == kInPrivateData) return conversation_->end(teller_).private_data.bytes();
    return slice(conversation_->messages[message].payload.bytes, 0, kSearched);
}

void AdvertisedMemory::search(Bytes bytes, std::uint32_t message) {
    for (std::size_t at = 0; fits(bytes, at, sizeof(std::uint32_t)); ++at)
        for (const bool big_endian : {true, false}) {
            const auto found = places_.find(read_as<std::uint32_t>(bytes, at, big_endian));
            if (found == places_.end() || kept_ == kMaxPlaces) continue;
            found->second.all.push_back({message, static_cast<std::uint32_t>(at), big_endian});
            ++kept_;
        }
}

bool AdvertisedMemory::precedes(const Mention& place, FrameIndex frame) const {
    return place.message == kInPrivateData || conversation_->messages[place.message].message.last_frame < frame;
}

bool AdvertisedMemory::may_stand_alone(const Mention& place) const {
    return place.message == kInPrivateData || conversation_->messages[place.message].message.verb == Verb::send;
}

// The address nearest to the key, behind or before it, whole words away where there is one.
std::optional<Advertisement> AdvertisedMemory::beside_address(const Mention& place, Rkey key, std::uint64_t address,
                                                              Reach reach) const {
    const Bytes bytes = bytes_of(place.message);
    const std::size_t first = place.offset < kNearKey ? 0 : place.offset - kNearKey;
    std::optional<std::size_t> best;
    const auto distance = [&](std::size_t at) { return at < place.offset ? place.offset - at : at - place.offset; };
    for (std::size_t at = first; at <= place.offset + kNearKey && fits(bytes, at, sizeof(std::uint64_t)); ++at) {
        if (at + sizeof(std::uint64_t) > place.offset && at < place.offset + sizeof(std::uint32_t))
            continue;  // the key itself
        const auto advertised = read_as<std::uint64_t>(bytes, at, place.big_endian);
        if (reach == Reach::behind ? !reaches(advertised, address) : !is_near(advertised, address)) continue;
        const auto rank = [&](std::size_t each) { return std::pair(!in_words(place.offset, each), distance(each)); };
        if (!best || rank(at) < rank(*best)) best = at;
    }
    if (!best) return std::nullopt;
    return Advertisement{place.message,    place.offset, static_cast<std::uint32_t>(*best),
                         place.big_endian, key,          read_as<std::uint64_t>(bytes, *best, place.big_endian)};
}

std::optional<Advertisement> AdvertisedMemory::find(Rkey key, std::optional<std::uint64_t> address,
                                                    FrameIndex before) const {
    const auto found = places_.find(std::to_underlying(key));
    if (found == places_.end()) return std::nullopt;
    const std::vector<Mention>& places = found->second.all;
    std::optional<Mention> alone;
    std::optional<Advertisement> odd;  // not whole words apart
    std::size_t tried = 0;
    for (std::size_t i = places.size(); i-- > 0 && tried < kPlacesTried;) {
        if (!precedes(places[i], before)) continue;
        ++tried;
        if (!alone && may_stand_alone(places[i])) alone = places[i];
        if (!address && alone) break;
        if (!address) continue;
        const auto both = beside_address(places[i], key, *address, Reach::behind);
        if (both && in_words(both->key_offset, *both->address_offset)) return both;
        if (both && !odd) odd = both;
    }
    if (odd) return odd;
    if (!alone || std::to_underlying(key) < kSmallKey) return std::nullopt;
    return Advertisement{alone->message, alone->offset, std::nullopt, alone->big_endian, key, 0};
}

std::vector<Advertisement> AdvertisedMemory::mentions() const {
    std::vector<Advertisement> all;
    for (const auto& [key, places] : places_) {
        if (!places.asked) continue;
        for (const Mention& place : places.all) {
            if (place.message == kInPrivateData) continue;
            const auto both = beside_address(place, Rkey{key}, *places.asked, Reach::around);
            if (both && in_words(both->key_offset, *both->address_offset)) all.push_back(*both);
        }
    }
    std::ranges::sort(all, {},
                      [](const Advertisement& each) { return std::tuple(each.key, each.message, each.key_offset); });
    return all;
}

std::optional<LiveMemory> read_place(Bytes bytes, const Advertisement& place) {
    if (!fits(bytes, place.key_offset, sizeof(std::uint32_t))) return std::nullopt;
    LiveMemory memory;
    memory.key = Rkey{read_as<std::uint32_t>(bytes, place.key_offset, place.big_endian)};
    if (place.address_offset) {
        if (!fits(bytes, *place.address_offset, sizeof(std::uint64_t))) return std::nullopt;
        memory.address = read_as<std::uint64_t>(bytes, *place.address_offset, place.big_endian);
    }
    return memory;
}

void write_place(MutableBytes bytes, const Advertisement& place, const LiveMemory& memory) {
    write_as(bytes, place.key_offset, place.big_endian, std::to_underlying(memory.key));
    if (place.address_offset && memory.address)
        write_as(bytes, *place.address_offset, place.big_endian, *memory.address);
}

void add_ranges(std::vector<ByteRange>& ranges, const Advertisement& place) {
    ranges.push_back({place.key_offset, sizeof(std::uint32_t)});
    if (place.address_offset) ranges.push_back({*place.address_offset, sizeof(std::uint64_t)});
}

}  // namespace qps::transport::live
