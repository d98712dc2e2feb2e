// UlpHints: what somebody says of connections before their packets are read: the user, or an earlier pass over the same
// capture, which keeps how it came to know.
#pragma once

#include <transport-replay/model/connection.hpp>
#include <transport-replay/model/ulp_report.hpp>

#include <map>
#include <optional>

namespace qps::transport {

struct Timeline;

struct UlpDeclared {
    static constexpr std::uint8_t kCertain = 100;

    constexpr UlpDeclared() = default;
    constexpr UlpDeclared(UlpProtocol said) : protocol(said) {}  // by the user

    UlpProtocol protocol{};  // none: nothing we know, whatever its messages look like
    UlpBasis basis = UlpBasis::user;
    std::uint8_t certainty = kCertain;
    std::optional<End> active;  // nothing: its messages tell
    bool settled = false;       // an earlier pass saw it through: it is not given up
};

using UlpHints = std::map<std::uint32_t, UlpDeclared>;  // by ConnectionId

// What a pass over a capture came to, for another one. `whole`: it saw all of it; then a connection speaks what it was
// found to speak, or nothing.
[[nodiscard]] UlpHints hints_of(const Timeline& timeline, bool whole);

}  // namespace qps::transport
