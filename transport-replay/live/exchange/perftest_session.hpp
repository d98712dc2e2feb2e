// PerftestSession: one end of the exchange that the programs of perftest (ib_send_bw, ib_write_lat, ...) have over TCP,
// port 18515 unless said otherwise, as version 6.06 of it goes (perftest 4.5 of Debian 12); newer programs fall back to
// it when they hear that version. Sans I/O: bytes in, bytes out.
//
// Over rdma_cm (-R) the same is said by SENDs on a connection of its own, a message each; keys are words instead of
// text, nobody says "done", and queue pairs are connected before there are keys, with a sync before and one behind.
//
// The exchange is a script of exchanges, in each of which the client says something and the server answers with its own
// of the same kind and length. Which there are depends on the program and on options that are never told: both ends
// must be given the same. Between exchanges the session stops where queue pairs must be connected, receives posted or
// traffic done: see Awaits.
//
//   PerftestSession session(ExchangeRole::server, {.test = PerftestTest::write_bw}, ends);
//   session.process(bytes); send(session.take_output()); if (session.awaits() == Awaits::connect) { ...;
//   session.proceed(); }
//
// A peer may send anything: what is not of the form that the script expects ends the session with a sentence; so does a
// peer whose keys change while it exchanges, which is how other options than ours show. Kept are the ends and at most
// kMaxHeard bytes.
#pragma once

#include <transport-replay/live/exchange/pingpong_session.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace qps::transport::live {

enum class PerftestTest : std::uint8_t {
    send_bw,
    send_lat,
    write_bw,
    write_lat,
    read_bw,
    read_lat,
    atomic_bw,
    atomic_lat
};
inline constexpr std::array<std::string_view, 8> kPerftestPrograms{
    "ib_send_bw", "ib_send_lat", "ib_write_bw",  "ib_write_lat",
    "ib_read_bw", "ib_read_lat", "ib_atomic_bw", "ib_atomic_lat",
};
[[nodiscard]] constexpr bool is_latency(PerftestTest test) { return (std::to_underlying(test) & 1U) != 0; }
[[nodiscard]] constexpr bool is_send(PerftestTest test) {
    return test == PerftestTest::send_bw || test == PerftestTest::send_lat;
}

inline constexpr std::string_view kPerftestVersion = "6.06";
inline constexpr std::size_t kMaxPerftestQueuePairs = 1024;  // -q; a page of keys each
inline constexpr std::size_t kMaxHeard =
    4096;  // bytes that came before their time: a peer is one exchange ahead at most
inline constexpr std::uint32_t kMaxCycleBuffer =
    1U << 24;  // the page of a peer; huge pages are larger, and not used for this
inline constexpr std::uint32_t kLargestSweptSize = 1U << 23;  // -a: 2, 4, ... 8 MiB
inline constexpr dissect::Qkey kPerftestQkey{0x1111'1111};    // of UD

struct PerftestSettings {
    PerftestTest test = PerftestTest::send_bw;
    dissect::Service service = dissect::Service::rc;  // -c RC, UC, UD
    std::uint32_t queue_pairs = 1;                    // -q
    std::uint32_t size = 65'536;                      // -s; ib_*_lat: 2, atomics: 8
    bool all_sizes = false;                           // -a
    bool bidirectional = false;                       // -b
    bool duration = false;                            // -D
    PathMtu mtu = PathMtu::bytes_1024;                // the largest that we would use; the smaller of both counts
    bool over_cm = false;                             // -R
    std::uint32_t cycle_buffer = 4096;                // our page, and cache line: the larger of both count
    std::uint32_t cache_line = 64;
};

// Why these settings are none of a program of perftest, as a sentence without a full stop; nothing where they are.
[[nodiscard]] std::optional<std::string> refusal(const PerftestSettings& settings);

// What the bandwidth tests tell each other at the end. Rates are of megabytes (2^20) and of millions of messages a
// second.
struct BandwidthReport {
    std::uint64_t size = 0;
    std::uint64_t iterations = 0;  // of all queue pairs
    double peak = 0;
    double average = 0;
    double message_rate = 0;
    [[nodiscard]] bool operator==(const BandwidthReport&) const = default;
};

// A step of the script: something that both say, or a stop.
enum class PerftestStep : std::uint8_t {
    version,
    cycle_buffer,
    cache_line,
    mtu,
    keys,  // of the next queue pair
    sync,  // the keys of the first queue pair again, which say only: I am so far
    report_size,
    report_iterations,
    report_peak,
    report_average,
    report_rate,
    done,
    connect,  // stops
    receives,
    traffic,
};

class PerftestSession {
public:
    // As many ends as settings say queue pairs. What refusal() refuses fails at once.
    PerftestSession(ExchangeRole role, const PerftestSettings& settings, std::vector<QueuePairEnd> own);

    // Over TCP bytes as they come; over rdma_cm one message.
    void process(dissect::Bytes bytes);
    // During traffic it is no failure yet: who has nothing to say afterwards just leaves (ib_write_lat).
    void closed();
    // What is to be sent, one message; empty where there is none. Call until it is empty.
    [[nodiscard]] std::vector<std::byte> take_output();
    // Goes on after a stop.
    void proceed();
    // What we tell at the end; before the last traffic proceeds.
    void set_report(const BandwidthReport& report) { own_report_ = report; }

    // Of Awaits::connect: queue pairs to remote(). Of Awaits::receives: receives for size(). Of Awaits::traffic: of
    // size().
    [[nodiscard]] Awaits awaits() const;
    // At a stop: the peer has said what comes behind it, or has left, so it is through with the traffic.
    [[nodiscard]] bool peer_went_on() const { return !heard_.empty() || peer_closed_; }
    [[nodiscard]] std::uint32_t size() const { return sizes_[size_index_]; }
    [[nodiscard]] PathMtu mtu() const { return settings_.mtu; }
    [[nodiscard]] std::uint32_t cycle_buffer() const { return settings_.cycle_buffer; }
    [[nodiscard]] std::uint32_t cache_line() const { return settings_.cache_line; }
    [[nodiscard]] const std::string& remote_version() const { return remote_version_; }
    [[nodiscard]] std::span<const QueuePairEnd> remote() const { return remote_; }
    [[nodiscard]] const BandwidthReport& remote_report() const { return remote_report_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    // A step as it is taken: which size it belongs to, which queue pair it tells.
    struct Taken {
        PerftestStep step;
        std::uint32_t index;
    };
    void write_script();
    void lay_out_sizes();
    void advance();
    [[nodiscard]] std::vector<std::byte> message(const Taken& taken) const;
    [[nodiscard]] std::size_t length_of(PerftestStep step) const;
    void hear(const Taken& taken, dissect::Bytes bytes);
    void hear_version(dissect::Bytes bytes);
    void hear_keys(std::uint32_t index, dissect::Bytes bytes);
    void hear_number(PerftestStep step, dissect::Bytes bytes);
    void fail(std::string sentence);

    ExchangeRole role_;
    PerftestSettings settings_;
    std::vector<QueuePairEnd> own_;
    std::vector<QueuePairEnd> remote_;
    std::vector<std::uint32_t> sizes_;
    std::size_t size_index_ = 0;
    std::vector<Taken> script_;
    std::size_t at_ = 0;  // in the script
    bool said_ = false;   // our part of the exchange
    bool keyed_ = false;  // the peer's keys were told
    bool peer_closed_ = false;
    std::vector<std::byte> heard_;
    std::vector<std::vector<std::byte>> output_;  // at most one message
    std::string remote_version_;
    BandwidthReport own_report_;
    BandwidthReport remote_report_;
    std::string problem_;
};

}  // namespace qps::transport::live
