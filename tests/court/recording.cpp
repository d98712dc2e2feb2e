#include <tests/court/recording.hpp>

#include <fstream>
#include <iterator>

namespace qps::court {

namespace {

constexpr std::int64_t kSecondInNanoseconds = 1'000'000'000, kMillion = 1'000'000, kThousand = 1000;

// Numbers in the byte order of a file.
class Reader {
public:
    explicit Reader(Octets bytes) : bytes_(std::move(bytes)) {}
    bool big = false;
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] bool has(std::size_t at, std::size_t count) const {
        return at <= bytes_.size() && count <= bytes_.size() - at;
    }
    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t octets) const {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < octets; ++i) value = value << 8U | bytes_[at + (big ? i : octets - 1 - i)];
        return value;
    }
    [[nodiscard]] Octets piece(std::size_t at, std::size_t count) const {
        const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(at);
        return {first, first + static_cast<std::ptrdiff_t>(count)};
    }

private:
    Octets bytes_;
};

std::optional<Recording> read_pcap(Reader& file) {
    constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4, kNanoseconds = 0xa1b23c4d;
    if (!file.has(0, 24)) return {};
    std::uint32_t magic = file.number(0, 4);
    if (magic != kMicroseconds && magic != kNanoseconds) {
        file.big = true;
        magic = file.number(0, 4);
    }
    if (magic != kMicroseconds && magic != kNanoseconds) return {};
    Recording recording{.link = file.number(20, 4) & 0xffffU, .records = {}};
    for (std::size_t at = 24; file.has(at, 16);) {
        const std::uint32_t kept = file.number(at + 8, 4);
        if (!file.has(at + 16, kept)) break;
        const std::int64_t fraction = file.number(at + 4, 4);
        recording.records.push_back(
            {.time = file.number(at, 4) * kSecondInNanoseconds + fraction * (magic == kNanoseconds ? 1 : kThousand),
             .wire = file.number(at + 12, 4),
             .bytes = file.piece(at + 16, kept)});
        at += 16 + std::size_t{kept};
    }
    return recording;
}

// Units of an interface's clock in a second.
std::int64_t resolution(const Reader& file, std::size_t options, std::size_t end) {
    constexpr std::uint32_t kResolution = 9;
    while (options + 4 <= end) {
        const std::uint32_t code = file.number(options, 2), length = file.number(options + 2, 2);
        if (code == 0) break;
        if (code == kResolution && length == 1) {
            const std::uint32_t exponent = file.number(options + 4, 1);
            std::int64_t units = 1;
            for (std::uint32_t i = 0; i < (exponent & 0x7fU) && units < kSecondInNanoseconds; ++i)
                units *= exponent > 0x7f ? 2 : 10;
            return units;
        }
        options += 4 + (length + 3) / 4 * 4;
    }
    return kMillion;
}

std::optional<Recording> read_pcapng(Reader& file) {
    constexpr std::uint32_t kSection = 0x0a0d0d0a, kInterface = 1, kEnhanced = 6, kOrder = 0x1a2b3c4d;
    Recording recording;
    std::vector<std::int64_t> units;
    for (std::size_t at = 0; file.has(at, 12);) {
        if (file.number(at, 4) == kSection) {
            file.big = false;
            if (file.number(at + 8, 4) != kOrder) file.big = true;
            if (file.number(at + 8, 4) != kOrder) return {};
        }
        const std::uint32_t type = file.number(at, 4), length = file.number(at + 4, 4);
        if (length < 12 || !file.has(at, length)) break;
        if (type == kInterface && length >= 20) {
            const std::uint32_t link = file.number(at + 8, 2);
            if (!units.empty() && link != recording.link) return {};
            recording.link = link;
            units.push_back(resolution(file, at + 16, at + length - 4));
        }
        if (type == kEnhanced && length >= 32) {
            const std::uint32_t interface = file.number(at + 8, 4), kept = file.number(at + 20, 4);
            if (interface >= units.size() || kept > length - 32) break;
            const std::int64_t ticks = (std::int64_t{file.number(at + 12, 4)} << 32U) + file.number(at + 16, 4),
                               each = units[interface];
            recording.records.push_back(
                {.time = ticks / each * kSecondInNanoseconds + ticks % each * kSecondInNanoseconds / each,
                 .wire = file.number(at + 24, 4),
                 .bytes = file.piece(at + 28, kept)});
        }
        at += length;
    }
    if (units.empty()) return {};
    return recording;
}

}  // namespace

std::uint32_t number_at(const Octets& bytes, std::size_t at, std::size_t octets) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < octets; ++i) value = value << 8U | bytes[at + i];
    return value;
}
void put_number(Octets& bytes, std::size_t at, std::size_t octets, std::uint32_t value) {
    for (std::size_t i = 0; i < octets; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8U * (octets - 1 - i));
}

std::optional<Recording> read_recording(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    Octets bytes{std::istreambuf_iterator<char>(stream), {}};
    Reader file(std::move(bytes));
    if (auto pcap = read_pcap(file)) return pcap;
    file.big = false;
    return read_pcapng(file);
}

Octets pcap_of(const Recording& recording) {
    Octets out;
    const auto put = [&](std::uint32_t value, std::size_t octets) {
        out.resize(out.size() + octets);
        put_number(out, out.size() - octets, octets, value);
    };
    put(0xa1b23c4d, 4);
    put(2, 2);
    put(4, 2);
    put(0, 4);
    put(0, 4);
    put(0x40000, 4);
    put(recording.link, 4);
    for (const Record& record : recording.records) {
        put(static_cast<std::uint32_t>(record.time / kSecondInNanoseconds), 4);
        put(static_cast<std::uint32_t>(record.time % kSecondInNanoseconds), 4);
        put(static_cast<std::uint32_t>(record.bytes.size()), 4);
        put(record.wire, 4);
        out.insert(out.end(), record.bytes.begin(), record.bytes.end());
    }
    return out;
}

}  // namespace qps::court
