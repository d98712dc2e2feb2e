#include "live_options.hpp"

#include <CLI/CLI.hpp>
#include <transport-replay/live/pingpong/pingpong.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "quantity.hpp"
#include <arpa/inet.h>
#include <fmt/format.h>

namespace qps::cli {

using namespace transport;
using live::Mac;

namespace {

// Every option fails with a sentence that has what was typed in it.
[[noreturn]] void refuse(const std::string& sentence) { throw CLI::ValidationError(sentence); }

template <class T>
T read_number(const std::string& text, T least, T most, std::string_view what) {
    std::uint64_t number = 0;
    const bool hex = text.starts_with("0x");
    const char* begin = text.data() + (hex ? 2 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
        refuse(fmt::format("\"{}\" is no {}: a number from {} to {}", text, what, least, most));
    return static_cast<T>(number);
}

TypedAddress read_own_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto address = read_address(text.substr(0, slash));
    if (!address) refuse(fmt::format("\"{}\" is no address such as 10.77.0.9/24 or fd00::9/64", text));
    const std::uint8_t most = live::family_of(*address) == live::Family::ipv4 ? 32 : 128;
    TypedAddress own{.address = *address, .prefix_length = {}};
    if (slash != std::string::npos) own.prefix_length = read_number<std::uint8_t>(text.substr(slash + 1), 0, most, "prefix length");
    return own;
}

Address read_peer_address(const std::string& text) {
    const auto address = read_address(text);
    if (!address) refuse(fmt::format("\"{}\" is no IP address", text));
    return *address;
}

Mac read_mac(const std::string& text) {
    std::uint64_t bits = 0;
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char each = text[i];
        if (i % 3 == 2 && (each == ':' || each == '-')) continue;
        std::uint8_t digit = 0;
        if (std::from_chars(&each, &each + 1, digit, 16).ec != std::errc{}) break;
        bits = bits << 4 | digit;
        ++digits;
    }
    if (digits != 12 || text.size() != 17 || !live::is_individual(Mac{bits}))
        refuse(fmt::format("\"{}\" is no MAC address of a host, such as 02:00:00:00:00:09", text));
    return Mac{bits};
}

PathMtu read_mtu(const std::string& text) {
    for (const PathMtu mtu : {PathMtu::bytes_256, PathMtu::bytes_512, PathMtu::bytes_1024, PathMtu::bytes_2048, PathMtu::bytes_4096})
        if (text == std::to_string(bytes_of(mtu))) return mtu;
    refuse(fmt::format("\"{}\" is no path MTU: 256, 512, 1024, 2048 or 4096", text));
}

dissect::Service read_service(const std::string& text) {
    struct Choice {
        std::string_view name;
        dissect::Service service;
    };
    for (const Choice& each : {Choice{"RC", dissect::Service::rc}, Choice{"UC", dissect::Service::uc}, Choice{"UD", dissect::Service::ud}})
        if (text == each.name) return each.service;
    refuse(fmt::format("\"{}\" is none of RC, UC, UD", text));
}

Via read_via(const std::string& text) {
    struct Choice {
        std::string_view name;
        Via via;
    };
    for (const Choice& each : {Choice{"ring", Via::ring}, Choice{"pcap", Via::pcap}, Choice{"udp", Via::udp}})
        if (text == each.name) return each.via;
    refuse(fmt::format("\"{}\" is none of ring, pcap, udp", text));
}

// An option whose text becomes a value by a function that refuses what it cannot be.
template <class Take>
CLI::Option* add_read(CLI::App& app, const std::string& names, const std::string& type, const std::string& meaning, Take take) {
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

std::optional<Address> read_address(const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
        return live::ipv4_address(static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
                                  static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3]);
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
    const auto half = [&](std::size_t from) {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < 8; ++i) bits = bits << 8 | bytes[from + i];
        return bits;
    };
    return live::ipv6_address(half(0), half(8));
}

void add_live_settings(CLI::App& app, LiveOptions& options) {
    add_list(app, "-a,--address", "ADDRESS[/LENGTH]",
             "An address of our own on that wire, with a MAC address of our own; several are possible (default: those of the interface, "
             "shared with the system)",
             [&options](const std::string& text) { options.addresses.push_back(read_own_address(text)); });
    add_read(app, "--mac", "MAC", "Our MAC address (default: made of the address; of the interface where that is shared)",
             [&options](const std::string& text) { options.mac = read_mac(text); });
    add_list(app, "--gateway", "ADDRESS", "The router to other networks",
             [&options](const std::string& text) { options.gateways.push_back(read_peer_address(text)); });
    add_read(app, "--via", "WORD",
             "How frames go: ring (a packet socket, the default), pcap (libpcap), udp (a socket on port 4791, no root)",
             [&options](const std::string& text) { options.via = read_via(text); });
    add_read(app, "--vlan", "NUMBER", "VLAN tag on everything",
             [&options](const std::string& text) { options.vlan = read_number<std::uint16_t>(text, 1, 4094, "VLAN"); });
    add_read(app, "--priority", "NUMBER", "Priority in the VLAN tag",
             [&options](const std::string& text) { options.priority = read_number<std::uint8_t>(text, 0, 7, "priority"); });
    add_read(app, "--dscp", "NUMBER", "DSCP of what we send",
             [&options](const std::string& text) { options.dscp = read_number<std::uint8_t>(text, 0, 63, "DSCP"); });
    add_read(app, "--mtu", "BYTES", "Path MTU: 256, 512, 1024, 2048 or 4096 (default: the largest the interface carries)",
             [&options](const std::string& text) { options.mtu = read_mtu(text); });
    app.add_flag("--roce-v1", options.roce_v1, "Speak RoCEv1 (Ethertype 0x8915) instead of RoCEv2");
    app.add_flag("--rate-control", options.rate_control, "Slow down on CNPs, as DCQCN does");
    app.add_option("--fault", options.faults,
                   "Damage frames on purpose: loss=3%, out:corrupt=1%,seed=7, drop psn=17 qp=0x11 round=2, ...; several are possible")
        ->type_name("FAULT")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_flag("--trace", options.trace, "Print a line for every frame sent and received");
    app.add_flag("--busy", options.busy, "Poll without sleeping: the least delay for all of a processor");
    add_read(app, "--for", "TIME", "End after this time: 10s, 500ms, ...", [&options](const std::string& text) {
        const auto time = read_time(text);
        if (!time) refuse(time.error());
        options.lasts = *time;
    });
    add_read(app, "--seed", "NUMBER", "Of everything that is drawn: identifiers, first PSNs, data",
             [&options](const std::string& text) { options.seed = read_number<std::uint64_t>(text, 0, ~std::uint64_t{0}, "seed"); });
}

void add_live_options(CLI::App& app, LiveOptions& options) {
    app.add_option("-i,--interface", options.interface, "The interface to sit on (needs root or CAP_NET_RAW; not with --via udp)")
        ->type_name("NAME");
    app.add_option("-w,--write", options.capture, "Write every frame sent and received to this capture")->type_name("FILE");
    add_live_settings(app, options);
}

namespace {

// Of ibv_*_pingpong and ib_*, whose options are never told: both ends must be given the same.
void add_exchange_options(CLI::App& app, LiveOptions& options) {
    app.add_option("--tcp", options.tcp,
                   "Where ibv_*_pingpong and ib_* exchange queue pairs: whom to call (default: the address of the "
                   "peer), which address of this machine to listen at (default: all)")
        ->type_name("HOST");
    add_read(app, "-c,--service", "WORD", "RC, UC or UD, of ib_* (default: RC)",
             [&options](const std::string& text) { options.service = read_service(text); });
    add_read(app, "--qps", "NUMBER", "Queue pairs of ib_*_bw (-q there) and ibv_srq_pingpong", [&options](const std::string& text) {
        options.queue_pairs = read_number<std::uint32_t>(text, 1, 1024, "number of queue pairs");
    });
    app.add_flag("-b,--bidirectional", options.both_ways, "Both ways at a time, of ib_*_bw");
    app.add_flag("--all-sizes", options.all_sizes, "All sizes one after another, of ib_* (-a there)");
    add_read(app, "-D,--duration", "TIME", "So long instead of a number of messages, of ib_*: 10s, ...",
             [&options](const std::string& text) {
                 const auto time = read_time(text);
                 if (!time) refuse(time.error());
                 options.duration = *time;
             });
    add_read(app, "--gap", "TIME", "Time between messages, of ib_*: 1ms, ...; over UC and UD nothing else slows the sender down",
             [&options](const std::string& text) {
                 const auto time = read_time(text);
                 if (!time) refuse(time.error());
                 options.gap = *time;
             });
    app.add_flag("--compare-swap", options.compare_swap, "COMPARE SWAP instead of FETCH ADD, of ib_atomic_*");
}

// Of everything that speaks to a peer: whom, where, how much.
void add_target_options(CLI::App& app, LiveOptions& options) {
    add_read(app, "target", "ADDRESS", "Whom to connect to; without it the peer serves",
             [&options](const std::string& text) { options.target = read_peer_address(text); });
    add_read(app, "-p,--port", "NUMBER", "Port to connect to or to listen on (default: that of the program it talks to)",
             [&options](const std::string& text) { options.port = live::IpPort{read_number<std::uint16_t>(text, 1, 65535, "port")}; });
    add_read(app, "-n,--count", "NUMBER", "Messages or rounds",
             [&options](const std::string& text) { options.count = read_number<std::uint64_t>(text, 1, ~std::uint64_t{0}, "count"); });
    add_read(app, "-s,--size", "BYTES", "Bytes of a message",
             [&options](const std::string& text) { options.size = read_number<std::uint32_t>(text, 0, live::kMaxTransfer, "size"); });
    add_read(app, "--depth", "NUMBER", "Messages under way at a time",
             [&options](const std::string& text) { options.depth = read_number<std::uint32_t>(text, 1, 4096, "depth"); });
    add_read(app, "--clients", "NUMBER", "A server ends when so many have come and gone (default: it serves until it is stopped)",
             [&options](const std::string& text) {
                 options.clients = read_number<std::uint64_t>(text, 1, ~std::uint64_t{0}, "count of clients");
             });
    app.add_flag("!--no-verify", options.verify, "Do not look at the bytes that arrive; a source does not fill its messages");
}

}  // namespace

void add_program_options(CLI::App& app, LiveOptions& options) {
    app.add_option("program", options.program, "What the peer does (below)")->required()->type_name("");
    add_target_options(app, options);
    add_read(app, "--connections", "NUMBER", "Connections of a client", [&options](const std::string& text) {
        options.connections = read_number<std::uint32_t>(text, 1, live::kMaxClients, "count of connections");
    });
    add_exchange_options(app, options);
}

void add_pingpong_options(CLI::App& app, LiveOptions& options) {
    add_target_options(app, options);
    std::string names;
    for (const live::PingpongMode& mode : live::kPingpongModes) names += fmt::format("{}{}", names.empty() ? "" : ", ", mode.name);
    app.add_option("--only", options.only, fmt::format("Only these rows: {}", names))
        ->delimiter(',')
        ->type_name("ROWS")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_read(app, "--seconds", "NUMBER", "Seconds that a row lasts at most (without -n: as many round trips as there is time for)",
             [&options](const std::string& text) {
                 const auto time = read_time(text + "s");
                 if (!time) refuse(fmt::format("\"{}\" is no number of seconds", text));
                 options.row_lasts = *time;
             });
    app.add_flag("!--unsignaled", options.signaled, "SENDs and WRITEs have no completion of their own, but a few");
}

}  // namespace qps::cli
