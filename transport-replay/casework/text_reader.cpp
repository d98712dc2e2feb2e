// Cleans lines, gives each to the first reader that takes it, and keeps those that evidence may quote.
#include <transport-replay/casework/case_reader.hpp>
#include <transport-replay/casework/file_names.hpp>
#include <transport-replay/casework/journal_line.hpp>
#include <transport-replay/casework/line_pattern.hpp>
#include <transport-replay/casework/line_scan.hpp>
#include <transport-replay/casework/readers.hpp>
#include <transport-replay/casework/text_reader.hpp>

#include <algorithm>

namespace qps::casework {

namespace {

constexpr std::string_view kPlainKind = "NCCL log";  // of lines that line_scan.hpp counts

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

void count(CaseFile& file, std::string_view kind, std::uint64_t lines = 1) {
    for (FileKind& each : file.kinds)
        if (each.name == kind) return void(each.lines += lines);
    file.kinds.push_back({kind, lines});
}

// Where the next piece of one long line of JSON ends, of whole objects; the line where it is none.
std::size_t end_of_piece(std::string_view line, bool first) {
    if (line.size() <= kMostLine || (first && !line.starts_with("[{") && !line.starts_with("{\""))) return line.size();
    const std::size_t joint = line.substr(0, kMostLine).rfind("},");
    return joint == std::string_view::npos ? line.size() : joint + 1;
}

class LinesOfFile {
public:
    LinesOfFile(Case& found, std::uint32_t file) : found_(found), file_(found.files[file]) {
        state_.file = file;
        state_.name = file_.name;
        state_.phase = phase_of(file_.name);
    }

    void take(const ScannedBlock& block) {
        for (const ScannedLine& line : block.lines) {
            state_.line = lines_ + line.number + 1;
            if (line.behind_plain) state_.rows.clear();  // they end a block of rows, as other lines do
            take_line(line.text);
        }
        lines_ += block.count;
        file_.lines += block.count;
        if (block.plain == 0) return;
        count(file_, kPlainKind, block.plain);
        found_.mentions_rdma = true;
        for (const auto& [host, lines] : block.hosts) say_host(found_, state_, host, lines);
    }

    [[nodiscard]] const std::string& host() const { return state_.host; }

private:
    void take_line(std::string_view line) {
        for (bool first = true; first || !line.empty(); first = false) {
            const std::size_t end = end_of_piece(line, first);
            std::string piece = cleaned(line.substr(0, end));
            if (auto journal = journal_line(piece)) piece = *std::move(journal);
            const bool whole = first && end == line.size();
            line.remove_prefix(std::min(end + 1, line.size()));
            if (piece.find_first_not_of(" \t") == std::string::npos) continue;
            const std::size_t before = values();
            const auto [kind, of_log] = read_piece(piece);
            if (kind.empty()) ++file_.unrecognised;
            else count(file_, kind);
            if (whole && (values() != before || (!kind.empty() && !of_log))) keep(piece);
        }
    }

    struct Taken {
        std::string_view kind;
        bool of_log = false;
    };
    Taken read_piece(const std::string& line) {
        static const RE2 rdma(
            R"((?i)rdma|infiniband|\bmlx[45]|roce|ibv_|libib|\bib_|nccl|\bucx\b|bnxt_re|irdma|\brxe|\bsiw\b|\bionic|hw_counters|\bgids?\b|\bpfc|queue pair|\bqpn?\b|mpi_rank|o2ib|spdk|verbs|perftest|\bcqe?\b|ethernet\d+|\befa\b|acsctl)");
        Taken taken;
        for (const Reader& reader : readers()) {
            taken.kind = reader.take(line, state_, found_);
            if (taken.kind.empty()) continue;
            taken.of_log = reader.take == take_log_line;
            break;
        }
        // A note may ask whether RDMA has a part in it; a line of a program shows it.
        // Modules that are loaded are on every such machine.
        if (!taken.kind.empty() && !found_.mentions_rdma && !line.contains("Modules linked in:"))
            found_.mentions_rdma = finds(line, rdma);
        return taken;
    }

    // What has events or settings of its own; more, once events were joined, shows as none.
    [[nodiscard]] std::size_t values() const {
        return found_.events.size() + found_.settings.size() + found_.ranks.size() + found_.blocked.size() +
               found_.measurements.size();
    }

    void keep(const std::string& line) {
        constexpr std::size_t kMostQuote = 1024;  // of a line
        constexpr std::size_t kOverhead = sizeof(Quotes::value_type);
        if (line.size() > kMostQuote ||
            found_.quoted + line.size() + kOverhead > found_.memory.bytes(CaseShare::quotes))
            return;
        Quotes& quotes = found_.quotes[state_.file];
        if (!quotes.empty() && quotes.back().first == state_.line) return;
        quotes.emplace_back(state_.line, line);
        found_.quoted += line.size() + kOverhead;
    }

    Case& found_;
    CaseFile& file_;
    LineState state_;
    std::uint32_t lines_ = 0;  // of the blocks before
};

}  // namespace

void read_lines(Case& found, std::uint32_t file, std::string_view bytes) {
    const std::size_t first_dump = found.counters.size();
    const std::size_t first_setting = found.settings.size();
    LinesOfFile lines(found, file);
    scan_lines(bytes, [&](const ScannedBlock& block) { lines.take(block); });
    for (std::size_t i = first_dump; i < found.counters.size(); ++i) {
        found.counters[i].group = group_of(found.files[file].name);
        if (found.counters[i].host.empty()) found.counters[i].host = lines.host();
    }
    for (std::size_t i = first_setting; i < found.settings.size(); ++i)
        if (found.settings[i].host.empty()) found.settings[i].host = lines.host();
}

}  // namespace qps::casework
