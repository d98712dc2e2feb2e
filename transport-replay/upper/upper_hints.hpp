// UpperHints: what somebody says of connections before their packets are read: the user, or an earlier pass over the same
// capture, which keeps how it came to know.
#pragma once

#include <transport-replay/timeline.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport {

struct UpperSaid {
    static constexpr std::uint8_t kCertain = 100;

    constexpr UpperSaid() = default;
    constexpr UpperSaid(UpperProtocol said) : protocol(said) {}  // by the user

    UpperProtocol protocol{};  // none: nothing we know, whatever its messages look like
    UpperBasis basis = UpperBasis::user;
    std::uint8_t certainty = kCertain;
    std::optional<End> active;  // nothing: its messages tell
    bool settled = false;       // an earlier pass saw it through: it is not given up
};

using UpperHints = boost::unordered_flat_map<std::uint32_t, UpperSaid>;  // by ConnectionId

// What a pass over a capture came to, for another one. `whole`: it saw all of it; then a connection speaks what it was found to
// speak, or nothing.
[[nodiscard]] UpperHints hints_of(const Timeline& timeline, bool whole);

}  // namespace qps::transport
