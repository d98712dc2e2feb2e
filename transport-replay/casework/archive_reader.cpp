// Decompresses with the program's own Inflater, and walks the headers of tar archives.
#include <dissect/capture/inflate.hpp>
#include <transport-replay/casework/archive_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace qps::casework {

namespace {

constexpr std::size_t kBlock = 512;      // headers and members fill whole ones
constexpr std::size_t kMostName = 1024;  // of a member; the rest is cut off

struct Field {
    std::size_t at;
    std::size_t size;
};
constexpr Field kNameField{0, 100};
constexpr Field kSizeField{124, 12};
constexpr Field kChecksumField{148, 8};
constexpr std::size_t kTypeOffset = 156;
constexpr Field kMagicField{257,
                            6};  // POSIX has a NUL behind "ustar", GNU a blank: there is a prefix in the first alone
constexpr Field kPrefixField{345, 155};

std::string_view field(std::string_view header, Field part) { return header.substr(part.at, part.size); }

std::string_view up_to_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Octal digits, or GNU's big-endian bytes behind 0x80. Nothing for anything else.
std::optional<std::uint64_t> tar_number(std::string_view text) {
    if (static_cast<unsigned char>(text.front()) == 0x80) {
        std::uint64_t value = 0;
        for (const char c : text.substr(1)) {
            if (value >> 56U != 0) return UINT64_MAX;
            value = value << 8U | static_cast<unsigned char>(c);
        }
        return value;
    }
    text = up_to_nul(text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (text.empty()) return 0;
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The sum of all bytes, those of the sum itself being blanks.
bool is_header(std::string_view header) {
    if (header.size() < kBlock) return false;
    std::uint64_t sum = kChecksumField.size * ' ';
    for (std::size_t i = 0; i < kBlock; ++i)
        if (i < kChecksumField.at || i >= kChecksumField.at + kChecksumField.size)
            sum += static_cast<unsigned char>(header[i]);
    return tar_number(field(header, kChecksumField)) == sum;
}

// Records of a pax header: "LENGTH KEY=VALUE\n", the length being that of the record.
void read_pax(std::string_view records, std::string& path, std::optional<std::uint64_t>& size) {
    while (!records.empty()) {
        std::size_t length = 0;
        const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
        const auto head = static_cast<std::size_t>(end - records.data()) + 1;
        if (error != std::errc() || length <= head || length > records.size()) return;
        const std::string_view record = records.substr(head, length - head - 1);
        const std::size_t equals = std::min(record.find('='), record.size());
        const std::string_view value = record.substr(std::min(equals + 1, record.size()));
        if (record.starts_with("path=")) path = value.substr(0, kMostName);
        std::uint64_t number = 0;
        if (record.starts_with("size=") &&
            std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
            size = number;
        records.remove_prefix(length);
    }
}

std::string name_in(std::string_view header) {
    std::string name(up_to_nul(field(header, kNameField)));
    const std::string_view prefix = up_to_nul(field(header, kPrefixField));
    if (field(header, kMagicField) == std::string_view("ustar\0", 6) && !prefix.empty())
        name = fmt::format("{}/{}", prefix, name);
    return name;
}

bool leads_elsewhere(std::string_view name) {
    if (name.starts_with('/') || name.contains('\0')) return true;
    return fmt::format("/{}/", name).contains("/../");
}

// Why nothing is read of a member of this type; empty: it is a regular file.
std::string_view unread_type(char type) {
    switch (type) {
        case '\0':
        case '0':
        case '7': return {};
        case '1':
        case '2': return "a link: not followed";
        case '3':
        case '4':
        case '6': return "a device: not read";
        case 'S': return "a sparse file: not read";
        default: return "of an unknown type: not read";
    }
}

}  // namespace

std::optional<Unpacked> unpacked(std::string_view bytes, std::size_t most) {
    constexpr std::size_t kPiece = 256 * 1024;
    dissect::Bytes input = std::as_bytes(std::span(bytes.data(), bytes.size()));
    const dissect::Compression compression = dissect::compression_of(input);
    if (compression == dissect::Compression::none) return std::nullopt;
    dissect::Inflater inflater(compression);
    Unpacked made;
    std::vector<std::byte> piece(kPiece);
    for (;;) {
        const std::size_t left = input.size();
        const std::size_t got = inflater.inflate(input, piece);
        made.bytes.append(reinterpret_cast<const char*>(piece.data()), got);
        if (made.bytes.size() > most) {
            made.bytes.resize(most);
            made.cut = true;
            return made;
        }
        if (got > 0) continue;
        if (!inflater.damage().empty()) made.problem = fmt::format("damaged: {}", inflater.damage());
        else if (!input.empty() && input.size() < left) continue;
        else if (!inflater.at_boundary()) made.problem = "damaged: the compressed data ends early";
        return made;
    }
}

bool TarReader::is_tar(std::string_view bytes) { return is_header(bytes.substr(0, kBlock)); }

std::optional<TarMember> TarReader::next() {
    std::string long_name;  // of the member that follows, by an entry before it
    std::optional<std::uint64_t> long_size;
    while (problem_.empty()) {
        const std::string_view header = bytes_.substr(at_, kBlock);
        if (header.size() == kBlock && header.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
        const auto size_said = header.size() == kBlock ? tar_number(field(header, kSizeField)) : std::nullopt;
        if (header.empty()) problem_ = "damaged: it has no end mark and may be cut";
        else if (!is_header(header) || !size_said)
            problem_ = fmt::format("damaged: no header at byte {}, nothing is read from there on", at_);
        if (!problem_.empty()) return std::nullopt;
        const char type = header[kTypeOffset];
        const bool extended = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        std::uint64_t size = extended ? *size_said : long_size.value_or(*size_said);
        if (type >= '1' && type <= '6') size = 0;  // what links and folders say is of something else
        at_ += kBlock;
        const std::size_t there = bytes_.size() - at_;
        const std::string_view contents = bytes_.substr(at_, std::min<std::uint64_t>(size, there));
        const bool cut = size > there;
        at_ += cut ? there : std::min(there, (contents.size() + kBlock - 1) / kBlock * kBlock);
        TarMember member;
        member.name = long_name.empty() ? name_in(header) : std::exchange(long_name, {});
        if (cut)
            problem_ = fmt::format("damaged: it ends inside a member of {} bytes, of which {} are there", size, there);
        long_size.reset();
        if (type == 'L') long_name = up_to_nul(contents.substr(0, kMostName));
        if (type == 'x') read_pax(contents, long_name, long_size);
        if (extended || type == '5') continue;
        if (member.name.starts_with("./")) member.name.erase(0, 2);
        if (member.name.ends_with('/') && unread_type(type).empty()) continue;  // how v7 writes folders
        member.unread =
            leads_elsewhere(member.name) ? "its name leads out of the archive: not read" : unread_type(type);
        if (member.name.empty()) member.unread = "without a name: not read";
        if (member.unread.empty()) member.bytes = contents, member.cut = cut;
        return member;
    }
    return std::nullopt;
}

}  // namespace qps::casework
