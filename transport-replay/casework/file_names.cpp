// Reads names of files: hosts, before and after.
#include <transport-replay/casework/file_names.hpp>
#include <transport-replay/casework/line_pattern.hpp>

#include <algorithm>
#include <array>

namespace qps::casework {

namespace {

// A name for which files are called that belong to nobody.
bool says_no_host(std::string_view word) {
    constexpr std::array<std::string_view, 67> kWords{
        "old",      "new",     "good",    "bad",    "ok",       "working",   "broken", "failing",   "fast",
        "slow",     "details", "symptom", "fabric", "settings", "job",       "bench",  "benchmark", "note",
        "notes",    "readme",  "hosts",   "ras",    "log",      "logs",      "out",    "output",    "error",
        "errors",   "stderr",  "stdout",  "train",  "dmesg",    "kern",      "syslog", "messages",  "journal",
        "console",  "cmd",     "command", "env",    "config",   "report",    "ticket", "nccl",      "ucx",
        "counters", "perf",    "iperf",   "fio",    "ethtool",  "show_gids", "gids",   "rdma",      "ibv_devinfo",
        "mail",     "thread",  "run",     "test",   "archive",  "bundle",    "case",   "capture",   "trace",
        "tap",      "packets", "dump",    "tcpdump"};
    if (word.starts_with("rank")) return true;
    return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

std::string_view base_name(std::string_view name) { return name.substr(name.find_last_of('/') + 1); }

// The parts of a name between dots, dashes and underscores of its last part.
Phase phase_of(std::string_view name) {
    static const RE2 before(R"((?i)(?:^|[._/-])(?:before|pre|start|begin|t0|first)(?:[._/-]|$))");
    static const RE2 after(R"((?i)(?:^|[._/-])(?:after|post|stop|end|t1|last|later)(?:[._/-]|$))");
    const bool is_before = finds(name, before);
    const bool is_after = finds(name, after);
    return is_before == is_after ? Phase::unknown : is_before ? Phase::before : Phase::after;
}

// The name without what tells before from after: what two dumps have alike.
std::string group_of(std::string_view name) {
    static const RE2 phase(
        R"((?i)(^|[._/-])(?:before|pre|start|begin|t0|first|after|post|stop|end|t1|last|later|[0-9]{1,2})(?:[._/-]|$))");
    static const RE2 numbered(R"((?i)(ethtool|counters?|stats?|dump|perfquery|snapshot|sample)[0-9]{1,2}([._/-]|$))");
    static const RE2 stamp(R"(-\d{8}-\d{4,6}(\.(?:tar|tgz|tzst)))");  // of archives of one host
    std::string text(name);
    RE2::Replace(&text, stamp, R"(\1)");
    RE2::Replace(&text, numbered, R"(\1\2)");
    while (RE2::Replace(&text, phase, R"(\1)")) {
    }
    return text;
}

// "node-a.dmesg" -> "node-a"; "hosts/node-a/dmesg" -> "node-a"; "note.txt" -> "".
std::string host_in_name(std::string_view name) {
    const std::string_view base = base_name(name);
    const std::size_t dot = base.find('.');
    const std::string_view first = base.substr(0, dot);
    if (dot != std::string_view::npos && !first.empty() && !says_no_host(first)) return std::string(first);
    if (base.size() == name.size()) return {};
    const std::string_view folder = name.substr(0, name.size() - base.size() - 1);
    static const RE2 archive(R"((?:-\d{8}(?:-\d{4,6})?)?\.(?:tar|tgz|tzst)(?:\.\w+)?$)");
    std::string last(base_name(folder));
    if (RE2::Replace(&last, archive, "") && last.starts_with("qpscope-")) last.erase(0, 8);
    return says_no_host(last) || phase_of(last) != Phase::unknown ? std::string() : last;
}

}  // namespace qps::casework
