// Pingpong: how long a live peer takes to answer, and what that costs: SEND and RECV there and back, WRITE and READ of
// the peer's memory, and the same bytes over TCP and UDP of the system; polling without sleeping, or sleeping until
// something comes (rows).
//
//   server                                          client
//                            <-- REQ: announcement  bytes of the longest message, messages under way, whether all SENDs
//                            are signaled
//   REP: offer, extension -->                       memory to WRITE and READ, a slot for each message under way
//   (peers/offer.hpp)
//                            <-- SEND, immediate    kBegin | row; of a row over TCP with 4 bytes: the size of its
//                            messages
//   SEND, the same immediate -->                    ready: it polls or waits now as the row says
//   SEND, the same bytes     <-> SEND               round trips of rows by SEND; those by WRITE and READ are the
//   adapter's alone
//                            <-- SEND, immediate    kEnd | row
//   SEND, the same immediate, a report -->          nanoseconds of a processor that the server used since the beginning
//   of the row,
//                                                   nanoseconds that passed, and how many of the first were the
//                                                   kernel's: 8 bytes each
// and so on for each row. The announcement, big-endian:  0 4 "QPSp"   4 1 version, 1   5 1 bit 0: not all signaled   6
// 2 depth 8 4 bytes   12 1 report: 1 where the third number is understood; else a report has two   13 3 0. The
// extension, behind the offer:  0 1 version, 1; 0: a server that knows the first four rows alone   1 1 sockets: 0
// served, 1 no address of the system, 2 could not listen   2 2 port of TCP and UDP   4 4 0   8 8 token.
//
// Rows over TCP and UDP need addresses of the system at both ends: an endpoint with addresses of its own is reached by
// no socket, and they are left out then (on_left_out). They go to the port that the program has, as a number, with the
// token first (kernel_sockets.hpp), so that a stranger who knows no token is served nothing. A row that pours
// (write-stream, tcp-stream) goes one way.
//
// Processor time is read by a function that the caller gives; times are those of poll(). Both ends check what the
// other says: a row that is not in the table, an answer to nothing, bytes that changed end the connection or count as
// wrong. Bounds: kMaxRounds samples of a client, and of a server those of every program (kMaxClients, kMostMemory),
// kMostCallers.
#pragma once

#include <transport-replay/live/peers/program.hpp>

#include <array>
#include <functional>

namespace qps::transport::live {

enum class PingpongWay : std::uint8_t { send, write_read, write_then_read, tcp, udp, write_stream, tcp_stream };
enum class PingpongWait : std::uint8_t { poll, notify };
struct PingpongMode {
    std::string_view name;  // as the user types it
    PingpongWay way;
    PingpongWait wait;
};
// Ends tell each other the place in this table: a new row is the last.
inline constexpr std::array kPingpongModes{
    PingpongMode{"send-poll", PingpongWay::send, PingpongWait::poll},
    PingpongMode{"send-notify", PingpongWay::send, PingpongWait::notify},
    PingpongMode{"write-poll", PingpongWay::write_read, PingpongWait::poll},
    PingpongMode{"write-notify", PingpongWay::write_read, PingpongWait::notify},
    PingpongMode{"write-read-poll", PingpongWay::write_then_read, PingpongWait::poll},
    PingpongMode{"write-read-notify", PingpongWay::write_then_read, PingpongWait::notify},
    PingpongMode{"tcp-poll", PingpongWay::tcp, PingpongWait::poll},
    PingpongMode{"tcp-notify", PingpongWay::tcp, PingpongWait::notify},
    PingpongMode{"udp-poll", PingpongWay::udp, PingpongWait::poll},
    PingpongMode{"udp-notify", PingpongWay::udp, PingpongWait::notify},
    PingpongMode{"write-stream", PingpongWay::write_stream, PingpongWait::notify},
    PingpongMode{"tcp-stream", PingpongWay::tcp_stream, PingpongWait::notify},
};
inline constexpr std::size_t kFirstModes = 4;  // that a server without an extension knows
[[nodiscard]] constexpr bool over_tcp(PingpongWay way) {
    return way == PingpongWay::tcp || way == PingpongWay::tcp_stream;
}
[[nodiscard]] constexpr bool over_sockets(PingpongWay way) { return over_tcp(way) || way == PingpongWay::udp; }
// One way, as much as goes: what counts is the rate.
[[nodiscard]] constexpr bool pours(PingpongWay way) {
    return way == PingpongWay::write_stream || way == PingpongWay::tcp_stream;
}

inline constexpr std::uint64_t kMaxRounds = 1U << 22;  // of a row: a time is kept of each, 32 MiB
inline constexpr std::uint64_t kWarmUp =
    16;  // round trips of a row before those that count: addresses, caches, the scheduler
inline constexpr std::uint32_t kMaxPingpongDepth = 1024;
inline constexpr std::uint32_t kPingpongBytes = 64;         // of a message, unless the user says otherwise
inline constexpr std::size_t kMaxPingpongSizes = 64;        // of a sweep: each power of two there is, and as many again
inline constexpr std::uint32_t kMaxDatagramBytes = 65'507;  // of UDP over IPv4 (RFC 768): 65,535 less the headers
inline constexpr IpPort kPingpongPort{7474};                // ours

// Of a processor, so far: all of it, and what of it was spent in the kernel.
struct ProcessorTime {
    dissect::Duration worked{};
    dissect::Duration kernel{};
};

// What one side used of a processor while a row lasted.
struct ProcessorUse {
    dissect::Duration worked{};
    dissect::Duration lasted{};
    std::optional<dissect::Duration> kernel{};  // of `worked`, never more; none: the peer does not say
    [[nodiscard]] double share() const;         // 1: one processor, all the time
    [[nodiscard]] std::optional<double> kernel_share() const;
    [[nodiscard]] std::optional<double> user_share() const;
};

// Times within an eighth of each other, at the least 1 ns: [from, below).
struct PingpongBucket {
    dissect::Duration from{};
    dissect::Duration below{};
    std::uint64_t count = 0;
};

struct PingpongRow {
    std::size_t mode = 0;           // of kPingpongModes
    std::uint32_t size = 0;         // bytes of a message
    std::uint64_t round_trips = 0;  // that count; of a row that pours: messages
    std::uint64_t lost = 0;         // datagrams that did not come back
    bool interrupted = false;       // cut short: these are the rounds until then, and of processors nothing is known
    dissect::Duration least{};      // these are 0 where the row pours
    dissect::Duration median{};
    std::optional<dissect::Duration> most_of_ten{};       // 9 of 10 take no longer; none of fewer rounds than 10
    std::optional<dissect::Duration> most_of{};           // 99 of 100, likewise
    std::optional<dissect::Duration> most_of_thousand{};  // 999 of 1000, likewise
    dissect::Duration longest{};
    std::optional<dissect::Duration> median_low{};   // the median is between these two, in 95 of 100 such rows; none of
    std::optional<dissect::Duration> median_high{};  // fewer rounds than kFewestJudged
    dissect::Duration drift{};  // between the medians of its first and its second half; of a row that pours, between
                                // what a message took
    std::vector<PingpongBucket> histogram{};    // those that are not empty, the shortest times first
    std::optional<dissect::Duration> poured{};  // of a row that pours: until the peer had everything
    ProcessorUse here{};
    ProcessorUse there{};
    [[nodiscard]] double bits_per_second() const;  // of payload; 0 where the row does not pour
};

// A row that could not be played, and why: nobody's fault.
struct PingpongLeftOut {
    std::size_t mode = 0;
    std::uint32_t size = 0;
    std::string why;
};

// Sockets of the system, for rows over TCP and UDP.
struct PingpongSockets {
    std::vector<std::string>
        addresses{};  // of ours, and of the system: a server listens at all, a client calls from that of the same kind
    std::string interface{};                // what leaves does so by this one; empty: where the system likes
    std::string server{};                   // whom a client calls; empty: the request's target
    std::string unreachable{};              // why there are none, for people
    std::function<std::uint64_t()> draw{};  // numbers that nobody guesses; a server without serves no sockets
};

struct PingpongSettings {
    ProgramRequest request{};  // count: round trips of a row; size; depth; target, port, clients, verify, seed
    std::vector<std::size_t> modes{0, 1, 2, 3, 4, 5};  // of kPingpongModes, in the order they are to be played
    std::vector<std::uint32_t> sizes{};                // each with all modes; none: the request's
    std::optional<dissect::Duration> row_lasts{};      // at most
    bool signaled = true;                              // false: SENDs and WRITEs complete only where the queue needs it
    PingpongSockets sockets{};
    std::function<ProcessorTime()> processor{};  // time used so far; none: nothing is said of it
    // Read beside it, so that what a row used fits into what it lasted; none: the time of poll(), which is that of its
    // beginning.
    std::function<dissect::Instant()> clock{};
    std::function<void(const PingpongRow&)>
        on_row{};  // client: called at the end of each row, or of the connection in it
    std::function<void(const PingpongLeftOut&)> on_left_out{};  // client: in its place
};

// A client where the request has a target. A sentence: what of the settings cannot be.
[[nodiscard]] std::expected<Program, std::string> make_pingpong(PingpongSettings settings);

inline constexpr double kSamePlace = 0.05;  // the same row played again differs by as much
// The least and the most of so many times have the median between them in 95 of 100 rows: 1 - 2 / 2^n is 0.97 of 6 and
// 0.94 of 5.
inline constexpr std::uint64_t kFewestJudged = 6;

// The rows from the least median on, those that pour by their rate, behind the others, and what is empty the last of
// each.
struct PingpongPlace {
    std::size_t row = 0;              // of those given
    std::size_t place = 1;            // 1, and one for each row that is told to be better (judged())
    std::vector<std::size_t> with{};  // the rows that it cannot be told from
};
[[nodiscard]] std::vector<PingpongPlace> ranked(std::span<const PingpongRow> rows);

}  // namespace qps::transport::live
