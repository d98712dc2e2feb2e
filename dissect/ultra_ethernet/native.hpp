// Ultra Ethernet without UDP: the IP protocol number that the user says carries it, for none is assigned (253, for
// experiments, in reference code). A setting of the whole process, as that of RoCE's ports
// (dissect/headers/roce_ports.hpp).
#pragma once

#include <dissect/base/field.hpp>

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace qps::dissect {

struct Walk;

namespace kind {
inline constexpr LayerKind uet_entropy = kind_in(LayerFamily::native_ultra_ethernet, 0);  // where UDP has its ports
}

inline constexpr std::array kUetEntropyFields{
    row::hex("rdma.uet.entropy", "Entropy", at(0), 16),
    row::reserved(at(2), 16),
};
static_assert(tiles(kUetEntropyFields, 4));

inline constexpr std::array kNativeUetHeaders{
    Header{kind::uet_entropy, "rdma.uet", "Ultra Ethernet Entropy", 4, kUetEntropyFields},
};

void set_uet_protocol(std::optional<std::uint8_t> protocol);
[[nodiscard]] std::optional<std::uint8_t> uet_protocol();
[[nodiscard]] bool is_uet_protocol(std::uint8_t protocol);

// "253": a number that no protocol has that is decoded here. Empty: none. An error is a sentence.
[[nodiscard]] std::expected<std::optional<std::uint8_t>, std::string> read_uet_protocol(std::string_view text);

// The walk stands behind the IP header. False where it is none of Ultra Ethernet, and nothing was done.
[[nodiscard]] bool walk_native_ultra_ethernet(Walk& walk);

}  // namespace qps::dissect
