// The time that a line of a log begins with: of the kernel (since boot, or as `dmesg -T` has it), of syslog, as ISO
// 8601 has it (journalctl, NCCL), or in seconds since 1970 (UCX). Any text may stand there; what is no time is none.
#pragma once

#include <dissect/base/types.hpp>

#include <optional>
#include <string_view>

namespace qps::transport {

// What it counts from. A local time reads as if it were UTC: a caller that knows the time zone moves it.
enum class LogClock : std::uint8_t { utc, local, boot };

struct LogTime {
    LogClock clock{};
    dissect::Instant time{};  // since boot: from 0
    [[nodiscard]] bool operator==(const LogTime&) const = default;
};

// Times of syslog have no year: they get the one that brings them next to `around`.
[[nodiscard]] std::optional<LogTime> read_log_time(std::string_view line, dissect::Instant around);

}  // namespace qps::transport
