// Splits files of a case into lines for the readers, and ties what they found to hosts.
#include <transport-replay/casework/archive_reader.hpp>
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/readers.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <re2/re2.h>

namespace qps::casework {

namespace {

constexpr std::size_t kSniffed = 4096;  // bytes that tell text from binaries

bool is_capture(std::string_view bytes) {
    constexpr std::array<std::string_view, 5> kMagic{
        std::string_view("\xd4\xc3\xb2\xa1", 4), std::string_view("\xa1\xb2\xc3\xd4", 4),
        std::string_view("\x4d\x3c\xb2\xa1", 4), std::string_view("\xa1\xb2\x3c\x4d", 4),
        std::string_view("\x0a\x0d\x0d\x0a", 4)};
    return std::ranges::any_of(kMagic, [&](std::string_view magic) { return bytes.starts_with(magic); });
}

// UTF-16 as Windows' tools write it: its ASCII characters. Nothing for other bytes.
std::optional<std::string> from_utf16(std::string_view bytes) {
    const bool little = bytes.starts_with("\xff\xfe");
    if (!little && !bytes.starts_with("\xfe\xff")) return std::nullopt;
    std::string text;
    for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
        const char low = bytes[little ? i : i + 1];
        const char high = bytes[little ? i + 1 : i];
        text += high == 0 ? low : '?';
    }
    return text;
}

// Without colours, quoting of mails, carriage returns and what launchers put before lines.
std::string cleaned(std::string_view line) {
    static const RE2 escape("\x1b\\[[0-9;?]*[A-Za-z]");
    static const RE2 quoting(R"(^(?:> ?)+)");
    static const RE2 launcher(R"(^\[\d+,\d+\]<std(?:err|out)>: ?)");
    std::string text(line.substr(0, kMostLine));
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.pop_back();
    if (text.contains('\x1b')) RE2::GlobalReplace(&text, escape, "");
    if (text.starts_with('>')) RE2::Replace(&text, quoting, "");
    if (text.starts_with('[')) RE2::Replace(&text, launcher, "");
    return text;
}

std::string_view base_name(std::string_view name) { return name.substr(name.find_last_of('/') + 1); }

// The parts of a name between dots, dashes and underscores of its last part.
Phase phase_of(std::string_view name) {
    static const RE2 before(R"((?i)(?:^|[._/-])(?:before|pre|start|begin|t0|first)(?:[._/-]|$))");
    static const RE2 after(R"((?i)(?:^|[._/-])(?:after|post|stop|end|t1|last|later)(?:[._/-]|$))");
    const re2::StringPiece text(name.data(), name.size());
    const bool is_before = RE2::PartialMatch(text, before);
    const bool is_after = RE2::PartialMatch(text, after);
    return is_before == is_after ? Phase::unknown : is_before ? Phase::before : Phase::after;
}

// The name without what tells before from after: what two dumps have alike.
std::string group_of(std::string_view name) {
    static const RE2 phase(
        R"((?i)(^|[._/-])(?:before|pre|start|begin|t0|first|after|post|stop|end|t1|last|later|[0-9]{1,2})(?:[._/-]|$))");
    static const RE2 numbered(R"((?i)(ethtool|counters?|stats?|dump|perfquery|snapshot|sample)[0-9]{1,2}([._/-]|$))");
    std::string text(name);
    RE2::Replace(&text, numbered, R"(\1\2)");
    while (RE2::Replace(&text, phase, R"(\1)")) {
    }
    return text;
}

// A name for which files are called that belong to nobody.
bool says_no_host(std::string_view word) {
    constexpr std::array<std::string_view, 47> kWords{
        "job",     "bench",  "benchmark", "note",    "notes",     "readme",  "hosts",   "ras",
        "log",     "logs",   "out",       "output",  "error",     "errors",  "stderr",  "stdout",
        "train",   "dmesg",  "kern",      "syslog",  "messages",  "journal", "console", "cmd",
        "command", "env",    "config",    "report",  "ticket",    "nccl",    "ucx",     "counters",
        "perf",    "iperf",  "fio",       "ethtool", "show_gids", "gids",    "rdma",    "ibv_devinfo",
        "mail",    "thread", "run",       "test",    "archive",   "bundle",  "case"};
    if (word.starts_with("rank")) return true;
    return std::ranges::find(kWords, word) != kWords.end();
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

// "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence" with a number in it: a line as grep prints it.
std::string as_grepped(std::string_view name, std::string_view bytes) {
    static const RE2 counter(
        R"((?:^|/)infiniband/[\w.-]+/ports/\d+/(?:counters|hw_counters|gids|gid_attrs/types)/\w+$)");
    constexpr std::size_t kMost = 64;
    if (bytes.size() > kMost || !RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), counter)) return {};
    return "/sys/class/" + std::string(name.substr(name.rfind("infiniband/"))) + ":" + std::string(bytes);
}

// An archive, or a member that is named only: what it is called says nothing of a host.
bool has_no_lines(const CaseFile& file) { return file.archive || (file.lines == 0 && !file.problem.empty()); }

void count(CaseFile& file, std::string_view kind) {
    for (FileKind& each : file.kinds)
        if (each.name == kind) return void(++each.lines);
    file.kinds.push_back({kind, 1});
}

}  // namespace

CaseFile* CaseReader::add(std::string name, bool cut) {
    if (case_.files.size() >= kMostFiles) {
        ++case_.left_out;
        return nullptr;
    }
    case_.quotes.emplace_back();
    case_.hosts_said.emplace_back();
    CaseFile& file = case_.files.emplace_back();
    file.name = std::move(name);
    file.cut = cut;
    return &file;
}

void CaseReader::read(std::string name, std::string_view bytes, bool cut) {
    const auto inner = unpacked(bytes, most_);
    const std::size_t index = case_.files.size();
    if (inner) {
        bytes = inner->bytes;
        cut = cut || inner->cut;
    }
    if (!TarReader::is_tar(bytes)) {
        read_text(std::move(name), bytes, cut);
    } else if (add(name, cut) != nullptr) {
        case_.files[index].archive = true;
        read_members(name, bytes);
    }
    // Where it was cut on purpose, its end is no damage.
    if (index >= case_.files.size()) return;
    if (cut) case_.files[index].problem.clear();
    else if (inner && !inner->problem.empty()) case_.files[index].problem = inner->problem;
}

void CaseReader::read_members(const std::string& archive, std::string_view bytes) {
    const std::size_t index = case_.files.size() - 1;
    TarReader tar(bytes);
    while (auto member = tar.next()) {
        ++case_.files[index].lines;
        const std::string name = archive + "/" + member->name;
        if (member->unread.empty()) read_text(name, member->bytes, member->cut);
        else if (CaseFile* file = add(name, false)) file->problem = member->unread;
    }
    case_.files[index].problem = tar.problem();
}

void CaseReader::read_text(std::string name, std::string_view bytes, bool cut) {
    const auto index = static_cast<std::uint32_t>(case_.files.size());
    if (add(name, cut) == nullptr) return;
    CaseFile& file = case_.files.back();
    if (is_capture(bytes)) return void(file.capture = true);
    std::string changed;
    if (auto text = from_utf16(bytes)) bytes = changed = *std::move(text);
    else if (std::string grepped = as_grepped(name, bytes); !grepped.empty()) bytes = changed = std::move(grepped);
    if (bytes.substr(0, kSniffed).contains('\0')) return void(file.binary = true);
    static const RE2 rdma(
        R"((?i)rdma|infiniband|\bmlx[45]|roce|ibv_|libib|\bib_|nccl|\bucx\b|bnxt_re|irdma|\brxe|\bsiw\b|\bionic|hw_counters|\bgids?\b|\bpfc|queue pair|\bqpn?\b|mpi_rank|o2ib|spdk|verbs|perftest|\bcqe?\b|ethernet\d+|\befa\b|acsctl)");
    LineState state;
    state.file = index;
    state.name = name;
    state.phase = phase_of(name);
    std::vector<std::string>& quotes = case_.quotes.back();
    const std::size_t first_dump = case_.counters.size();
    const std::size_t first_setting = case_.settings.size();
    bool inside_json = false;
    while (!bytes.empty()) {
        std::size_t end = std::min(bytes.find('\n'), bytes.size());
        const bool goes_on = inside_json;
        // JSON of one long line is read in pieces, each of whole objects; they are of one line.
        inside_json = end > kMostLine && (goes_on || bytes.starts_with("[{") || bytes.starts_with("{\""));
        if (inside_json) {
            const std::size_t joint = bytes.substr(0, kMostLine).rfind("},");
            inside_json = joint != std::string_view::npos;
            if (inside_json) end = joint + 1;
        }
        const std::string line = cleaned(bytes.substr(0, end));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (!goes_on) {
            ++state.line;
            ++file.lines;
        }
        constexpr std::size_t kMostQuoted = 64U << 20U;  // bytes of all files; what lies beyond is named, not quoted
        constexpr std::size_t kMostQuote = 300;          // of a line
        if (quoted_ < kMostQuoted && !goes_on) {
            quotes.push_back(line.size() <= kMostQuote ? line : std::string());
            quoted_ += sizeof(std::string) + quotes.back().size();
        }
        if (line.find_first_not_of(" \t") == std::string::npos) continue;
        std::string_view kind;
        for (const Reader& reader : readers()) {
            kind = reader.take(line, state, case_);
            if (!kind.empty()) break;
        }
        if (kind.empty()) ++file.unrecognised;
        else count(file, kind);
        // A note may ask whether RDMA has a part in it; a line of a program shows it.
        if (!kind.empty() && !case_.mentions_rdma) case_.mentions_rdma = RE2::PartialMatch(line, rdma);
    }
    for (std::size_t i = first_dump; i < case_.counters.size(); ++i) {
        case_.counters[i].group = group_of(name);
        if (case_.counters[i].host.empty()) case_.counters[i].host = state.host;
    }
    for (std::size_t i = first_setting; i < case_.settings.size(); ++i)
        if (case_.settings[i].host.empty()) case_.settings[i].host = state.host;
}

Case CaseReader::end() {
    // Hosts that contents name, per file; the one that most lines name is the file's.
    auto& said = case_.hosts_said;
    std::set<std::string> known;
    for (const Event& event : case_.events)
        if (!event.host.empty()) ++said[event.place.file][event.host];
    for (const auto& hosts : said)
        for (const auto& [host, lines] : hosts) known.insert(host);
    for (const auto& [address, host] : case_.addresses) known.insert(host);
    for (const CaseFile& file : case_.files)
        if (const std::string host = has_no_lines(file) ? "" : host_in_name(file.name);
            !host.empty() && !file.name.ends_with(".txt"))
            known.insert(host);
    // Roles that files are named after: "initiator.txt".
    known.insert({"initiator", "target", "client", "server", "sender", "receiver", "switch", "host"});
    for (std::size_t i = 0; i < case_.files.size(); ++i) {
        CaseFile& file = case_.files[i];
        if (has_no_lines(file)) continue;
        if (!said[i].empty()) {
            file.host = std::ranges::max_element(said[i], {}, [](const auto& each) { return each.second; })->first;
            file.host_from = "contents";
            continue;
        }
        // A host that others name may stand anywhere in the name: "dmesg-node-a.txt".
        const std::string_view base = base_name(file.name);
        for (const std::string& host : known) {
            const std::size_t at = base.find(host);
            const auto edge = [&](std::size_t place) {
                return place >= base.size() || std::isalnum(static_cast<unsigned char>(base[place])) == 0;
            };
            if (at != std::string_view::npos && (at == 0 || edge(at - 1)) && edge(at + host.size()) &&
                host.size() > file.host.size())
                file.host = host;
        }
        const bool note = base.ends_with(".txt") || base.ends_with(".json");
        if (file.host.empty() && !note) file.host = host_in_name(file.name);
        if (!file.host.empty()) file.host_from = "file name";
    }
    const auto host_of = [&](std::string& host, const Place& place) {
        if (host.empty()) host = case_.files[place.file].host;
    };
    for (Event& event : case_.events) host_of(event.host, event.place);
    for (CounterDump& dump : case_.counters) host_of(dump.host, dump.place);
    for (Setting& setting : case_.settings) host_of(setting.host, setting.place);
    for (BlockedTask& task : case_.blocked) host_of(task.host, task.place);
    for (Measurement& each : case_.measurements) host_of(each.host, each.place);
    // A line of a rank is of the host where the same file says that the rank runs.
    std::map<std::pair<std::uint32_t, std::string>, std::string> rank_hosts;
    for (const Setting& setting : case_.settings)
        if (setting.subject == "rank")
            rank_hosts.emplace(std::pair(setting.place.file, "rank " + setting.name), setting.host);
    for (Event& event : case_.events)
        if (event.process.starts_with("rank "))
            if (const auto at = rank_hosts.find({event.place.file, event.process}); at != rank_hosts.end())
                event.host = at->second;
    // Peers by address become hosts where the case says whose they are.
    for (Event& event : case_.events) {
        const std::string ip = event.peer.substr(0, event.peer.find_first_of("<:"));
        if (const auto found = case_.addresses.find(ip); found != case_.addresses.end()) event.peer = found->second;
    }
    return std::exchange(case_, {});
}

}  // namespace qps::casework
