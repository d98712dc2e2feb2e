#include <dissect/capture/bpf.hpp>
#include <gui/recorder/order.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <getopt.h>

namespace qps::recorder {

namespace {

constexpr int kListOption = 256;  // of long options without a letter

std::expected<std::uint64_t, std::string> number(char option, std::string_view text, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
        return std::unexpected(fmt::format("-{} takes a number from 1 to {}", option, most));
    return value;
}

bool is_interface(std::string_view name) {
    const auto allowed = [](char c) { return c > ' ' && c <= '~' && c != '/'; };
    return !name.empty() && name.size() <= kMaxInterface && !name.starts_with('-') && std::ranges::all_of(name, allowed);
}

// One option with its value; the error is a sentence.
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
        case 's':
            return numeric(transport::kListenerSnapLength, [&](std::uint64_t n) { order.snap_length = static_cast<std::uint32_t>(n); });
        case 'c': return numeric(kMaxCount, [&](std::uint64_t n) { order.count = n; });
        case 'a': return numeric(kMaxSeconds, [&](std::uint64_t n) { order.patience = std::chrono::seconds(n); });
        case 'i':
            if (!is_interface(value)) return std::unexpected("-i takes the name of an interface; --list shows them");
            order.interface = value;
            return {};
        case 'f':
            if (value.size() > dissect::kMaxBpfExpression)
                return std::unexpected(fmt::format("-f takes a filter of at most {} bytes", dissect::kMaxBpfExpression));
            order.filter = value;
            return {};
        case ':': return std::unexpected(fmt::format("-{} needs a value", static_cast<char>(optopt)));
        default: return std::unexpected("there is an option that it does not know; --help shows those that it does");
    }
}

}  // namespace

std::expected<Order, std::string> parse(int argc, char** argv) {
    constexpr std::array kLong{option{"list", no_argument, nullptr, kListOption}, option{"help", no_argument, nullptr, 'h'},
                               option{"version", no_argument, nullptr, 'V'}, option{nullptr, 0, nullptr, 0}};
    Order order;
    opterr = 0;
    for (;;) {
        const int found = getopt_long(argc, argv, ":i:f:s:c:a:hV", kLong.data(), nullptr);
        if (found == -1) break;
        if (auto taken = take(order, found, optarg == nullptr ? std::string_view{} : std::string_view{optarg}); !taken)
            return std::unexpected(std::move(taken.error()));
    }
    if (optind < argc) return std::unexpected("it takes options only; --help shows them");
    if (order.task == Task::record && order.interface.empty()) return std::unexpected("name an interface with -i; --list shows them");
    return order;
}

std::string_view help_text() {
    return R"(qpscope-capture: captures from one interface, for the window of qpscope

    qpscope-capture --list                  the interfaces, as lines of JSON
    qpscope-capture -i IF [OPTIONS] | ...   pcapng to standard output

  -i IF         the interface
  -f BPF        only what this filter of libpcap asks for, such as 'udp port 4791'
  -s BYTES      keep so many bytes of a packet
  -c COUNT      end after so many packets
  -a SECONDS    end after so much time
  -h, --help    this text
  -V, --version

It ends on SIGTERM and SIGINT, when nobody reads its output any more, and when its standard input is a pipe that
ends. At the end it writes how many packets were lost on the way to it.

It opens the interface, gives up all its privileges and only then looks at the first packet. The right to capture is
given to this one program, once:  sudo setcap cap_net_raw+ep PATH/qpscope-capture

Exit codes: 0 done, 2 wrong use or wrong filter, 3 the interface cannot be captured from, 5 the output cannot be
written, 130 ended by a signal.
)";
}

}  // namespace qps::recorder
