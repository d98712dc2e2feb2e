// The times that lines of logs begin with, and what is none.
#include <tests/support/catch.hpp>
#include <transport-replay/logs/log_time.hpp>

#include <utility>

using namespace qps::transport;
using qps::dissect::Instant;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr Instant kAround{1'795'567'212 * kSecond};  // 2026-11-25 00:40:12

struct Case {
    std::string line;
    std::optional<LogTime> time;
};

constexpr LogTime at(LogClock clock, std::int64_t seconds, std::int64_t nanoseconds = 0) {
    return {clock, Instant{seconds * kSecond + nanoseconds}};
}

const std::vector<Case> kCases{
    // the kernel
    {"[12345.678901] mlx5_core 0000:17:00.0: link down", at(LogClock::boot, 12345, 678'901'000)},
    {"[    0.000000] Linux version 6.1", at(LogClock::boot, 0)},
    {"<6>[   17.25] nvme nvme0: reconnecting", at(LogClock::boot, 17, 250'000'000)},
    {"[Wed Nov 25 00:40:12 2026] mlx5_0: CQE error", at(LogClock::local, 1'795'567'212)},
    // syslog and the journal
    {"Nov 25 00:40:12 node1 kernel: nvme nvme0: failed", at(LogClock::local, 1'795'567'212)},
    {"Nov  5 00:40:12.250000 node1 kernel: x", at(LogClock::local, 1'793'839'212, 250'000'000)},
    {"Jan  1 00:00:00 node1 kernel: next year is nearer", at(LogClock::local, 1'798'761'600)},
    {"2026-11-25T00:40:12+0100 node1 kernel: x", at(LogClock::utc, 1'795'563'612)},
    {"2026-11-25 00:40:12+01 node1 postgres: x", at(LogClock::utc, 1'795'563'612)},
    {"2026-11-25T00:40:12.123456+01:00 node1 kernel: x", at(LogClock::utc, 1'795'563'612, 123'456'000)},
    {"2026-11-25T00:40:12Z x", at(LogClock::utc, 1'795'567'212)},
    {"1795567212.123456 node1 kernel: x", at(LogClock::utc, 1'795'567'212, 123'456'000)},
    // NCCL, UCX, others
    {"[2026-11-25 00:40:12] node1:4711:4790 [0] NCCL WARN x", at(LogClock::local, 1'795'567'212)},
    {"[1795567212.5] [n2:99   :0] ib_mlx5_log.c:171 UCX ERROR x", at(LogClock::utc, 1'795'567'212, 500'000'000)},
    {"2026/11/25 00:40:12,5 x", at(LogClock::local, 1'795'567'212, 500'000'000)},
    // no times
    {"node1:4711:4790 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE", {}},
    {"2026-13-25 00:40:12 no such month", {}},
    {"2026-02-30 00:40:12 no such day", {}},
    {"2026-11-25 24:40:12 no such hour", {}},
    {"12.5 Gbit/s", {}},
    {"[17] a number", {}},
    {"[17.5", {}},
    {"9999-01-01 00:00:00 past 64 bits", {}},
    {"", {}},
};

}  // namespace

TEST_CASE("lines of logs begin with times of many forms") {
    for (const Case& each : kCases) {
        INFO(each.line);
        const auto read = read_log_time(each.line, kAround);
        REQUIRE(read.has_value() == each.time.has_value());
        if (!read) continue;
        CHECK(read->clock == each.time->clock);
        CHECK(std::to_underlying(read->time) == std::to_underlying(each.time->time));
    }
}

TEST_CASE("any beginning of a line may be a time") {
    for (const Case& each : kCases)
        for (std::size_t length = 0; length < each.line.size(); ++length)
            static_cast<void>(read_log_time(std::string_view(each.line).substr(0, length), kAround));
}
