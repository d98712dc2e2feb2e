// PortPath: the path of a directed-route SMP.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace qps::transport {

// The ports by which a directed-route SMP leaves node after node (14.2.2): none of them for the node it starts from.
struct PortPath {
    static constexpr std::size_t kMost = 63;  // 14.2.1.2: hop count
    std::uint8_t length = 0;
    std::array<std::uint8_t, kMost> ports{};

    [[nodiscard]] std::span<const std::uint8_t> hops() const { return std::span(ports).first(length); }
    // Without its last hop; of the empty path itself.
    [[nodiscard]] PortPath parent() const;
    [[nodiscard]] auto operator<=>(const PortPath&) const = default;
};
// "0,1,17": as diagnostic tools write it; the first is the node itself.
[[nodiscard]] std::string text(const PortPath& path);

}  // namespace qps::transport
