// ManagementReport: what the management datagrams of a capture told: who asked whom for what and what came back, the
// events that were reported, counters that moved, and the fabric as far as it shows (fabric_map.hpp).
//
// Everything that grows is bounded by the constants below; what is past them is counted.
#pragma once

#include <dissect/mad/mad.hpp>
#include <transport-replay/model/fabric_map.hpp>
#include <transport-replay/model/port_path.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

inline constexpr std::size_t kMaxExchanges = 1 << 16;  // of some 250 bytes; a sweep of a thousand nodes has some 2^15
inline constexpr std::size_t kMaxExchangeSums = 512;   // kinds of requests; there are some 80 attributes
inline constexpr std::size_t kMaxEvents = 4096;        // different ones
inline constexpr std::size_t kMaxCounterPorts = 1 << 13;  // of some 2 KiB
inline constexpr dissect::Duration kAnswerTime{
    1'000'000'000};  // what managers wait at most before they ask again or give up

// Methods (13.4.5, 15.2.2).
enum class ManagementMethod : std::uint8_t {
    get = 0x01,
    set = 0x02,
    send = 0x03,
    trap = 0x05,
    report = 0x06,
    trap_repress = 0x07,
    get_table = 0x12,
    get_trace_table = 0x13,
    get_multi = 0x14,
    remove = 0x15,  // Delete
};

enum class ExchangeOutcome : std::uint8_t {
    open,        // the capture ended before anybody had to give up
    answered,    // with a status that says so, and all segments where the answer has several
    refused,     // answered with another status
    unanswered,  // asked again, or long silence, and no answer
    incomplete,  // segments of the answer are missing, or RMPP was aborted or stopped
};
[[nodiscard]] std::string_view name(ExchangeOutcome outcome);

// What RMPP did for one answer or request of several segments (13.6).
struct RmppTransfer {
    std::uint32_t segments = 0;  // different ones, received in order
    std::uint32_t repeated = 0;  // sent again
    std::uint32_t acks = 0;
    std::uint32_t window = 0;             // the most segments that an ACK allowed beyond the one it acknowledged
    std::uint64_t bytes = 0;              // of data, without headers
    std::uint32_t records = 0;            // whole ones
    std::optional<std::uint8_t> stopped;  // status of a STOP or ABORT
    bool aborted = false;                 // by ABORT
    bool complete = false;
    bool given_up = false;  // past the bounds, or segments that the capture lacks
};

// A request and its answer.
struct Exchange {
    std::uint32_t uid = 0;  // counts them in the order of their requests
    dissect::ManagementClass management_class{};
    ManagementMethod method{};
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    std::uint64_t transaction = 0;
    Address requester;
    Address responder;
    std::optional<PortPath> path;  // of a directed route
    std::optional<PortPath> return_path;
    dissect::FrameIndex request{};
    dissect::FrameIndex last_request{};
    dissect::FrameIndex answer{};  // 0: none
    dissect::Instant requested{};
    dissect::Instant last_requested{};
    std::optional<dissect::Duration> latency;  // from the last request before the answer
    std::uint16_t status = 0;
    std::uint16_t retries = 0;
    ExchangeOutcome outcome{};
    std::optional<RmppTransfer> rmpp;
};

// All requests of one kind.
struct ExchangeSum {
    dissect::ManagementClass management_class{};
    ManagementMethod method{};
    std::uint16_t attribute = 0;
    std::uint64_t requests = 0;
    std::uint64_t answered = 0;
    std::uint64_t refused = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t retries = 0;
    std::uint64_t timed = 0;  // answers with a latency
    dissect::Duration fastest{};
    dissect::Duration slowest{};
    dissect::Duration latency_sum{};
};

// A notice: sent as a trap to the subnet manager, or reported by subnet administration to who subscribed.
struct ManagementEvent {
    bool generic = false;
    bool reported = false;  // by a Report, else a Trap
    std::uint8_t type = 0;
    std::uint32_t producer = 0;  // its type, or the vendor
    std::uint16_t number = 0;    // of the trap, or the vendor's device
    dissect::Lid issuer{};
    std::array<std::byte, 64> notice{};  // as it was, for words
    std::uint64_t count = 0;             // how often it was sent
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    dissect::Instant time{};  // of the first
    Address from;
    Address to;
};

// What became of one counter of a port. Counters stop at their largest value and go back only when they are cleared
// (16.1.3.5).
struct CounterHistory {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t increments = 0;  // sum of all steps up
    std::uint32_t resets = 0;      // steps down
    bool saturated = false;        // stands at its largest value: there may have been more
};

// Answers about one port: the fields of the attribute's table from the first counter on, in their order.
struct PortCounterHistory {
    Address port_of;  // who answered
    std::uint8_t port = 0;
    dissect::LayerKind attribute{};
    std::uint32_t answers = 0;
    dissect::FrameIndex first{};
    dissect::FrameIndex last{};
    dissect::Instant first_time{};
    dissect::Instant last_time{};
    std::vector<CounterHistory> counters;
};
// The counters of an attribute's table: its named numbers, but for what selects them.
[[nodiscard]] std::vector<const dissect::Field*> counter_fields(dissect::LayerKind attribute);
// Whether a counter counts what should not happen: all but traffic and waits.
[[nodiscard]] bool counts_errors(const dissect::Field& counter);
// "Symbol errors".
[[nodiscard]] std::string_view counter_name(const dissect::Field& counter);

struct ManagementReport {
    std::uint64_t datagrams = 0;  // read; those of the connection manager are left to cm_ladder.hpp
    std::uint64_t unreadable = 0;
    std::vector<ExchangeSum> sums;   // in the order of their first request
    std::deque<Exchange> exchanges;  // by uid
    std::vector<ManagementEvent> events;
    std::vector<PortCounterHistory> counters;
    FabricMap fabric;

    // Left out because of bounds.
    std::uint64_t exchanges_dropped = 0;
    std::uint64_t unasked = 0;  // answers whose request was not captured
    std::uint64_t events_dropped = 0;
    std::uint64_t counter_ports_dropped = 0;
    std::uint64_t rmpp_dropped = 0;  // transfers and segments past the bounds of reassembly
};

// "trap 128, link state of a port changed: LID of the switch 3"
[[nodiscard]] std::string event_text(const ManagementEvent& event);

}  // namespace qps::transport
