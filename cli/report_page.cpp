// `report`: a capture as one HTML file to hand on. It is analysed, and read once more for the pictures and the
// packets that prove findings; of what cannot be read twice the page has all but these.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/file_digest.hpp>
#include <cli/held_inputs.hpp>
#include <cli/message.hpp>
#include <cli/options/command_line.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/pdf_printer.hpp>
#include <cli/report.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/gather.hpp>
#include <transport-replay/page/page.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include <packaging/version/version.hpp>
#include <sys/stat.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct ReportOptions {
    ListingOptions listing;
    std::string pdf;                        // path of the page on paper
    std::vector<std::string> command_line;  // of the page

    void add(OptionTable& table) {
        command_line = table.command_line();
        listing.begin(table);
        listing.reading.analysis.add_knowledge(table);
        listing.known(table);
        table.under(headings::kOutput)
            .add("--pdf", "FILE", pdf, "Print the report to FILE as PDF (needs Chromium); with -o, write both")
            .is(PathUse::written);
        listing.end(table);
    }
};

// Without its folder: a report is handed on, and where its captures lie is of no use to others.
std::string bare(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// The command line with bare names for files.
std::string bare_command(const ReportOptions& options) {
    std::vector<std::string> words = options.command_line;
    const std::vector<std::string>& files = options.listing.reading.input.files;
    for (std::string& word : words) {
        const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 0;  // --output=FILE; 0: the word is all
        const std::string path = word.substr(value);
        const bool is_file =
            path == options.listing.output.path || path == options.pdf || std::ranges::find(files, path) != files.end();
        if (is_file || path.starts_with('/') || path.starts_with("./") || path.starts_with("../"))
            word = word.substr(0, value) + bare(path);
    }
    return command_text(words);
}

// Only regular files have a size. Inputs are held open under a sandbox; without one the name is asked for.
std::optional<std::uint64_t> size_of(const InputOptions& options, const std::string& name) {
    struct stat status{};
    const auto held = HeldInputs::of(options).file(name);
    const bool confined = options.confinement.holds();
    if (held ? fstat(held->descriptor, &status) != 0 : confined || stat(name.c_str(), &status) != 0)
        return std::nullopt;
    return S_ISREG(status.st_mode) ? std::optional(static_cast<std::uint64_t>(status.st_size)) : std::nullopt;
}

// The inputs as a page names them, digested in turn beside whatever reads them.
std::future<std::vector<page::InputFile>> described_inputs(const InputOptions& options) {
    std::vector<page::InputFile> files;
    for (const std::string& name : input_names(options)) files.push_back({bare(name), size_of(options, name), {}});
    return std::async(std::launch::async, [&options, files = std::move(files)]() mutable {
        for (std::size_t i = 0; i < std::min({files.size(), options.files.size(), page::kMostFiles}); ++i)
            files[i].sha256 = sha256_of(options, options.files[i]).get();
        return files;
    });
}

dissect::Instant now() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count()};
}

// The second reading.
class Picturing {
public:
    explicit Picturing(page::Collector& collector) : collector_(collector) {}

    [[nodiscard]] Listening listening() {
        Listening listening;
        listening.slots = [this](std::size_t slots) { evidence_.resize(slots); };
        listening.begin = [this](std::size_t slot) { evidence_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) {
            if (collector_.wants_text(packet.frame.index))
                evidence_[slot].emplace_back(packet.frame.index, page::words_of(packet));
        };
        listening.placed = [this](std::size_t slot, std::size_t, const Observation& observation,
                                  const PacketRecord& record) {
            collector_.take(observation.frame, PacketRow(0, 0, observation, record));
            if (!collector_.wants_text(observation.frame)) return;
            for (auto& [frame, evidence] : evidence_[slot])
                if (frame == observation.frame) collector_.take_text(frame, std::move(evidence));
        };
        listening.message = [this](ConnectionId connection, End, const Message& message) {
            collector_.take(connection, message);
        };
        return listening;
    }

private:
    page::Collector& collector_;
    std::vector<std::vector<std::pair<FrameIndex, page::EvidencePacket>>>
        evidence_;  // of each batch, what it has of it
};

ExitCode refuse_pdf(const PdfProblem& problem) {
    say("qpscope: {}\n", problem.sentence);
    return problem.code;
}

ExitCode run_report(const ReportOptions& options) {
    const ReadingOptions& reading = options.listing.reading;
    std::string path = options.listing.output.path;
    const auto filter = compile_filter(reading.filter);
    if (!filter) return ExitCode::usage;
    std::optional<PdfPrinter> printer;
    if (!options.pdf.empty()) {
        auto begun = PdfPrinter::begin(options.pdf, reading.input.files);
        if (!begun) return refuse_pdf(begun.error());
        printer = std::move(*begun);
        if (path.empty()) path = "/dev/null";  // the page is wanted on paper alone
    }
    Output output(path, reading.input.files);
    if (!output.ok()) return finish(output);
    auto inputs = described_inputs(reading.input);
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (!analyzed.any) return analyzed.code;
    page::Collector collector(analyzed.timeline, reading.analysis.connections);
    if (can_be_read_twice(reading.input)) {
        Picturing picturing(collector);
        static_cast<void>(analyze_again(reading, *filter, output, picturing.listening(), analyzed));
    }
    page::write_page(collector, {inputs.get(), version_text(), bare_command(options), now()},
                     [&](std::string_view piece) {
                         output.write(piece);
                         if (printer) printer->write(piece);
                     });
    const ExitCode code =
        worse(say_nothing_seen(reading, analyzed.timeline), finish(reading.analysis, analyzed, output));
    if (!printer) return code;
    const auto printed = printer->finish();
    return printed ? code : worse(code, refuse_pdf(printed.error()));
}

}  // namespace

const Command kReportCommand{
    "report", kHandOn, "Write a report as one HTML file: findings with evidence, pictures over time, connections",
    "  qpscope report -o report.html trace.pcap\n"
    "  qpscope report -o report.html ring_*.pcap                  # rotated files of one capture\n"
    "  qpscope report trace.pcap > report.html\n"
    "  qpscope report --pdf report.pdf trace.pcap                 # on paper, by Chromium\n\n"
    "The file needs no network and no script; with scripts, tables can be sorted.",
    prepared<ReportOptions, run_report>};

}  // namespace qps::cli
