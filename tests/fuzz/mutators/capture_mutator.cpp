// How a capture is changed: its records are found by their lengths, one of them is changed in place, and the file stays
// readable.
#include <tests/fuzz/mutators/sealed.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace qps::fuzz {

using namespace dissect;

namespace {

using Block = std::vector<std::uint8_t>;

// A record of a capture: where it lies, and its frame in it.
struct RecordSpan {
    std::size_t at = 0, size = 0;       // with its headers, of pcapng also with what follows the frame
    std::size_t frame = 0, length = 0;  // captured
    LinkType link{};
};

enum class Format : std::uint8_t { pcap, pcapng };
struct Records {
    Format format{};
    std::vector<RecordSpan> places;
};

std::uint32_t get32(std::span<const std::uint8_t> bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // little-endian files, by little-endian hosts
    return value;
}
void put32(Block& bytes, std::size_t at, std::uint32_t value) { std::memcpy(bytes.data() + at, &value, sizeof value); }

constexpr std::size_t kMostRecords = 4096;

Records pcap_records(std::span<const std::uint8_t> file) {
    constexpr std::size_t kFileHeader = 24, kHeader = 16;
    Records found{Format::pcap, {}};
    const LinkType link{static_cast<std::uint16_t>(get32(file, 20))};
    for (std::size_t at = kFileHeader; at + kHeader <= file.size() && found.places.size() < kMostRecords;) {
        const std::size_t length = get32(file, at + 8);
        if (length > file.size() - at - kHeader) break;
        found.places.push_back({at, kHeader + length, at + kHeader, length, link});
        at += kHeader + length;
    }
    return found;
}

Records pcapng_records(std::span<const std::uint8_t> file) {
    constexpr std::uint32_t kSection = 0x0a0d0d0a, kInterface = 1, kEnhanced = 6;
    constexpr std::size_t kLeast = 12, kEnhancedHeader = 28;
    Records found{Format::pcapng, {}};
    std::vector<LinkType> links;
    for (std::size_t at = 0; at + kLeast <= file.size() && found.places.size() < kMostRecords;) {
        const std::size_t size = get32(file, at + 4);
        if (size < kLeast || size > file.size() - at) break;
        const std::uint32_t type = get32(file, at);
        if (type == kSection) links.clear();
        if (type == kInterface && size >= kLeast + 8)
            links.push_back(LinkType{static_cast<std::uint16_t>(get32(file, at + 8))});
        if (type == kEnhanced && size >= kEnhancedHeader + 4) {
            const std::uint32_t interface = get32(file, at + 8);
            const std::size_t length = get32(file, at + 20);
            if (interface < links.size() && length <= size - kEnhancedHeader - 4)
                found.places.push_back({at, size, at + kEnhancedHeader, length, links[interface]});
        }
        at += size;
    }
    return found;
}

std::optional<Records> records(std::span<const std::uint8_t> file) {
    constexpr std::array<std::uint32_t, 2> kPcap{0xa1b2c3d4, 0xa1b23c4d};
    constexpr std::uint32_t kPcapng = 0x0a0d0d0a;
    if (file.size() < 24) return {};
    const std::uint32_t magic = get32(file, 0);
    Records found = std::ranges::count(kPcap, magic) != 0 ? pcap_records(file)
                    : magic == kPcapng                    ? pcapng_records(file)
                                                          : Records{};
    if (found.places.empty()) return {};
    return found;
}

// The record with another frame: its lengths follow.
Block rebuilt(std::span<const std::uint8_t> file, const RecordSpan& place, Format format, const Block& frame) {
    const auto record = file.subspan(place.at, place.size);
    const std::size_t head = place.frame - place.at;
    Block made(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(head));
    made.insert(made.end(), frame.begin(), frame.end());
    const auto length = static_cast<std::uint32_t>(frame.size());
    const std::size_t at = format == Format::pcap ? 8 : 20;  // captured, then original
    const std::uint32_t cut =
        get32(record, at + 4) - std::min(get32(record, at + 4), static_cast<std::uint32_t>(place.length));
    put32(made, at, length);
    put32(made, at + 4, length + std::min<std::uint32_t>(cut, 1U << 16U));
    if (format == Format::pcap) return made;
    while (made.size() % 4 != 0) made.push_back(0);
    // Options stay; they begin where the frame's padding ends.
    const std::size_t options = head + (place.length + 3) / 4 * 4;
    if (options < place.size)
        made.insert(made.end(), record.begin() + static_cast<std::ptrdiff_t>(options), record.end());
    else made.resize(made.size() + 4);
    put32(made, 4, static_cast<std::uint32_t>(made.size()));
    put32(made, made.size() - 4, static_cast<std::uint32_t>(made.size()));
    return made;
}

Block changed_frame(std::span<const std::uint8_t> file, const RecordSpan& place, bool sealed) {
    constexpr std::size_t kMore = 64;
    Block frame(file.begin() + static_cast<std::ptrdiff_t>(place.frame),
                file.begin() + static_cast<std::ptrdiff_t>(place.frame + place.length));
    frame.resize(place.length + kMore);
    frame.resize(LLVMFuzzerMutate(frame.data(), place.length, frame.size()));
    if (sealed) seal(std::as_writable_bytes(std::span(frame)), place.link);
    return frame;
}

enum class Change : std::uint8_t { frame, remove, repeat, swap, time };
Change change_of(unsigned seed) {
    constexpr std::array kChanges{Change::frame,  Change::frame,  Change::frame, Change::frame,
                                  Change::remove, Change::repeat, Change::swap,  Change::time};
    return kChanges[seed % kChanges.size()];
}

Block changed(std::span<const std::uint8_t> file, const Records& all, unsigned seed) {
    constexpr unsigned kKinds = 8, kLeftWrong = 8;
    const Change change = change_of(seed);
    seed /= kKinds;
    const bool sealed = seed % kLeftWrong != 0;
    seed /= kLeftWrong;
    const RecordSpan& place = all.places[seed % all.places.size()];
    const RecordSpan& other = all.places[(seed / all.places.size()) % all.places.size()];
    const auto bytes = [&](std::size_t from, std::size_t to) {
        return Block(file.begin() + static_cast<std::ptrdiff_t>(from), file.begin() + static_cast<std::ptrdiff_t>(to));
    };
    const auto joined = [](std::initializer_list<Block> parts) {
        Block whole;
        for (const Block& part : parts) whole.insert(whole.end(), part.begin(), part.end());
        return whole;
    };
    const Block record = bytes(place.at, place.at + place.size);
    const Block before = bytes(0, place.at), behind = bytes(place.at + place.size, file.size());
    switch (change) {
        case Change::frame:
            return joined({before, rebuilt(file, place, all.format, changed_frame(file, place, sealed)), behind});
        case Change::remove: return joined({before, behind});
        case Change::repeat: return joined({bytes(0, other.at), record, bytes(other.at, file.size())});
        case Change::swap: {
            const RecordSpan& first = place.at < other.at ? place : other;
            const RecordSpan& second = place.at < other.at ? other : place;
            if (first.at == second.at) return joined({before, record, record, behind});
            return joined({bytes(0, first.at), bytes(second.at, second.at + second.size),
                           bytes(first.at + first.size, second.at), bytes(first.at, first.at + first.size),
                           bytes(second.at + second.size, file.size())});
        }
        case Change::time: {
            Block whole(file.begin(), file.end());
            const std::size_t at = place.at + (all.format == Format::pcap ? 4 : 16);  // fractions; the lower half
            static_cast<void>(LLVMFuzzerMutate(whole.data() + at, 4, 4));
            return whole;
        }
    }
    return Block(file.begin(), file.end());
}

}  // namespace

std::size_t mutate_capture(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, std::size_t control) {
    constexpr unsigned kAnyBytes = 8;
    if (size <= control || seed % kAnyBytes == 0) return LLVMFuzzerMutate(data, size, most);
    const std::span<const std::uint8_t> file(data + control, size - control);
    const auto all = records(file);
    if (!all) return LLVMFuzzerMutate(data, size, most);
    const Block made = changed(file, *all, seed / kAnyBytes);
    if (control + made.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::ranges::copy(made, data + control);
    return control + made.size();
}

}  // namespace qps::fuzz
