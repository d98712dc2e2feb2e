// Writes the key, and each original with its pseudonym, as JSON: for the owner of a capture, never for who gets it.
#pragma once

#include <transport-replay/evidence/pseudonyms.hpp>
#include <transport-replay/model/address.hpp>

#include <functional>
#include <string_view>

namespace qps::transport {

// `write` gets it in pieces.
void write_map(const Pseudonyms::Key& key, const Pseudonyms& pseudonyms,
               const std::function<void(std::string_view)>& write);

// What an address is in packets that leave under pseudonyms.
[[nodiscard]] Address pseudonym_of(const Address& address, Pseudonyms& pseudonyms);

}  // namespace qps::transport
