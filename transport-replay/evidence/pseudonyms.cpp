#include <dissect/base/parse_value.hpp>
#include <transport-replay/evidence/iscsi_keys.hpp>
#include <transport-replay/evidence/pseudonyms.hpp>
#include <transport-replay/model/address.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>

namespace qps::transport {

using namespace dissect;

namespace {

// What is permuted apart from each other: the padding differs. The first is Crypto-PAn as it was published.
enum Domain : std::uint8_t { kPublished = 0, kIpv6High, kGuid, kMac, kLid, kPkey, kQkey, kKey, kIpv4, kDomains };

constexpr std::size_t kBlock = 16;
using Block = std::array<std::byte, kBlock>;

constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // ::ffff:a.b.c.d
constexpr std::uint64_t kGroupMac = std::uint64_t{1} << 40;
constexpr std::uint64_t kVendor = std::uint64_t{0xffffff} << 24;

// Groups of the link layer that are written down in standards, and broadcast: pause frames, spanning tree, all hosts,
// all routers.
bool is_well_known_mac(std::uint64_t mac) {
    return mac == 0 || mac == 0xffff'ffff'ffff || mac >> 8 == 0x0180'c200'00 || mac >> 8 == 0x0100'5e00'00 ||
           mac >> 8 == 0x3333'0000'00;
}

bool is_well_known_ipv4(std::uint32_t ip) { return ip == 0 || ip == UINT32_MAX || ip >> 8 == 0xe00000; }

bool is_well_known_pkey(std::uint16_t key) { return (key & 0x7fffU) == 0 || (key & 0x7fffU) == 0x7fff; }

constexpr std::uint32_t kGsiQkey = 0x8001'0000, kIpoibQkey = 0x0b1b;  // 10.2.5; RFC 4391 4

// Leading bits that tell what an IPv4 address is for: of the classes, so that a host stays a host and a group a group.
std::uint64_t class_bits(std::uint32_t ip) {
    const auto ones = static_cast<unsigned>(std::min(std::countl_one(ip), 3));
    return ~(UINT32_MAX >> (ones + 1)) & UINT32_MAX;
}

char another_letter(char c, std::uint8_t random) {
    if (c >= 'a' && c <= 'z') return static_cast<char>('a' + (c - 'a' + random) % 26);
    if (c >= 'A' && c <= 'Z') return static_cast<char>('A' + (c - 'A' + random) % 26);
    if (c >= '0' && c <= '9') return static_cast<char>('0' + (c - '0' + random) % 10);
    return c;
}

// What names begin with that says what kind of name it is, or that all speak of alike.
constexpr std::array<std::string_view, 5> kSchemes{"nqn.", "iqn.", "eui.", "naa.", "uuid:"};
constexpr std::string_view kDiscovery = "nqn.2014-08.org.nvmexpress.discovery";

// How many leading bits are never the same afterwards where any of them may change; 0: only all of them together.
constexpr unsigned never_kept(std::uint8_t domain) { return domain == kIpv4 ? 8 : domain == kIpv6High ? 16 : 0; }

std::string digits(std::uint64_t number) { return fmt::format("{:#x}", number); }
std::string dotted(std::uint32_t ip) {
    return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

}  // namespace

struct Pseudonyms::State {
    using Pairs = boost::unordered_flat_map<std::uint64_t, std::uint64_t>;
    struct Names {
        boost::unordered_flat_map<std::string, std::string> pairs;
        std::unordered_set<std::string> used;
    };

    State(const Key& key, bool keep, std::size_t at_most)
        : keep_vendor(keep), most(at_most), cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
        EVP_EncryptInit_ex(cipher.get(), EVP_aes_128_ecb(), nullptr, bytes, nullptr);
        EVP_CIPHER_CTX_set_padding(cipher.get(), 0);
        Block pad{};
        std::copy_n(key.begin() + kBlock, kBlock, pad.begin());
        for (std::uint8_t domain = 0; domain < kDomains; ++domain) {
            Block own = pad;
            own[kBlock - 1] ^= std::byte{domain};
            pads[domain] = encrypt(own);
        }
        const Block moved = encrypt(encrypt(pads[kKey]));
        const Block wrong = encrypt(encrypt(pads[kPublished]));
        // Neither nothing nor everything is turned over.
        difference_16 = 1 + read_be<std::uint16_t>(wrong, 0) % 0xfffe;
        difference_32 = 1 + read_be<std::uint32_t>(wrong, 4) % 0xffff'fffe;
        // By whole pages, below the 47 bits that addresses of programs have.
        distance = read_be<std::uint64_t>(moved, 0) & 0x7fff'ffff'f000;
    }

    Block encrypt(const Block& block) {
        Block out{};
        int length = 0;
        EVP_EncryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(out.data()), &length,
                          reinterpret_cast<const unsigned char*>(block.data()), static_cast<int>(kBlock));
        return out;
    }

    // A number of the pad, with its leading bits replaced by those of the value: what is encrypted for bit `count`.
    std::uint64_t permute(std::uint64_t value, unsigned width, std::uint64_t frozen, std::uint8_t domain) {
        const Block& pad = pads[domain];
        const std::uint64_t left = value << (64 - width), pad_left = read_be<std::uint64_t>(pad, 0);
        std::uint64_t flips = 0;
        for (unsigned bit = 0; bit < width; ++bit) {
            const std::uint64_t place = std::uint64_t{1} << (width - 1 - bit);
            if ((frozen & place) != 0) continue;
            const std::uint64_t before = bit == 0 ? 0 : ~(UINT64_MAX >> bit);
            Block input = pad;
            const std::uint64_t known = (left & before) | (pad_left & ~before);
            for (std::size_t i = 0; i < 8; ++i) input[i] = static_cast<std::byte>(known >> (56 - 8 * i));
            // Every bit by a block of its own, also where the bits before it are those of the padding.
            if (domain != kPublished) input[kBlock - 1] ^= static_cast<std::byte>(bit);
            // Decided by the bits before it alone, as any other: what begins alike still does.
            const bool last = domain != kPublished && (bit + 1 == width || bit + 1 == never_kept(domain));
            if ((last && flips == 0) || (encrypt(input)[0] & std::byte{0x80}) != std::byte{}) flips |= place;
        }
        return value ^ flips;
    }

    // Until it is none of those that stay: a permutation of the others.
    template <class Special>
    std::uint64_t permuted(std::uint64_t value, unsigned width, std::uint64_t frozen, std::uint8_t domain,
                           Special&& special) {
        if (special(value)) return value;
        std::uint64_t result = value;
        do result = permute(result, width, frozen, domain);
        while (special(result));
        return result;
    }

    template <class Make> std::uint64_t remembered(std::size_t kind, std::uint64_t value, Make&& make) {
        Pairs& known = pairs[kind];
        if (const auto found = known.find(value); found != known.end()) return found->second;
        const std::uint64_t made = make();
        if (known.size() >= most) {
            known.clear();
            forgot = true;
        }
        known.emplace(value, made);
        return made;
    }

    // A stream of bytes that follows from the text.
    std::string random_of(std::string_view text, std::uint8_t again) {
        Block state = pads[kKey];
        state[0] ^= std::byte{again};
        state[1] ^= std::byte{0x5a};
        for (std::size_t i = 0; i < text.size(); ++i) {
            state[i % kBlock] ^= static_cast<std::byte>(text[i]);
            if (i % kBlock == kBlock - 1) state = encrypt(state);
        }
        std::string stream;
        for (std::uint8_t i = 0; stream.size() < text.size(); ++i) {
            state[kBlock - 1] ^= std::byte{i};
            state = encrypt(state);
            for (const std::byte byte : state) stream += static_cast<char>(byte);
        }
        return stream;
    }

    // Of two names that would become the same one the later is drawn again.
    template <class Make> const std::string& named(Names& names, const std::string& text, Make&& make) {
        if (const auto found = names.pairs.find(text); found != names.pairs.end()) return found->second;
        if (names.pairs.size() >= most) {
            names = {};
            forgot = true;
        }
        constexpr std::uint8_t kTries = 32;  // of one letter there are no more than 26
        std::string made;
        for (std::uint8_t again = 0; again < kTries; ++again) {
            made = make(random_of(text, again));
            if (made != text && names.used.insert(made).second) break;
        }
        return names.pairs.emplace(text, made).first->second;
    }

    std::string other_word(std::string_view word);

    bool keep_vendor;
    std::size_t most;
    bool forgot = false;
    std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> cipher;
    std::array<Block, kDomains> pads{};
    std::uint64_t distance = 0;
    std::uint64_t difference_16 = 1, difference_32 = 1;
    std::array<Pairs, kDomains> pairs;
    boost::unordered_flat_map<std::pair<std::uint64_t, std::uint64_t>, Ipv6Bits> addresses;  // for the map alone
    Names words;
    Names handles;
};

std::string Pseudonyms::State::other_word(std::string_view word) {
    if (word.empty() || word == kDiscovery) return std::string(word);
    std::size_t kept = 0;
    for (const std::string_view scheme : kSchemes)
        if (word.starts_with(scheme)) kept = scheme.size();
    return named(words, std::string(word), [&](const std::string& random) {
        std::string made(word);
        for (std::size_t i = kept; i < made.size(); ++i) {
            const auto byte = static_cast<std::uint8_t>(random[i]);
            // What is no letter and no digit stays where it joins parts of a name; of another alphabet it becomes a
            // letter.
            if (static_cast<unsigned char>(made[i]) > 126) made[i] = static_cast<char>('a' + byte % 26);
            else made[i] = another_letter(made[i], byte);
        }
        return made;
    });
}

Pseudonyms::Pseudonyms(const Key& key, bool keep_vendor, std::size_t most)
    : state_(std::make_unique<State>(key, keep_vendor, std::max<std::size_t>(most, 1))) {}
Pseudonyms::~Pseudonyms() = default;

std::uint64_t Pseudonyms::published(std::uint32_t value) { return state_->permute(value, 32, 0, kPublished); }

CrcDifference Pseudonyms::difference(unsigned width) const {
    return width == 16 ? CrcDifference{state_->difference_16, 0xffff}
                       : CrcDifference{state_->difference_32, 0xffff'ffff};
}

// Group or not, and whose numbers these are, says what an address is for. Groups of IP: the part that names the
// protocol stays.
std::uint64_t Pseudonyms::mac(std::uint64_t address) {
    if (is_well_known_mac(address)) return address;
    return state_->remembered(kMac, address, [&] {
        constexpr std::uint64_t kFlags = std::uint64_t{3} << 40;
        std::uint64_t frozen = state_->keep_vendor ? kVendor : kFlags;
        if ((address & kGroupMac) != 0)
            frozen = address >> 32 == 0x3333 ? std::uint64_t{0xffff} << 32 : kVendor | 1U << 23;
        return state_->permuted(address, 48, frozen, kMac, is_well_known_mac);
    });
}

std::uint32_t Pseudonyms::ipv4(std::uint32_t address) {
    const auto special = [](std::uint64_t ip) { return is_well_known_ipv4(static_cast<std::uint32_t>(ip)); };
    if (special(address)) return address;
    return static_cast<std::uint32_t>(state_->remembered(
        kIpv4, address, [&] { return state_->permuted(address, 32, class_bits(address), kIpv4, special); }));
}

// Link-local and multicast prefixes stay, with scope and flags; so does what all nodes know.
std::uint64_t Pseudonyms::gid_prefix(std::uint64_t prefix) {
    constexpr std::uint64_t kLinkLocal = 0xfe80'0000'0000'0000;
    if (prefix == 0 || prefix == kLinkLocal || prefix >> 48 == 0xff02) return prefix;
    // Of what begins with three ones the first byte stays, so that nothing becomes a group: unique local, link-local,
    // groups.
    const bool local = prefix >> 61 == 7;
    const std::uint64_t frozen = prefix >> 56 == 0xff ? UINT64_MAX << 32
                                 : local              ? std::uint64_t{0xff} << 56
                                                      : std::uint64_t{7} << 61;
    const auto special = [](std::uint64_t value) { return value == 0 || value == kLinkLocal; };
    return state_->remembered(kIpv6High, prefix,
                              [&] { return state_->permuted(prefix, 64, frozen, kIpv6High, special); });
}

Ipv6Bits Pseudonyms::ipv6(Ipv6Bits address) {
    if (address.high == 0 && address.low >> 32 << 32 == kMapped)
        return {0, kMapped | ipv4(static_cast<std::uint32_t>(address.low))};
    constexpr std::uint64_t kWellKnown = 0x10000;  // ::, ::1; ff02::1, ff02::16, ...
    if ((address.high == 0 || address.high >> 56 == 0xff) && address.low < kWellKnown)
        return {gid_prefix(address.high), address.low};
    const Ipv6Bits made{gid_prefix(address.high), guid(address.low)};
    if (state_->addresses.size() >= state_->most) {
        state_->addresses.clear();
        state_->forgot = true;
    }
    state_->addresses.insert_or_assign({address.high, address.low}, made);
    return made;
}

std::uint64_t Pseudonyms::guid(std::uint64_t guid) {
    const auto special = [](std::uint64_t value) { return value == 0 || value == UINT64_MAX; };
    if (special(guid)) return guid;
    return state_->remembered(kGuid, guid, [&] { return state_->permuted(guid, 64, 0, kGuid, special); });
}

// Unicast is below 0xc000, multicast from there on (4.1.3); 0xffff is the permissive one.
std::uint32_t Pseudonyms::lid(std::uint32_t lid) {
    const auto special = [](std::uint64_t value) { return (value & 0xffff) == 0 || (value & 0xffff) == 0xffff; };
    if (special(lid)) return lid;
    return static_cast<std::uint32_t>(state_->remembered(kLid, lid, [&] {
        return state_->permuted(lid, 16 + (lid >> 16 != 0 ? 16U : 0U), lid >> 16 != 0 ? 0xffffc000 : 0xc000, kLid,
                                special);
    }));
}

std::uint16_t Pseudonyms::pkey(std::uint16_t key) {
    constexpr std::uint64_t kMembership = 0x8000;
    const auto special = [](std::uint64_t value) { return is_well_known_pkey(static_cast<std::uint16_t>(value)); };
    if (special(key)) return key;
    // Members of both kinds are of the same partition.
    const auto partition = static_cast<std::uint16_t>(key & ~kMembership);
    const std::uint64_t other = state_->remembered(
        kPkey, partition, [&] { return state_->permuted(partition, 16, kMembership, kPkey, special); });
    return static_cast<std::uint16_t>(other | (key & kMembership));
}

std::uint32_t Pseudonyms::qkey(std::uint32_t key) {
    const auto special = [](std::uint64_t value) { return value == 0 || value == kGsiQkey || value == kIpoibQkey; };
    if (special(key)) return key;
    constexpr std::uint64_t kPrivileged = 0x8000'0000;
    return static_cast<std::uint32_t>(
        state_->remembered(kQkey, key, [&] { return state_->permuted(key, 32, kPrivileged, kQkey, special); }));
}

// A key of 64 bits that fits 32 is permuted as one of 32: protocols write the same R_Key in both.
std::uint64_t Pseudonyms::key(std::uint64_t key, unsigned width) {
    const unsigned used = width > 32 && key >> 32 == 0 ? 32 : std::min(width, 64U);
    const auto special = [](std::uint64_t value) { return value == 0; };
    if (special(key)) return key;
    return state_->remembered(kKey, key, [&] { return state_->permuted(key, used, 0, kKey, special); });
}

// Below 4 GiB it is an offset into memory rather than an address; what is above 47 bits says whose half it is.
std::uint64_t Pseudonyms::memory(std::uint64_t address) const {
    constexpr std::uint64_t kOffsets = std::uint64_t{1} << 32, kUsed = (std::uint64_t{1} << 47) - 1;
    if (address < kOffsets) return address;
    return (address & ~kUsed) | ((address + state_->distance) & kUsed);
}

// An address that is written out becomes what it is elsewhere, where there is room for it.
std::optional<std::string> Pseudonyms::other_address(std::string_view word) {
    const auto ip = parse_ip(word);
    if (!ip) return std::nullopt;
    if (ip->ipv4) return dotted(ipv4(read_be<std::uint32_t>(ip->bytes, 0)));
    const Ipv6Bits made = ipv6({read_be<std::uint64_t>(ip->bytes, 0), read_be<std::uint64_t>(ip->bytes, 8)});
    return qps::transport::text(Address{{made.high, made.low}, AddressSpace::infiniband_gid});
}

namespace {

// Up to the first NUL.
std::string_view whole_text(Bytes text) {
    const auto end = std::ranges::find(text, std::byte{0});
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(end - text.begin())};
}

}  // namespace

void Pseudonyms::write_text(MutableBytes text, std::string made) const {
    if (const std::size_t length = whole_text(text).size(); made.size() < length) made.resize(length, ' ');
    std::ranges::copy(std::as_bytes(std::span(made)), text.begin());
    std::ranges::fill(text.subspan(made.size()), std::byte{0});
}

void Pseudonyms::name(MutableBytes text) {
    const std::string_view whole = whole_text(text);
    // Blanks that fill the field up are no part of the name.
    const std::size_t last = whole.find_last_not_of(' ');
    const std::string_view word = whole.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const auto address = other_address(word);
    write_text(text, address && address->size() <= text.size() ? *address : state_->other_word(word));
}

void Pseudonyms::key_value(MutableBytes text) {
    const std::string_view whole = whole_text(text);
    const std::size_t equals = whole.find('=');
    if (equals == std::string_view::npos) return name(text);
    const std::string_view key = whole.substr(0, equals), value = whole.substr(equals + 1);
    const IscsiKey kind = iscsi_key(key);
    const bool all_targets = key == "SendTargets" && value == "All";
    const bool stays =
        all_targets || is_iscsi_answer(value) || (kind == IscsiKey::harmless && is_harmless_iscsi_value(value));
    write_text(text, (kind == IscsiKey::unknown ? state_->other_word(key) : std::string(key)) + '=' +
                         (stays ? std::string(value) : state_->other_word(value)));
}

void Pseudonyms::opaque(MutableBytes bytes) {
    if (std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; })) return;
    const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string& made = state_->named(state_->handles, whole,
                                            [&](const std::string& random) { return random.substr(0, whole.size()); });
    std::ranges::copy(std::as_bytes(std::span(made)), bytes.begin());
}

bool Pseudonyms::complete() const { return !state_->forgot; }

void Pseudonyms::for_each(
    const std::function<void(std::string_view, const std::string&, const std::string&)>& visit) const {
    const auto all = [&](std::size_t kind, std::string_view name, auto&& text) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> rows(state_->pairs[kind].begin(),
                                                                  state_->pairs[kind].end());
        std::ranges::sort(rows);
        for (const auto& [original, pseudonym] : rows) visit(name, text(original), text(pseudonym));
    };
    const auto mac_text = [](std::uint64_t mac) { return text(Address{{0, mac}, AddressSpace::ethernet}); };
    all(kIpv4, "ipv4", [](std::uint64_t ip) { return dotted(static_cast<std::uint32_t>(ip)); });
    std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, Ipv6Bits>> addresses(state_->addresses.begin(),
                                                                                        state_->addresses.end());
    std::ranges::sort(addresses, {}, &decltype(addresses)::value_type::first);
    const auto ipv6_text = [](std::uint64_t high, std::uint64_t low) {
        return text(Address{{high, low}, AddressSpace::infiniband_gid});
    };
    for (const auto& [original, pseudonym] : addresses)
        visit("ipv6", ipv6_text(original.first, original.second), ipv6_text(pseudonym.high, pseudonym.low));
    all(kIpv6High, "ipv6_prefix",
        [](std::uint64_t prefix) { return text(Address{{prefix, 0}, AddressSpace::infiniband_gid}); });
    all(kGuid, "guid", digits);
    all(kMac, "mac", mac_text);
    all(kLid, "lid", digits);
    all(kPkey, "pkey", digits);
    all(kQkey, "qkey", digits);
    all(kKey, "key", digits);
    std::vector<std::pair<std::string, std::string>> rows(state_->words.pairs.begin(), state_->words.pairs.end());
    std::ranges::sort(rows);
    for (const auto& [original, pseudonym] : rows) visit("name", original, pseudonym);
}

}  // namespace qps::transport
