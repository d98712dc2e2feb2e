// UDP ports that carry RoCEv2 beside 4791, of devices and test beds that were set up with another one. A setting of the
// whole process, made before anything is decoded; who changes it later decodes again what was decoded.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qps::dissect {

inline constexpr std::size_t kMostRocePorts = 8;

// Those behind kMostRocePorts are left out.
void set_roce_ports(std::span<const std::uint16_t> ports);
[[nodiscard]] std::vector<std::uint16_t> roce_ports();
[[nodiscard]] bool is_roce_port(std::uint16_t port);  // without 4791

// "4800" or "4800, 4801": no port twice, 4791 left out, no more than kMostRocePorts. An error is a sentence.
[[nodiscard]] std::expected<std::vector<std::uint16_t>, std::string> read_roce_ports(std::string_view text);
[[nodiscard]] std::string roce_ports_text(std::span<const std::uint16_t> ports);  // "4800,4801"

}  // namespace qps::dissect
