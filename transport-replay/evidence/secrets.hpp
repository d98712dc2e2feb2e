// Says what `anonymize` does with each field of a packet that names somebody or gives access. The format of a field
// decides unless it has a row, so that a new field of an address is never left as it is; fields of numbers that are
// addresses or keys have a row.
#pragma once

#include <dissect/base/field.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace qps::transport {

enum class Secret : std::uint8_t {
    none,    // stays
    erased,  // becomes zeros
    mac,
    ipv4,
    ipv6,        // or GID
    gid_prefix,  // the first half of one
    guid,
    guids,  // several, one behind the other
    lid,
    pkey,
    partition,  // a P_Key without its membership bit
    qkey,
    key,        // R_Key, STag, M_Key and whatever else of up to 64 bits opens something
    address,    // of memory
    name,       // characters
    key_value,  // "key=value" of iSCSI
    opaque,     // bytes that name something: a file handle
    digest,     // a checksum or CRC: made anew where we know of what, else a number that says nothing; 0 stays
    xdr,  // becomes zeros but for words below 2^24: lengths, counts and kinds, without which nothing behind is found
};

struct SecretRow {
    std::string_view field;
    Secret secret{};
};
[[nodiscard]] std::span<const SecretRow> secret_rows();

[[nodiscard]] Secret secret_of(const dissect::Field& field);

}  // namespace qps::transport
