// The scripts of perftest's programs as a table: which exchanges there are, in which order, under which options.
#pragma once

#include <transport-replay/live/exchange/perftest_session.hpp>

#include <array>
#include <span>

namespace qps::transport::live {

// What a row of a script is taken under; a row is taken where all that it needs holds.
using Facts = std::uint8_t;
inline constexpr Facts kAlways = 0;
inline constexpr Facts kOneWay = 1;
inline constexpr Facts kBothWays = 2;
inline constexpr Facts kAllSizes = 4;
inline constexpr Facts kIterations = 8;  // not for a duration
inline constexpr Facts kActive = 16;     // this side sends: it is the client, or traffic goes both ways
inline constexpr Facts kOverTcp = 32;
inline constexpr Facts kOverCm = 64;  // by SENDs on a connection of rdma_cm

enum class Times : std::uint8_t { once, each_queue_pair };

struct ScriptRow {
    PerftestStep step;
    Times times = Times::once;
    Facts needs = kAlways;
};

struct Script {
    std::span<const ScriptRow> opening;
    std::span<const ScriptRow> each_size;
    std::span<const ScriptRow> closing;
};

namespace script_rows {

using enum PerftestStep;

// Common to all: what the programs are, then their keys, after which queue pairs can be connected. rdma_cm connects
// them first.
inline constexpr std::array kGreeting{
    ScriptRow{version},
    ScriptRow{cycle_buffer},
    ScriptRow{cache_line},
    ScriptRow{mtu},
    ScriptRow{sync, Times::once, kOverCm},
    ScriptRow{connect, Times::once, kOverCm},
    ScriptRow{sync, Times::once, kOverCm},
    ScriptRow{keys, Times::each_queue_pair},
    ScriptRow{connect, Times::once, kOverTcp},
};

// Those of SEND say that they are connected, then show their keys once more; the others the other way round.
inline constexpr std::array kSendOpening{ScriptRow{sync}, ScriptRow{keys, Times::each_queue_pair}};
inline constexpr std::array kOpening{ScriptRow{keys, Times::each_queue_pair}, ScriptRow{sync}};
inline constexpr std::array kLatOpening{ScriptRow{keys, Times::each_queue_pair}, ScriptRow{sync}, ScriptRow{sync}};

inline constexpr std::array kSendBwSize{
    ScriptRow{receives},
    ScriptRow{sync},
    ScriptRow{traffic},
    ScriptRow{report_size, Times::once, kBothWays | kIterations},
    ScriptRow{report_iterations, Times::once, kBothWays | kIterations},
    ScriptRow{report_peak, Times::once, kBothWays | kIterations},
    ScriptRow{report_average, Times::once, kBothWays | kIterations},
    ScriptRow{report_rate, Times::once, kBothWays | kIterations},
    ScriptRow{sync, Times::once, kAllSizes},
};
inline constexpr std::array kSendLatSize{ScriptRow{receives}, ScriptRow{sync}, ScriptRow{traffic}};
inline constexpr std::array kBwSize{
    ScriptRow{sync, Times::once, kBothWays},
    ScriptRow{traffic, Times::once, kActive},
    ScriptRow{sync, Times::once, kBothWays | kAllSizes},
    ScriptRow{report_size, Times::once, kBothWays},
    ScriptRow{report_iterations, Times::once, kBothWays},
    ScriptRow{report_peak, Times::once, kBothWays},
    ScriptRow{report_average, Times::once, kBothWays},
    ScriptRow{report_rate, Times::once, kBothWays},
};
inline constexpr std::array kWriteLatSize{ScriptRow{traffic}};
inline constexpr std::array kAskingLatSize{ScriptRow{traffic, Times::once, kActive}};

inline constexpr std::array kClosing{ScriptRow{sync}, ScriptRow{done, Times::once, kOverTcp}};
inline constexpr std::array kBwClosing{
    ScriptRow{sync, Times::once, kOneWay},
    ScriptRow{report_size, Times::once, kOneWay},
    ScriptRow{report_iterations, Times::once, kOneWay},
    ScriptRow{report_peak, Times::once, kOneWay},
    ScriptRow{report_average, Times::once, kOneWay},
    ScriptRow{report_rate, Times::once, kOneWay},
    ScriptRow{sync},
    ScriptRow{done, Times::once, kOverTcp},
};

}  // namespace script_rows

// By PerftestTest; each after the greeting.
inline constexpr std::array kScripts{
    Script{script_rows::kSendOpening, script_rows::kSendBwSize, script_rows::kClosing},  // ib_send_bw
    Script{script_rows::kSendOpening, script_rows::kSendLatSize, script_rows::kClosing},
    Script{script_rows::kOpening, script_rows::kBwSize, script_rows::kBwClosing},  // ib_write_bw
    Script{script_rows::kLatOpening, script_rows::kWriteLatSize, {}},  // ib_write_lat: closes without a word
    Script{script_rows::kOpening, script_rows::kBwSize, script_rows::kBwClosing},  // ib_read_bw
    Script{script_rows::kLatOpening, script_rows::kAskingLatSize, script_rows::kClosing},
    Script{script_rows::kOpening, script_rows::kBwSize, script_rows::kBwClosing},  // ib_atomic_bw
    Script{script_rows::kLatOpening, script_rows::kAskingLatSize, script_rows::kClosing},
};
static_assert(kScripts.size() == kPerftestPrograms.size());

}  // namespace qps::transport::live
