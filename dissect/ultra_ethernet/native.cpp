#include <dissect/base/parse_value.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/ultra_ethernet/native.hpp>
#include <dissect/ultra_ethernet/pds.hpp>
#include <dissect/ultra_ethernet/ultra_ethernet.hpp>

#include <atomic>
#include <utility>

#include <fmt/format.h>

namespace qps::dissect {

namespace {

constexpr std::uint8_t kNoProtocol = 0;  // IPv6's hop-by-hop options, which carry nothing
std::atomic<std::uint8_t> the_protocol{kNoProtocol};

}  // namespace

void set_uet_protocol(std::optional<std::uint8_t> protocol) {
    the_protocol.store(protocol.value_or(kNoProtocol), std::memory_order_relaxed);
}

std::optional<std::uint8_t> uet_protocol() {
    const std::uint8_t protocol = the_protocol.load(std::memory_order_relaxed);
    return protocol == kNoProtocol ? std::nullopt : std::optional(protocol);
}

bool is_uet_protocol(std::uint8_t protocol) {
    return protocol != kNoProtocol && protocol == the_protocol.load(std::memory_order_relaxed);
}

std::expected<std::optional<std::uint8_t>, std::string> read_uet_protocol(std::string_view text) {
    constexpr std::uint64_t kMost = 254;  // 255 is reserved
    if (text.empty()) return std::nullopt;
    const auto number = parse_decimal(text, kMost);
    if (!number || *number == kNoProtocol)
        return std::unexpected(fmt::format("invalid IP protocol '{}': expected 1 to {}", text, kMost));
    const std::string_view known = name_in(kIpProtocols, *number);
    if (!known.empty()) return std::unexpected(fmt::format("invalid IP protocol '{}': it is {}'s", text, known));
    return static_cast<std::uint8_t>(*number);
}

// The end of the IP packet is that of Ultra Ethernet's; there is no other length by which it could have been trimmed.
bool walk_native_ultra_ethernet(Walk& walk) {
    const std::size_t length = header(kind::uet_entropy).length;
    const Bytes entropy = slice(walk.header(), 0, length);
    if (entropy.size() < length || walk.left() <= length) return false;
    const Walk before = walk;
    const std::uint8_t layers = walk.packet.layer_count;
    static_cast<void>(enter(walk, kind::uet_entropy, length));
    if (walk_ultra_ethernet(walk, walk.end, read_be<std::uint16_t>(entropy, 0))) return true;
    walk.packet.layer_count = layers;
    walk.offset = before.offset;
    return false;
}

}  // namespace qps::dissect
