// Readers of counters in all the forms in which tools print them: sysfs by grep, one file per counter, name and value,
// `rdma statistic`, perfquery with dots, SAI's "name = value", tables of switches.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/counter_changes.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// "1,234": digits with separators of thousands.
std::optional<std::uint64_t> grouped_number(std::string_view text) {
    std::string digits;
    for (const char c : text)
        if (c != ',') digits += c;
    return dissect::parse_decimal(digits);
}

void put(Case& found, LineState& state, std::string_view source, std::string_view device, std::uint32_t port,
         std::string_view name, std::uint64_t value) {
    CounterDump* dump = dump_for(found, state, source, device, port, name);
    if (dump != nullptr) add_counter(found, *dump, name, value, state.place());
}

// A name that counters have, where nothing around it says that it is one.
bool looks_like_counter(std::string_view name) {
    if (canonical(name).counter != Counter::other) return true;
    static const RE2 parts(
        R"(^(?:[rt]x_|rcvd_|sent_|send_|port_|req_|resp_|np_|rp_|rq_|sq_|vport_|Port|Vl15|roce_|cc_|tcp|ip[46]|cnp|a_|dot3|if_)|(?:_err|_pkts|_bytes|_packets|_dropped|_discards?|_pause|_error|_retry|_deferred|Counter|Errors?|Discards)$)");
    return RE2::PartialMatch(piece(name), parts);
}

Phase phase_word(std::string_view line) {
    static const RE2 after(R"((?i)\b(?:after|afterwards|end|post)\b)");
    static const RE2 before(R"((?i)\b(?:before|start|pre|begin)\b)");
    const bool is_after = finds(line, after);
    const bool is_before = finds(line, before);
    return is_after == is_before ? Phase::unknown : is_after ? Phase::after : Phase::before;
}

std::string_view of_sysfs(std::string_view line, LineState& state, Case& found) {
    static const RE2 path(
        R"((?:^|/)(?:sys/class/infiniband/|devices/\S+/infiniband/)([\w.-]+)/ports/(\d+)/(counters|hw_counters)/(\w+)[:= ]+(\d+)\s*$)");
    std::string device, source, name;
    std::uint32_t port = 0;
    std::uint64_t value = 0;
    if (!finds(line, path, &device, &port, &source, &name, &value)) return {};
    put(found, state, source, device, port, name, value);
    return source == "counters" ? "port counters" : "hardware counters";
}

// `rdma statistic`: a long line of names and values.
std::string_view of_rdma(std::string_view line, LineState& state, Case& found) {
    static const RE2 head(R"(^\s*link ([\w.-]+)/(\d+) ((?:\w+ \d+ ?)+)\s*$)");
    static const RE2 each(R"((\w+) (\d+))");
    std::string device, rest;
    std::uint32_t port = 0;
    if (!finds(line, head, &device, &port, &rest)) return {};
    re2::StringPiece left(rest);
    std::string name;
    std::uint64_t value = 0;
    while (RE2::FindAndConsume(&left, each, &name, &value))
        put(found, state, "rdma statistic", device, port, name, value);
    return "rdma statistic";
}

std::string_view of_json(std::string_view line, LineState& state, Case& found) {
    static const RE2 head(R"x("ifname" ?: ?"([\w.-]+)", ?"port" ?: ?(\d+))x");
    static const RE2 each(R"x("(\w+)" ?: ?(\d+))x");
    std::string device;
    std::uint32_t port = 0;
    re2::StringPiece left(piece(line));
    bool any = false;
    while (RE2::FindAndConsume(&left, head, &device, &port)) {
        const std::string_view rest(left.data(),
                                    std::min(left.size(), std::string_view(left.data(), left.size()).find('}')));
        re2::StringPiece members(piece(rest));
        std::string name;
        std::uint64_t value = 0;
        while (RE2::FindAndConsume(&members, each, &name, &value))
            put(found, state, "rdma statistic", device, port, name, value);
        any = true;
    }
    return any ? "rdma statistic" : std::string_view{};
}

std::string_view of_perfquery(std::string_view line, LineState& state, Case& found) {
    static const RE2 head(R"(^# Port (?:extended )?counters: (?:Lid (\d+)|\S+) port (\d+))");
    static const RE2 row(R"(^(\w+):\.+(\d+)\s*$)");
    std::string lid, name;
    std::uint32_t port = 0;
    std::uint64_t value = 0;
    if (finds(line, head, &lid, &port)) {
        state.device = lid.empty() ? "" : "LID " + lid;
        state.port = port;
        return "port counters";
    }
    if (!finds(line, row, &name, &value)) return {};
    put(found, state, "perfquery", state.device, state.port, name, value);
    return "port counters";
}

// ibqueryerrors: the node, then its ports with what they counted.
std::string_view of_query_errors(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "fabric errors";
    static const RE2 node(R"x(^Errors for (?:0x[0-9a-fA-F]+ )?"([^"]*)")x");
    static const RE2 row(R"(^\s*GUID 0x[0-9a-fA-F]+ port (\d+|ALL): (.*))");
    static const RE2 each(R"(\[(\w+) == (\d+))");
    static const RE2 link(R"x(^\s*Link info:.*==>.*"([^"]*)")x");
    std::string name, rest;
    if (finds(line, node, &name)) return state.reader = kName, state.device = name.substr(0, kMostWord), kName;
    if (state.reader != kName) return {};
    if (finds(line, link, &name)) {
        add(found, Setting{{},
                           state.device,
                           "port",
                           fmt::format("peer of port {}", state.port),
                           name.substr(0, kMostWord),
                           state.place()});
        return kName;
    }
    if (!finds(line, row, &name, &rest)) return {};
    if (name == "ALL") return kName;  // the sum of the others
    state.port = static_cast<std::uint32_t>(dissect::parse_decimal(name, UINT32_MAX).value_or(0));
    re2::StringPiece left(rest);
    std::uint64_t value = 0;
    while (RE2::FindAndConsume(&left, each, &name, &value))
        put(found, state, "ibqueryerrors", state.device, state.port, name, value);
    return kName;
}

// What exporters of Prometheus make of sysfs: node_infiniband_link_downed_total{device="mlx5_0",port="1"} 5
std::string_view of_prometheus(std::string_view line, LineState& state, Case& found) {
    static const RE2 row(R"x(^node_infiniband_(\w+?)(?:_total)?\{device="([\w.-]+)",port="(\d+)"\} ([\d.e+]+))x");
    std::string name, device, value;
    std::uint32_t port = 0;
    if (!finds(line, row, &name, &device, &port, &value)) return {};
    const auto whole = dissect::parse_decimal(value.substr(0, value.find('.')));
    if (!whole || value.contains('e')) return "Prometheus counters";
    put(found, state, "Prometheus", device, port, name, *whole);
    return "Prometheus counters";
}

// "name: value", "name = value", "name value".
std::string_view of_pairs(std::string_view line, LineState& state, Case& found) {
    static const RE2 row(R"(^\s*([A-Za-z][\w.\[\]-]*?)(?:\s*[:=]\s*|\s+)([\d,]+)\s*$)");
    static const RE2 missing(R"(([\w/]*(port_(?:rcv|xmit)_(?:data|packets))): No such file)");
    std::string name, value_text;
    if (finds(line, missing, &name, &value_text)) {
        add(found, Setting{{}, state.device, "counter", value_text, "missing", state.place()});
        return "port counters";
    }
    if (!finds(line, row, &name, &value_text)) return {};
    const auto value = grouped_number(value_text);
    const bool in_block = state.reader == "counters";
    if (!value || (!in_block && !looks_like_counter(name))) return {};
    if (state.block == 2 && state.reader == "SAI") name = fmt::format("prio{}_{}", state.priority, name);
    const bool ethtool =
        name.starts_with("rx_prio") || name.starts_with("tx_prio") || name.ends_with("_phy") || in_block;
    std::string_view source = ethtool ? "ethtool -S" : "hw_counters";
    if (state.reader == "SAI") source = "SAI";
    put(found, state, source, state.device, state.port, name, *value);
    return source == "SAI" ? "switch counters" : ethtool ? "ethtool counters" : "hardware counters";
}

std::string_view of_heads(std::string_view line, LineState& state) {
    static const RE2 sai(R"(^Port (0x[0-9a-f]+)(?: \((\S+)\))? - )");
    static const RE2 prio(R"(^\s*Prio(?:rity)? (\d+)\s*$)");
    static const RE2 rule(R"(^\s*[-=+ ]{6,}$)");
    std::string id, name;
    if (line.starts_with("NIC statistics:")) {
        state.reader = "counters";
        state.dump = SIZE_MAX;
        return "ethtool counters";
    }
    if (finds(line, sai, &id, &name)) {
        state.reader = "SAI";
        state.block = 1;
        if (!name.empty()) state.device = name;
        return "switch counters";
    }
    if (state.reader == "SAI" && finds(line, prio, &state.priority)) return state.block = 2, "switch counters";
    if (state.reader == "SAI" && finds(line, rule)) return "switch counters";
    return {};
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    constexpr std::size_t kMost = 64;
    while (words.size() < kMost) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t|"), line.size()));
        if (line.empty()) break;
        const std::size_t end = std::min(line.find_first_of(" \t|"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

}  // namespace

std::string_view take_counter(std::string_view line, LineState& state, Case& found) {
    if (line.empty()) return {};
    // "cat .../hw_counters/out_of_sequence", then the number alone.
    const bool alone = line.size() <= 20 && line.find_first_not_of("0123456789") == std::string_view::npos;
    if (alone && state.command.contains("counters/")) {
        static const RE2 path(R"((\S*/infiniband/\S+/(?:hw_)?counters/\w+)\s*$)");
        std::string name;
        if (finds(state.command, path, &name)) return of_sysfs(name + ":" + std::string(line), state, found);
    }
    if (const auto kind = of_sysfs(line, state, found); !kind.empty()) return kind;
    if (line.contains("link ") || line.contains("ifname")) {
        if (const auto kind = of_rdma(line, state, found); !kind.empty()) return kind;
        if (const auto kind = of_json(line, state, found); !kind.empty()) return kind;
    }
    if (const auto kind = of_query_errors(line, state, found); !kind.empty()) return kind;
    if (const auto kind = of_prometheus(line, state, found); !kind.empty()) return kind;
    if (const auto kind = of_heads(line, state); !kind.empty()) return kind;
    if (const auto kind = of_perfquery(line, state, found); !kind.empty()) return kind;
    if (const Phase phase = line.starts_with('#') ? phase_word(line) : Phase::unknown; phase != Phase::unknown)
        state.phase = phase;
    return of_pairs(line, state, found);
}

// Tables of switches: a row of heads, then a row a port. Kept as counters "PFC3 rx", "queue 3 drops".
std::string_view take_switch_table(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "switch counters";
    constexpr std::uint32_t kReceive = 1, kTransmit = 2, kWatchdog = 3, kQueues = 4, kPfcTotals = 5, kNvue = 6,
                            kDropGroups = 7, kErrorColumns = 8;
    static const RE2 cached(R"(^Last cached time was (.*))");
    static const RE2 rule(R"(^[-= ]{8,}$)");
    static const RE2 port(R"(^(?:Ethernet|swp|Et|Eth|ethernet|PortChannel|Port)\S*$)");
    const auto words = words_of(line);
    if (words.empty()) return {};
    std::string time;
    if (finds(line, cached, &time)) {
        add(found, Setting{{}, {}, "switch counters", "cleared", time, state.place()});
        return kName;
    }
    const auto begin = [&](std::uint32_t block) {
        state.reader = kName;
        state.block = block;
        return kName;
    };
    if (words.size() >= 9 && words[0] == "Port" && (words[1] == "Rx" || words[1] == "Tx") && words[2] == "PFC0")
        return begin(words[1] == "Rx" ? kReceive : kTransmit);
    if (words.size() >= 4 && words[0] == "QUEUE" && words[1] == "STATUS") return begin(kWatchdog);
    if (words.size() >= 5 && words[0] == "Port" && words[1] == "TxQ") return begin(kQueues);
    if (words.size() >= 3 && words[0] == "Port" && words[1].starts_with("PG0")) return begin(kDropGroups);
    if (line.contains("RxPfc") || line.contains("RxPPP")) return begin(kPfcTotals);
    if (line.contains("switch-priority") && line.contains("rx-pause-frames")) return begin(kNvue);
    if (words.size() >= 4 && (words[0] == "Port" || words[0] == "IFACE" || words[0] == "Interface")) {
        state.columns.clear();
        for (std::size_t i = 1; i < words.size(); ++i) state.columns.emplace_back(words[i].substr(0, kMostWord));
        const bool errors = std::ranges::any_of(state.columns, [](const std::string& column) {
            const Counter counter = canonical(column).counter;
            return counter == Counter::signal_error || counter == Counter::receive_error;
        });
        if (errors) return begin(kErrorColumns);
    }
    if (state.reader != kName) return {};
    if (finds(line, rule)) return kName;
    const auto number_of = [&](std::size_t i) { return i < words.size() ? grouped_number(words[i]) : std::nullopt; };
    if (state.block == kNvue) {
        static constexpr std::array kColumns{"rx_pause", "rx_pause_duration", "tx_pause", "tx_pause_duration"};
        const auto priority = number_of(0);
        if (!priority) return {};
        for (std::size_t i = 0; i < kColumns.size(); ++i)
            if (const auto value = number_of(i + 1))
                put(found, state, "switch PFC", state.device, 0, fmt::format("prio{}_{}", *priority, kColumns[i]),
                    *value);
        return kName;
    }
    std::string name(words[0]);
    if (!RE2::PartialMatch(piece(name.substr(0, name.find(':'))), port)) return state.reader = {}, std::string_view{};
    if (state.block == kReceive || state.block == kTransmit)
        for (std::size_t i = 1; i < words.size() && i <= 8; ++i)
            if (const auto value = number_of(i))
                put(found, state, "switch PFC", name, 0,
                    fmt::format("prio{}_{}_pause", i - 1, state.block == kReceive ? "rx" : "tx"), *value);
    if (state.block == kPfcTotals) {
        const std::size_t last = words.size();
        if (last >= 3 && number_of(last - 1) && number_of(last - 2)) {
            put(found, state, "switch PFC", name, 0, "rx_pause", *number_of(last - 2));
            put(found, state, "switch PFC", name, 0, "tx_pause", *number_of(last - 1));
        }
    }
    if (state.block == kErrorColumns) {
        std::vector<std::string_view> values;  // "211.20 MB/s" is one
        for (const std::string_view word : words)
            if (!word.ends_with("B/s") && !word.ends_with("bps")) values.push_back(word);
        if (values.size() != state.columns.size() + 1) return kName;
        for (std::size_t i = 1; i < values.size(); ++i)
            if (const auto value = grouped_number(values[i]);
                value && canonical(state.columns[i - 1]).counter != Counter::other)
                put(found, state, "switch port errors", name, 0, state.columns[i - 1], *value);
    }
    if (state.block == kDropGroups)
        for (std::size_t i = 1; i < words.size() && i <= 8; ++i)
            if (const auto value = number_of(i))
                put(found, state, "switch drops", name, 0, fmt::format("pg{}_drops", i - 1), *value);
    if (state.block == kQueues && words.size() >= 6)
        if (const auto value = number_of(4))
            put(found, state, "switch queues", name, 0, fmt::format("queue_{}_drops", words[1]), *value);
    if (state.block == kWatchdog && words.size() >= 3) {
        if (words[1] == "stormed")
            add(found, Setting{{}, name, "PFC watchdog", "state", std::string(words[1]), state.place()});
        const std::size_t slash = words[2].find('/');
        if (const auto storms = grouped_number(words[2].substr(0, slash)))
            put(found, state, "switch PFC watchdog", name, 0, "storms_detected", *storms);
        // "TX OK/DROP" and "RX OK/DROP".
        for (const auto& [column, counter] : {std::pair{std::size_t{3}, "watchdog_tx_drops"}, {4, "watchdog_rx_drops"}})
            if (column < words.size() && words[column].contains('/'))
                if (const auto drops = grouped_number(words[column].substr(words[column].find('/') + 1)))
                    put(found, state, "switch PFC watchdog", name, 0, counter, *drops);
    }
    return kName;
}

}  // namespace qps::casework
