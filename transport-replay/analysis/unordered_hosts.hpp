// Hosts of which the user says that their NICs accept packets in any order: nothing on the wire does. Text of a user,
// or of a profile that somebody gave to them: every host is an address, and there are no more than kMostUnorderedHosts.
#pragma once

#include <transport-replay/model/address.hpp>

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMostUnorderedHosts = 4096;  // a large cluster; findings look each of their hosts up

// "10.0.0.1" or "10.0.0.1, fd00::1": no host twice; empty text has none. An error is a sentence.
[[nodiscard]] std::expected<std::vector<Address>, std::string> read_unordered_hosts(std::string_view text);
[[nodiscard]] std::string unordered_hosts_text(std::span<const Address> hosts);  // "10.0.0.1, fd00::1"

}  // namespace qps::transport
