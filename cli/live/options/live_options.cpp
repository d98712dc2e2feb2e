#include <CLI/CLI.hpp>
#include <cli/live/options/live_options.hpp>
#include <cli/options/refuse.hpp>
#include <cli/quantity.hpp>
#include <dissect/base/parse_value.hpp>
#include <transport-replay/conformance/agent/secret.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using live::Mac;

namespace {

template <class T> T read_number(const std::string& text, T least, T most, std::string_view what) {
    const auto number = dissect::parse_number(text, most);
    if (!number || *number < least) refuse(fmt::format("invalid {} '{}': expected {} to {}", what, text, least, most));
    return static_cast<T>(*number);
}

TypedAddress read_own_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto address = read_address(text.substr(0, slash));
    if (!address)
        refuse(fmt::format("invalid address '{}': expected ADDRESS or ADDRESS/LENGTH, such as 10.77.0.9/24", text));
    const std::uint8_t most = live::family_of(*address) == live::Family::ipv4 ? 32 : 128;
    TypedAddress own{.address = *address, .prefix_length = {}};
    if (slash != std::string::npos)
        own.prefix_length = read_number<std::uint8_t>(text.substr(slash + 1), 0, most, "prefix length");
    return own;
}

Address read_peer_address(const std::string& text) {
    const auto address = read_address(text);
    if (!address) refuse(fmt::format("invalid IP address '{}'", text));
    return *address;
}

Mac read_mac(const std::string& text) {
    const auto bits = dissect::parse_mac(text);
    if (!bits || !live::is_individual(Mac{*bits}))
        refuse(fmt::format("invalid MAC address '{}': expected a unicast address such as 02:00:00:00:00:09", text));
    return Mac{*bits};
}

PathMtu read_mtu(const std::string& text) {
    for (const PathMtu mtu :
         {PathMtu::bytes_256, PathMtu::bytes_512, PathMtu::bytes_1024, PathMtu::bytes_2048, PathMtu::bytes_4096})
        if (text == std::to_string(bytes_of(mtu))) return mtu;
    refuse(fmt::format("invalid path MTU '{}': expected 256, 512, 1024, 2048 or 4096", text));
}

dissect::Service read_service(const std::string& text) {
    struct Choice {
        std::string_view name;
        dissect::Service service;
    };
    for (const Choice& each :
         {Choice{"RC", dissect::Service::rc}, Choice{"UC", dissect::Service::uc}, Choice{"UD", dissect::Service::ud}})
        if (text == each.name) return each.service;
    refuse(fmt::format("invalid service '{}': expected RC, UC or UD", text));
}

Via read_via(const std::string& text) {
    struct Choice {
        std::string_view name;
        Via via;
    };
    for (const Choice& each :
         {Choice{"ring", Via::ring}, Choice{"xdp", Via::xdp}, Choice{"pcap", Via::pcap}, Choice{"udp", Via::udp}})
        if (text == each.name) return each.via;
    refuse(fmt::format("invalid --via '{}': expected ring, xdp, pcap or udp", text));
}

RateControlWord read_rate_control(const std::string& text) {
    if (text != "dcqcn" && text != "rtt")
        refuse(fmt::format("invalid --rate-control '{}': expected dcqcn or rtt", text));
    return text == "rtt" ? RateControlWord::rtt : RateControlWord::dcqcn;
}

bool read_obeys(const std::string& text) {
    if (text != "obey" && text != "ignore") refuse(fmt::format("invalid --pause '{}': expected obey or ignore", text));
    return text == "obey";
}

// An option whose text becomes a value by a function that refuses what it cannot be.
template <class Take>
CLI::Option* add_read(CLI::App& app, const std::string& names, const std::string& type, const std::string& meaning,
                      Take take) {
    return app.add_option_function<std::string>(names, std::move(take), meaning)->type_name(type);
}

template <class Take>
void add_list(CLI::App& app, const std::string& names, const std::string& type, const std::string& meaning, Take take) {
    app.add_option_function<std::vector<std::string>>(
           names,
           [take](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) take(text);
           },
           meaning)
        ->type_name(type)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_live_settings(CLI::App& app, LiveOptions& options) {
    add_list(
        app, "-a,--address", "ADDRESS[/LENGTH]",
        "Use this address, with a MAC address of its own; repeatable (default: those of the interface, shared with the system)",
        [&options](const std::string& text) { options.addresses.push_back(read_own_address(text)); });
    add_read(app, "--mac", "MAC", "Use this MAC address (default: derived from the address, or that of the interface)",
             [&options](const std::string& text) { options.mac = read_mac(text); });
    add_list(app, "--gateway", "ADDRESS", "Route to other networks through this address",
             [&options](const std::string& text) { options.gateways.push_back(read_peer_address(text)); });
    add_read(
        app, "--via", "WORD",
        "Send by ring (packet socket), xdp (AF_XDP), pcap (libpcap) or udp (socket on port 4791, no root) (default: ring)",
        [&options](const std::string& text) { options.via = read_via(text); });
    add_read(app, "--vlan", "N", "Tag all frames with this VLAN",
             [&options](const std::string& text) { options.vlan = read_number<std::uint16_t>(text, 1, 4094, "VLAN"); });
    add_read(app, "--priority", "N", "Set the priority in the VLAN tag", [&options](const std::string& text) {
        options.priority = read_number<std::uint8_t>(text, 0, 7, "priority");
    });
    add_read(app, "--dscp", "N", "Set the DSCP of sent packets",
             [&options](const std::string& text) { options.dscp = read_number<std::uint8_t>(text, 0, 63, "DSCP"); });
    add_read(app, "--mtu", "BYTES",
             "Path MTU: 256, 512, 1024, 2048 or 4096 (default: the largest that the interface carries)",
             [&options](const std::string& text) { options.mtu = read_mtu(text); });
    app.add_flag("--roce-v1", options.roce_v1, "Use RoCEv1 (Ethertype 0x8915) instead of RoCEv2");
    add_read(app, "--rate-control", "WORD",
             "React to congestion: dcqcn (to CNPs) or rtt (to round trips, as TIMELY does) (default: not)",
             [&options](const std::string& text) { options.rate_control = read_rate_control(text); });
    add_read(app, "--pause", "WORD", "React to PAUSE and PFC: obey or ignore (default: obey)",
             [&options](const std::string& text) { options.obey_pauses = read_obeys(text); });
    if (app.get_option_no_throw("--link-speed") == nullptr)  // of a command that reads captures, it is theirs
        add_read(app, "--link-speed", "SPEED",
                 "Compute pause times for this link speed: 100G, ... (default: that of the interface, else 10G)",
                 [&options](const std::string& text) {
                     const auto speed = read_speed(text);
                     if (!speed) refuse(speed.error());
                     options.link_speed = *speed;
                 });
    app.add_option(
           "--fault", options.faults,
           "Inject a fault: loss=3%, out:corrupt=1%,seed=7, drop psn=17 qp=0x11 round=2, pause=65535 every=1ms, ...; repeatable")
        ->type_name("FAULT")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--trace", options.trace, "Print a line for every frame sent or received");
    app.add_flag("--busy", options.busy, "Poll without sleeping: lowest latency, one busy CPU");
    add_read(app, "--for", "TIME", "Stop after this time: 10s, 500ms, ...", [&options](const std::string& text) {
        const auto time = read_time(text);
        if (!time) refuse(time.error());
        options.lasts = *time;
    });
    add_read(app, "--seed", "N", "Use this seed for identifiers, first PSNs and data",
             [&options](const std::string& text) {
                 options.seed = read_number<std::uint64_t>(text, 0, ~std::uint64_t{0}, "seed");
             });
}

void add_live_options(CLI::App& app, LiveOptions& options) {
    app.add_option("-i,--interface", options.interface, "Use this interface (needs CAP_NET_RAW; not with --via udp)")
        ->type_name("NAME");
    add_live_settings(app, options);
    app.add_option("-w,--write", options.capture, "Write all frames sent and received to FILE")->type_name("FILE");
}

namespace {

// Of ibv_*_pingpong and ib_*, which do not exchange their options: both ends must be given the same.
void add_exchange_options(CLI::App& app, LiveOptions& options) {
    app.add_flag("-R,--rdma-cm", options.rdma_cm, "Connect and exchange parameters over rdma_cm, not TCP (ib_* -R)");
    app.add_option(
           "--tcp", options.tcp,
           "Exchange queue pairs over TCP with HOST (default: the peer), or listen at HOST (default: the system's address on the interface; of agent: 127.0.0.1; 0.0.0.0, ::: all)")
        ->type_name("HOST");
    add_read(app, "-c,--service", "WORD", "Service of ib_*: RC, UC or UD (default: RC)",
             [&options](const std::string& text) { options.service = read_service(text); });
    add_read(app, "--qps", "N", "Use N queue pairs (ib_*_bw -q, ibv_srq_pingpong)",
             [&options](const std::string& text) {
                 options.queue_pairs = read_number<std::uint32_t>(text, 1, 1024, "number of queue pairs");
             });
    app.add_flag("-b,--bidirectional", options.both_ways, "Send in both directions at once (ib_*_bw)");
    app.add_flag("--all-sizes", options.all_sizes, "Run all message sizes (ib_* -a)");
    add_read(app, "-D,--duration", "TIME", "Run for this time instead of a number of messages (ib_*): 10s, ...",
             [&options](const std::string& text) {
                 const auto time = read_time(text);
                 if (!time) refuse(time.error());
                 options.duration = *time;
             });
    add_read(app, "--gap", "TIME", "Wait between messages (ib_*): 1ms, ...; UC and UD have no other flow control",
             [&options](const std::string& text) {
                 const auto time = read_time(text);
                 if (!time) refuse(time.error());
                 options.gap = *time;
             });
    app.add_flag("--compare-swap", options.compare_swap, "Use COMPARE SWAP instead of FETCH ADD (ib_atomic_*)");
}

// Of everything that speaks to a peer: whom, where, how much.
void add_target_options(CLI::App& app, LiveOptions& options) {
    add_read(app, "target", "ADDRESS", "Address to connect to; without it, serve",
             [&options](const std::string& text) { options.target = read_peer_address(text); });
    add_read(app, "-p,--port", "N", "Connect to or listen on this port (default: that of the program)",
             [&options](const std::string& text) {
                 options.port = live::IpPort{read_number<std::uint16_t>(text, 1, 65535, "port")};
             });
    add_read(app, "-n,--count", "N", "Send N messages, or run N rounds", [&options](const std::string& text) {
        options.count = read_number<std::uint64_t>(text, 1, ~std::uint64_t{0}, "count");
    });
    add_read(app, "-s,--size", "BYTES", "Use messages of this size", [&options](const std::string& text) {
        options.size = read_number<std::uint32_t>(text, 0, live::kMaxTransfer, "size");
    });
    add_read(app, "--depth", "N", "Keep up to N messages outstanding", [&options](const std::string& text) {
        options.depth = read_number<std::uint32_t>(text, 1, 4096, "depth");
    });
    add_read(app, "--clients", "N", "Stop serving after N clients (default: serve until interrupted)",
             [&options](const std::string& text) {
                 options.clients = read_number<std::uint64_t>(text, 1, ~std::uint64_t{0}, "number of clients");
             });
    const auto add_code = [&app](const char* names, std::optional<std::uint8_t>& target, std::uint8_t least,
                                 std::uint8_t most, const std::string& meaning) {
        add_read(app, names, "N", meaning, [&target, least, most, name = std::string(names)](const std::string& text) {
            target = read_number<std::uint8_t>(text, least, most, name);
        });
    };
    add_code("--ack-timeout", options.ack_timeout, 1, 31,
             "Use ACK timeout exponent N: 4.096 us * 2^N (default: by CM, 19 with Linux: 2.15 s)");
    add_code("--retry", options.retry, 0, 7, "Announce this retry count in the REQ (default: 7)");
    add_code("--rnr-retry", options.rnr_retry, 0, 7,
             "Announce this RNR retry count to the peer; 7: infinite (default: 7)");
    add_code("--min-rnr-timer", options.min_rnr_timer, 0, 31,
             "Code of the time in our RNR NAKs (default: 12, 0.64 ms)");
    app.add_flag("!--no-verify", options.verify, "Do not verify received data; a source does not fill its messages");
}

}  // namespace

void set_timers(const LiveOptions& options, live::ConnectOptions& connect) {
    connect.ack_timeout = options.ack_timeout;
    connect.retry_count = options.retry.value_or(connect.retry_count);
    connect.rnr_retry_count = options.rnr_retry.value_or(connect.rnr_retry_count);
    connect.min_rnr_timer = options.min_rnr_timer.value_or(connect.min_rnr_timer);
}

std::string read_secret_file(const std::string& path) {
    std::string why;
    auto secret = transport::conformance::agent::read_secret(path, why);
    if (!secret) refuse(why);
    return std::move(*secret);
}

void add_program_options(CLI::App& app, LiveOptions& options) {
    app.add_option("program", options.program, "Program to run (see below)")->required()->type_name("");
    add_target_options(app, options);
    add_read(app, "--connections", "N", "Open N connections", [&options](const std::string& text) {
        options.connections = read_number<std::uint32_t>(text, 1, live::kMaxClients, "number of connections");
    });
    app.add_flag("--fast-registration", options.fast_registration,
                 "Offer memory under a new key for each question, registered by a work request (memory)");
    app.add_option("--folder", options.folder,
                   "Write received files into the folder DIR; none there is replaced (rcopy)")
        ->type_name("DIR");
    add_exchange_options(app, options);
    add_read(app, "--secret", "FILE",
             "Serve only clients that know the secret in FILE, which only you can read (agent)",
             [&options](const std::string& text) { options.secret = read_secret_file(text); });
    app.add_flag("--insecure", options.insecure, "Serve other machines without a secret (agent)");
}

void add_pingpong_options(CLI::App& app, LiveOptions& options) {
    add_target_options(app, options);
    std::string names;
    for (const live::PingpongMode& mode : live::kPingpongModes)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", mode.name);
    app.add_option("--only", options.only, fmt::format("Run only these modes: {}", names))
        ->delimiter(',')
        ->type_name("MODE,MODE")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_read(app, "--sizes", "SIZES",
             "Run each mode with messages of these sizes: 8..64K (doubled from one to the next) or 64,1000,4K",
             [&options](const std::string& text) {
                 auto sizes = read_sizes(text, live::kMaxTransfer, live::kMaxPingpongSizes);
                 if (!sizes) refuse(sizes.error());
                 options.sizes = std::move(*sizes);
             })
        ->excludes(app.get_option("--size"));
    add_read(app, "--seconds", "N", "Run each mode for at most N seconds (without -n: for all of it)",
             [&options](const std::string& text) {
                 const auto time = read_time(text + "s");
                 if (!time) refuse(fmt::format("invalid number of seconds '{}'", text));
                 options.row_lasts = *time;
             });
    app.add_flag("!--unsignaled", options.signaled, "Signal only some of the SENDs and WRITEs");
}

}  // namespace qps::cli
