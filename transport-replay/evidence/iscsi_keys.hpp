// Lists the keys of iSCSI whose values may be given away (RFC 7143 13, RFC 7145 6, RFC 7144 7).
#pragma once

#include <cstdint>
#include <string_view>

namespace qps::transport {

// What a key is: how its value is treated, and whether its own name says something of somebody.
enum class IscsiKey : std::uint8_t {
    harmless,  // its value is a number or a word of the protocol
    naming,    // its value names somebody or is a secret
    unknown,   // keys of vendors have their names in them: X-com.example.feature
};
[[nodiscard]] IscsiKey iscsi_key(std::string_view name);

// Whether a value is made of numbers and words that RFC 7143 has, and so may stay with a harmless key.
[[nodiscard]] bool is_harmless_iscsi_value(std::string_view value);
// What is answered to any key: NotUnderstood, Irrelevant, Reject.
[[nodiscard]] bool is_iscsi_answer(std::string_view value);

}  // namespace qps::transport
