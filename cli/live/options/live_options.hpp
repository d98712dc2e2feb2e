// What a user may say of a live endpoint: where it sits, what it is called there, what it does to its own frames.
// Shared by all commands that speak on a wire.
#pragma once

#include <transport-replay/model/address.hpp>
#include <transport-replay/queue_pair/transport_packet.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the library calls itself so
namespace CLI {
class App;
}
namespace qps::transport::live {
enum class Mac : std::uint64_t;
enum class IpPort : std::uint16_t;
struct ConnectOptions;
}  // namespace qps::transport::live

namespace qps::cli {

enum class RateControlWord : std::uint8_t { none, dcqcn, rtt };
enum class Via : std::uint8_t {
    ring,
    xdp,
    pcap,
    udp,
    nowhere
};  // how frames reach the interface; nowhere: they are recorded alone

// "10.77.0.9/24", "fd00::9".
struct TypedAddress {
    transport::Address address;
    std::optional<std::uint8_t> prefix_length;
};

struct LiveOptions {
    std::string interface;
    Via via = Via::ring;
    std::vector<TypedAddress> addresses;  // none: those of the interface, shared with the system
    std::optional<transport::live::Mac> mac;
    std::vector<transport::Address> gateways;
    std::optional<std::uint16_t> vlan;  // 1..4094
    std::uint8_t priority = 0;          // of the VLAN tag
    std::uint8_t dscp = 0;
    std::optional<transport::PathMtu> mtu;
    bool roce_v1 = false;
    RateControlWord rate_control = RateControlWord::none;
    bool obey_pauses = true;
    dissect::BitsPerSecond link_speed{};  // of pauses; 0: as the interface says
    std::vector<std::string> faults;
    std::string capture;  // -w
    std::string unheard;  // of a ring (with AF_XDP, that beside it) or libpcap: an expression of libpcap; frames that
                          // match it are nobody's here
    bool trace = false;
    bool busy = false;                       // polls without sleeping
    std::optional<dissect::Duration> lasts;  // --for
    std::optional<std::uint64_t> seed;

    // Of `peer`; what is not there is the program's own.
    std::string program;
    std::optional<transport::Address> target;  // none: serve
    std::optional<transport::live::IpPort> port;
    std::optional<std::uint64_t> count;  // messages or rounds
    std::optional<std::uint32_t> size;   // bytes of a message
    std::optional<std::uint32_t> depth;  // messages under way
    std::optional<std::uint32_t> connections;
    std::optional<std::uint64_t> clients;     // of a server, before it ends
    std::optional<std::uint8_t> ack_timeout;  // of connections by CM, as codes and counts of verbs
    std::optional<std::uint8_t> retry;
    std::optional<std::uint8_t> rnr_retry;
    std::optional<std::uint8_t> min_rnr_timer;
    bool verify = true;
    bool fast_registration = false;
    std::string folder;  // of rcopy

    // Of programs that exchange queue pairs over TCP.
    std::string tcp;       // whom to call, or where to listen
    bool rdma_cm = false;  // of perftest's, not over TCP
    std::string secret;    // of the agent, itself, not the name of its file
    bool insecure = false;
    std::optional<dissect::Service> service;
    std::optional<std::uint32_t> queue_pairs;
    bool both_ways = false;
    bool all_sizes = false;
    std::optional<dissect::Duration> duration;
    dissect::Duration gap{};  // between messages
    bool compare_swap = false;

    // Of `pingpong`, besides.
    std::vector<std::string> only;               // rows, by their names; none: all
    std::optional<dissect::Duration> row_lasts;  // --seconds
    std::vector<std::uint32_t> sizes;            // --sizes; none: that of --size
    bool signaled = true;
};

void add_live_options(CLI::App& app, LiveOptions& options);
// All of these but -i and -w, for a command that has them of its own.
void add_live_settings(CLI::App& app, LiveOptions& options);
// What is in a file of --secret, --agent-secret; refuses one that others can read.
[[nodiscard]] std::string read_secret_file(const std::string& path);

void add_program_options(CLI::App& app, LiveOptions& options);
// What connections are to be like, where the user says so.
void set_timers(const LiveOptions& options, transport::live::ConnectOptions& connect);
void add_pingpong_options(CLI::App& app, LiveOptions& options);

}  // namespace qps::cli
