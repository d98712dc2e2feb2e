// Quantities as users type them: a link speed, a time, an address.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/model/address.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::cli {

// "100G", "25g", "1000M", "400000000000": bits a second. A sentence where it is none.
[[nodiscard]] std::expected<dissect::BitsPerSecond, std::string> read_speed(const std::string& text);

// "100us", "1ms", "2s": a time of at least a nanosecond and at most a day. `what` names it in the sentence: "interval".
[[nodiscard]] std::expected<dissect::Duration, std::string> read_time(const std::string& text,
                                                                      std::string_view what = "time");

// A time of --since or --until as a condition of packets, for a display filter: "2026-11-21 01:14:08.5" (UTC, or with
// an offset), "1795223648.5" (seconds since 1970), "90s" (since the first packet). `comparison`: ">=" or "<". `option`
// names it in the sentence.
[[nodiscard]] std::expected<std::string, std::string> read_time_bound(const std::string& text,
                                                                      std::string_view comparison,
                                                                      std::string_view option);

// "b.pcap=-1.5ms", "b.pcap=+2": a file and what is added to its times, in seconds where there is no unit.
[[nodiscard]] std::expected<std::pair<std::string, dissect::Duration>, std::string> read_offset(
    const std::string& text);

// "8..64K", "64,1000,4K": sizes in bytes, of which K and M are 1024 and 1024 * 1024; from one to the other in powers of
// two times the first. At most so many, none above `largest`.
[[nodiscard]] std::expected<std::vector<std::uint32_t>, std::string> read_sizes(const std::string& text,
                                                                                std::uint32_t largest,
                                                                                std::size_t most);

// "10.77.0.9", "fd00::9"; nothing where it is none.
[[nodiscard]] std::optional<transport::Address> read_address(const std::string& text);

}  // namespace qps::cli
