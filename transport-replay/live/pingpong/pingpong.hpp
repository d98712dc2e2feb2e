// Pingpong: how long a live peer takes to answer, and what that costs, in four ways (rows): SEND and RECV there and back, or
// WRITE and READ of the peer's memory; and polling without sleeping, or sleeping until a completion queue gives notice.
//
//   server                                          client
//   announces nothing        <-- REQ: announcement  bytes of a message, messages under way, whether all SENDs are signaled
//   REP: offer -->                                  memory to WRITE and READ, a slot for each message under way (peers/offer.hpp)
//                            <-- SEND, immediate    kBegin | row
//   SEND, the same immediate -->                    ready: it polls or waits now as the row says
//   SEND, the same bytes     <-> SEND               round trips of rows by SEND; those by WRITE and READ are the adapter's alone
//                            <-- SEND, immediate    kEnd | row
//   SEND, the same immediate, 16 bytes -->          nanoseconds of a processor that the server used since the beginning of the
//                                                   row, and nanoseconds that passed
// and so on for each row. The announcement, big-endian:  0 4 "QPSp"   4 1 version, 1   5 1 bit 0: not all signaled   6 2 depth
// 8 4 bytes   12 4 0.
//
// Processor time is read by a function that the caller gives; times are those of poll(). Both ends check what the
// other says: a row that is not in the table, an answer to nothing, bytes that changed end the connection or count as wrong.
// Bounds: kMaxRounds samples of a client, and of a server those of every program (kMaxClients, kMostMemory).
#pragma once

#include <transport-replay/live/peers/program.hpp>

#include <array>
#include <functional>

namespace qps::transport::live {

enum class PingpongWay : std::uint8_t { send, write_read };
enum class PingpongWait : std::uint8_t { poll, notify };
struct PingpongMode {
    std::string_view name;  // as the user types it
    PingpongWay way;
    PingpongWait wait;
};
inline constexpr std::array kPingpongModes{
    PingpongMode{"send-poll", PingpongWay::send, PingpongWait::poll},
    PingpongMode{"send-notify", PingpongWay::send, PingpongWait::notify},
    PingpongMode{"write-poll", PingpongWay::write_read, PingpongWait::poll},
    PingpongMode{"write-notify", PingpongWay::write_read, PingpongWait::notify},
};

inline constexpr std::uint64_t kMaxRounds = 1U << 22;  // of a row: a time is kept of each, 32 MiB
inline constexpr std::uint64_t kWarmUp = 16;           // round trips of a row before those that count: addresses, caches, the scheduler
inline constexpr std::uint32_t kMaxPingpongDepth = 1024;
inline constexpr std::uint32_t kPingpongBytes = 64;  // of a message, unless the user says otherwise
inline constexpr IpPort kPingpongPort{7474};         // ours

// What one side used of a processor while a row lasted.
struct ProcessorUse {
    dissect::Duration worked{};
    dissect::Duration lasted{};
    [[nodiscard]] double share() const;  // 1: one processor, all the time
};

struct PingpongRow {
    std::size_t mode = 0;           // of kPingpongModes
    std::uint64_t round_trips = 0;  // that count
    dissect::Duration least{};
    dissect::Duration median{};
    dissect::Duration most_of{};  // 99 of 100 take no longer
    dissect::Duration longest{};
    ProcessorUse here{};
    ProcessorUse there{};
};

struct PingpongSettings {
    ProgramRequest request{};                        // count: round trips of a row; size; depth; target, port, clients, verify, seed
    std::vector<std::size_t> modes{0, 1, 2, 3};      // of kPingpongModes, in the order they are to be played
    std::optional<dissect::Duration> row_lasts{};    // at most
    bool signaled = true;                            // false: SENDs and WRITEs complete only where the queue needs it
    std::function<dissect::Duration()> processor{};  // time used so far; none: nothing is said of it
    // Read beside it, so that what a row used fits into what it lasted; none: the time of poll(), which is that of its beginning.
    std::function<dissect::Instant()> clock{};
    std::function<void(const PingpongRow&)> on_row{};  // client: called at the end of each row
};

// A client where the request has a target. A sentence: what of the settings cannot be.
[[nodiscard]] std::expected<Program, std::string> make_pingpong(PingpongSettings settings);

// The rows from the best on, by their median. Rows share a place where their medians differ by less than kSamePlace from the
// first of that place: the same row played again differs by as much.
inline constexpr double kSamePlace = 0.05;
struct PingpongPlace {
    std::size_t row = 0;              // of those given
    std::size_t place = 1;            // 1 is the best; who shares it has the same number
    std::vector<std::size_t> with{};  // the rows it shares it with
};
[[nodiscard]] std::vector<PingpongPlace> ranked(std::span<const PingpongRow> rows);

}  // namespace qps::transport::live
