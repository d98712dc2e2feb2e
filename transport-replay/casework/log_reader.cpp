// Reads lines of logs: whose they are and when (the prefix), and which event they report (the table of signatures).
#include <dissect/base/parse_value.hpp>
#include <transport-replay/casework/complaint_words.hpp>
#include <transport-replay/casework/completion_status.hpp>
#include <transport-replay/casework/log_signatures.hpp>
#include <transport-replay/casework/log_words.hpp>
#include <transport-replay/casework/readers.hpp>
#include <transport-replay/logs/log_time.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

namespace qps::casework {

namespace {

RE2::Options options() {
    RE2::Options made(RE2::Latin1);  // any byte may stand in a line
    made.set_log_errors(false);
    return made;
}

// The beginnings of lines: who prints so. Groups: host, proc.
struct PrefixRow {
    std::string_view producer;
    std::string_view words;  // the pattern is tried where they stand in the line
    std::string_view pattern;
};
constexpr std::array kPrefixes{
    PrefixRow{"NCCL log", "NCCL ",
              R"((?:^|[\s>:\]])(?P<host>[A-Za-z0-9][\w.-]*):(?P<proc>\d+):\d+ \[\d+\] (?:\S+ ?(?:\(\S*\) )?)?NCCL )"},
    PrefixRow{"UCX log", ".c", R"(\[(?P<host>[A-Za-z0-9][\w.-]*):(?P<proc>\d+) *:\d+(?::\d+)?\] +\S+\.\w+:\d+)"},
    PrefixRow{"error CQE", "mlx5: ", R"(mlx5: (?P<host>[\w.-]+): got completion with error)"},
    PrefixRow{"MPI log", ":mpi_rank_", R"(\[(?P<host>[A-Za-z0-9][\w.-]*):mpi_rank_(?P<proc>\d+)\])"},
    PrefixRow{"switch log", "#", R"(^(?:\d{4} )?\w{3} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? (?P<host>[\w.-]+) [A-Z]+ \w+#)"},
    PrefixRow{"kernel log",
              " kernel: ", R"(^(?:<\d+>)?\w{3} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? (?P<host>[\w.-]+) kernel: )"},
    PrefixRow{"kernel log", " kernel: ", R"(^\d{4}-\d\d-\d\dT\S+ (?P<host>[\w.-]+) kernel: )"},
    PrefixRow{"system log", ": ", R"(^\w{3} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? (?P<host>[\w.-]+) [\w./-]+(?:\[\d+\])?: )"},
    PrefixRow{"system log", ": ", R"(^\d{4}-\d\d-\d\dT\S+ (?P<host>[\w.-]+) [\w./-]+(?:\[\d+\])?: )"},
    PrefixRow{"kernel log", "] ", R"(^(?:(?P<host>[A-Za-z][\w.-]*): )?\[ *\d+\.\d{6}\] ?)"},
    PrefixRow{"kernel log", "] ", R"(^\[\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}\] )"},
    PrefixRow{"PyTorch log", "[rank", R"(\[rank(?P<proc>\d+)\]:)"},
    PrefixRow{"PyTorch log", "ProcessGroupNCCL", R"(ProcessGroupNCCL\.cpp:\d+)"},
    PrefixRow{"libfabric log", "libfabric:", R"(^libfabric:(?:(?P<proc>\d+):)?)"},
    PrefixRow{"DPDK log", "EAL: ", R"(^(?:\[[^\]]*\] )?EAL: )"},
    PrefixRow{"program log", "] ", R"(^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] )"},
    PrefixRow{"SPDK log", "*: ", R"(\*(?:ERROR|NOTICE|WARNING|INFO)\*: )"},
    PrefixRow{"MPI log", "],", R"(\[\[\d+,\d+\],(?P<proc>\d+)\])"},
    PrefixRow{"NCCL log", "NCCL ", R"(NCCL (?:INFO|WARN|TRACE) )"},
    PrefixRow{
        "kernel log", ":",
        R"(^(?:mlx[45]_core|mlx5_ib|infiniband|bnxt_(?:en|re)|irdma|ice|nvmet?|nvmet_rdma|ib_\w+|rdma_rxe|nvme)[ :].*)"},
};

// A pattern and where its groups are.
struct Compiled {
    std::unique_ptr<RE2> pattern;
    std::vector<std::string> names;  // of each group; empty: unnamed
    explicit Compiled(std::string_view text)
        : pattern(std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), options())) {
        names.resize(static_cast<std::size_t>(std::max(pattern->NumberOfCapturingGroups(), 0)));
        for (const auto& [index, name] : pattern->CapturingGroupNames())
            names[static_cast<std::size_t>(index) - 1] = name;
    }
};

struct Captured {
    std::string_view name;
    std::string_view value;
};

// What the groups hold; nothing where the pattern does not fit.
std::optional<std::vector<Captured>> groups_of(const Compiled& compiled, std::string_view line) {
    std::array<re2::StringPiece, 16> found;
    const std::size_t count = std::min(compiled.names.size() + 1, found.size());
    if (!compiled.pattern->ok() || !compiled.pattern->Match(re2::StringPiece(line.data(), line.size()), 0, line.size(),
                                                            RE2::UNANCHORED, found.data(), static_cast<int>(count)))
        return std::nullopt;
    std::vector<Captured> groups;
    for (std::size_t i = 1; i < count; ++i)
        if (found[i].data() != nullptr && !compiled.names[i - 1].empty())
            groups.push_back({compiled.names[i - 1], {found[i].data(), found[i].size()}});
    return groups;
}

// The patterns of all tables.
struct SignatureTable {
    std::vector<Compiled> patterns;
    std::vector<Compiled> prefixes;

    SignatureTable() {
        for (const Signature& row : signatures()) patterns.emplace_back(row.pattern);
        for (const PrefixRow& row : kPrefixes) prefixes.emplace_back(row.pattern);
    }
};

const SignatureTable& signature_table() {
    static const SignatureTable made;
    return made;
}

std::uint64_t number(std::string_view text, int base = 10) {
    std::uint64_t value = 0;
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

std::string kept(std::string_view text) { return std::string(text.substr(0, kMostWord)); }

// A vendor's own number; one that a status of verbs stands for is a completion.
void take_code(Event& event, std::string_view whose, std::string_view number, const VendorCode* row) {
    event.code = fmt::format("{} {}", whose, number);
    if (row == nullptr) return;
    event.code += fmt::format(" ({})", row->words);
    if (row->status == 0) return;
    event.status = row->status;
    event.kind = EventKind::completion_error;
}

constexpr std::string_view kMapped = "::ffff:";  // a GID that is an IPv4 address

void fill(Event& event, const Captured& group) {
    const auto& [name, value] = group;
    const auto narrow = [&](int base = 10) { return static_cast<std::uint32_t>(number(value, base)); };
    if (name == "host") event.host = kept(value.substr(0, value.find('.')));
    else if (name == "dev") event.device = kept(value);
    else if (name == "port") event.port = narrow();
    else if (name == "q") event.qpn = dissect::Qpn{narrow()};
    else if (name == "qx") event.qpn = dissect::Qpn{narrow(16)};
    else if (name == "rq") event.peer_qpn = dissect::Qpn{narrow()};
    else if (name == "rqx") event.peer_qpn = dissect::Qpn{narrow(16)};
    else if (name == "peer") event.peer = kept(value.starts_with(kMapped) ? value.substr(kMapped.size()) : value);
    else if (name == "rank") event.process = fmt::format("rank {}", value.substr(0, 9));
    else if (name == "proc") event.process = kept(value);
    else if (name == "st" || name == "stb") event.status = narrow();
    else if (name == "vd") event.vendor = narrow();
    else if (name == "vx") event.vendor = narrow(16);
    else if (name == "sx") event.status = status_of_syndrome(narrow(16));
    else if (name == "efa") take_code(event, "EFA status", fmt::format("{}", narrow()), efa_status(narrow()));
    else if (name == "ae") take_code(event, "irdma event", fmt::format("{:#x}", narrow(16)), irdma_event(narrow(16)));
    else if (name == "op") event.operation = kept(value);
    else if (name == "text" || name == "text2") event.text = kept(value);
    else if (name == "n") event.number = number(value);
}

// Who prints the line, of which host, when.
struct Prefix {
    std::string_view producer;
    std::string host;
    std::string process;
};
Prefix prefix_of(std::string_view line) {
    constexpr std::size_t kLooked = 400;  // a prefix stands at the beginning
    Prefix prefix;
    for (std::size_t i = 0; i < kPrefixes.size(); ++i) {
        if (!line.substr(0, kLooked).contains(kPrefixes[i].words)) continue;
        const auto groups = groups_of(signature_table().prefixes[i], line.substr(0, kLooked));
        if (!groups) continue;
        prefix.producer = kPrefixes[i].producer;
        for (const Captured& group : *groups) {
            if (group.name == "host") prefix.host = kept(group.value.substr(0, group.value.find('.')));
            if (group.name == "proc") prefix.process = kept(group.value);
        }
        break;
    }
    return prefix;
}

void set_time(Event& event, std::string_view line) {
    const auto read = transport::read_log_time(line, dissect::Instant{0});
    if (!read) return;
    event.clock = read->clock == transport::LogClock::boot    ? ClockKind::boot
                  : read->clock == transport::LogClock::local ? ClockKind::local
                                                              : ClockKind::utc;
    event.time_ns = static_cast<std::int64_t>(read->time);
}

// The queue pair that a line of any program names beside a completion.
void name_queue_pair(Event& event, std::string_view line) {
    static const RE2 named(R"((?:\b|_)(?:QP|qp|QPN|qpn|qp_num)(?: number| num|[# ]?icid)?[ =:#]+(0x[0-9a-fA-F]+|\d+))");
    re2::StringPiece value;
    if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), named, &value))
        event.qpn = dissect::Qpn{static_cast<std::uint32_t>(number({value.data(), value.size()}))};
}

// Of a completion that has words alone, the status; false where none is meant, or it succeeded.
bool settle_status(Event& event, const Signature& row) {
    if (row.status != 0) event.status = row.status;
    const bool event_of_kernel = row.producer == "kernel log" && row.words == " QP ";
    if (event_of_kernel) {
        event.status = status_of_kernel_event(event.text);
        event.responder = true;  // an event of the queue pair, not a completion: its responder refused
    }
    if (!event.status) event.status = status_of_words(event.text);
    return event.status.value_or(1) != 0;
}

// A line of a program's text that somebody pasted names statuses, too.
bool is_source(std::string_view line) {
    static const RE2 code(R"(^\s*(?:case\b|if\s*\(|else\b|return\b|#define|//|/?\*|\})|printf\s*\(|[=!]=|[;{]\s*$)");
    return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), code);
}

// Exceptions by which libraries pass on what failed elsewhere.
bool of_collectives(std::string_view text) {
    constexpr std::array<std::string_view, 23> kPassedOn{
        "CalledProcess", "ProcessExited", "ProcessRaised", "Actor",      "WorkerCrashed", "route",
        "Retry",         "NCCL",          "Dist",          "c10d",       "imeout",        "imed out",
        "onnect",        "Gloo",          "gloo",          "ncclR",      "MPI",           "rendezv",
        "Rendezv",       "ChildFailed",   "Broken",        "collective", "CUDA"};
    return std::ranges::any_of(kPassedOn, [&](std::string_view word) { return text.contains(word); });
}

// "set by environment to", "GID 0 (...)", "via NET/IB/0/GDRDMA": what logs say of settings. Groups: name, value, dev.
struct NoteRow {
    std::string_view words;
    std::string_view pattern;
    std::string_view subject;
    std::string_view name;
    std::string_view value = {};
};
constexpr std::array kNotes{
    NoteRow{"set by environment to", R"((?P<name>\w+) set by environment to (?P<value>\S+?)\.?$)", "environment", ""},
    NoteRow{"NCCL_IB_HCA set to", R"((?P<name>NCCL_IB_HCA) set to (?P<value>\S+))", "environment", ""},
    NoteRow{"qpn ", R"(Dev \d+ .*[Pp]ort \d+ qpn \d+ mtu \d+ .*GID (?P<value>\d+) \()", "GID in use", "index"},
    NoteRow{"Using ", R"(Using (?:network IB|\[\d+\])(?P<dev>[\w.-]+):\d+/(?P<value>RoCE))", "port", "link layer"},
    NoteRow{"Using ", R"(Using (?:network IB|\[\d+\])(?P<dev>[\w.-]+):\d+/(?P<value>IB)\b)", "port", "link layer"},
    NoteRow{"etwork Socket", "Using (?:non-device net plugin version \\d+|network) ?(?P<value>Socket)", "NCCL",
            "network"},
    NoteRow{"NET/Socket", R"(via (?P<value>NET/Socket))", "NCCL", "network", "Socket"},
    NoteRow{"Using ", R"(NET/(?P<value>Socket) ?: Using)", "NCCL", "network", "Socket"},
    NoteRow{"GDRDMA", R"(via NET/\w+/\d+(?:\(\d+\))?/(?P<value>GDRDMA))", "NCCL", "GPU Direct RDMA", "on"},
    NoteRow{"NCCL version", R"((?P<value>[NR]CCL version ?:? ?\S+))", "NCCL", "version"},
    NoteRow{"Init COMPLETE", R"(rank (?P<name>\d+) nranks (?P<value>\d+) .*Init COMPLETE)", "rank", ""},
    NoteRow{"GID_Index ", R"(GID_Index (?P<value>\d+)\))", "GID in use", "index"},
    NoteRow{"rd_atomic", R"((?P<name>max_(?:dest_)?rd_atomic)\s*[=:]\s*(?P<value>\d+))", "asked", ""},
    NoteRow{"max_send_", R"((?P<name>max_send_(?:wr|sge))\s*[=:]\s*(?P<value>\d+))", "asked", ""},
    NoteRow{"max_recv_", R"((?P<name>max_recv_(?:wr|sge))\s*[=:]\s*(?P<value>\d+))", "asked", ""},
    NoteRow{"localGid", R"(localGid (?P<value>\S+) remoteGid)", "GID in use", "address"},
    NoteRow{"Bootstrap", R"(Bootstrap ?: Using (?:\[\d+\])?(?P<name>[\w.-]+):(?P<value>[0-9a-fA-F.:]+)[%<])",
            "bootstrap", ""},
    NoteRow{"Init START", R"(rank (?P<name>\d+) nranks (?P<value>\d+) .*Init START)", "rank", ""},
};

// Beside the words of signatures and notes.
constexpr std::array<std::string_view, 4> kOtherWords{"NCCL INFO ", "\n", "\x1b", "OOB"};
constexpr std::size_t kNcclWord = 0, kNewline = 1;

// Which signatures and notes have their words in a line, each once and in the order of their tables.
struct WordsMet {
    std::vector<std::size_t> signatures;
    std::vector<std::size_t> notes;
};
WordsMet words_met(std::string_view line) {
    const std::size_t rows = signatures().size();
    WordsMet met;
    log_words().find(line, [&](WordFinder::Id id, std::size_t) {
        if (id < rows) met.signatures.push_back(id);
        else if (id < rows + kNotes.size()) met.notes.push_back(id - rows);
    });
    for (auto* list : {&met.signatures, &met.notes}) {
        std::ranges::sort(*list);
        list->erase(std::ranges::unique(*list).begin(), list->end());
    }
    return met;
}

const std::vector<Compiled>& note_patterns() {
    static const std::vector<Compiled> made = [] {
        std::vector<Compiled> all;
        for (const NoteRow& row : kNotes) all.emplace_back(row.pattern);
        return all;
    }();
    return made;
}

void take_notes(std::string_view line, const Prefix& prefix, const WordsMet& met, LineState& state, Case& found) {
    static const RE2 address(R"((?:Bootstrap|OOB).*?:(\d+\.\d+\.\d+\.\d+)<)");
    std::string ip;
    if (!prefix.host.empty() && line.contains('<') &&
        RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), address, &ip))
        add_address(found, ip, prefix.host);  // of the bootstrap, which peers are named by
    for (const std::size_t i : met.notes) {
        const NoteRow& row = kNotes[i];
        const auto groups = groups_of(note_patterns()[i], line);
        if (!groups) continue;
        Setting setting{.host = prefix.host,
                        .device = {},
                        .subject = std::string(row.subject),
                        .name = std::string(row.name),
                        .value = std::string(row.value),
                        .place = state.place()};
        for (const Captured& group : *groups) {
            if (group.name == "name") setting.name = kept(group.value);
            if (group.name == "value" && row.value.empty()) setting.value = kept(group.value);
            if (group.name == "dev") setting.device = kept(group.value);
        }
        // Said for each channel of each rank: once for a host is enough.
        constexpr std::size_t kMostNoted = 4096;
        if (state.noted.size() < kMostNoted &&
            state.noted.insert(setting.host + ' ' + setting.name + ' ' + setting.value).second)
            add(found, std::move(setting));
    }
}

// How producers mark what they complain of; of the kernel only lines of RDMA, storage and network drivers.
struct ComplaintRow {
    std::string_view producer;
    std::string_view pattern;  // what stands behind it is the complaint
};
constexpr std::array kComplaints{
    ComplaintRow{"NCCL log", R"(NCCL WARN +(\S.*))"},
    ComplaintRow{"UCX log", R"(\bUCX +(?:ERROR|FATAL) +(\S.*))"},
    ComplaintRow{"UCX log", R"(\.c:\d+ +(Fatal: .*))"},
    ComplaintRow{"DPDK log", R"((EAL: (?i:.*\b(?:fatal|error|cannot|failed|no available)\b.*)))"},
    ComplaintRow{"SPDK log", R"(\*ERROR\*: (\S.*))"},
    ComplaintRow{"libfabric log", R"(<(?:warn|critical)> (\S.*))"},
    ComplaintRow{"program log", R"(^[EF]\d{4} .*?\] (\S.*))"},
    ComplaintRow{"MPI log", R"(((?i:.*\b(?:error|failed|fatal)\b.*)))"},
    ComplaintRow{"switch log", R"(\b(?:ERR|CRIT|ALERT|EMERG) (\S.*))"},
    ComplaintRow{
        "kernel log",
        R"((\b(?:mlx[45]\w*|bnxt_\w+|irdma|ice|i40e|ionic\w*|efa\w*|rdmap\w*|hfi1|qed[er]?\w*|hns\w*|cxgb4|siw|rxe\w*|rdma_rxe|infiniband|ib_?\w*|iser\w*|isert|rpcrdma|svcrdma|xprtrdma|rds|RDS/IB|LNet\w*|ko2iblnd|smbd?\w*|CIFS|ksmbd|nvmet?(?:_rdma)?|mana\w*|hv_netvsc|vfio-pci|nvidia-peermem|nv_peer_mem|nvidia-fs|nvidia_fs|beegfs|scsi host\d+|lustre|NFS|RPC|bond\d+)\b.*(?i:error|fail|tim(?:ed|e) ?out|lost|fault|reject|refus|overflow|unable|cannot|can't|could ?n[o']t|offline|removed|dead|abort|exceed|stall|not respond|unregister|disabling|compromised|temperature).*))"},
};

// A complaint that no signature reads, once for each form: said by judge_unexplained. Whether it is new.
bool keep_form(std::string_view text, const Prefix& prefix, std::string_view line, LineState& state, Case& found) {
    constexpr std::size_t kMostText = 200;   // of a complaint
    constexpr std::size_t kMostForms = 512;  // of a file
    if (state.complaints.size() >= kMostForms) return false;
    const ComplaintParts parts = parts_of(text);
    text = parts.text.substr(0, kMostText);
    std::string form = prefix.host + ' ';
    for (const char c : text)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) form += c;
    if (!state.complaints.insert(std::move(form)).second) return false;
    Event event;
    event.kind = EventKind::unexplained;
    event.place = state.place();
    event.host = prefix.host;
    event.operation = std::string(prefix.producer.empty() ? "program" : prefix.producer);
    event.process = parts.program;
    event.text = std::string(text);
    set_time(event, line);
    add(found, std::move(event));
    return true;
}

void keep_complaint(std::string_view line, const Prefix& prefix, LineState& state, Case& found) {
    static const std::vector<Compiled> patterns = [] {
        std::vector<Compiled> all;
        for (const ComplaintRow& row : kComplaints) all.emplace_back(row.pattern);
        return all;
    }();
    constexpr std::size_t kLooked = 2'000;  // bytes of a line
    const std::string_view begin = line.substr(0, kLooked);
    for (std::size_t i = 0; i < kComplaints.size(); ++i) {
        if (kComplaints[i].producer != prefix.producer) continue;
        re2::StringPiece said;
        if (!RE2::PartialMatch(re2::StringPiece(begin.data(), begin.size()), *patterns[i].pattern, &said)) continue;
        keep_form({said.data(), said.size()}, prefix, line, state, found);
        return;
    }
    const bool known =
        std::ranges::any_of(kComplaints, [&](const auto& row) { return row.producer == prefix.producer; });
    if (!known && is_complaint(begin)) keep_form(begin, prefix, line, state, found);
}

// A line that no reader took, of a program that nobody knows.
bool keep_strange_complaint(std::string_view line, LineState& state, Case& found) {
    // Near the beginning of a file, as in an excerpt that somebody chose, any complaint may matter.
    constexpr std::uint32_t kBegins = 100;  // lines
    if (!is_complaint(line, state.line <= kBegins) || is_source(line)) return false;
    return keep_form(line, {}, line, state, found);
}

// The queue pair of a completion that a line of its own names: joined to the last one of the process.
void join_work_request(Event request, Case& found) {
    constexpr std::size_t kLooked = 64;
    for (std::size_t back = 0; back < std::min(found.events.size(), kLooked); ++back) {
        Event& event = found.events[found.events.size() - 1 - back];
        if (event.place.file != request.place.file) break;
        if (event.kind != EventKind::completion_error || event.qpn || event.host != request.host ||
            event.process != request.process)
            continue;
        event.qpn = request.qpn;
        event.peer_qpn = request.peer_qpn;
        if (event.operation.empty()) event.operation = request.operation;
        if (event.peer.empty()) event.peer = request.peer;
        return;
    }
    add(found, std::move(request));
}

}  // namespace

const WordFinder& log_words() {
    static const WordFinder made = [] {
        std::vector<std::string_view> words;
        for (const Signature& row : signatures()) words.push_back(row.words);
        for (const NoteRow& row : kNotes) words.push_back(row.words);
        words.insert(words.end(), kOtherWords.begin(), kOtherWords.end());
        return WordFinder(words);
    }();
    return made;
}

WordUse use_of(WordFinder::Id word) {
    const std::size_t notes = signatures().size();
    const std::size_t others = notes + kNotes.size();
    WordUse use;
    if (word == others + kNewline) use.kind = WordUse::Kind::newline;
    if (word == others + kNcclWord) use = {WordUse::Kind::nccl, 0, kOtherWords[kNcclWord].size()};
    static_assert(kNotes.size() <= 32);
    if (word >= notes && word < others && !kNotes[word - notes].value.empty())
        use = {WordUse::Kind::same_note, static_cast<std::uint32_t>(word - notes), 0};
    return use;
}

std::string_view take_complaint(std::string_view line, LineState& state, Case& found) {
    return keep_strange_complaint(line, state, found) ? "program output" : std::string_view{};
}

std::string_view take_log_line(std::string_view line, LineState& state, Case& found) {
    const Prefix prefix = prefix_of(line);
    say_host(found, state, prefix.host);
    const WordsMet met = words_met(line);
    for (const std::size_t index : met.signatures) {
        const Signature& row = signatures()[index];
        const auto groups = groups_of(signature_table().patterns[index], line);
        if (!groups) continue;
        Event event;
        event.kind = row.kind;
        event.place = state.place();
        event.host = prefix.host;
        event.process = prefix.process;
        event.text = std::string(row.text);
        event.notice = row.notice;
        for (const Captured& group : *groups) fill(event, group);
        event.kernel = prefix.producer == "kernel log" || row.producer == "kernel log";
        const bool of_any = event.kind == EventKind::completion_error && row.producer.empty();
        if (event.kind == EventKind::completion_error && prefix.producer.empty() && is_source(line)) continue;
        if (event.kind == EventKind::completion_error && !settle_status(event, row)) continue;
        if (event.kind == EventKind::exception && of_collectives(event.text)) continue;
        set_time(event, line);
        if (of_any && !event.qpn) name_queue_pair(event, line);
        const std::string_view kind = !row.producer.empty()      ? row.producer
                                      : !prefix.producer.empty() ? prefix.producer
                                                                 : "log";
        // NCCL 2.29 and later names the queue pair in the line before.
        if (event.kind == EventKind::completion_error && !event.qpn && !found.events.empty()) {
            Event& last = found.events.back();
            if (last.kind == EventKind::work_request && last.place.file == event.place.file &&
                last.host == event.host && last.process == event.process) {
                event.qpn = last.qpn;
                found.events.pop_back();
            }
        }
        if (event.kind == EventKind::work_request) join_work_request(std::move(event), found);
        else add(found, std::move(event));
        take_notes(line, prefix, met, state, found);
        return kind;
    }
    if (prefix.producer.empty() || prefix.producer == "error CQE") return {};
    take_notes(line, prefix, met, state, found);
    keep_complaint(line, prefix, state, found);
    return prefix.producer;
}

}  // namespace qps::casework
