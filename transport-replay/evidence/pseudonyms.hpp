// Pseudonyms: other addresses, keys and names for those of a capture, the same one for the same, by a key.
//
// Numbers are permuted bit by bit as Crypto-PAn does (Xu, Fan, Ammar, Moon: "Prefix-Preserving IP Address
// Anonymization", ICNP 2002): bit i is turned over where AES of the bits before it says so. That is a permutation, and
// what has n leading bits in common has so many in common afterwards. Two things are not as published, for they left
// one address in 10,000 and one network of 16 bits in 170 as it was: every bit has a block of its own, also where the
// bits before it are those of the padding; and what would stay has its last bit turned over, of an IPv4 address the
// last of its first byte, of an IPv6 prefix the last of its first two. The halves of an IPv6 address are permuted
// apart, the lower one as a GUID, since a GID is a prefix and a GUID. Addresses of memory are moved by a distance, so
// that what is contiguous stays so. Characters of names become others of their kind. What means the same everywhere (0,
// broadcast, well-known groups and keys) stays.
//
// Nothing of it depends on the order of packets, but for names that would become the same one: the later one is drawn
// again.
#pragma once

#include <dissect/base/bytes.hpp>
#include <transport-replay/evidence/crc_difference.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace qps::transport {

struct Ipv6Bits {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    [[nodiscard]] bool operator==(const Ipv6Bits&) const = default;
};

class Pseudonyms {
public:
    using Key = std::array<std::byte, 32>;  // 16 of AES, 16 of the padding

    // `most`: pairs remembered of each kind, so that none is computed twice; past that they are forgotten and computed
    // again.
    Pseudonyms(const Key& key, bool keep_vendor, std::size_t most);
    Pseudonyms(const Pseudonyms&) = delete;
    Pseudonyms& operator=(const Pseudonyms&) = delete;
    ~Pseudonyms();

    [[nodiscard]] std::uint64_t mac(std::uint64_t address);
    [[nodiscard]] std::uint32_t ipv4(std::uint32_t address);
    [[nodiscard]] Ipv6Bits ipv6(Ipv6Bits address);
    [[nodiscard]] std::uint64_t gid_prefix(std::uint64_t prefix);
    [[nodiscard]] std::uint64_t guid(std::uint64_t guid);
    [[nodiscard]] std::uint32_t lid(
        std::uint32_t lid);  // of 16 bits; longer ones of Omni-Path where their upper half is not 0
    [[nodiscard]] std::uint16_t pkey(std::uint16_t key);
    [[nodiscard]] std::uint32_t qkey(std::uint32_t key);
    // Of `width` bits.
    [[nodiscard]] std::uint64_t key(std::uint64_t key, unsigned width);
    [[nodiscard]] std::uint64_t memory(std::uint64_t address) const;
    // In place; bytes from the first NUL on become zeros.
    void name(dissect::MutableBytes text);
    // The same of "key=value" of iSCSI: the value stays where the key is known to say nothing of anybody.
    void key_value(dissect::MutableBytes text);
    // By how much checksums and CRCs of so many bits (16 or 32) are wrong that were wrong.
    [[nodiscard]] CrcDifference difference(unsigned width) const;
    // In place: bytes that name something. All zeros stay.
    void opaque(dissect::MutableBytes bytes);

    // Whether all that was met is remembered; and each of it, for the owner's map: kind, original, pseudonym, as people
    // write them.
    [[nodiscard]] bool complete() const;
    void for_each(const std::function<void(std::string_view kind, const std::string& original,
                                           const std::string& pseudonym)>& visit) const;

    // Crypto-PAn of 32 bits as it was published. For tests.
    [[nodiscard]] std::uint64_t published(std::uint32_t value);

private:
    void write_text(dissect::MutableBytes text, std::string made) const;
    [[nodiscard]] std::optional<std::string> other_address(std::string_view word);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace qps::transport
