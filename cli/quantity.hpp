// Quantities as users type them: a link speed, a time.
#pragma once

#include <dissect/types.hpp>

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace qps::cli {

// "100G", "25g", "1000M", "400000000000": bits a second. A sentence where it is none.
[[nodiscard]] std::expected<dissect::BitsPerSecond, std::string> read_speed(const std::string& text);

// "100us", "1ms", "2s": a time of at least a nanosecond and at most a day. `what` names it in the sentence: "interval".
[[nodiscard]] std::expected<dissect::Duration, std::string> read_time(const std::string& text, std::string_view what = "time");

// "b.pcap=-1.5ms", "b.pcap=+2": a file and what is added to its times, in seconds where there is no unit.
[[nodiscard]] std::expected<std::pair<std::string, dissect::Duration>, std::string> read_offset(const std::string& text);

}  // namespace qps::cli
