#include <dissect/base/parse_value.hpp>
#include <dissect/capture/bpf.hpp>
#include <gui/recorder/order.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <getopt.h>

namespace qps::recorder {

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr int kListOption = 256, kNoSandboxOption = 257;  // of long options without a letter

std::expected<std::uint64_t, std::string> number(char option, std::string_view text, std::uint64_t most) {
    const auto value = dissect::parse_decimal(text, most);
    if (!value || *value < 1)
        return std::unexpected(fmt::format("invalid value of -{}: expected 1 to {}", option, most));
    return *value;
}

bool is_interface(std::string_view name) {
    const auto allowed = [](char c) { return c > ' ' && c <= '~' && c != '/'; };
    return !name.empty() && name.size() <= kMaxInterface && !name.starts_with('-') &&
           std::ranges::all_of(name, allowed);
}

// One option with its value; the error is a sentence. It does not quote what it was given, which may hold any bytes.
std::expected<void, std::string> take(Order& order, int option, std::string_view value) {
    const auto numeric = [&](std::uint64_t most, const auto& set) -> std::expected<void, std::string> {
        const auto read = number(static_cast<char>(option), value, most);
        if (!read) return std::unexpected(read.error());
        set(*read);
        return {};
    };
    switch (option) {
        case 'h': order.task = Task::help; return {};
        case 'V': order.task = Task::version; return {};
        case kListOption: order.task = Task::list; return {};
        case kNoSandboxOption: order.sandbox = false; return {};
        case 's':
            return numeric(transport::kListenerSnapLength,
                           [&](std::uint64_t n) { order.snap_length = static_cast<std::uint32_t>(n); });
        case 'c': return numeric(kMaxCount, [&](std::uint64_t n) { order.count = n; });
        case 'a': return numeric(kMaxSeconds, [&](std::uint64_t n) { order.patience = std::chrono::seconds(n); });
        case 'C': return numeric(kMaxMegabytes, [&](std::uint64_t n) { order.files.bytes = n * kMegabyte; });
        case 'G': return numeric(kMaxSeconds, [&](std::uint64_t n) { order.files.time = std::chrono::seconds(n); });
        case 'W': return numeric(kMaxFiles, [&](std::uint64_t n) { order.files.kept = n; });
        case 'w':
            if (value.empty() || value.size() > kMaxPath || value.ends_with('/') ||
                value.find('\0') != std::string_view::npos)
                return std::unexpected(
                    fmt::format("invalid file name: expected 1 to {} bytes that do not end in /", kMaxPath));
            order.files.path = value;
            return {};
        case 'i':
            if (!is_interface(value)) return std::unexpected("invalid interface name (see --list)");
            order.interface = value;
            return {};
        case 'f':
            if (value.size() > dissect::kMaxBpfExpression)
                return std::unexpected(
                    fmt::format("capture filter too long: expected at most {} bytes", dissect::kMaxBpfExpression));
            order.filter = value;
            return {};
        case ':': return std::unexpected(fmt::format("option -{} requires a value", static_cast<char>(optopt)));
        default: return std::unexpected("unknown option (see --help)");
    }
}

}  // namespace

std::expected<Order, std::string> parse(int argc, char** argv) {
    constexpr std::array kLong{option{"list", no_argument, nullptr, kListOption},
                               option{"help", no_argument, nullptr, 'h'}, option{"version", no_argument, nullptr, 'V'},
                               option{"no-sandbox", no_argument, nullptr, kNoSandboxOption},
                               option{nullptr, 0, nullptr, 0}};
    Order order;
    opterr = 0;
    for (;;) {
        const int found = getopt_long(argc, argv, ":i:f:s:c:a:w:C:G:W:hV", kLong.data(), nullptr);
        if (found == -1) break;
        if (auto taken = take(order, found, optarg == nullptr ? std::string_view{} : std::string_view{optarg}); !taken)
            return std::unexpected(std::move(taken.error()));
    }
    if (optind < argc) return std::unexpected("unexpected argument: expected options only (see --help)");
    if (order.task == Task::record && order.interface.empty())
        return std::unexpected("no interface: expected -i IF (see --list)");
    const Files& files = order.files;
    if (files.path.empty() && (files.are_several() || files.kept != 0))
        return std::unexpected("-C, -G and -W go with -w FILE");
    if (files.kept != 0 && !files.are_several())
        return std::unexpected("-W goes with -C or -G: one file is all there is");
    return order;
}

std::string_view help_text() {
    return R"(qpscope-capture: capture packets for qpscope-gui

Usage: qpscope-capture --list
       qpscope-capture -i IF [OPTIONS] >FILE
       qpscope-capture -i IF [OPTIONS] -w FILE

  --list          List the interfaces as lines of JSON
  -i IF           Capture from interface IF, as pcapng to standard output
  -f BPF          Capture only packets that match this libpcap filter, such as 'udp port 4791'
  -s BYTES        Keep at most BYTES of each packet
  -c N            Stop after N packets
  -a SECONDS      Stop after SECONDS
  -w FILE         Write the packets to FILE as well, which must not exist: pcapng, or pcap if it ends in .pcap
  -C MB           With -w: begin a new file after MB million bytes: FILE_00001, FILE_00002, ... before the last dot
  -G SECONDS      With -w: begin a new file SECONDS after the first packet of one
  -W N            With -C or -G: keep the last N files
  --no-sandbox    Keep all system calls: for debuggers and profilers
  -h, --help      Show this help
  -V, --version   Show the version

It stops on SIGTERM and SIGINT, when the reader of its output is gone, and when its standard input is a pipe that is
closed. At the end it writes the capture's drop counters.

It opens the interface, drops all privileges and the system calls that it does not need, and only then reads the first packet. It needs CAP_NET_RAW, granted once:
    sudo setcap cap_net_raw+ep PATH/qpscope-capture

Exit codes: 0 success, 2 usage error or invalid filter, 3 cannot capture from the interface, 5 cannot write the
output, 130 interrupted.
)";
}

}  // namespace qps::recorder
