// `report`: a capture as one HTML file to hand on. It is analysed, and read once more for the pictures and the
// packets that prove findings; of what cannot be read twice the page has all but these.
#include <cli/analyzing.hpp>
#include <cli/command.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/pdf_printer.hpp>
#include <cli/report.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/gather.hpp>
#include <transport-replay/page/page.hpp>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

// Without their folders: a report is handed on, and where its captures lie is of no use to others.
std::vector<std::string> file_names(const Options& options) {
    std::vector<std::string> names;
    for (const std::string& file : input_names(options)) names.push_back(std::filesystem::path(file).filename().string());
    return names;
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
            if (collector_.wants_text(packet.frame.index)) evidence_[slot].emplace_back(packet.frame.index, page::words_of(packet));
        };
        listening.placed = [this](std::size_t slot, std::size_t, const Observation& observation, const PacketRecord& record) {
            collector_.take(observation.frame, PacketRow(0, 0, observation, record));
            if (!collector_.wants_text(observation.frame)) return;
            for (auto& [frame, evidence] : evidence_[slot])
                if (frame == observation.frame) collector_.take_text(frame, std::move(evidence));
        };
        listening.message = [this](ConnectionId connection, End, const Message& message) { collector_.take(connection, message); };
        return listening;
    }

private:
    page::Collector& collector_;
    std::vector<std::vector<std::pair<FrameIndex, page::EvidencePacket>>> evidence_;  // of each batch, what it has of it
};

ExitCode refuse_pdf(const PdfProblem& problem) {
    say("qpscope: {}\n", problem.sentence);
    return problem.code;
}

}  // namespace

ExitCode run_report(const Options& asked) {
    Options options = asked;
    const auto filter = compile_filter(options);
    if (!filter) return ExitCode::usage;
    std::optional<PdfPrinter> printer;
    if (!options.pdf.empty()) {
        auto begun = PdfPrinter::begin(options);
        if (!begun) return refuse_pdf(begun.error());
        printer = std::move(*begun);
        if (options.output.empty()) options.output = "/dev/null";  // the page is wanted on paper alone
    }
    Output output(options);
    if (!output.ok()) return finish(output);
    const Analyzed analyzed = analyze(options, *filter, output, {});
    if (!analyzed.any) return analyzed.code;
    page::Collector collector(analyzed.timeline, options.connections);
    if (can_be_read_twice(options)) {
        Picturing picturing(collector);
        static_cast<void>(analyze_again(options, *filter, output, picturing.listening(), analyzed));
    }
    page::write_page(collector, {file_names(options), QPSCOPE_VERSION}, [&](std::string_view piece) {
        output.write(piece);
        if (printer) printer->write(piece);
    });
    const ExitCode code = worse(say_nothing_seen(options, analyzed.timeline), finish(options, analyzed, output));
    if (!printer) return code;
    const auto printed = printer->finish();
    return printed ? code : worse(code, refuse_pdf(printed.error()));
}

}  // namespace qps::cli
