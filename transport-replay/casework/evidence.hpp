// Evidence: what the files of a case say, once readers have turned lines into values. Events are what logs report,
// counters and settings what dumps hold; each names its host and its place, so that every claim can be checked.
//
// All text here is of strangers; it is bounded where it is read (case_reader.hpp) and escaped where it is shown.
#pragma once

#include <dissect/base/types.hpp>
#include <transport-replay/casework/case_memory.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qps::casework {

struct CaseCapture;

// A line of a file of the case, or a frame of a capture.
struct Place {
    std::uint32_t file = 0;  // index in Case::files
    std::uint32_t line = 0;  // from 1; of a capture the number of the frame
    [[nodiscard]] auto operator<=>(const Place&) const = default;
};

// Kinds of events, one for all producers that report the same.
enum class EventKind : std::uint8_t {
    completion_error,    // a work completion with a status
    work_request,        // the second line of UCX: queue pair and operation of the completion before
    port_down,           // a link or port went down
    port_up,             // it came back
    queue_pair_error,    // asynchronous event of a queue pair
    queue_overrun,       // of a completion queue
    device_fatal,        // health, catastrophic error, reset of the NIC
    command_refused,     // firmware refused a command of the driver
    resource_failed,     // the driver could not make a queue of its own
    setup_failed,        // a queue pair could not reach RTR or RTS
    no_device,           // a library found no RDMA device it can use
    memory_refused,      // registration or allocation failed
    address_unresolved,  // rdma_resolve_addr, rdma_resolve_route, ADDR_ERROR
    unreachable,         // a connection request was not answered
    rejected,            // it was refused
    disconnected,        // an established connection ended
    peer_closed,         // the bootstrap connection of a peer closed
    socket_failed,       // TCP of the application itself
    remote_error,        // a library passed on that a remote side failed
    watchdog,            // a collective did not end in time
    transport_timeout,   // a software transport gave up on its peer (UD of UCX)
    storage_timeout,     // an I/O or an admin command was not completed
    keep_alive_expired,  // a target heard nothing from its host
    controller_created,  // NVMe context
    queues_created,
    controller_reset,  // reconnecting, resetting
    iommu_fault,
    pcie_error,
    machine_check,
    gpu_error,
    gpu_memory,  // a program wanted more of it than there is
    out_of_memory,
    process_ended,   // a crash, a kill, an interrupt
    cpu_stuck,       // soft lockup, RCU stall
    task_blocked,    // hung task
    kernel_bug,      // KASAN, oops, WARNING with a place in the sources
    lock_warning,    // lockdep
    transmit_stuck,  // NETDEV WATCHDOG
    pause_storm,     // PFC watchdog of a switch, pause storm of a NIC
    lossy_pause,     // pause for a class that is not lossless
    reboot,          // Linux version
    exception,       // of the program of a rank
    notice,          // a line that a row of notices.hpp explains
    unexplained,     // a complaint that no row knows
};

// How times of a line count; see LogClock of transport-replay/logs/log_time.hpp. none: only the order in the file.
enum class ClockKind : std::uint8_t { none, boot, local, utc };

struct Event {
    EventKind kind{};
    Place place{};
    std::string host{};    // empty: nobody said
    std::string device{};  // as the line has it: mlx5_0, a netdev, a PCI address
    std::uint32_t port = 0;
    std::optional<dissect::Qpn> qpn{};
    std::optional<dissect::Qpn> peer_qpn{};
    std::string peer{};  // as the line has it
    std::string process{};
    ClockKind clock = ClockKind::none;
    std::int64_t time_ns = 0;
    std::optional<std::uint32_t> status{};  // of a completion
    std::optional<std::uint32_t> vendor{};  // vendor syndrome
    std::string operation{};                // RDMA WRITE, RECV
    std::string text{};                     // what the producer calls it
    std::string code{};                     // a number of its own, and what it means: "EFA status 15 (...)"
    std::uint64_t number = 0;               // seconds, queues, an errno: what the kind says
    bool responder = false;                 // of a completion: reported by the receiving side
    bool kernel = false;                    // of a producer in the kernel
    std::uint8_t notice = 0;                // row of notices(), from 1; 0: none
};

// One dump of counters of one port, before its phase is known.
enum class Phase : std::uint8_t { unknown, before, after };
struct CounterDump {
    std::string host{};
    std::string device{};
    std::uint32_t port = 0;
    std::string source{};  // "hw_counters", "ethtool -S": what kind of dump
    std::string group{};   // dumps of one group may be before and after of each other
    Phase phase = Phase::unknown;
    std::string zone{};           // of the date that stands before it: as it is written; empty: none does
    std::int64_t local_time = 0;  // that date, in seconds: comparable within one zone
    Place place{};                // of the first
    std::map<std::string, std::uint64_t, std::less<>> values{};
    std::map<std::string, Place, std::less<>> places{};
};

// A setting, or a state, that a dump shows: subject "GID 3" of a device, name "type", value "RoCE v2".
struct Setting {
    std::string host{};
    std::string device{};
    std::string subject{};
    std::string name{};
    std::string value{};
    Place place{};
};

// A rank or a group of ranks in a dump of a collective library.
struct RankState {
    std::vector<std::uint32_t> ranks{};  // named ones
    std::uint64_t count = 0;             // how many ranks are here
    std::string operation{};             // AllGather
    std::uint64_t launched = 0;          // the last operation launched
    bool sampled = false;                // of one reading of a running job: others differ by a moment
    std::string state{};                 // "unresponsive", "dead", "INCOMPLETE"
    std::string process{};               // its number on the host
    std::string host{};
    std::string communicator{};
    Place place{};
};

// A blocked task of the kernel with what its stack names.
struct BlockedTask {
    std::string name{};
    std::string host{};
    std::string work_queue{};
    std::uint64_t seconds = 0;
    std::vector<std::string> functions{};  // innermost first
    std::vector<std::string> modules{};
    Place place{};
};

// A rate that a benchmark printed.
struct Measurement {
    std::string what{};  // "RDMA 2 to 1", "ib_write_bw"
    bool rdma = false;
    double bits_per_second = 0;
    std::uint64_t bytes = 0;  // of a message
    std::uint64_t iterations = 0;
    std::string command{};  // that a transcript shows before it
    std::string host{};
    Place place{};
};

struct FileKind {
    std::string_view name{};
    std::uint64_t lines = 0;
};

struct CaseFile {
    std::string name{};            // below the folder of the case
    std::string host{};            // whose it is; empty: nobody's
    std::string_view host_from{};  // "contents", "file name"
    std::vector<FileKind> kinds{};
    std::uint64_t lines = 0;
    std::uint64_t unrecognised = 0;
    bool capture = false;  // whether it was analysed, Case::captures says
    bool binary = false;
    bool archive = false;   // its members are files; `lines` counts them
    bool cut = false;       // longer than what is read of a file
    std::string problem{};  // a sentence: what is damaged, or why nothing was read
};

// A line that evidence may quote, by its number.
using Quotes = std::vector<std::pair<std::uint32_t, std::string>>;

// Everything that was read.
struct Case {
    CaseMemory memory{};  // what each list below may take
    std::vector<CaseFile> files{};
    std::vector<Quotes> quotes{};  // of each file, in the order of their lines
    std::size_t quoted = 0;        // bytes of all of them
    std::vector<std::map<std::string, std::uint64_t>>
        hosts_said{};             // of each file: hosts, and how many lines name them
    std::vector<Event> events{};  // in order of files and lines
    std::vector<CounterDump> counters{};
    std::size_t counted = 0;  // values in all of them
    std::vector<Setting> settings{};
    std::vector<RankState> ranks{};
    std::vector<BlockedTask> blocked{};
    std::vector<Measurement> measurements{};
    std::vector<std::shared_ptr<const CaseCapture>> captures{};   // that were analysed, in order of files
    std::map<std::string, std::string, std::less<>> addresses{};  // IP -> host
    std::uint64_t left_out = 0;                                   // events, counters and settings beyond the bounds
    bool mentions_rdma = false;                                   // a word of RDMA stands somewhere
};

}  // namespace qps::casework
