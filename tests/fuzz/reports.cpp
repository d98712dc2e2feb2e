// Fuzzer of what is written of a capture: bytes as a capture, analysed and checked; the report in every format and as a
// page, tickets, verdicts as JSON, XML and HTML. What is to be JSON is, no text of the capture ends a cell, a line or a
// tag, and no control character is left.
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/notation.hpp>
#include <tests/fuzz/followed.hpp>
#include <tests/fuzz/mutators/sealed.hpp>
#include <transport-replay/analysis/analysis.hpp>
#include <transport-replay/checks/passive/packet_facts.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>
#include <transport-replay/checks/report/written.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/page/collector.hpp>
#include <transport-replay/page/page.hpp>
#include <transport-replay/report/format.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/ticket.hpp>

#include <array>

#include <nlohmann/json.hpp>

using namespace qps;
using namespace qps::transport;
using fuzz::demand;

namespace {

constexpr std::string_view kName = "<capture> \"of\" any\nbytes";  // a file may be called so

void has_no_controls(std::string_view text) {
    demand(std::ranges::none_of(
        text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }));
}

void write_everything(const Timeline& timeline) {
    const std::array<std::string, 1> inputs{std::string(kName)};
    for (const OutputFormat format : {OutputFormat::json, OutputFormat::ndjson, OutputFormat::csv, OutputFormat::tsv}) {
        std::string text;
        write_report(timeline, format, inputs, {}, [&](std::string_view piece) { text += piece; });
        has_no_controls(text);
        if (format == OutputFormat::json) demand(nlohmann::json::accept(text));
        if (format != OutputFormat::ndjson) continue;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            demand(nlohmann::json::accept(std::string_view(text).substr(at, end - at)));
            at = end + 1;
        }
    }
    for (const Finding& finding : timeline.findings) {
        std::string ticket;
        append_ticket(ticket, timeline, finding, inputs);
        has_no_controls(ticket);
    }
}

void write_verdicts(const Timeline& timeline, conformance::PassiveSuite& suite) {
    conformance::Report report;
    report.subject = kName;
    report.results = suite.finish(timeline);
    demand(nlohmann::json::accept(conformance::json_text(report)));
    for (const std::string& markup : {conformance::junit_text(report), conformance::html_text(report)}) {
        has_no_controls(markup);
        demand(markup.find("<capture>") == std::string::npos);
    }
}

// The page with its pictures, which a second reading gives it.
void write_page(const Timeline& timeline, std::span<const std::byte> bytes) {
    page::Collector collected(timeline);
    Analysis analysis({.message = [&](ConnectionId id, End, const Message& message) { collected.take(id, message); }});
    auto file = dissect::CaptureFile::from_memory(bytes, "fuzz");
    dissect::Batch batch;
    dissect::Packet packet;
    Observation observation;
    while (file && file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            observe(packet, observation);
            collected.take(frame.index, PacketRow(0, 0, observation, analysis.observe(observation)));
            if (!collected.wants_text(frame.index)) continue;
            page::EvidencePacket evidence;
            dissect::append_source(evidence.source, packet);
            dissect::append_destination(evidence.destination, packet);
            dissect::append_line(evidence.line, packet);
            collected.take_text(frame.index, std::move(evidence));
        }
    static_cast<void>(analysis.finish());
    std::string html;
    page::write_page(collected, {{{std::string(kName), 1, {}}}, "1.0", std::string(kName), dissect::Instant{}},
                     [&](std::string_view piece) { html += piece; });
    has_no_controls(html);
    demand(html.find("<capture>") == std::string::npos);
    demand(html.size() < 2'000'000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto file = dissect::CaptureFile::from_memory(std::as_bytes(std::span(data, size)), "fuzz");
    if (!file) return 0;
    conformance::PassiveSuite suite;
    Analysis analysis({.message = [&](ConnectionId id, End requester, const Message& message) {
        suite.message(id, requester, message);
    }});
    dissect::Batch batch;
    dissect::Packet packet;
    Observation observation;
    conformance::PacketFacts facts;
    while (file->read(batch))
        for (const dissect::Frame& frame : batch.frames) {
            dissect::decode(frame, packet);
            observe(packet, observation);
            conformance::look_at(packet, facts);
            suite.observe(observation, facts, analysis.observe(observation));
        }
    const Timeline timeline = analysis.finish();
    write_everything(timeline);
    write_verdicts(timeline, suite);
    write_page(timeline, std::as_bytes(std::span(data, size)));
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    return qps::fuzz::mutate_capture(data, size, most, seed, 0);
}
