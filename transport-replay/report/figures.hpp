// Numbers and names as people read them in reports.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport {

[[nodiscard]] std::string grouped(std::uint64_t number);  // "1,234,567"
// "packets", "retries", "bursts of CNPs": of a noun, or of a phrase that begins with one.
[[nodiscard]] std::string plural(std::string_view noun);
// "1 packet", "2,000 packets", "3 retries".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);
[[nodiscard]] std::string duration_text(dissect::Duration duration);  // "1.204 ms"
// Since the beginning of the capture, in seconds: "0.001204"
[[nodiscard]] std::string seconds_text(dissect::Duration since_start);
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);    // "1.234 MiB"
[[nodiscard]] std::string rate_text(double bits_per_second);  // "12.5 Gbit/s"
[[nodiscard]] double per_second(std::uint64_t count, dissect::Duration during);

[[nodiscard]] std::string_view service_name(dissect::Service service);  // "RC"
// "10.0.0.1:17 <-> 10.0.0.2:18"
[[nodiscard]] std::string ends_text(const Connection& connection);
// "remote access error", "PSN sequence error"; "reserved code 9" where the specification has no name.
[[nodiscard]] std::string nak_text(std::uint8_t code);

}  // namespace qps::transport
