// `extract`: the packets that somebody else needs to see what happened, as a capture file: the capture is analysed, and
// read once more for the packets.
#include <cli/analyzing.hpp>
#include <cli/commands.hpp>
#include <cli/decoding.hpp>
#include <cli/decoding_as.hpp>
#include <cli/message.hpp>
#include <cli/options/choice.hpp>
#include <cli/options/reading_options.hpp>
#include <cli/packet_copies.hpp>
#include <cli/quantity.hpp>
#include <dissect/capture/pcapng.hpp>
#include <transport-replay/evidence/slice.hpp>
#include <transport-replay/model/renamed.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace qps::cli {

using namespace dissect;
using namespace transport;

namespace {

struct ExtractOptions {
    ListingOptions listing;
    std::vector<std::string> findings;  // ids, or places in the list of findings
    std::optional<Duration> around;     // of what proves them
    bool everything = false;            // also packets of other connections, as close as that
    std::string capture;

    void add(OptionTable& table) {
        listing.begin(table);
        table
            .add("--finding", "ID|N", findings,
                 "Keep the connections of this finding, by its id or its place in the list (see qpscope findings)")
            .each_of_list();
        table.add(
            "--around", "TIME", into(around, [](const std::string& text) { return read_time(text); }),
            "Keep only packets this close to those that prove the finding, and the set-up of its connection: 50ms, ...");
        table.flag("--everything", everything, "With --around: keep packets of all connections, and those of none");
        listing.known(table);
        add_saved(table, "-o,--output", capture);
        listing.reading.input.add_sandbox(table);
    }
};

// Why the options cannot be followed; empty: they can.
std::string contradiction(const ExtractOptions& asked) {
    const ReadingOptions& reading = asked.listing.reading;
    if (reading.analysis.connections.empty() && asked.findings.empty())
        return "nothing chosen: name connections with -C, or findings with --finding";
    if (asked.findings.empty() && (asked.around || asked.everything))
        return "--around and --everything are about findings: name one with --finding";
    if (asked.everything && !asked.around) return "--everything needs --around: how close to the finding";
    if (asked.capture.empty()) return "missing output: name a capture file with -o";
    if (!can_be_read_twice(reading.input)) return "cannot read the input twice: write it to a file first";
    return {};
}

// The findings by their places; says which the capture does not have.
std::optional<std::vector<std::size_t>> findings_of(const std::vector<std::string>& words,
                                                    const transport::Timeline& timeline) {
    std::vector<std::size_t> places;
    for (const std::string& word : words) {
        if (const Renamed* old = renamed_finding(word); old != nullptr) remark("qpscope: {}\n", sentence(*old));
        const std::vector<std::size_t> named = findings_named(timeline, word);
        if (named.empty()) {
            say("qpscope: no such finding '{}': this capture has {} (see qpscope findings -f tsv)\n", word,
                grouped(timeline.findings.size()));
            return std::nullopt;
        }
        places.insert(places.end(), named.begin(), named.end());
    }
    return places;
}

// When those frames passed, for those that have a time: the files are walked, and nothing is decoded.
std::vector<Instant> times_of(const InputOptions& inputs, const std::vector<FrameIndex>& frames) {
    std::vector<Instant> times;
    Input::SoFar before;
    const auto each_input = [&](Input& input, Progress&) {
        input.go_on_from(before);
        Batch batch;
        while (before.frames < std::to_underlying(frames.back()) && input.read(batch)) {
            for (const Frame& frame : batch.frames)
                if (frame.has_time && std::ranges::binary_search(frames, frame.index)) times.push_back(frame.time);
            before = input.so_far();
        }
        before = input.so_far();
        return ExitCode::done;
    };
    static_cast<void>(for_each_input(inputs, each_input, true));
    return times;
}

// What was written, for the sentence at the end.
std::string about(const Slice& slice) {
    std::string text;
    for (const ConnectionId uid : slice.connections())
        text += fmt::format("{}{}", text.empty() ? "" : ", ", std::to_underlying(uid));
    return text.empty() ? "" : fmt::format(" (connection {})", text);
}

// The second reading: packets that the slice takes, in their order.
class Extracting {
public:
    Extracting(const Slice& slice, PacketCopies& copies) : slice_(slice), copies_(copies) {}

    [[nodiscard]] Listening listening() {
        Listening listening;
        listening.opened = [this](const Input&) { copies_.next_input(); };
        listening.batch = [this](const Input& input) { copies_.describe(input); };
        listening.slots = [this](std::size_t slots) { frames_.resize(slots); };
        listening.begin = [this](std::size_t slot) { frames_[slot].clear(); };
        listening.each = [this](std::size_t slot, const Packet& packet) { frames_[slot].push_back(packet.frame); };
        listening.placed = [this](std::size_t slot, std::size_t place, const Observation& observation,
                                  const PacketRecord& record) {
            if (slice_.takes(observation, record)) copies_.write(frames_[slot][place]);
        };
        return listening;
    }

private:
    const Slice& slice_;
    PacketCopies& copies_;
    std::vector<std::vector<Frame>> frames_;  // borrowed from batches, which stay until they are consumed
};

ExitCode run_extract(const ExtractOptions& options) {
    const ReadingOptions& reading = options.listing.reading;
    if (const std::string why = contradiction(options); !why.empty()) {
        say("qpscope: {}\n", why);
        return ExitCode::usage;
    }
    const auto filter = compile_filter(reading.filter);
    if (!filter) return ExitCode::usage;
    auto file = open_capture(options.capture, reading.input.files);
    if (!file) return file.error();
    Output output("");  // of no use but to those who print
    const Analyzed analyzed = analyze(reading, *filter, output, {});
    if (!analyzed.any) return analyzed.code;
    if (analyzed.code == ExitCode::interrupted) return give_up_interrupted(options.capture);
    const ExitCode told = finish(reading.analysis, analyzed, output);
    if (told == ExitCode::usage) return told;
    const auto findings = findings_of(options.findings, analyzed.timeline);
    if (!findings) return ExitCode::usage;
    const std::vector<FrameIndex> evidence = evidence_of(analyzed.timeline, *findings);
    std::vector<Instant> times;
    if (options.around && !evidence.empty()) times = times_of(reading.input, evidence);
    const Slice slice(analyzed.timeline, {reading.analysis.connections, *findings, options.around, options.everything},
                      times);
    PacketCopies copies(*file, reading.input);
    if (options.around) copies.begin_section(fmt::format("{} (qpscope extract --around)", kSliceComment), {});
    Extracting extracting(slice, copies);
    const Analyzed again = analyze_again(reading, *filter, output, extracting.listening(), analyzed);
    if (slice.set_up_left_out() != 0)
        remark("qpscope: {} of the set-up not written: more repeated messages than an attempt keeps\n",
               counted(slice.set_up_left_out(), "packet"));
    const ExitCode judged = told == ExitCode::unjudged ? told : ExitCode::done;  // a finding may lack
    return finish(options.capture, *file, copies, worse(worse(analyzed.code, again.code), judged), about(slice));
}

}  // namespace

const Command kExtractCommand{
    "extract", kHandOn, "Write the packets of a connection or a finding, with its set-up, to a capture",
    "  qpscope extract -C 3 -o three.pcapng trace.pcap\n"
    "  qpscope extract --finding go-back-n-loss --around 50ms -o loss.pcapng trace.pcap\n"
    "  qpscope extract -C 3 --finding 2 --around 50ms -o slice.pcapng ring_*.pcap     # rotated files of one capture\n"
    "  qpscope extract --finding 1 --around 1ms --everything -o all.pcapng trace.pcap\n\n"
    "The set-up and the end of the connection are kept however far away they are, and so is what proves the finding. Packets,\n"
    "times, interfaces and comments stay as they are. The capture is read twice, so it must be in files.",
    prepared<ExtractOptions, run_extract>};

}  // namespace qps::cli
