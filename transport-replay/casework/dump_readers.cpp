// Readers of dumps: error CQEs in rows of hex, blocked tasks of the kernel with their stacks, what RAS says of ranks,
// and what benchmarks print.
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/completion_status.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/readers.hpp>
#include <transport-replay/logs/error_cqe.hpp>
#include <transport-replay/logs/log_time.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

namespace qps::casework {

namespace {

// A row of a dump: four words or sixteen bytes in hex, with an offset before them or not.
std::string_view hex_row(std::string_view line) {
    static const RE2 row(
        R"(^(?:\[[^\]]*\] )?(?:.*: ?)?((?:[0-9a-fA-F]{8}[ \t]+){3}[0-9a-fA-F]{8}|(?:[0-9a-fA-F]{2} ){15}[0-9a-fA-F]{2})(?:  .*| \|.*)?\s*$)");
    re2::StringPiece found;
    const std::size_t last = line.find_last_not_of(" \t|");
    const bool may_be =
        last != std::string_view::npos && last >= 34 &&
        (std::isxdigit(static_cast<unsigned char>(line[last])) != 0 || line.contains("  ") || line.contains(" | "));
    if (!may_be || !finds(line, row, &found)) return {};
    return {found.data(), found.size()};
}

constexpr std::size_t kMostRows = 64 * 3;  // characters of an error CQE and a row more
constexpr std::string_view kIonicDump = "ionic CQE";

// Two rows of sixteen bytes: of the last eight the first four are ionic's own status, then the queue pair in the upper
// 24 bits, bit 1 for an error.
std::string_view take_ionic(std::string_view line, LineState& state, Case& found) {
    constexpr std::size_t kBytes = 32;
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < state.rows.size(); ++i) {
        unsigned value = 0;
        const char* at = state.rows.data() + i;
        if (std::from_chars(at, at + 2, value, 16).ptr != at + 2) continue;
        bytes.push_back(static_cast<std::uint8_t>(value));
        ++i;
    }
    if (bytes.size() < kBytes) return "error CQE";
    state.rows.clear();
    state.reader = {};
    if (bytes.size() > kBytes) return "error CQE";
    const auto word = [&](std::size_t from) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8U | bytes[from + i];
        return value;
    };
    const std::uint32_t last = word(28);
    const std::uint32_t code = word(24);
    const VendorCode* row = ionic_status(code);
    if ((last & 2U) == 0 || row == nullptr) return "error CQE";
    Event event;
    event.kind = EventKind::completion_error;
    event.place = state.place();
    event.qpn = dissect::Qpn{last >> 8U};
    event.status = row->status;
    event.kernel = true;
    event.responder = (last >> 5U & 7U) == 1;  // of a receive
    event.text = "error CQE (ionic)";
    event.code = fmt::format("ionic status {} ({})", code, row->words);
    if (const auto time = transport::read_log_time(line, dissect::Instant{0}); time) {
        event.clock = time->clock == transport::LogClock::boot ? ClockKind::boot : ClockKind::local;
        event.time_ns = static_cast<std::int64_t>(time->time);
    }
    add(found, std::move(event));
    return "error CQE";
}

}  // namespace

std::string_view take_error_cqe(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "error CQE";
    static const RE2 header(R"(mlx5: ([\w.-]+): got completion with error)");
    std::string host;
    static const RE2 of_ionic(R"(ionic\w*.*: qp (\d+) (?:recv|msn|npg) cqe with error)");
    if (line.contains("cqe with error") && finds(line, of_ionic, &host)) {
        state.reader = kIonicDump;
        state.rows.clear();
        return kName;
    }
    if (line.contains("mlx5: ") && finds(line, header, &host)) {
        state.reader = kName;
        state.subject = host.substr(0, host.find('.'));
        state.rows.clear();
        return kName;
    }
    const std::string_view row = hex_row(line);
    if (row.empty()) {
        if (line.contains("dump error cqe") || line.contains("dump_cqe")) return {};  // a line of the kernel
        state.rows.clear();
        return {};
    }
    if (state.rows.size() > kMostRows) state.rows.clear();
    state.rows += std::string(row) + "\n";
    if (state.reader == kIonicDump) return take_ionic(line, state, found);
    const auto cqe = transport::read_error_cqe(row);
    if (!cqe) return kName;
    Event event;
    event.kind = EventKind::completion_error;
    event.place = state.place();
    if (state.reader == kName) event.host = state.subject;
    event.qpn = cqe->qpn;
    event.status = status_of_syndrome(cqe->syndrome);
    event.vendor = cqe->vendor_syndrome;
    event.responder = cqe->responder;
    event.text = transport::text(*cqe);
    const std::size_t from = event.text.find("(mlx5): ");
    if (from != std::string::npos && !cqe->responder)
        event.operation = event.text.substr(from + 8, event.text.find(',', from) - from - 8);
    // The kernel's line about the same completion stands before the rows.
    if (!found.events.empty()) {
        Event& last = found.events.back();
        const bool same = last.kind == EventKind::completion_error && last.place.file == event.place.file &&
                          !last.qpn && last.kernel && last.status == event.status &&
                          event.place.line - last.place.line < 8;
        if (same) {
            event.kernel = true;
            event.host = last.host;
            event.device = last.device;
            event.clock = last.clock;
            event.time_ns = last.time_ns;
            last = std::move(event);
            return kName;
        }
    }
    add(found, std::move(event));
    return kName;
}

std::string_view take_blocked_task(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "blocked tasks";
    constexpr std::size_t kMostFunctions = 64;
    static const RE2 header(R"(INFO: task (\S+?):(\d+) blocked for more than (\d+) seconds)");
    static const RE2 queue(R"(Workqueue: (.*))");
    static const RE2 function(R"((?:\]|^)\s+(?:\? )?([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?)");
    std::string name, more;
    std::uint64_t seconds = 0;
    if (line.contains("blocked for more than") && finds(line, header, &name, &more, &seconds)) {
        state.reader = kName;
        add(found, BlockedTask{name, {}, {}, seconds, {}, {}, state.place()});
        return kName;
    }
    if (found.blocked.empty() || found.blocked.back().place.file != state.file || state.reader != kName) return {};
    BlockedTask& task = found.blocked.back();
    if (finds(line, queue, &more)) return task.work_queue = more.substr(0, kMostWord), kName;
    std::string module;
    if (finds(line, function, &name, &module)) {
        if (task.functions.size() < kMostFunctions) {
            task.functions.push_back(name.substr(0, kMostWord));
            if (!module.empty() && std::ranges::find(task.modules, module) == task.modules.end())
                task.modules.push_back(module);
        }
        return kName;
    }
    return line.contains("Call Trace") || line.contains("task:") || line.contains("Tainted") ? kName
                                                                                             : std::string_view{};
}

std::string_view take_rank_state(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "NCCL RAS dump";
    static const RE2 head(R"(^#(\d+-\d+) \(([0-9a-f]+)\) (\w+))");
    static const RE2 different(R"(ranks have different (\w+) operation counts)");
    static const RE2 many(R"((\d+) ranks? (?:has|have) launched up to operation (\d+))");
    static const RE2 one(
        R"(Rank (\d+) has launched up to operation (\d+) -- GPU \S+ managed by process \d+ on node (\S+))");
    static const RE2 named(R"(Rank (\d+) -- GPU \S+ managed by process \d+ on node (\S+))");
    static const RE2 bad(
        R"((?:Rank (\d+)|Process (\d+)).*(unresponsive|considered dead|dead|missing|not responding|unreachable).*)");
    static const RE2 node(R"(on node (\S+))");
    // Blocks of 2.25 and later: a word as heading, then a line for each process or for the ranks.
    constexpr std::uint32_t kDead = 1;
    static const RE2 block(R"(^(INCOMPLETE|DEAD|ERROR|TIMEOUT|MISMATCH)\s*$)");
    static const RE2 process(R"(^\s+Process (\d+) on node (\S+))");
    static const RE2 missing(R"(^\s+The missing ranks?: ([\d, ]+))");
    if (line.contains("Job summary") || line.contains("Communicators...")) return state.reader = kName, kName;
    if (state.reader != kName) return {};
    constexpr std::size_t kMostStates = 10'000;  // ranks of one line
    std::string text, hash, word;
    std::uint32_t rank = 0;
    std::uint64_t count = 0, launched = 0;
    const auto put = [&](RankState made) {
        made.communicator = state.subject;
        made.operation = state.command;
        made.place = state.place();
        add(found, std::move(made));
    };
    if (finds(line, head, &text, &hash, &word)) {
        state.subject = hash;
        state.command.clear();
        state.block = 0;
        if (word != "MISMATCH") put({.state = word});
    } else if (finds(line, block, &word)) {
        state.block = word == "DEAD" ? kDead : 0;
        state.subject.clear();
    } else if (finds(line, process, &text, &hash)) {
        put({.state = state.block == kDead ? "considered dead" : "missing",
             .process = text.substr(0, kMostWord),
             .host = hash.substr(0, kMostWord)});
    } else if (finds(line, missing, &text)) {
        re2::StringPiece left(text);
        static const RE2 each(R"((\d+))");
        RankState made{.state = "missing"};
        while (made.ranks.size() < kMostStates && RE2::FindAndConsume(&left, each, &rank)) made.ranks.push_back(rank);
        put(std::move(made));
    } else if (finds(line, different, &text)) state.command = text;
    else if (finds(line, many, &count, &launched)) put({.count = count, .launched = launched});
    else if (finds(line, one, &rank, &launched, &text))
        put({.ranks = {rank}, .count = 1, .launched = launched, .host = text.substr(0, kMostWord)});
    else if (finds(line, named, &rank, &text)) {
        // Names the ranks of the group above it.
        if (!found.ranks.empty() && found.ranks.back().place.file == state.file &&
            found.ranks.back().ranks.size() < found.ranks.back().count) {
            found.ranks.back().ranks.push_back(rank);
            found.ranks.back().host = text.substr(0, kMostWord);
        } else {
            put({.ranks = {rank}, .host = text.substr(0, kMostWord)});
        }
    } else if (finds(line, bad, &text, &hash, &word)) {
        RankState made{.state = word};
        if (const auto read = dissect::parse_decimal(text, UINT32_MAX))
            made.ranks.push_back(static_cast<std::uint32_t>(*read));
        if (finds(line, node, &text)) made.host = text.substr(0, kMostWord);
        put(std::move(made));
    }
    return kName;
}

std::string_view take_measurement(std::string_view line, LineState& state, Case& found) {
    constexpr std::string_view kName = "benchmark output";
    static const RE2 program(
        R"(\b(ib_(?:write|read|send)_(?:bw|lat)|iperf3?|netperf|nccl-tests|all_reduce_perf|rping|ucx_perftest|fi_\w+|qperf)\b)");
    static const RE2 iperf(R"(sec +[\d.]+ [KMGT]?Bytes +([\d.]+) ([KMG])bits/sec)");
    static const RE2 perftest(R"(^\s*(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$)");
    static const RE2 plain(R"(^\s*(RDMA|TCP|RoCE|UDP)\b(.*?)\s+([\d.]+) ?(G|M)b(?:it)?/s)");
    static const RE2 units(R"(BW average\[(MB|Gb|MiB)/sec\])");
    static const RE2 fio(R"(^(?:rw|rwmixread|iodepth|bs|ioengine|numjobs|blocksize)=|^\[global\])");
    const auto put = [&](Measurement made) {
        made.place = state.place();
        made.command = state.command;
        add(found, std::move(made));
    };
    std::string a, b, unit;
    const auto scale = [](std::string_view prefix) { return prefix == "G" ? 1e9 : prefix == "M" ? 1e6 : 1e3; };
    if (finds(line, program, &a)) state.subject = a;
    if (finds(line, units, &unit)) {
        state.block = unit == "Gb" ? 2 : 1;
        return state.reader = kName, kName;
    }
    if (finds(line, iperf, &a, &unit)) {
        put({.what = "TCP (iperf)", .rdma = false, .bits_per_second = std::strtod(a.c_str(), nullptr) * scale(unit)});
        return kName;
    }
    std::uint64_t bytes = 0, iterations = 0;
    if (state.reader == kName && finds(line, perftest, &bytes, &iterations, &a, &b, &unit)) {
        const double value = std::strtod(b.c_str(), nullptr);
        put({.what = state.subject.empty() ? "perftest" : state.subject,
             .rdma = true,
             .bits_per_second = state.block == 2 ? value * 1e9 : value * 8e6,
             .bytes = bytes,
             .iterations = iterations});
        return kName;
    }
    std::string kind, rest;
    if (finds(line, plain, &kind, &rest, &a, &unit)) {
        const bool rdma = kind == "RDMA" || kind == "RoCE";
        put({.what = kind + rest, .rdma = rdma, .bits_per_second = std::strtod(a.c_str(), nullptr) * scale(unit)});
        return kName;
    }
    if (finds(line, fio)) return "benchmark settings";
    return {};
}

}  // namespace qps::casework
